package directory

import (
	"context"
	"fmt"

	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
	"postern/service/keys"
)

// DeleteUser removes an end user with their identities and logins, and revokes the
// keys that they own. Where the tenant is open they can come again, as somebody new.
func (s *Service) DeleteUser(ctx context.Context, p access.Principal, id string) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, at, err := lockUser(tx, p, id)
		if err != nil {
			return err
		}
		if err := tx.DeleteEndUser(id); err != nil {
			return err
		}
		now := models.Now()
		if err := tx.Insert(&models.DeletedUser{
			UserID:   id,
			TenantID: at.ID,
			EndsAt:   now.Add(snapshot.BarredFor),
		}); err != nil {
			return err
		}
		if err := record(tx, p, at, id, viewUser(row), nil); err != nil {
			return err
		}
		return s.leave(ctx, tx, p, at, id)
	})
	if err != nil {
		return fmt.Errorf("directory: delete the user %s: %w", id, err)
	}
	s.Changed(ctx)
	return nil
}

// leave revokes the keys of somebody who is gone and tells the gateways. Only the
// projects that they could call count: elsewhere the id is a text like any other.
func (s *Service) leave(ctx context.Context, tx *models.Tx, p access.Principal, at place, id string) error {
	near, err := tx.ProjectsNear(at.Tenant)
	if err != nil {
		return err
	}
	if err := keys.RevokeOwned(ctx, s.Events, tx, p, near, id); err != nil {
		return err
	}
	return tx.AddPersonRevisions(at.Tenant, models.Now())
}
