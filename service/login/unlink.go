package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/directory"
)

var (
	errNotLinked  = fault.New(fault.NotFound, "not_found", "This sign-in isn't linked to your account.")
	errLastSignIn = fault.New(fault.Conflict, "last_sign_in", "This is your only way to sign in. Link another "+
		"provider "+
		"first, or delete your account.")
)

// identityKey names an identity in the address of a form, where neither the subject nor the
// issuer should be.
func identityKey(one models.Identity) string {
	sum := sha256.Sum256([]byte(one.Issuer + "\n" + one.Subject))
	return hex.EncodeToString(sum[:])
}

// mayUnlink reports whether a user can still sign in without one of their identities.
// Identities of deleted and disabled providers do not count: nothing can be done with them.
func mayUnlink(tx *models.Tx, all []models.Identity, key string) (bool, error) {
	for _, one := range all {
		if identityKey(one) == key {
			continue
		}
		provider, err := tx.ProviderByID(one.ProviderID)
		if unlessAbsent(err) != nil {
			return false, err
		}
		if err == nil && provider.Enabled {
			return true, nil
		}
	}
	return false, nil
}

// Unlink removes one of the ways to sign in of the user whose session the cookie is, and the
// memberships that only the claims of that provider gave them. Forbidden sign_in_again if
// their sign-in is too long ago; Conflict last_sign_in for the only one.
func (s *Service) Unlink(ctx context.Context, clientID, cookie, key string) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		user, err := byCookie(clientID, cookie, true)(tx)
		if err != nil {
			return err
		}
		// In this order, because of the groups; see models.Tx.LockEndUser. Identities are
		// counted under the lock: two requests at once must not remove the last two.
		if _, err := tx.LockTenant(user.TenantID); err != nil {
			return err
		}
		if row, err := tx.LockEndUser(user.ID); err != nil || row.State != directory.Active {
			return errNoSession.Because(err)
		}
		return s.unlink(ctx, tx, clientID, user, key)
	})
	if err != nil {
		return fmt.Errorf("login: unlink a provider at %s: %w", clientID, err)
	}
	s.Changed(ctx)
	return nil
}

func (s *Service) unlink(ctx context.Context, tx *models.Tx, clientID string, user subject, key string) error {
	all, err := tx.IdentitiesOf(user.ID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(one models.Identity) bool { return identityKey(one) == key })
	if at < 0 {
		return errNotLinked
	}
	switch may, err := mayUnlink(tx, all, key); {
	case err != nil:
		return err
	case !may:
		return errLastSignIn
	}
	gone := all[at]
	if err := tx.DeleteIdentity(gone); err != nil {
		return err
	}
	if err := s.unmap(ctx, tx, clientID, user, gone, slices.Delete(all, at, at+1)); err != nil {
		return err
	}
	return access.RecordServed(tx, access.Principal{}, user.tenant, access.Entry{
		Action: access.UserUpdate,
		Object: user.ID,
		Name:   directory.NameOf(user.EndUser),
		Team:   user.team,
		Detail: map[string]string{"tenant": user.TenantID, "by": "user"},
		Before: struct{ LinkedProvider string }{gone.ProviderID},
	})
}

// unmap takes a user out of the groups that a provider's claims put them into, unless they
// can still sign in through that provider: no later sign-in would end these memberships.
func (s *Service) unmap(
	ctx context.Context, tx *models.Tx, clientID string, user subject, gone models.Identity, left []models.Identity,
) error {
	provider := gone.ProviderID
	if slices.ContainsFunc(left, func(one models.Identity) bool { return one.ProviderID == provider }) {
		return nil
	}
	held, err := tx.GroupsMappedFor(user.ID, provider)
	if err != nil {
		return err
	}
	removed, err := removeMapped(tx, user.EndUser, provider, held, nil)
	if err != nil {
		return err
	}
	if _, err := tx.SetUnstatedClaims(models.UnstatedClaims{UserID: user.ID, ProviderID: provider}); err != nil {
		return err
	}
	client, err := tx.AppClientByID(clientID)
	if err != nil {
		return err
	}
	entry := ticket{Mapped: &mapped{}}
	entry.Identity.Provider = provider
	return s.emitMapped(ctx, tx, client, entry, user.EndUser, mappedOutcome{removed: removed})
}
