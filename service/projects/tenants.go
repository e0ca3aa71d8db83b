package projects

import (
	"cmp"
	"context"
	"fmt"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// tenantState is a tenant in the form of the audit log.
type tenantState struct {
	Name          string
	DisplayName   string
	FallbackOwner string             // "": the project's
	CORS          contract.SavedCORS // of calls with its credentials; not set: the project's
	Projects      []string
}

func stateOfTenant(tx *models.Tx, row models.Tenant) (tenantState, error) {
	now, err := tenantNow(tx, row)
	if err != nil {
		return tenantState{}, err
	}
	cors, err := viewTenantCORS(tx, row)
	return tenantState{now.Name, now.DisplayName, row.FallbackOwner, cors, now.Projects}, err
}

// Tenants lists the tenants of the principal's teams and of their projects, oldest
// first, or of one team.
func (s *Service) Tenants(
	ctx context.Context, p access.Principal, in contract.TeamList,
) (models.List[contract.Tenant], error) {
	var none models.List[contract.Tenant]
	teams, err := listedTeams(p, access.TenantRead, in.Team)
	if err != nil {
		return none, fmt.Errorf("projects: list tenants: %w", err)
	}
	tx := s.DB.Read(ctx)
	rows, err := tx.TenantsOfTeams(teams, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return none, fmt.Errorf("projects: list tenants: %w", err)
	}
	list, err := shownTenants(tx, rows)
	if err != nil {
		return none, fmt.Errorf("projects: list tenants: %w", err)
	}
	return list, nil
}

func shownTenants(tx *models.Tx, rows models.List[models.Tenant]) (models.List[contract.Tenant], error) {
	projects, err := tx.ProjectsOfTenants(rows.Items)
	if err != nil {
		return models.List[contract.Tenant]{}, err
	}
	return models.MapList(rows, func(row models.Tenant) contract.Tenant {
		return shownTenant(row, projects[row.ID])
	}), nil
}

// Tenant finds a tenant by its ID, or a team's tenant by its name.
func (s *Service) Tenant(ctx context.Context, p access.Principal, in contract.TenantPath) (contract.Tenant, error) {
	tx := s.DB.Read(ctx)
	row, _, err := access.Tenant(tx, p, in.Tenant, access.TenantRead)
	if err != nil {
		return contract.Tenant{}, fmt.Errorf("projects: get tenant %s: %w", in.Tenant, err)
	}
	return tenantNow(tx, row)
}

// CreateTenant creates a tenant in one of the principal's teams.
func (s *Service) CreateTenant(
	ctx context.Context, p access.Principal, request contract.TenantCreation,
) (contract.Tenant, error) {
	in := request.Body
	var out contract.Tenant
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		team, err := teamFor(p, in.Team, access.TenantCreate)
		if err != nil {
			return err
		}
		if err := fault.InvalidFields(checkNewTenant(in)); err != nil {
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
		out, err = tenantNow(tx, row)
		return err
	})
	if err != nil {
		return contract.Tenant{}, fmt.Errorf("projects: create tenant %s: %w", in.Name, err)
	}
	return out, nil
}

func checkNewTenant(in contract.NewTenant) []fault.Field {
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
			Detail:  "Each project has its own tenant named default. Choose another name.",
		}}
	}
	return nil
}

// ensureTenant finds the team's tenant of that name, or creates it with its audit entry.
func ensureTenant(
	tx *models.Tx, p access.Principal, team string, in contract.NewTenant,
) (models.Tenant, bool, error) {
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
	after, err := stateOfTenant(tx, row)
	if err != nil {
		return row, made, err
	}
	return row, made, access.Record(tx, p, access.Entry{
		Action: access.TenantCreate,
		Object: row.ID,
		Team:   team,
		Name:   in.Name,
		After:  after,
	})
}

// UpdateTenant changes a tenant for every project that serves it.
func (s *Service) UpdateTenant(
	ctx context.Context, p access.Principal, in contract.TenantUpdate,
) (contract.Tenant, error) {
	var out contract.Tenant
	err := s.changeTenant(ctx, p, in.Tenant, nil, func(tx *models.Tx, row *models.Tenant) (err error) {
		if err := access.Unchanged(in.IfMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		seen := row.UpdatedAt
		if err := fault.InvalidFields(applyTenant(in.Body, row)); err != nil {
			return err
		}
		row.UpdatedAt = models.Now()
		if err := orStale(tx.UpdateTenant(*row, seen)); err != nil {
			return err
		}
		out, err = tenantNow(tx, *row)
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
		before, err := stateOfTenant(tx, row)
		if err != nil {
			return err
		}
		if err := fn(tx, &row); err != nil {
			return err
		}
		after, err := stateOfTenant(tx, row)
		if err != nil {
			return err
		}
		entry := access.Entry{
			Action:  access.TenantUpdate,
			Object:  row.ID,
			Project: orEmpty(row.ProjectID),
			Team:    team,
			Name:    row.Name,
			Detail:  detail,
			Before:  before,
			After:   after,
		}
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

// applyTenant sets the row's fields, and returns the fields that are wrong.
func applyTenant(in contract.TenantChange, row *models.Tenant) []fault.Field {
	var wrong []fault.Field
	if in.DisplayName != nil {
		row.DisplayName = *in.DisplayName
		wrong = checkDisplayName(row.DisplayName)
	}
	if in.FallbackOwner.Sent {
		row.FallbackOwner = in.FallbackOwner.Or("")
		if row.FallbackOwner != "" {
			wrong = append(wrong, checkFallbackOwner(row.FallbackOwner)...)
		}
	}
	return wrong
}

func tenantNow(tx *models.Tx, row models.Tenant) (contract.Tenant, error) {
	projects, err := tx.ProjectsOfTenants([]models.Tenant{row})
	return shownTenant(row, projects[row.ID]), err
}

func shownTenant(row models.Tenant, projects []models.Project) contract.Tenant {
	out := contract.Tenant{
		ID:            row.ID,
		Team:          orEmpty(row.TeamID),
		Project:       row.ProjectID,
		Name:          row.Name,
		DisplayName:   cmp.Or(row.DisplayName, row.Name),
		FallbackOwner: contract.OrNull(row.FallbackOwner),
		ETag:          access.ETag(row.UpdatedAt),
		CreatedAt:     row.CreatedAt.UTC(),
	}
	for _, project := range projects {
		out.Projects = append(out.Projects, project.Name)
		if row.ProjectID != nil {
			out.Team = project.TeamID
		}
	}
	return out
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
