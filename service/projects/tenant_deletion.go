package projects

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// EventTenantDeleted is sent to webhooks once after a tenant was deleted. Its users don't get events of their own.
const EventTenantDeleted = "tenant.deleted"

// TenantDeletion returns what deleting a tenant deletes too.
func (s *Service) TenantDeletion(
	ctx context.Context, p access.Principal, in contract.TenantPath,
) (contract.TenantDeletion, error) {
	tx := s.DB.Read(ctx)
	row, _, err := access.Tenant(tx, p, in.Tenant, access.TenantRead)
	var out contract.TenantDeletion
	if err == nil {
		_, out, err = tenantAndDeletion(tx, row)
	}
	if err != nil {
		return contract.TenantDeletion{}, fmt.Errorf("projects: list the contents of tenant %s: %w", in.Tenant, err)
	}
	return out, nil
}

// TenantSettings is the data of a tenant's page, read in one transaction.
type TenantSettings struct {
	Tenant   contract.Tenant
	CORS     contract.SavedCORS
	Deletion contract.TenantDeletion
}

// TenantSettings returns them.
func (s *Service) TenantSettings(
	ctx context.Context, p access.Principal, in contract.TenantPath,
) (out TenantSettings, err error) {
	tx := s.DB.Read(ctx)
	row, _, err := access.Tenant(tx, p, in.Tenant, access.TenantRead)
	if err == nil {
		out.Tenant, out.Deletion, err = tenantAndDeletion(tx, row)
	}
	if err == nil {
		out.CORS, err = viewTenantCORS(tx, row)
	}
	if err != nil {
		return TenantSettings{}, fmt.Errorf("projects: settings of tenant %s: %w", in.Tenant, err)
	}
	return out, nil
}

func tenantAndDeletion(tx *models.Tx, row models.Tenant) (contract.Tenant, contract.TenantDeletion, error) {
	tenant, err := tenantNow(tx, row)
	if err != nil {
		return tenant, contract.TenantDeletion{}, err
	}
	c, err := tx.ContentsOfTenant(row.ID, models.Now())
	return tenant, contract.TenantDeletion{
		Projects:   tenant.Projects,
		Users:      c.Users,
		Groups:     c.Groups,
		Approvals:  c.Approvals,
		AppClients: c.AppClients,
		Providers:  c.Providers,
		Sessions:   c.Sessions,
		Keys:       c.Keys,
		ActiveKeys: c.ActiveKeys,
		InUse:      len(tenant.Projects) > 0 || c.Users+c.Groups+c.Approvals+c.AppClients+c.Keys > 0,
	}, err
}

// DeleteTenant deletes a team's tenant. If a project serves the tenant, or it has people, app clients or keys, only
// owners can delete it, and confirm has to be its name: then all of these are deleted too. If confirm is empty, it
// returns Conflict with the code tenant_in_use. The default tenant of a project is deleted with its project. Gateways
// refuse the tenant's keys and its people's tokens immediately.
func (s *Service) DeleteTenant(
	ctx context.Context, p access.Principal, in contract.TenantRemoval,
) (contract.None, error) {
	action := access.TenantDelete
	if in.Confirm != "" {
		action = access.TenantErase
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, team, err := access.Tenant(tx, p, in.Tenant, action)
		if err != nil {
			return err
		}
		if _, err := tx.LockTenant(row.ID); err != nil {
			return err
		}
		_, takes, err := tenantAndDeletion(tx, row)
		if err != nil {
			return err
		}
		if err := checkTenantDeletion(row, takes, in.Confirm); err != nil {
			return err
		}
		return s.eraseTenant(ctx, tx, p, row, team, takes)
	})
	if err != nil {
		return contract.None{}, fmt.Errorf("projects: delete tenant %s: %w", in.Tenant, err)
	}
	s.Changed(ctx)
	return contract.None{}, nil
}

func checkTenantDeletion(row models.Tenant, d contract.TenantDeletion, confirm string) error {
	switch {
	case row.ProjectID != nil:
		return fault.New(fault.Conflict, "built_in", "You can't delete a project's default tenant. Delete the "+
			"project instead.")
	case confirm != "" && confirm != row.Name:
		return fault.InvalidField("/confirm", "wrong_confirmation",
			"Type the tenant's name, %s, to delete the tenant and everything in it.", row.Name)
	case confirm == "" && d.InUse:
		return fault.New(fault.Conflict, "tenant_in_use",
			"%s An owner can delete the tenant and everything in it by sending the request with ?confirm=%s.",
			uses(d), row.Name)
	}
	return nil
}

// uses says in one or two sentences what keeps the tenant from being deleted.
func uses(d contract.TenantDeletion) string {
	var has, out []string
	for _, part := range []struct {
		n         int64
		one, many string
	}{
		{d.Users, "user", "users"},
		{d.Groups, "group", "groups"},
		{d.Approvals, "approval", "approvals"},
		{d.AppClients, "app client", "app clients"},
		{d.Keys, "key", "keys"},
	} {
		if part.n > 0 {
			has = append(has, countOf(part.n, part.one, part.many))
		}
	}
	if len(has) > 0 {
		out = append(out, "The tenant has "+strings.Join(has, ", ")+".")
	}
	if served := d.Projects; len(served) > 0 {
		out = append(out, countOf(int64(len(served)), "project serves", "projects serve")+" this tenant: "+
			strings.Join(served, ", ")+".")
	}
	return strings.Join(out, " ")
}

// eraseTenant deletes the rows, and records and announces it. Revisions come last, because
// other writers wait from the first one on.
func (s *Service) eraseTenant(
	ctx context.Context, tx *models.Tx, p access.Principal, row models.Tenant, team string,
	takes contract.TenantDeletion,
) error {
	before, err := stateOfTenant(tx, row)
	if err != nil {
		return err
	}
	served, err := tx.ProjectsNear(row)
	if err != nil {
		return err
	}
	gone, err := tx.KeysOfTenant(row.ID)
	if err != nil {
		return err
	}
	err = tx.EraseTenant(row.ID)
	if errors.Is(err, models.ErrReferenced) {
		return fault.New(fault.Conflict, "changed_concurrently",
			"The tenant was changed by another request. Try again.").Because(err)
	}
	if err != nil {
		return err
	}
	detail := map[string]string{"name": row.Name}
	for of, n := range map[string]int64{
		"users":       takes.Users,
		"groups":      takes.Groups,
		"app_clients": takes.AppClients,
		"keys":        takes.Keys,
	} {
		if n > 0 {
			detail[of] = strconv.FormatInt(n, 10)
		}
	}
	action := access.TenantDelete
	if takes.InUse {
		action = access.TenantErase
	}
	err = access.Record(tx, p, access.Entry{
		Action: action,
		Object: row.ID,
		Team:   team,
		Detail: detail,
		Before: before,
	})
	if err != nil {
		return err
	}
	if err := s.emitTenantDeleted(ctx, tx, team, row, takes); err != nil {
		return err
	}
	now := models.Now()
	for _, id := range served {
		if err := tx.AddRevision(id, "", now); err != nil {
			return err
		}
	}
	for _, key := range gone {
		if err := tx.AddRevision(key.ProjectID, key.ID, now); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) emitTenantDeleted(
	ctx context.Context, tx *models.Tx, team string, row models.Tenant, takes contract.TenantDeletion,
) error {
	if s.Events == nil {
		return nil
	}
	return s.Events.Emit(ctx, tx, team, EventTenantDeleted, map[string]any{
		"tenant":      row.ID,
		"tenant_name": row.Name,
		"users":       strconv.FormatInt(takes.Users, 10),
	})
}
