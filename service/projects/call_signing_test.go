package projects_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/projects"
	"postern/testkit/state"
)

func (w *headerWorld) rotate(t *testing.T, signsIn, grace time.Duration) (contract.CallSigning, error) {
	in, then := int64(signsIn/time.Second), int64(grace/time.Second)
	return w.RotateSigningKey(t.Context(), w.owner, contract.SigningKeyRotation{
		ProjectPath: w.path(), Body: &contract.SigningRotation{SignsInSeconds: &in, GraceSeconds: &then},
	})
}

func (w *headerWorld) path() contract.ProjectPath { return contract.ProjectPath{Project: w.id} }

// states returns the states of the keys in their order.
func states(s contract.CallSigning) string {
	var out []string
	for _, k := range s.Keys {
		out = append(out, k.State)
	}
	return strings.Join(out, " ")
}

func TestCallSigning(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newHeaderWorld(t, db)
		t.Run("is disabled at first", func(t *testing.T) {
			if keys := w.project(t, w.id).CallSigningKeys; len(keys) > 0 {
				t.Errorf("a new project has %v", keys)
			}
			if _, err := w.rotate(t, 0, 0); fault.CodeOf(err) != "call_signing_disabled" {
				t.Errorf("rotate: %v", err)
			}
		})
		first, err := w.EnableCallSigning(t.Context(), w.owner, w.path())
		if err != nil {
			t.Fatal(err)
		}
		t.Run("serves a key that signs at once", func(t *testing.T) {
			p := w.project(t, w.id)
			if len(p.CallSigningKeys) != 1 || states(first) != "signing" {
				t.Fatalf("served %v, shown %v", p.CallSigningKeys, states(first))
			}
			private, err := projects.Unsealer{Vault: w.Vault}.SigningKey(p, p.CallSigningKeys[0])
			if err != nil {
				t.Fatal(err)
			}
			if !ed25519.PublicKey(p.CallSigningKeys[0].Public).Equal(private.Public()) {
				t.Error("the halves do not belong together")
			}
		})
		t.Run("enabled twice is one key", func(t *testing.T) {
			again, err := w.EnableCallSigning(t.Context(), w.owner, w.path())
			if err != nil {
				t.Fatal(err)
			}
			if len(again.Keys) != 1 || again.Keys[0].ID != first.Keys[0].ID {
				t.Errorf("the keys are %v", again.Keys)
			}
		})
		t.Run("opens without a database, and is stored sealed", func(t *testing.T) { storedSealed(t, w) })
		t.Run("is audited without the key", func(t *testing.T) {
			entries, err := w.db.Read(t.Context()).AuditEntries(models.AuditFilter{TeamID: w.owner.HomeTeam}, 50)
			if err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprintf("%+v", entries); strings.Count(text, "change:call signing") != 1 {
				t.Errorf("want one entry for what was changed once:\n%s", text)
			}
		})
		t.Run("disabled", func(t *testing.T) {
			for range 2 { // the second one changes nothing
				if _, err := w.DisableCallSigning(t.Context(), w.owner, w.path()); err != nil {
					t.Fatal(err)
				}
			}
			if keys := w.project(t, w.id).CallSigningKeys; len(keys) > 0 {
				t.Errorf("served %v", keys)
			}
		})
	})
}

func storedSealed(t *testing.T, w *headerWorld) {
	p := w.project(t, w.id)
	private, err := projects.Unsealer{Vault: w.Vault}.SigningKey(p, p.CallSigningKeys[0])
	if err != nil {
		t.Fatal(err)
	}
	var stored bytes.Buffer
	if err := w.feed.Store(&stored); err != nil {
		t.Fatal(err)
	}
	for _, seed := range [][]byte{
		private.Seed(),
		[]byte(base64.RawURLEncoding.EncodeToString(private.Seed())),
		[]byte(base64.StdEncoding.EncodeToString(private.Seed())),
		[]byte(base64.StdEncoding.EncodeToString(private)),
	} {
		if bytes.Contains(stored.Bytes(), seed) {
			t.Error("the stored state has the private key")
		}
	}
	served, _, _, err := restored(t, stored.Bytes(), "https://postern.example")
	if err != nil {
		t.Fatal(err)
	}
	opened, err := projects.Unsealer{Vault: w.Vault}.SigningKey(served[0], served[0].CallSigningKeys[0])
	if err != nil || !opened.Equal(private) {
		t.Errorf("the restored key: %v", err)
	}
	other := *served[0]
	other.ID = "prj_other"
	if _, err := (projects.Unsealer{Vault: w.Vault}).SigningKey(&other, other.CallSigningKeys[0]); err == nil {
		t.Error("the key opens for another project")
	}
}

func TestRotateSigningKey(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newHeaderWorld(t, db)
		first, err := w.EnableCallSigning(t.Context(), w.owner, w.path())
		if err != nil {
			t.Fatal(err)
		}
		var pending contract.CallSigning
		t.Run("publishes the new key before it signs", func(t *testing.T) {
			in := contract.SigningKeyRotation{ProjectPath: w.path()}
			if pending, err = w.RotateSigningKey(t.Context(), w.owner, in); err != nil {
				t.Fatal(err)
			}
			if states(pending) != "signing pending" || pending.Keys[0].ID != first.Keys[0].ID {
				t.Fatalf("the keys are %v", pending.Keys)
			}
			signs := pending.Keys[1].SignsFrom
			if signs.Sub(pending.Keys[1].CreatedAt) != projects.DefaultSignsIn {
				t.Errorf("it signs from %v", signs)
			}
			if until := pending.Keys[0].PublishedUntil; until == nil || until.Sub(signs) != projects.DefaultGrace {
				t.Errorf("the former key is published until %v", until)
			}
		})
		t.Run("refuses another one while it is pending", func(t *testing.T) {
			if _, err := w.rotate(t, time.Hour, 0); fault.CodeOf(err) != "rotation_pending" {
				t.Errorf("got %v", err)
			}
		})
		t.Run("at once replaces the pending one", func(t *testing.T) {
			now, err := w.rotate(t, 0, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			if states(now) != "former signing" || now.Keys[1].ID == pending.Keys[1].ID {
				t.Errorf("the keys are %v", now.Keys)
			}
		})
		t.Run("without grace ends all others", func(t *testing.T) {
			now, err := w.rotate(t, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if states(now) != "signing" || len(w.project(t, w.id).CallSigningKeys) != 1 {
				t.Errorf("the keys are %v", now.Keys)
			}
		})
		t.Run("keeps at most ten", func(t *testing.T) {
			for range 9 {
				if _, err := w.rotate(t, 0, time.Hour); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.rotate(t, 0, time.Hour); fault.CodeOf(err) != "too_many_signing_keys" {
				t.Errorf("one more: %v", err)
			}
			if now, err := w.rotate(t, 0, 0); err != nil || states(now) != "signing" {
				t.Errorf("without grace: %v, %v", now.Keys, err)
			}
		})
	})
}

func TestCallSigning_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newHeaderWorld(t, db)
		if _, err := w.EnableCallSigning(t.Context(), w.owner, w.path()); err != nil {
			t.Fatal(err)
		}
		for pointer, in := range map[string][2]time.Duration{
			"/signs_in_seconds": {-time.Second, 0},
			"/grace_seconds":    {0, 31 * 24 * time.Hour},
		} {
			_, err := w.rotate(t, in[0], in[1])
			if field := fieldOf(err, pointer); field.Code != "out_of_range" {
				t.Errorf("%s %v: %v", pointer, in, err)
			}
		}
		t.Run("another team", func(t *testing.T) {
			_, other := w.create(t, authenticated)
			if _, err := w.CallSigning(t.Context(), other, w.path()); fault.KindOf(err) != fault.NotFound {
				t.Errorf("show: %v", err)
			}
			if _, err := w.EnableCallSigning(t.Context(), other, w.path()); fault.KindOf(err) != fault.NotFound {
				t.Errorf("enable: %v", err)
			}
			if _, err := w.DisableCallSigning(t.Context(), other, w.path()); fault.KindOf(err) != fault.NotFound {
				t.Errorf("disable: %v", err)
			}
		})
		t.Run("enabled at once by many is one key", func(t *testing.T) {
			if _, err := w.DisableCallSigning(t.Context(), w.owner, w.path()); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() { _, _ = w.EnableCallSigning(t.Context(), w.owner, w.path()) })
			}
			all.Wait()
			have, err := w.CallSigning(t.Context(), w.owner, w.path())
			if err != nil {
				t.Fatal(err)
			}
			if states(have) != "signing" {
				t.Errorf("the keys are %v", have.Keys)
			}
		})
	})
}
