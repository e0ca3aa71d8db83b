package keys

import (
	"context"
	"errors"
	"strings"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// RevokeOwned revokes an owner's keys in some projects, in the caller's transaction, which must have checked access.
// Call it last in the transaction, because other writers wait from the first revision on.
func RevokeOwned(
	ctx context.Context, events Events, tx *models.Tx, p access.Principal, projects []string, owner string,
) error {
	rows, err := tx.KeysOwned(projects, owner)
	if err != nil {
		return err
	}
	return revokeAll(ctx, events, tx, p, rows, "owner_deleted")
}

// RevokeStranded revokes the keys that are limited to environments with the given names and are no longer valid for
// any, because the last environment with that name was removed. It is called in the transaction that removed the
// environment, which must have checked access. Call it last, like RevokeOwned.
func RevokeStranded(
	ctx context.Context, events Events, tx *models.Tx, p access.Principal, project models.Project, names []string,
) error {
	rows, err := tx.StrandedKeys(project, names, nil)
	if err != nil {
		return err
	}
	return revokeAll(ctx, events, tx, p, rows, "environment_removed")
}

// RevokeOfProduct revokes the keys of a product that is being deleted. It is called in the transaction that deletes the
// product, which must have checked access.
func RevokeOfProduct(
	ctx context.Context, events Events, tx *models.Tx, p access.Principal, productID string,
) error {
	rows, err := tx.LiveKeysOfProduct(productID)
	if err != nil {
		return err
	}
	return revokeAll(ctx, events, tx, p, rows, "product_deleted")
}

// revokeAll revokes keys with an audit entry, an event and a revision for each.
func revokeAll(
	ctx context.Context, events Events, tx *models.Tx, p access.Principal, rows []models.APIKey, because string,
) error {
	now := models.Now()
	for _, row := range rows {
		if err := revokeBecause(ctx, events, tx, p, row, because, now); err != nil {
			return err
		}
	}
	for _, row := range rows {
		if err := tx.AddRevision(row.ProjectID, row.ID, now); err != nil {
			return err
		}
	}
	return nil
}

func revokeBecause(
	ctx context.Context, events Events, tx *models.Tx, p access.Principal, row models.APIKey, because string,
	now time.Time,
) error {
	parent, err := tx.ProjectByID(row.ProjectID)
	if err != nil {
		return err
	}
	before := row
	revoke(&row)
	row.UpdatedAt = now
	detail := map[string]string{"change": "revoke", "because": because}
	return saveChange(ctx, events, tx, p, parent, before, row, detail)
}

func revoke(row *models.APIKey) {
	row.State = string(snapshot.KeyRevoked)
	row.OldHash, row.GraceEndsAt = nil, nil
}

var errChanged = fault.New(fault.Conflict, "changed_concurrently",
	"This key was changed by another request. Reload it and try again.")

// lockOwner finds the end user that a new key's owner names, and keeps them from being
// frozen or deleted before the key is there to be refused with them. The zero
// EndUser is for any other owner. A key has the groups of its owner, so the user must be
// of the key's tenant.
func lockOwner(tx *models.Tx, row models.APIKey) (models.EndUser, error) {
	if !strings.HasPrefix(row.Owner, "usr_") {
		return models.EndUser{}, nil
	}
	user, err := tx.LockEndUser(row.Owner)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return models.EndUser{}, err
	}
	if err == nil && user.TenantID == row.TenantID {
		return user, nil
	}
	served, err := tx.TenantsOf(row.ProjectID)
	if err != nil {
		return models.EndUser{}, err
	}
	return models.EndUser{}, notOfTenant(served, row, user)
}

// notOfTenant is the refusal of the owner of a new key. The tenant of the user, the zero EndUser for
// none, is named only if the project serves it: others may be another team's.
func notOfTenant(served []models.Tenant, row models.APIKey, user models.EndUser) error {
	names := map[string]string{}
	for _, one := range served {
		names[one.ID] = one.Name
	}
	of := names[row.TenantID]
	if name := names[user.TenantID]; name != "" {
		return fault.InvalidField("/owner", "wrong_tenant", "This user belongs to the tenant %q, but the key "+
			"would belong to the tenant %q. Set the key's tenant to %s, or choose a user in the tenant %q.",
			name, of, name, of)
	}
	return fault.InvalidField("/owner", "unknown_user", "The tenant %q has no user with this ID. Use the ID of "+
		"a user, or an app name that doesn't begin with usr_.", of)
}

// reviseFor adds the revisions by which gateways load a new key, its owner if the owner is frozen, and the owner's
// groups if rules require groups: gateways drop frozen users who have neither keys nor valid tokens, and have the
// groups of owners of keys alone.
func reviseFor(tx *models.Tx, row *models.APIKey, owner models.EndUser) error {
	if err := tx.AddRevision(row.ProjectID, row.ID, row.UpdatedAt); err != nil || owner.ID == "" {
		return err
	}
	tenant, err := tx.TenantByID(owner.TenantID)
	if err != nil {
		return err
	}
	if owner.State != "frozen" {
		return tx.AddRuleRevisions(tenant, row.UpdatedAt)
	}
	return tx.AddPersonRevisions(tenant, row.UpdatedAt)
}
