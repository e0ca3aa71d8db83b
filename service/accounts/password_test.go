package accounts_test

import (
	"strings"
	"testing"

	"postern/service/accounts"
	"postern/testkit/state"
)

// TestPasswordCost tests the cost of a Service that sets none, as in production.
func TestPasswordCost(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := &accounts.Service{DB: db}
	firstAccount(t, s)
	account, err := db.Read(t.Context()).AccountByEmail("ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	const secondRecommended = "$argon2id$v=19$m=65536,t=3,p=1$" // RFC 9106, 4, with one lane
	if !strings.HasPrefix(account.PasswordHash, secondRecommended) {
		t.Errorf("the stored hash does not begin with %s", secondRecommended)
	}
	_, err = s.SignIn(t.Context(), "ana@example.com", "wrong", accounts.From{})
	wants(t, "a wrong password", err, "wrong_password")
	if _, err := s.SignIn(t.Context(), "ana@example.com", password, accounts.From{}); err != nil {
		t.Errorf("the password: %v", err)
	}
	other := &accounts.Service{DB: db, PasswordCost: cheap}
	_, err = other.SignIn(t.Context(), "ana@example.com", password, accounts.From{})
	wants(t, "the password, hashed at another cost", err, "wrong_password")
}
