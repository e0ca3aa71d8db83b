package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/access"
)

// SignIn checks a password, begins a session and returns its secret. Neither error nor
// timing distinguishes an unknown address from a wrong password: Unauthenticated
// wrong_password. TooMany too_many_attempts.
func (s *Service) SignIn(ctx context.Context, email, password string, from From) (session string, err error) {
	email = ascii.Lower(strings.TrimSpace(email))
	if len(email) > maxEmail {
		email = email[:maxEmail+1] // still too long for an account, and cheap to count
	}
	account, err := s.DB.Read(ctx).AccountByEmail(email)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return "", fmt.Errorf("accounts: sign in: %w", err)
	}
	device, err := s.knownDevice(ctx, account.ID, from.Device)
	if err != nil {
		return "", fmt.Errorf("accounts: sign in: %w", err)
	}
	attempt := attempt{kind: "signin", subject: email, from: from}
	fromDevice := s.throttle.allowDevice(device, models.Now())
	if !fromDevice && !s.throttle.allow(attempt, models.Now()) {
		return "", tooMany("sign in")
	}
	encoded := account.PasswordHash
	if encoded == "" || len(password) > maxPassword { // unknown, or without a password
		encoded = decoyHash
	}
	ok, err := s.PasswordCost.verify(ctx, encoded, password)
	if err != nil {
		return "", err
	}
	if !ok || account.ID == "" {
		return "", fault.New(fault.Unauthenticated, "wrong_password", "The email address or password is wrong.")
	}
	if fromDevice {
		s.throttle.forgetDevice(device)
	} else {
		s.throttle.forget(attempt)
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := access.Record(tx, from.as(account.ID), access.Entry{
			Action: access.AccountSignIn,
			Object: account.ID,
		}); err != nil {
			return err
		}
		session, err = newSession(tx, account.ID, from)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("accounts: begin a session: %w", err)
	}
	return session, nil
}
