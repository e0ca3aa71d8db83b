package accounts_test

import (
	"testing"

	"postern/models"
	"postern/service/accounts"
	"postern/testkit/state"
)

func TestSignIn_knownDevice(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap}
		session := firstAccount(t, s)
		device, err := s.RememberDevice(t.Context(), session, "")
		if err != nil || device == "" {
			t.Fatalf("no device: %q, %v", device, err)
		}
		if again, err := s.RememberDevice(t.Context(), session, device); err != nil || again != device {
			t.Errorf("the device known again: %q, %v", again, err)
		}
		signIn := func(password, addr, device string) error {
			_, err := s.SignIn(t.Context(), "ana@example.com", password, accounts.From{
				RemoteAddr: addr,
				Device:     device,
			})
			return err
		}
		for range 10 {
			wants(t, "a guess", signIn("wrong", "192.0.2.1:1", ""), "wrong_password")
		}
		wants(t, "another browser at the guesser's address", signIn(password, "192.0.2.1:1", ""), "too_many_attempts")
		madeUp := "x" + device[1:]
		if madeUp == device {
			madeUp = "y" + device[1:]
		}
		wants(t, "a made up device", signIn(password, "192.0.2.1:1", madeUp), "too_many_attempts")
		for range 2 {
			if err := signIn(password, "192.0.2.1:1", device); err != nil {
				t.Errorf("the owner's device at a guesser's address: %v", err)
			}
		}
		for range 10 {
			wants(t, "a wrong password from the device", signIn("wrong", "192.0.2.1:1", device), "wrong_password")
		}
		wants(t, "the eleventh from the device", signIn(password, "192.0.2.1:1", device), "too_many_attempts")
	})
}

// A browser that has signed in to one account is not known to another.
func TestSignIn_deviceOfOtherAccount(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := &accounts.Service{DB: db, PasswordCost: cheap, Policy: "open"}
		firstAccount(t, s)
		bob, err := s.SignUp(t.Context(), accounts.SignUp{
			Email:    "bob@example.com",
			Name:     "Bob",
			Password: password,
		}, accounts.Ticket{})
		if err != nil {
			t.Fatal(err)
		}
		device, err := s.RememberDevice(t.Context(), bob, "")
		if err != nil {
			t.Fatal(err)
		}
		from := accounts.From{RemoteAddr: "192.0.2.1:1", Device: device}
		for range 10 {
			_, _ = s.SignIn(t.Context(), "ana@example.com", "wrong", from)
		}
		_, err = s.SignIn(t.Context(), "ana@example.com", password, from)
		wants(t, "Bob's device", err, "too_many_attempts")
	})
}
