package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// RecoveryTTL is the lifetime of a link that sets a new password.
const RecoveryTTL = time.Hour

var errRecoveryOver = fault.New(fault.Gone, "link_used",
	"This link has expired, has already been used, or was replaced by a newer one. Request a new link.")

// RecoveryCode returns the code of a one-time link with which the account with an email address gets a
// new password. Earlier ones of the account stop working. It checks no permission: it is called from the
// command line, by a person with access to the database. NotFound without such an account.
func (s *Service) RecoveryCode(ctx context.Context, email string) (code string, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		account, err := tx.AccountByEmail(ascii.Lower(strings.TrimSpace(email)))
		if errors.Is(err, models.ErrNotFound) {
			return fault.New(fault.NotFound, "not_found", "No account has this email address.")
		}
		if err != nil {
			return err
		}
		code, err = newRecovery(tx, access.Principal{CommandLine: true}, account, "")
		return err
	})
	if err != nil {
		return "", fmt.Errorf("accounts: create a recovery link: %w", err)
	}
	return code, nil
}

// newRecovery replaces the recovery links of an account by one, and returns its code. mailedTo is the address that
// using the link proves, "" if it is not mailed.
func newRecovery(
	tx *models.Tx, by access.Principal, account models.Account, mailedTo string,
) (code string, err error) {
	if _, err := tx.DeleteTokensExcept(kindRecovery, account.ID, ""); err != nil {
		return "", err
	}
	code = secrets.Random()
	now := models.Now()
	until := now.Add(RecoveryTTL)
	err = tx.Insert(&models.Token{
		ID:        models.NewID("tok"),
		Kind:      kindRecovery,
		AccountID: &account.ID,
		Email:     mailedTo,
		Hash:      secrets.Digest(code),
		CreatedAt: now,
		ExpiresAt: &until,
	})
	if err != nil {
		return "", err
	}
	type link struct{ RecoveryLinkUntil string }
	return code, access.Record(tx, by, access.Entry{
		Action: access.AccountUpdate,
		Object: account.ID,
		Name:   account.Email,
		Before: link{},
		After:  link{until.UTC().Format(time.RFC3339)},
	})
}

// RecoveryEmail returns the email address of the account that a recovery link is for, "" if the link
// does not work.
func (s *Service) RecoveryEmail(ctx context.Context, code string) (string, error) {
	account, err := recovered(s.DB.Read(ctx), code)
	if errors.Is(err, models.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("accounts: look up a recovery link: %w", err)
	}
	return account.Email, nil
}

// recovered returns the account that a recovery link is for, models.ErrNotFound without one.
func recovered(tx *models.Tx, code string) (models.Account, error) {
	link, err := tx.TokenByHash(kindRecovery, secrets.Digest(code), models.Now())
	if err != nil {
		return models.Account{}, err
	}
	if link.AccountID == nil {
		return models.Account{}, models.ErrNotFound
	}
	return tx.AccountByID(*link.AccountID)
}

// Recover sets the password of the account that a recovery link is for, ends all its sessions, and signs
// it in. A link works once; of several uses at a time one wins. Access tokens stay, unless the link was mailed and is
// the first proof of the account's address (proved).
func (s *Service) Recover(ctx context.Context, code, password string, from From) (session string, err error) {
	if err := fault.InvalidFields(checkPassword("/password", password)); err != nil {
		return "", err
	}
	// Hashing is expensive, so the link is checked before it, and again in the transaction.
	if email, err := s.RecoveryEmail(ctx, code); err != nil || email == "" {
		return "", cmp.Or[error](err, errRecoveryOver)
	}
	encoded, err := s.PasswordCost.hash(ctx, password)
	if err != nil {
		return "", err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		link, err := tx.TokenByHash(kindRecovery, secrets.Digest(code), now)
		if errors.Is(err, models.ErrNotFound) || err == nil && link.AccountID == nil {
			return errRecoveryOver
		}
		if err != nil {
			return err
		}
		used, err := tx.UseToken(link.ID, now)
		if err != nil {
			return err
		}
		if !used {
			return errRecoveryOver
		}
		before, err := tx.HoldAccount(*link.AccountID)
		if err != nil {
			return err
		}
		if err := tx.SetPassword(before.ID, encoded); err != nil {
			return err
		}
		if _, err := tx.DeleteTokensExcept(kindSession, before.ID, ""); err != nil {
			return err
		}
		after := before
		after.PasswordHash = encoded
		if err := recordSelf(tx, from.as(before.ID), before.ID, before, after); err != nil {
			return err
		}
		if err := proved(tx, from.as(before.ID), before.ID, link.Email, ""); err != nil {
			return err
		}
		session, err = newSession(tx, before.ID, from)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("accounts: use a recovery link: %w", err)
	}
	return session, nil
}
