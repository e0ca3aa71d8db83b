package directory

import (
	"context"
	"fmt"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
	"postern/service/keys"
)

// DeleteUser deletes an end user with their identities and logins, and revokes the
// keys that they own. If the tenant is open they can join again, as a new user.
func (s *Service) DeleteUser(ctx context.Context, p access.Principal, id string) error {
	err := s.change(ctx, p, ofUser(p, id), func(tx *models.Tx, at place) (outcome, error) {
		row, err := tx.LockEndUser(id)
		if err != nil {
			return outcome{}, absent(err)
		}
		left, err := memberEvents(tx, id, time.Time{})
		if err != nil {
			return outcome{}, err
		}
		if err := tx.DeleteEndUser(id); err != nil {
			return outcome{}, err
		}
		deleted := models.DeletedUser{
			UserID:   id,
			TenantID: at.ID,
			EndsAt:   models.Now().Add(snapshot.BarredFor),
		}
		return outcome{
			object: id,
			before: viewUser(row),
			events: append(left, userEvent(EventUserDeleted, row)),
			revise: func(tx *models.Tx, tenant models.Tenant, now time.Time) error {
				return s.revokeOwned(ctx, tx, p, tenant, id, now)
			},
		}, tx.Insert(&deleted)
	})
	if err != nil {
		return fmt.Errorf("directory: delete the user %s: %w", id, err)
	}
	return nil
}

// revokeOwned revokes the keys of a deleted user and adds the gateways' revisions. It covers
// only the projects that the user could call: in others the same text as an owner
// means something else.
func (s *Service) revokeOwned(
	ctx context.Context, tx *models.Tx, p access.Principal, tenant models.Tenant, id string, now time.Time,
) error {
	projects, err := tx.ProjectsNear(tenant)
	if err != nil {
		return err
	}
	if err := keys.RevokeOwned(ctx, s.Events, tx, p, projects, id); err != nil {
		return err
	}
	return tx.AddPersonRevisions(tenant, now)
}
