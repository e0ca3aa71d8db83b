package accounts_test

import (
	"sync"
	"testing"

	"postern/models"
	"postern/service/accounts"
	"postern/testkit/state"
)

func TestRecover(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap}
		firstAccount(t, s)
		old, err := s.SignIn(t.Context(), "ana@example.com", password, accounts.From{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.RecoveryCode(t.Context(), "unknown@example.com")
		wants(t, "an unknown address", err, "not_found")
		replaced, err := s.RecoveryCode(t.Context(), "ana@example.com")
		if err != nil {
			t.Fatal(err)
		}
		code, err := s.RecoveryCode(t.Context(), " Ana@Example.com ")
		if err != nil {
			t.Fatal(err)
		}
		for name, dead := range map[string]string{"a replaced link": replaced, "no link": "x", "a session": old} {
			if email, err := s.RecoveryEmail(t.Context(), dead); err != nil || email != "" {
				t.Errorf("%s: %q, %v", name, email, err)
			}
			_, err := s.Recover(t.Context(), dead, "a brand new password", accounts.From{})
			wants(t, name, err, "link_used")
		}
		_, err = s.Recover(t.Context(), code, "short", accounts.From{})
		wants(t, "a short password", err, "invalid_password")
		if email, err := s.RecoveryEmail(t.Context(), code); err != nil || email != "ana@example.com" {
			t.Errorf("after a refusal: %q, %v", email, err)
		}
		session, err := s.Recover(t.Context(), code, "a brand new password", accounts.From{})
		if err != nil {
			t.Fatal(err)
		}
		for secret, works := range map[string]bool{session: true, old: false} {
			if p, err := s.BySession(t.Context(), secret); err != nil || (p.Account != "") != works {
				t.Errorf("session: %+v, %v; want %t", p, err, works)
			}
		}
		_, err = s.SignIn(t.Context(), "ana@example.com", password, accounts.From{})
		wants(t, "the old password", err, "wrong_password")
		if _, err := s.SignIn(t.Context(), "ana@example.com", "a brand new password", accounts.From{}); err != nil {
			t.Error(err)
		}
		_, err = s.Recover(t.Context(), code, "another new password", accounts.From{})
		wants(t, "the link again", err, "link_used")
	})
}

// If a link is used several times at once, one use succeeds.
func TestRecover_raced(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap}
		firstAccount(t, s)
		code, err := s.RecoveryCode(t.Context(), "ana@example.com")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		succeeded := make([]bool, 8)
		for i := range succeeded {
			wg.Go(func() {
				_, err := s.Recover(t.Context(), code, "a brand new password", accounts.From{})
				succeeded[i] = err == nil
			})
		}
		wg.Wait()
		n := 0
		for _, one := range succeeded {
			if one {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d uses succeeded", n)
		}
	})
}
