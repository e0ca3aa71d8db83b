package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/models"
)

// DeviceTTL is how long a browser that has signed in to an account is known by its
// device cookie.
const DeviceTTL = 365 * 24 * time.Hour

const (
	kindDevice = "device"
	maxDevices = 50 // of one account
)

// deviceHash is what is kept of a browser's secret for one account: a browser has one
// secret for all accounts that sign in with it.
func deviceHash(device, account string) []byte {
	return hash(kindDevice + "\x00" + device + "\x00" + account)
}

// KnowDevice remembers that the browser with the device secret has signed in to the
// session's account, and returns the secret; with "" the browser gets a new one. Wrong
// passwords from a known device count against that device alone, so that the attempts
// of others never lock out its owner (OWASP, "Slow Down Online Guessing Attacks with
// Device Cookies").
func (s *Service) KnowDevice(ctx context.Context, session, device string) (string, error) {
	if len(device) != len(newSecret()) {
		device = newSecret()
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		signedIn, err := tx.TokenByHash(kindSession, hash(session), now)
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

// insertDevice forgets the account's oldest devices where it has too many.
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

// knownDevice returns the id of the device that has signed in to the account before,
// "" for none. It looks for accounts that do not exist too: the time it takes must not
// tell which addresses have one.
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
