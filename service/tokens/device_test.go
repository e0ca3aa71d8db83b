package tokens_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/tokens"
	"postern/testkit/state"
)

func (w *world) ask(scopes ...string) contract.Device {
	w.t.Helper()
	asked, err := w.s.RequestDevice(w.t.Context(), tokens.DeviceRequest{
		Machine: "laptop", Scopes: scopes, RemoteAddr: "192.0.2.7:4000",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return asked
}

func (w *world) exchange(device string) (contract.TokenWithSecret, string) {
	minted, err := w.s.Exchange(w.t.Context(), device, access.Principal{
		RemoteAddr: "192.0.2.7:4001",
		RequestID:  "req_1",
	})
	return minted, fault.CodeOf(err)
}

// rewind moves what was noted of a grant into the past.
func (w *world) rewind(column string) {
	w.t.Helper()
	_, err := w.db.SQL().ExecContext(w.t.Context(), "UPDATE device_grants SET "+column+" = '2001-01-01 00:00:00+00:00'")
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestDevice_flow(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		asked := w.ask("read", "export")
		if _, code := w.exchange(asked.DeviceCode.Reveal()); code != "authorization_pending" {
			t.Errorf("at first: %s", code)
		}
		if _, code := w.exchange(asked.DeviceCode.Reveal()); code != "slow_down" {
			t.Errorf("at once again: %s", code)
		}
		w.rewind("last_polled_at")
		if _, code := w.exchange(asked.DeviceCode.Reveal()); code != "authorization_pending" {
			t.Errorf("later: %s", code)
		}
		typed := strings.ToLower(strings.ReplaceAll(asked.UserCode, "-", " "))
		found, err := w.s.Look(t.Context(), w.ana, typed)
		if err != nil {
			t.Fatal(err)
		}
		if found.Machine != "laptop" || found.RemoteAddr != "192.0.2.7" {
			t.Errorf("shows %s at %s, want laptop at 192.0.2.7", found.Machine, found.RemoteAddr)
		}
		if found.UserCode != asked.UserCode || len(found.Scopes) != 2 {
			t.Errorf("shows code %s and scopes %v, want %s and two", found.UserCode, found.Scopes, asked.UserCode)
		}
		if err := w.s.Decide(t.Context(), w.ana, typed, true); err != nil {
			t.Fatal(err)
		}
		minted, code := w.exchange(asked.DeviceCode.Reveal())
		if code != "" || minted.Kind != contract.CLIToken || minted.Name != "laptop" ||
			!strings.HasPrefix(minted.Secret.Reveal(), "postern_cli_") {
			t.Fatalf("got %+v, %s", minted, code)
		}
		if p := w.by(minted.Secret.Reveal()); p.Account != w.ana.Account || p.May(p.HomeTeam, access.KeyCreate) ||
			!p.May(p.HomeTeam, access.ExportCreate) {
			t.Errorf("stands for %+v", p)
		}
		if _, code := w.exchange(asked.DeviceCode.Reveal()); code != "invalid_grant" {
			t.Errorf("a second time: %s", code)
		}
		entries, err := db.Read(t.Context()).AuditOf(w.ana.HomeTeam, 10)
		if err != nil || len(entries) != 2 {
			t.Fatalf("recorded %+v, %v, want two entries", entries, err)
		}
		if entries[0].Action != "token.create" || entries[0].Actor != w.ana.Account {
			t.Errorf("recorded last: %s by %s", entries[0].Action, entries[0].Actor)
		}
		if entries[1].Action != "device.approve" {
			t.Errorf("recorded first: %s", entries[1].Action)
		}
	})
}

func TestDevice_slowDown(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		asked := w.ask()
		w.exchange(asked.DeviceCode.Reveal())
		w.exchange(asked.DeviceCode.Reveal())
		ago := models.Now().Add(-7 * time.Second) // enough for five seconds, too little for ten
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			sum := sha256.Sum256([]byte(asked.DeviceCode.Reveal()))
			row, err := tx.DeviceGrantByDevice(sum[:])
			if err != nil {
				return err
			}
			return tx.PollDeviceGrant(row.ID, ago, row.PollEvery)
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, code := w.exchange(asked.DeviceCode.Reveal()); code != "slow_down" {
			t.Errorf("after seven seconds: %s", code)
		}
	})
}

func TestDevice_end(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		refused := w.ask()
		if err := w.s.Decide(t.Context(), w.ana, refused.UserCode, false); err != nil {
			t.Fatal(err)
		}
		if _, code := w.exchange(refused.DeviceCode.Reveal()); code != "access_denied" {
			t.Errorf("denied: %s", code)
		}
		if err := w.s.Decide(t.Context(), w.ana, refused.UserCode, true); fault.CodeOf(err) != "wrong_code" {
			t.Errorf("approved after it was denied: %v", err)
		}
		late := w.ask()
		w.rewind("expires_at")
		if _, code := w.exchange(late.DeviceCode.Reveal()); code != "expired_token" {
			t.Errorf("late: %s", code)
		}
		if err := w.s.Decide(t.Context(), w.ana, late.UserCode, true); fault.CodeOf(err) != "wrong_code" {
			t.Errorf("approved late: %v", err)
		}
		if _, code := w.exchange("nonsense"); code != "invalid_grant" {
			t.Errorf("nonsense: %s", code)
		}
		if len(w.list(w.ana)) != 0 {
			t.Error("a token was made all the same")
		}
	})
}

func TestDevice_oneToken(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		asked := w.ask()
		if err := w.s.Decide(t.Context(), w.ana, asked.UserCode, true); err != nil {
			t.Fatal(err)
		}
		var made atomic.Int32
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if _, code := w.exchange(asked.DeviceCode.Reveal()); code == "" {
					made.Add(1)
				}
			})
		}
		all.Wait()
		if made.Load() != 1 || len(w.list(w.ana)) != 1 {
			t.Errorf("%d answers, %d tokens", made.Load(), len(w.list(w.ana)))
		}
	})
}

func TestDevice_guessing(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		asked := w.ask()
		for i := range 10 {
			_, err := w.s.Look(t.Context(), w.ana, "BBBB-BBB"+string("BCDFGHJKLM"[i]))
			if fault.CodeOf(err) != "wrong_code" {
				t.Fatalf("guess %d: %v", i, err)
			}
		}
		if _, err := w.s.Look(t.Context(), w.ana, asked.UserCode); fault.KindOf(err) != fault.TooMany {
			t.Errorf("the right one after ten wrong ones: %v", err)
		}
		if err := w.s.Decide(t.Context(), w.ana, asked.UserCode, true); fault.KindOf(err) != fault.TooMany {
			t.Errorf("approved all the same: %v", err)
		}
	})
}

func TestDevice_approval(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		asked := w.ask()
		everything := w.by(w.create("read", "write", "keys", "export", "users", "admin").Secret.Reveal())
		for name, tt := range map[string]struct {
			who  access.Principal
			want fault.Kind
		}{
			"no credential": {access.Principal{}, fault.Unauthenticated},
			"a token":       {everything, fault.Forbidden},
			"a workspace key": {access.Principal{
				Roles:    map[string]access.Role{"team_x": access.Workspace},
				HomeTeam: "team_x",
			}, fault.Forbidden},
		} {
			if _, err := w.s.Look(t.Context(), tt.who, asked.UserCode); fault.KindOf(err) != tt.want {
				t.Errorf("%s looks: %v", name, err)
			}
			if err := w.s.Decide(t.Context(), tt.who, asked.UserCode, true); fault.KindOf(err) != tt.want {
				t.Errorf("%s approves: %v", name, err)
			}
		}
		if _, code := w.exchange(asked.DeviceCode.Reveal()); code != "authorization_pending" {
			t.Errorf("after all that: %s", code)
		}
	})
}

func TestDevice_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		for name, in := range map[string]tokens.DeviceRequest{
			"invalid_request": {Machine: "a\nb"},
			"invalid_scope":   {Machine: "laptop", Scopes: []string{"root"}},
		} {
			if _, err := w.s.RequestDevice(t.Context(), in); fault.CodeOf(err) != name {
				t.Errorf("%+v: %v", in, err)
			}
		}
		for range 20 {
			w.ask()
		}
		_, err := w.s.RequestDevice(t.Context(), tokens.DeviceRequest{Machine: "laptop", RemoteAddr: "192.0.2.7:9"})
		if fault.KindOf(err) != fault.TooMany {
			t.Errorf("the 21st that waits: %v", err)
		}
		_, err = w.s.RequestDevice(t.Context(), tokens.DeviceRequest{Machine: "laptop", RemoteAddr: "192.0.2.8:9"})
		if err != nil {
			t.Errorf("from elsewhere: %v", err)
		}
	})
}

// One household has a whole network of addresses to ask from.
func TestDevice_ipv6Network(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		ask := func(from string) error {
			_, err := w.s.RequestDevice(t.Context(), tokens.DeviceRequest{Machine: "laptop", RemoteAddr: from})
			return err
		}
		for i := range 20 {
			if err := ask(fmt.Sprintf("[2001:db8::%x]:1", i+1)); err != nil {
				t.Fatal(err)
			}
		}
		if err := ask("[2001:db8::ffff]:1"); fault.KindOf(err) != fault.TooMany {
			t.Errorf("the 21st of one network: %v", err)
		}
		if err := ask("[2001:db8:0:1::1]:1"); err != nil {
			t.Errorf("from another network: %v", err)
		}
		w.s.MaxWaiting = 21
		if err := ask("192.0.2.9:1"); fault.KindOf(err) != fault.TooMany {
			t.Errorf("beyond what may wait in all: %v", err)
		}
	})
}

// An account that guesses locks out itself, but no others at its address.
func TestDevice_guessesOfAccount(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		asked := w.ask()
		w.ana.RemoteAddr = "192.0.2.7:1"
		mallory := access.Principal{Account: "acc_mallory", RemoteAddr: w.ana.RemoteAddr}
		for range 11 {
			_, _ = w.s.Look(t.Context(), mallory, "BBBB-BBBB")
		}
		if _, err := w.s.Look(t.Context(), mallory, asked.UserCode); fault.KindOf(err) != fault.TooMany {
			t.Errorf("who guesses: %v", err)
		}
		if _, err := w.s.Look(t.Context(), w.ana, asked.UserCode); err != nil {
			t.Errorf("who shares the address: %v", err)
		}
		for i := range 4 {
			for range 10 {
				_, _ = w.s.Look(t.Context(), access.Principal{
					Account:    fmt.Sprint("acc_", i),
					RemoteAddr: w.ana.RemoteAddr,
				}, "BBBB-BBBB")
			}
		}
		if _, err := w.s.Look(t.Context(), w.ana, asked.UserCode); fault.KindOf(err) != fault.TooMany {
			t.Errorf("after fifty guesses from the network: %v", err)
		}
	})
}
