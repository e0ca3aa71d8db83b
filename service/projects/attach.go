package projects

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Served lists the tenants that a project serves by name: its own and those of its
// team that are attached to it.
func (s *Service) Served(
	ctx context.Context, p access.Principal, ref string, page models.Page,
) (models.List[contract.Tenant], error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, ref, access.TenantRead)
	if err != nil {
		return models.List[contract.Tenant]{}, fmt.Errorf("projects: tenants of %s: %w", ref, err)
	}
	if _, err := listedTeams(p, access.TenantRead, project.TeamID); err != nil {
		return models.List[contract.Tenant]{}, fmt.Errorf("projects: tenants of %s: %w", ref, err)
	}
	rows, err := tx.TenantsServed(project.ID, page)
	if err != nil {
		return models.List[contract.Tenant]{}, fmt.Errorf("projects: tenants of %s: %w", ref, err)
	}
	list, err := shownTenants(tx, rows)
	if err != nil {
		return models.List[contract.Tenant]{}, fmt.Errorf("projects: tenants of %s: %w", ref, err)
	}
	return list, nil
}

// Attachable returns the names of the team's tenants that the project does not serve yet.
func (s *Service) Attachable(ctx context.Context, p access.Principal, ref string) (names []string, err error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, ref, access.TenantRead)
	if err != nil {
		return nil, fmt.Errorf("projects: tenants to attach to %s: %w", ref, err)
	}
	served, err := tx.TenantsOf(project.ID)
	if err != nil {
		return nil, fmt.Errorf("projects: tenants to attach to %s: %w", ref, err)
	}
	known := map[string]bool{}
	for _, row := range served {
		known[row.ID] = true
	}
	all, err := tx.TenantsOfTeam(project.TeamID)
	if err != nil {
		return nil, fmt.Errorf("projects: tenants to attach to %s: %w", ref, err)
	}
	for _, row := range all {
		if !known[row.ID] {
			names = append(names, row.Name)
		}
	}
	return names, nil
}

// Attach lets a project serve a tenant of its team. Nothing changes if the project already serves it.
func (s *Service) Attach(
	ctx context.Context, p access.Principal, in contract.AttachmentPath,
) (contract.Tenant, error) {
	var out contract.Tenant
	attach := func(tx *models.Tx, project models.Project, row models.Tenant, now time.Time) (err error) {
		if row.ProjectID != nil && *row.ProjectID != project.ID {
			return fault.New(fault.Conflict, "built_in", "This is the default tenant of another project. Only that "+
				"project can serve it.")
		}
		if row.ProjectID == nil {
			_, err = tx.AttachTenant(models.ProjectTenant{ProjectID: project.ID, TenantID: row.ID, CreatedAt: now})
		}
		if err == nil && s.CheckLogin != nil {
			err = s.CheckLogin(tx, project.ID)
		}
		if err == nil {
			out, err = tenantNow(tx, row)
		}
		return err
	}
	err := s.changeServed(ctx, p, in, "attach", attach)
	return out, err
}

// Detach makes a project stop serving a tenant: from then on, calls with the tenant's keys get 403 wrong_tenant there.
// Nothing changes if the tenant isn't attached.
func (s *Service) Detach(
	ctx context.Context, p access.Principal, in contract.AttachmentPath,
) (contract.None, error) {
	detach := func(tx *models.Tx, project models.Project, row models.Tenant, _ time.Time) error {
		if row.ProjectID != nil {
			return fault.New(fault.Conflict, "built_in", "You can't detach a project's default tenant.")
		}
		_, err := tx.DetachTenant(project.ID, row.ID)
		return err
	}
	return contract.None{}, s.changeServed(ctx, p, in, "detach", detach)
}

// changeServed changes which tenants a project serves. The tenant is named by its id, or
// by its name in the project's team.
func (s *Service) changeServed(
	ctx context.Context, p access.Principal, in contract.AttachmentPath, change string,
	fn func(*models.Tx, models.Project, models.Tenant, time.Time) error,
) error {
	says := &note{change: change}
	return s.changeNoted(ctx, p, in.Project, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		row, err := tx.TenantByName(project.TeamID, in.Tenant)
		if errors.Is(err, models.ErrNotFound) {
			var team string
			row, team, err = access.Tenant(tx, p, in.Tenant, access.TenantRead)
			if err == nil && team != project.TeamID {
				err = access.NotFound()
			}
		}
		if err != nil {
			return fmt.Errorf("tenant %s: %w", in.Tenant, err)
		}
		if err := stillOf(tx, project); err != nil {
			return err
		}
		says.object = "tenant " + strconv.Quote(row.Name)
		return fn(tx, project, row, now)
	})
}
