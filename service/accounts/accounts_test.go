package accounts_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/testkit/state"
)

const password = "correct horse battery"

// cheap is the least cost that argon2 takes (RFC 9106, 3.1). TestPasswordCost tests the
// one in production.
var cheap = accounts.PasswordCost{Passes: 1, Memory: 8, Threads: 1}

func firstAccount(t *testing.T, s *accounts.Service) (session string) {
	t.Helper()
	code, err := s.FirstLink(t.Context())
	if err != nil || code == "" {
		t.Fatalf("no link: %q, %v", code, err)
	}
	session, err = s.UseLink(t.Context(), code, accounts.SignUp{
		Email:    "Ana@Example.com",
		Name:     "Ana",
		Password: password,
	})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func TestSetupLink_once(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap}
		code, err := s.FirstLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const people = 8
		var winners atomic.Int32
		var wg sync.WaitGroup
		for i := range people {
			wg.Go(func() {
				session, err := s.UseLink(t.Context(), code, accounts.SignUp{
					Email:    fmt.Sprintf("p%d@example.com", i),
					Name:     "P",
					Password: password,
				})
				if err == nil && session != "" {
					winners.Add(1)
				} else if fault.KindOf(err) != fault.Gone {
					t.Errorf("a loser got %v", err)
				}
			})
		}
		wg.Wait()
		if winners.Load() != 1 {
			t.Errorf("%d accounts were made by one link", winners.Load())
		}
		if again, err := s.FirstLink(t.Context()); err != nil || again != "" {
			t.Errorf("there is an account and still a link: %q, %v", again, err)
		}
	})
}

func TestSignOut_endedSession(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap}
		session := firstAccount(t, s)
		p, err := s.BySession(t.Context(), session)
		if err != nil || p.Roles[p.HomeTeam] != access.Owner {
			t.Fatalf("the first account is %v, error %v", p, err)
		}
		for range 2 { // the second time is not an error and adds no entry
			if err := s.SignOut(t.Context(), session, accounts.From{RequestID: "req_out"}); err != nil {
				t.Fatal(err)
			}
		}
		entries, err := db.Read(t.Context()).AuditOf("", 10)
		if err != nil {
			t.Fatal(err)
		}
		entries = slices.DeleteFunc(entries, func(e models.AuditEntry) bool { return e.RequestID != "req_out" })
		if len(entries) != 1 || entries[0].Action != "account.update" || entries[0].Actor != p.Account ||
			entries[0].Object != p.Token {
			t.Errorf("recorded %+v", entries)
		}
		if p, err := s.BySession(t.Context(), session); err != nil || !p.Anonymous() {
			t.Errorf("after sign-out: %v, %v", p, err)
		}
	})
}

func TestSignIn_sameError(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap}
		firstAccount(t, s)
		_, wrongPassword := s.SignIn(
			t.Context(), "ana@example.com", "not the password", accounts.From{RemoteAddr: "192.0.2.1:1"},
		)
		_, wrongEmail := s.SignIn(t.Context(), "bob@example.com", password, accounts.From{RemoteAddr: "192.0.2.1:2"})
		if wrongPassword == nil || wrongEmail == nil || wrongPassword.Error() != wrongEmail.Error() {
			t.Errorf("%v\n%v", wrongPassword, wrongEmail)
		}
		_, err := s.SignIn(t.Context(), " ANA@example.com ", password, accounts.From{RemoteAddr: "192.0.2.1:3"})
		if err != nil {
			t.Errorf("the right password: %v", err)
		}
	})
}

func TestSignIn_throttled(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap}
		firstAccount(t, s)
		guess := func(from string) error {
			_, err := s.SignIn(t.Context(), "ana@example.com", "guess", accounts.From{RemoteAddr: from})
			return err
		}
		for range 10 {
			wants(t, "a guess", guess("192.0.2.1:1"), "wrong_password")
		}
		wants(t, "the eleventh", guess("192.0.2.1:1"), "too_many_attempts")
		_, err := s.SignIn(t.Context(), "ana@example.com", password, accounts.From{RemoteAddr: "192.0.2.2:1"})
		if err != nil {
			t.Errorf("whose address it is, from elsewhere: %v", err)
		}
	})
}

func TestSignUp_invalidFields(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap}
		code, err := s.FirstLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.UseLink(t.Context(), code, accounts.SignUp{Email: "ana", Name: " ", Password: "short"})
		if fault.KindOf(err) != fault.Invalid {
			t.Fatalf("got %v", err)
		}
		if valid, err := s.LinkValid(t.Context(), code); err != nil || !valid {
			t.Errorf("a refused form has used up the link: %v, %v", valid, err)
		}
	})
}

func TestWorkspaceKey_ownTeam(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap}
		var made accounts.Workspace
		err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
			made, err = accounts.NewWorkspace(tx, time.Hour)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.ByWorkspaceKey(t.Context(), made.Key)
		if err != nil || len(p.Roles) != 1 || p.Roles[made.Team] != access.Workspace {
			t.Errorf("got %v, %v", p, err)
		}
		for _, wrong := range []string{"", made.ClaimCode, made.Key + "x", strings.ToUpper(made.Key)} {
			if _, err := s.ByWorkspaceKey(t.Context(), wrong); fault.KindOf(err) != fault.Unauthenticated {
				t.Errorf("a wrong key got %v", err)
			}
		}
	})
}
