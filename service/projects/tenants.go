package projects

import (
	"context"
	"fmt"
	"maps"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Tenant is a customer workspace. It belongs to a team and is attached to projects, or is
// the tenant named default that each project has of its own.
type Tenant struct {
	ID            string
	Team          string `audit:"-"` // id
	Project       string `audit:"-"` // id, for the default tenant of a project; "" for a team's
	Name          string
	DisplayName   string
	FallbackOwner string             // "": the project's
	CORS          contract.SavedCORS // of calls with its credentials; not set: the project's
	Projects      []string           // names of the projects that serve it
	ETag          string             `audit:"-"`
	CreatedAt     time.Time
}

// TenantInput is what CreateTenant takes.
type TenantInput struct {
	Team                             string // id; the principal's home team when empty
	Name, DisplayName, FallbackOwner string
}

// TenantChange is what UpdateTenant can change; nil leaves a field as it is.
type TenantChange struct{ DisplayName, FallbackOwner *string }

// Tenants lists the tenants of the principal's teams and of their projects, oldest
// first, or of one team.
func (s *Service) Tenants(
	ctx context.Context, p access.Principal, team string, page models.Page,
) (models.List[Tenant], error) {
	teams, err := listedTeams(p, access.TenantRead, team)
	if err != nil {
		return models.List[Tenant]{}, fmt.Errorf("projects: list tenants: %w", err)
	}
	tx := s.DB.Read(ctx)
	rows, err := tx.TenantsOfTeams(teams, page)
	if err != nil {
		return models.List[Tenant]{}, fmt.Errorf("projects: list tenants: %w", err)
	}
	list, err := viewTenants(tx, rows)
	if err != nil {
		return models.List[Tenant]{}, fmt.Errorf("projects: list tenants: %w", err)
	}
	return list, nil
}

func viewTenants(tx *models.Tx, rows models.List[models.Tenant]) (models.List[Tenant], error) {
	list := models.List[Tenant]{Next: rows.Next, Total: rows.Total}
	projects, err := tx.ProjectsOfTenants(rows.Items)
	if err != nil {
		return models.List[Tenant]{}, err
	}
	for _, row := range rows.Items {
		tenant, err := viewTenantOf(tx, row, projects[row.ID])
		if err != nil {
			return models.List[Tenant]{}, err
		}
		list.Items = append(list.Items, tenant)
	}
	return list, nil
}

// Tenant finds a tenant by its id, or a team's by its name.
func (s *Service) Tenant(ctx context.Context, p access.Principal, ref string) (Tenant, error) {
	tx := s.DB.Read(ctx)
	row, _, err := access.Tenant(tx, p, ref, access.TenantRead)
	if err != nil {
		return Tenant{}, fmt.Errorf("projects: get tenant %s: %w", ref, err)
	}
	return viewTenant(tx, row)
}

// CreateTenant creates a tenant in a team of the principal's.
func (s *Service) CreateTenant(ctx context.Context, p access.Principal, in TenantInput) (Tenant, error) {
	var out Tenant
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		team, err := teamFor(p, in.Team, access.TenantCreate)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(in.check()); err != nil {
			return err
		}
		if err := access.CheckQuota(tx, team, models.QuotaTenants); err != nil {
			return err
		}
		row, made, err := ensureTenant(tx, p, team, in)
		if err != nil {
			return err
		}
		if !made {
			return taken("tenant", in.Name)
		}
		out, err = viewTenant(tx, row)
		return err
	})
	if err != nil {
		return Tenant{}, fmt.Errorf("projects: create tenant %s: %w", in.Name, err)
	}
	return out, nil
}

func (in TenantInput) check() []fault.Field {
	wrong := append(checkTenantName("/name", in.Name), checkDisplayName(in.DisplayName)...)
	if in.FallbackOwner != "" {
		wrong = append(wrong, checkFallbackOwner(in.FallbackOwner)...)
	}
	return wrong
}

func checkTenantName(pointer, name string) []fault.Field {
	if !ValidName(name) {
		return []fault.Field{nameFault(pointer)}
	}
	if name == snapshot.DefaultTenant {
		return []fault.Field{{
			Pointer: pointer,
			Code:    "reserved_name",
			Detail:  "Each project has a tenant named default of its own. Choose another name.",
		}}
	}
	return nil
}

// ensureTenant finds the team's tenant of that name, or creates it with its audit entry.
func ensureTenant(tx *models.Tx, p access.Principal, team string, in TenantInput) (models.Tenant, bool, error) {
	now := models.Now()
	row, made, err := tx.EnsureTenant(models.Tenant{
		ID:            models.NewID("tnt"),
		TeamID:        &team,
		Name:          in.Name,
		DisplayName:   in.DisplayName,
		FallbackOwner: in.FallbackOwner,
		CreatedAt:     now,
		UpdatedAt:     now,
	})
	if err != nil || !made {
		return row, made, err
	}
	after, err := viewTenant(tx, row)
	if err != nil {
		return row, made, err
	}
	return row, made, access.Record(tx, p, access.Entry{
		Action: access.TenantCreate,
		Object: row.ID,
		Team:   team,
		Detail: map[string]string{"name": in.Name},
		After:  after,
	})
}

// UpdateTenant changes a tenant for every project that serves it. With ifMatch not empty
// the change is refused as stale unless that is still the tenant's ETag.
func (s *Service) UpdateTenant(
	ctx context.Context, p access.Principal, ref, ifMatch string, in TenantChange,
) (Tenant, error) {
	var out Tenant
	err := s.changeTenant(ctx, p, ref, nil, func(tx *models.Tx, row *models.Tenant) (err error) {
		if err := access.Unchanged(ifMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		seen := row.UpdatedAt
		if err := fault.InvalidFields(in.apply(row)); err != nil {
			return err
		}
		row.UpdatedAt = models.Now()
		if err := written(tx.UpdateTenant(*row, seen)); err != nil {
			return err
		}
		out, err = viewTenant(tx, *row)
		return err
	})
	return out, err
}

// changeTenant changes a tenant in one transaction: it checks permission, calls fn, which writes
// the row, and writes the audit entry and the revisions of the projects that serve it.
func (s *Service) changeTenant(
	ctx context.Context, p access.Principal, ref string, detail map[string]string,
	fn func(*models.Tx, *models.Tenant) error,
) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, team, err := access.Tenant(tx, p, ref, access.TenantUpdate)
		if err != nil {
			return err
		}
		before, err := viewTenant(tx, row)
		if err != nil {
			return err
		}
		if err := fn(tx, &row); err != nil {
			return err
		}
		after, err := viewTenant(tx, row)
		if err != nil {
			return err
		}
		entry := access.Entry{
			Action:  access.TenantUpdate,
			Object:  row.ID,
			Project: before.Project,
			Team:    team,
			Detail:  map[string]string{"name": row.Name},
			Before:  before,
			After:   after,
		}
		maps.Copy(entry.Detail, detail)
		if err := access.Record(tx, p, entry); err != nil {
			return err
		}
		return tx.AddTenantRevisions(row, row.UpdatedAt)
	})
	if err != nil {
		return fmt.Errorf("projects: change tenant %s: %w", ref, err)
	}
	s.Changed(ctx)
	return nil
}

// apply sets the row's fields, and returns the fields that are wrong.
func (in TenantChange) apply(row *models.Tenant) []fault.Field {
	var wrong []fault.Field
	if in.DisplayName != nil {
		row.DisplayName = *in.DisplayName
		wrong = checkDisplayName(row.DisplayName)
	}
	if in.FallbackOwner != nil {
		row.FallbackOwner = *in.FallbackOwner
		if row.FallbackOwner != "" {
			wrong = append(wrong, checkFallbackOwner(row.FallbackOwner)...)
		}
	}
	return wrong
}

func viewTenant(tx *models.Tx, row models.Tenant) (Tenant, error) {
	projects, err := tx.ProjectsOfTenants([]models.Tenant{row})
	if err != nil {
		return Tenant{}, err
	}
	return viewTenantOf(tx, row, projects[row.ID])
}

func viewTenantOf(tx *models.Tx, row models.Tenant, projects []models.Project) (Tenant, error) {
	out := Tenant{
		ID:            row.ID,
		Name:          row.Name,
		DisplayName:   row.DisplayName,
		FallbackOwner: row.FallbackOwner,
		ETag:          access.ETag(row.UpdatedAt),
		CreatedAt:     row.CreatedAt,
	}
	if out.DisplayName == "" {
		out.DisplayName = row.Name
	}
	if row.TeamID != nil {
		out.Team = *row.TeamID
	}
	var err error
	if out.CORS, err = viewTenantCORS(tx, row); err != nil {
		return out, err
	}
	for _, project := range projects {
		out.Projects = append(out.Projects, project.Name)
		if row.ProjectID != nil {
			out.Project, out.Team = project.ID, project.TeamID
		}
	}
	return out, nil
}
