package projects

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// EventTenantDeleted is sent to webhooks after a tenant was deleted, once for all of its
// people. It is not followed by an event for each of them.
const EventTenantDeleted = "tenant.deleted"

// TenantDeletion is what deleting a tenant takes along.
type TenantDeletion struct {
	Tenant   Tenant
	Contents models.TenantContents
}

// InUse reports whether the tenant can only be deleted with its name as confirmation.
func (d TenantDeletion) InUse() bool {
	c := d.Contents
	return len(d.Tenant.Projects) > 0 || c.Users+c.Groups+c.Approvals+c.AppClients+c.Keys > 0
}

// TenantDeletion counts what deleting a tenant takes along. Its audit entries stay.
func (s *Service) TenantDeletion(ctx context.Context, p access.Principal, ref string) (TenantDeletion, error) {
	tx := s.DB.Read(ctx)
	row, _, err := access.Tenant(tx, p, ref, access.TenantRead)
	var out TenantDeletion
	if err == nil {
		out, err = tenantDeletion(tx, row)
	}
	if err != nil {
		return TenantDeletion{}, fmt.Errorf("projects: what tenant %s has: %w", ref, err)
	}
	return out, nil
}

func tenantDeletion(tx *models.Tx, row models.Tenant) (out TenantDeletion, err error) {
	if out.Tenant, err = viewTenant(tx, row); err == nil {
		out.Contents, err = tx.ContentsOfTenant(row.ID, models.Now())
	}
	return out, err
}

// DeleteTenant deletes a team's tenant. One that a project serves, or that has people, app
// clients or keys, is deleted with all of that if confirm is its name, by owners only; it is
// refused as Conflict with the code tenant_in_use if confirm is empty. The default tenant of
// a project goes with its project. Gateways refuse its keys and its people's tokens at once.
func (s *Service) DeleteTenant(ctx context.Context, p access.Principal, ref, confirm string) error {
	action := access.TenantDelete
	if confirm != "" {
		action = access.TenantErase
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, team, err := access.Tenant(tx, p, ref, action)
		if err != nil {
			return err
		}
		if _, err := tx.LockTenant(row.ID); err != nil {
			return err
		}
		takes, err := tenantDeletion(tx, row)
		if err != nil {
			return err
		}
		if err := takes.check(confirm); err != nil {
			return err
		}
		return s.eraseTenant(ctx, tx, p, row, team, takes)
	})
	if err != nil {
		return fmt.Errorf("projects: delete tenant %s: %w", ref, err)
	}
	s.Changed(ctx)
	return nil
}

func (d TenantDeletion) check(confirm string) error {
	switch {
	case d.Tenant.Project != "":
		return fault.New(fault.Conflict, "built_in", "A project keeps its tenant default as long as it exists. "+
			"Delete the project instead.")
	case confirm != "" && confirm != d.Tenant.Name:
		return fault.InvalidField("/confirm", "wrong_confirmation",
			"Type the tenant's name, %s, to delete it with everything in it.", d.Tenant.Name)
	case confirm == "" && d.InUse():
		return fault.New(fault.Conflict, "tenant_in_use",
			"%s An owner can delete the tenant with all of that, by giving its name as confirmation.", d.uses())
	}
	return nil
}

// uses says in one or two sentences what keeps the tenant from being deleted.
func (d TenantDeletion) uses() string {
	c := d.Contents
	var has, out []string
	for _, part := range []struct {
		n         int64
		one, many string
	}{
		{c.Users, "user", "users"},
		{c.Groups, "group", "groups"},
		{c.Approvals, "approval", "approvals"},
		{c.AppClients, "app client", "app clients"},
		{c.Keys, "key", "keys"},
	} {
		if part.n > 0 {
			has = append(has, countOf(part.n, part.one, part.many))
		}
	}
	if len(has) > 0 {
		out = append(out, "The tenant has "+strings.Join(has, ", ")+".")
	}
	if served := d.Tenant.Projects; len(served) > 0 {
		out = append(out, countOf(int64(len(served)), "project serves", "projects serve")+" this tenant: "+
			strings.Join(served, ", ")+".")
	}
	return strings.Join(out, " ")
}

// eraseTenant deletes the rows, and records and announces it. Revisions come last, because
// other writers wait from the first one on.
func (s *Service) eraseTenant(
	ctx context.Context, tx *models.Tx, p access.Principal, row models.Tenant, team string, takes TenantDeletion,
) error {
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
		return fault.New(fault.Conflict, "changed_meanwhile",
			"Something was added to the tenant at the same time. Try again.").Because(err)
	}
	if err != nil {
		return err
	}
	detail := map[string]string{"name": row.Name}
	for of, n := range map[string]int64{
		"users":       takes.Contents.Users,
		"groups":      takes.Contents.Groups,
		"app_clients": takes.Contents.AppClients,
		"keys":        takes.Contents.Keys,
	} {
		if n > 0 {
			detail[of] = strconv.FormatInt(n, 10)
		}
	}
	action := access.TenantDelete
	if takes.InUse() {
		action = access.TenantErase
	}
	err = access.Record(tx, p, access.Entry{
		Action: action,
		Object: row.ID,
		Team:   team,
		Detail: detail,
		Before: takes.Tenant,
	})
	if err != nil {
		return err
	}
	if err := s.tellTenantDeleted(ctx, tx, team, takes); err != nil {
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

func (s *Service) tellTenantDeleted(ctx context.Context, tx *models.Tx, team string, takes TenantDeletion) error {
	if s.Events == nil {
		return nil
	}
	return s.Events.Emit(ctx, tx, team, EventTenantDeleted, map[string]string{
		"tenant":      takes.Tenant.ID,
		"tenant_name": takes.Tenant.Name,
		"users":       strconv.FormatInt(takes.Contents.Users, 10),
	})
}
