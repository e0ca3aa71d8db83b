package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/models"
	"postern/platform/secrets"
)

// DeviceTTL is how long a browser's device cookie is valid after a sign-in.
const DeviceTTL = 365 * 24 * time.Hour

const (
	kindDevice = "device"
	maxDevices = 50 // of one account
)

// deviceHash returns the hash of a browser's secret that is stored for one account. A
// browser has one secret for all accounts.
func deviceHash(device, account string) []byte {
	return secrets.Digest(kindDevice + "\x00" + device + "\x00" + account)
}

// RememberDevice records that the browser with the device secret has signed in to the
// session's account, and returns the secret, a new one for "". Wrong passwords from a
// known device count against that device only, so that attackers cannot lock out its owner
// (OWASP, "Slow Down Online Guessing Attacks with Device Cookies").
func (s *Service) RememberDevice(ctx context.Context, session, device string) (string, error) {
	if len(device) != len(secrets.Random()) {
		device = secrets.Random()
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		signedIn, err := tx.TokenByHash(kindSession, secrets.Digest(session), now)
		if err != nil || signedIn.AccountID == nil {
			return err
		}
		account := *signedIn.AccountID
		if _, err := tx.TokenByHash(kindDevice, deviceHash(device, account), now); !errors.Is(err, models.ErrNotFound) {
			return err
		}
		return insertDevice(tx, account, device, now)
	})
	if err != nil {
		return "", fmt.Errorf("accounts: remember a device: %w", err)
	}
	return device, nil
}

// insertDevice adds a device to the account, and deletes the oldest if there are too many.
func insertDevice(tx *models.Tx, account, device string, now time.Time) error {
	until := now.Add(DeviceTTL)
	err := tx.Insert(&models.Token{
		ID:        models.NewID("dev"),
		Kind:      kindDevice,
		AccountID: &account,
		Hash:      deviceHash(device, account),
		CreatedAt: now,
		ExpiresAt: &until,
	})
	if err != nil {
		return err
	}
	rows, err := tx.TokensOf(kindDevice, account, now)
	if err != nil || len(rows) <= maxDevices {
		return err
	}
	for _, row := range rows[maxDevices:] {
		if err := tx.DeleteToken(row.ID); err != nil {
			return err
		}
	}
	return nil
}

// knownDevice returns the id of the device that has signed in to the account before, ""
// for none. It queries for accounts that do not exist too, so that its timing does not
// reveal which addresses have one.
func (s *Service) knownDevice(ctx context.Context, account, device string) (string, error) {
	if device == "" {
		return "", nil
	}
	row, err := s.DB.Read(ctx).TokenByHash(kindDevice, deviceHash(device, account), models.Now())
	if errors.Is(err, models.ErrNotFound) {
		return "", nil
	}
	return row.ID, err
}
