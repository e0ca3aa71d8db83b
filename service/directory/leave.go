package directory

import (
	"context"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
	"postern/service/keys"
)

// DeleteUser deletes an end user with their identities and logins, and revokes the
// keys that they own. If the tenant is open they can join again, as a new user.
func (s *Service) DeleteUser(ctx context.Context, p access.Principal, in contract.UserPath) (contract.None, error) {
	return contract.None{}, s.deleteUser(ctx, p, in.User, ofUser(p, in.User))
}

// DeleteSelf is DeleteUser for the end user themselves. The caller has authenticated them.
func (s *Service) DeleteSelf(ctx context.Context, id string) error {
	return s.deleteUser(ctx, access.EndUser(id), id, func(tx *models.Tx) (place, error) {
		row, err := tx.EndUserByID(id)
		if err != nil {
			return place{}, absent(err)
		}
		return placeOf(tx, row.TenantID)
	})
}

func placeOf(tx *models.Tx, tenantID string) (place, error) {
	tenant, err := tx.TenantByID(tenantID)
	if err != nil {
		return place{}, err
	}
	if tenant.TeamID != nil {
		return place{tenant, *tenant.TeamID}, nil
	}
	if tenant.ProjectID == nil {
		return place{}, fmt.Errorf("directory: the tenant %s has neither team nor project", tenantID)
	}
	project, err := tx.ProjectByID(*tenant.ProjectID)
	return place{tenant, project.TeamID}, err
}

func (s *Service) deleteUser(
	ctx context.Context, p access.Principal, id string, find func(*models.Tx) (place, error),
) error {
	err := s.change(ctx, p, find, func(tx *models.Tx, at place) (outcome, error) {
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
			name:   NameOf(row),
			before: auditedOf(row),
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
