package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
)

var errLinkUsed = fault.New(fault.Gone, "link_used", "This sign-in link has expired or has already been used.")

// FirstLink creates the one-time sign-in link of an installation without accounts and
// returns its code, "" if there is an account. Links of earlier starts stop working.
func (s *Service) FirstLink(ctx context.Context) (code string, err error) {
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		if err := tx.LockAccounts(); err != nil { // replicas that start together must not create two links
			return err
		}
		n, err := tx.CountAccounts()
		if err != nil || n > 0 {
			return err
		}
		if err := tx.DeleteTokens(kindLink); err != nil {
			return err
		}
		code = secrets.Random()
		now := models.Now()
		until := now.Add(linkTTL)
		return tx.Insert(&models.Token{
			ID:        models.NewID("tok"),
			Kind:      kindLink,
			Hash:      secrets.Digest(code),
			CreatedAt: now,
			ExpiresAt: &until,
		})
	})
	if err != nil {
		return "", fmt.Errorf("accounts: create the first sign-in link: %w", err)
	}
	return code, nil
}

// LinkValid reports whether a one-time link can still be used.
func (s *Service) LinkValid(ctx context.Context, code string) (bool, error) {
	_, err := s.DB.Read(ctx).TokenByHash(kindLink, secrets.Digest(code), models.Now())
	if errors.Is(err, models.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("accounts: look up a sign-in link: %w", err)
	}
	return true, nil
}

// HasAccounts reports whether the installation has an account, after which no one-time
// link works any more.
func (s *Service) HasAccounts(ctx context.Context) (bool, error) {
	n, err := s.DB.Read(ctx).CountAccounts()
	if err != nil {
		return false, fmt.Errorf("accounts: count: %w", err)
	}
	return n > 0, nil
}

// UseLink creates the installation's first account, as an operator and the owner of a new
// team, and signs it in. A link works once; of several uses at a time one wins.
func (s *Service) UseLink(ctx context.Context, code string, in SignUp) (session string, err error) {
	in, err = in.normalized()
	if err != nil {
		return "", err
	}
	// Hashing is expensive, so the link is checked before it, and again in the transaction.
	if valid, err := s.LinkValid(ctx, code); err != nil || !valid {
		return "", cmp.Or[error](err, errLinkUsed)
	}
	encoded, err := s.PasswordCost.hash(ctx, in.Password)
	if err != nil {
		return "", err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		if err := tx.LockAccounts(); err != nil {
			return err
		}
		if n, err := tx.CountAccounts(); err != nil || n > 0 {
			return cmp.Or[error](err, errLinkUsed)
		}
		link, err := tx.TokenByHash(kindLink, secrets.Digest(code), now)
		if errors.Is(err, models.ErrNotFound) {
			return errLinkUsed
		}
		if err != nil {
			return err
		}
		used, err := tx.UseToken(link.ID, now)
		if err != nil {
			return err
		}
		if !used {
			return errLinkUsed
		}
		account, err := s.newAccount(tx, models.Account{
			Email:        in.Email,
			Name:         in.Name,
			PasswordHash: encoded,
			Operator:     true,
		}, admission{}, in.From, now)
		if err != nil {
			return err
		}
		if err := recordOperator(tx, in.From.as(account.ID), account, true); err != nil {
			return err
		}
		session, err = newSession(tx, account.ID, in.From)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("accounts: use a sign-in link: %w", err)
	}
	return session, nil
}
