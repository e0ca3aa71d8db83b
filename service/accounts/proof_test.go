package accounts_test

import (
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/config"
	"postern/service/access"
	"postern/service/accounts"
	"postern/testkit"
	"postern/testkit/state"
)

const typed = "vic@example.com" // by the person who signed up first

// hijacked is an account that a stranger created with the address of another person, and kept ways into.
type hijacked struct {
	*testTeam
	box     *outbox
	account access.Principal
	proving access.Principal // a session of the person, where they have one before the proof
}

func newHijacked(t *testing.T, db *models.DB) *hijacked {
	t.Helper()
	q := &hijacked{testTeam: newTestTeam(t, db), box: &outbox{}}
	q.s.Policy = config.SignUpOpen
	q.s.Mail = &accounts.Mail{Sender: q.box, Jobs: q.box, PublicURL: "https://postern.example.com"}
	q.account = q.passwordAccount(typed)
	q.proving = q.who(mustSignIn(t, q.s, typed))
	if err := q.s.Link(t.Context(), q.account, identity("stranger", "eve@example.com", true)); err != nil {
		t.Fatal(err)
	}
	q.insert(
		&models.AccessToken{
			ID: "pat_1", AccountID: q.account.Account, Kind: "personal", Scopes: []string{}, Hash: []byte("pat"),
			CreatedAt: models.Now(), ExpiresAt: models.Now().Add(time.Hour),
		},
		&models.DeviceGrant{
			ID: "dev_1", AccountID: &q.account.Account, State: "approved", Scopes: []string{}, DeviceHash: []byte("d"),
			UserHash: []byte("u"), CreatedAt: models.Now(), ExpiresAt: models.Now().Add(time.Hour),
		},
	)
	return q
}

func (q *hijacked) insert(rows ...any) {
	q.t.Helper()
	if err := q.db.Write(q.t.Context(), func(tx *models.Tx) error { return tx.Insert(rows...) }); err != nil {
		q.t.Fatal(err)
	}
}

// mailed returns the code of the link in the last mail.
func (q *hijacked) mailed(path string) string {
	q.t.Helper()
	_, rest, _ := strings.Cut(q.box.texts[len(q.box.texts)-1], "https://postern.example.com"+path)
	code, _, _ := strings.Cut(rest, "\n")
	return code
}

// left names the ways into the account, besides its password.
func (q *hijacked) left() (ways string) {
	q.t.Helper()
	tx, now := q.db.Read(q.t.Context()), models.Now()
	sessions, err := tx.TokensOf("session", q.account.Account, now)
	if err != nil {
		q.t.Fatal(err)
	}
	for _, row := range sessions {
		switch row.ID {
		case q.account.Token:
			ways += " stranger's session"
		case q.proving.Token:
			ways += " person's session"
		default:
			ways += " new session"
		}
	}
	if _, err := tx.AccessTokenByHash([]byte("pat"), now); err == nil {
		ways += " token"
	}
	if _, err := tx.DeviceGrantByDevice([]byte("d")); err == nil {
		ways += " device"
	}
	linked, err := tx.LinkedTo(q.account.Account)
	if err != nil {
		q.t.Fatal(err)
	}
	for _, row := range linked {
		ways += " " + row.Subject
	}
	return strings.TrimSpace(ways)
}

const allWays = "person's session stranger's session token device stranger"

// The first proof of an address ends what a stranger who signed up with it has left, once, and is audited. An action
// that proves nothing ends nothing.
func TestProved(t *testing.T) {
	recover := func(q *hijacked, code string) error {
		_, err := q.s.Recover(q.t.Context(), code, "a brand new password", accounts.From{})
		return err
	}
	for name, tc := range testkit.ByName(map[string]struct {
		prove func(*hijacked) error
		left  string
	}{
		"a new password by a mailed link": {func(q *hijacked) error {
			if err := q.s.SendRecovery(q.t.Context(), typed, ""); err != nil {
				return err
			}
			return recover(q, q.mailed("/recover/"))
		}, "new session"},
		"a mailed invitation": {func(q *hijacked) error {
			invitation := contract.NewInvitation{Role: string(access.Viewer), Email: typed}
			if _, err := q.s.Invite(q.t.Context(), q.ana, invitation.In(q.team)); err != nil {
				return err
			}
			if err := q.s.SendInvitation(q.t.Context(), q.box.queued[len(q.box.queued)-1]); err != nil {
				return err
			}
			_, err := q.s.Accept(q.t.Context(), q.proving, contract.AcceptanceOf(q.mailed("/invite/")))
			return err
		}, "person's session"},
		"a provider that vouches for the address, linked": {func(q *hijacked) error {
			return q.s.Link(q.t.Context(), q.proving, identity("vic", typed, true))
		}, "person's session vic"},
		"a provider that vouches for the address, linked before": {func(q *hijacked) error {
			if err := q.s.Link(q.t.Context(), q.proving, identity("vic", typed, false)); err != nil {
				return err
			}
			_, err := q.signInAs(identity("vic", typed, true), "")
			return err
		}, "new session vic"},
		"a mailed link to another address": {func(q *hijacked) error {
			email := "victoria@example.com"
			change := contract.AccountChange{Email: &email, Password: password}
			if _, err := q.s.UpdateProfile(q.t.Context(), q.proving, contract.AccountUpdate{Body: change}); err != nil {
				return err
			}
			return q.s.ConfirmEmail(q.t.Context(), mailedCode(q.t, q.s, q.box, email), accounts.From{})
		}, ""},
		"a new password by a link of the operator": {func(q *hijacked) error {
			code, err := q.s.RecoveryCode(q.t.Context(), typed)
			if err != nil {
				return err
			}
			return recover(q, code)
		}, "new session token device stranger"},
		"a provider that does not vouch for it": {func(q *hijacked) error {
			return q.s.Link(q.t.Context(), q.proving, identity("vic", typed, false))
		}, allWays + " vic"},
		"a provider that vouches for another address": {func(q *hijacked) error {
			return q.s.Link(q.t.Context(), q.proving, identity("mallory", "mallory@example.com", true))
		}, allWays + " mallory"},
		"an address that was proven before": {func(q *hijacked) error {
			if err := q.s.Link(q.t.Context(), q.proving, identity("vic", typed, true)); err != nil {
				return err
			}
			q.account = q.who(mustSignIn(q.t, q.s, typed))
			return q.s.Link(q.t.Context(), q.proving, identity("vic at work", typed, true))
		}, "stranger's session person's session vic vic at work"},
	}) {
		t.Run(name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				q := newHijacked(t, db)
				if got := q.left(); got != allWays {
					t.Fatalf("before it there are: %s", got)
				}
				if err := tc.prove(q); err != nil {
					t.Fatal(err)
				}
				if got := q.left(); got != tc.left {
					t.Errorf("left: %s\nwant: %s", got, tc.left)
				}
				entries, err := db.Read(t.Context()).AuditOf("", 100)
				if err != nil {
					t.Fatal(err)
				}
				audited := 0
				for _, e := range entries {
					if e.Object == q.account.Account && e.Changes["email_unproven"].Before == true {
						audited++
					}
				}
				want := 1
				if strings.Contains(tc.left, "device") { // nothing was proven
					want = 0
				}
				if audited != want {
					t.Errorf("%d entries in the audit log, want %d", audited, want)
				}
			})
		})
	}
}

// An account is only suspect if anyone could have created it.
func TestNewAccount_emailUnproven(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newTestTeam(t, db)
		o.s.Policy = config.SignUpOpen
		federated := func(subject string, isVerified bool) access.Principal {
			session, err := o.signInAs(identity(subject, subject+"@example.org", isVerified), "")
			if err != nil {
				t.Fatal(err)
			}
			return o.who(session)
		}
		for name, tc := range map[string]struct {
			account access.Principal
			want    bool
		}{
			"first account":           {o.ana, false},
			"invited":                 {o.joins("ben", access.Member), false},
			"open sign-up":            {o.passwordAccount("cleo@example.com"), true},
			"provider vouches":        {federated("dan", true), false},
			"provider does not vouch": {federated("eli", false), true},
		} {
			row, err := db.Read(t.Context()).AccountByID(tc.account.Account)
			if err != nil || row.EmailUnproven != tc.want {
				t.Errorf("%s: unproven %v, want %v; %v", name, row.EmailUnproven, tc.want, err)
			}
		}
	})
}
