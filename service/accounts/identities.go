package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/access"
)

// Identity is an account's sign-in with a provider.
type Identity struct {
	ID     string
	Issuer string
	Email  string // as the issuer stated it last
	SeenAt time.Time
}

// SignInMethods are the methods by which an account can sign in.
type SignInMethods struct {
	Password   bool
	Identities []Identity
}

// SignInMethods returns the ways to sign in to the account.
func (s *Service) SignInMethods(ctx context.Context, p access.Principal) (SignInMethods, error) {
	if err := access.CheckSelf(p, access.AccountRead); err != nil {
		return SignInMethods{}, err
	}
	tx := s.DB.Read(ctx)
	account, err := tx.AccountByID(p.Account)
	if err != nil {
		return SignInMethods{}, fmt.Errorf("accounts: sign-in methods of %s: %w", p.Account, err)
	}
	rows, err := tx.LinkedTo(p.Account)
	if err != nil {
		return SignInMethods{}, fmt.Errorf("accounts: sign-in methods of %s: %w", p.Account, err)
	}
	out := SignInMethods{Password: account.PasswordHash != ""}
	for _, row := range rows {
		out.Identities = append(out.Identities, Identity{
			ID:     row.ID,
			Issuer: row.Issuer,
			Email:  row.Email,
			SeenAt: row.SeenAt,
		})
	}
	return out, nil
}

// Link adds the identity to the account's sign-in methods. Conflict linked_elsewhere if an account has it already.
func (s *Service) Link(ctx context.Context, p access.Principal, who federation.Identity) error {
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return err
	}
	taken := fault.New(
		fault.Conflict, "linked_elsewhere", "This sign-in is already linked to an account. Unlink it there first.",
	)
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		now := models.Now()
		_, err := tx.LinkedBySubject(who.Issuer, who.Subject)
		if err == nil {
			return taken
		}
		if !errors.Is(err, models.ErrNotFound) {
			return err
		}
		identity := newIdentity(p.Account, who, now)
		if err := tx.Insert(&identity); errors.Is(err, models.ErrDuplicate) {
			return taken
		} else if err != nil {
			return err
		}
		if err := recordSelf(tx, p, identity.ID, nil, identity); err != nil || !who.EmailVerified {
			return err
		}
		return proved(tx, p, p.Account, identity.Email, identity.ID)
	})
	if err != nil {
		return fmt.Errorf("accounts: link %s with %s: %w", p.Account, who.Issuer, err)
	}
	return nil
}

// Unlink removes an identity from the account, but not its last sign-in method: Conflict last_sign_in. It locks the
// account, so that two can't be removed at the same time.
func (s *Service) Unlink(ctx context.Context, p access.Principal, id string) error {
	if err := access.CheckSelf(p, access.AccountUpdate); err != nil {
		return err
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		account, err := tx.HoldAccount(p.Account)
		if err != nil {
			return err
		}
		rows, err := tx.LinkedTo(p.Account)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.ID != id {
				continue
			}
			if account.PasswordHash == "" && len(rows) == 1 {
				return LastSignIn()
			}
			if err := tx.DeleteLinked(id); err != nil {
				return err
			}
			return recordSelf(tx, p, id, row, nil)
		}
		return access.NotFound()
	})
	if err != nil {
		return fmt.Errorf("accounts: unlink %s: %w", id, err)
	}
	return nil
}

// LastSignIn is the error for unlinking the only sign-in method.
func LastSignIn() error {
	return fault.New(
		fault.Conflict, "last_sign_in",
		"This is your only way to sign in. Set a password or link another sign-in first.",
	)
}

func newIdentity(account string, who federation.Identity, now time.Time) models.LinkedAccount {
	return models.LinkedAccount{
		ID:            models.NewID("idn"),
		AccountID:     account,
		Issuer:        who.Issuer,
		Subject:       who.Subject,
		Email:         ascii.Lower(strings.TrimSpace(who.Email)),
		EmailVerified: who.EmailVerified,
		CreatedAt:     now,
		SeenAt:        now,
	}
}
