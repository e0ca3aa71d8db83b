package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"postern/models"
)

// isID reports whether ref is an id rather than a name: ids contain an underscore,
// which names cannot.
func isID(ref string) bool { return strings.Contains(ref, "_") }

// Project finds a project by its name or ID and checks that the principal may perform the action on it. It refuses an
// anonymous caller before it looks anything up.
func Project(tx *models.Tx, p Principal, ref string, action Action) (models.Project, error) {
	if p.Anonymous() {
		return models.Project{}, Check(p, "", action)
	}
	project, err := findProject(tx, ref)
	if err != nil {
		return project, err
	}
	return project, CheckProject(p, project, action)
}

func findProject(tx *models.Tx, ref string) (models.Project, error) {
	find := tx.ProjectByName
	if isID(ref) {
		find = tx.ProjectByID
	}
	project, err := find(ref)
	if err != nil {
		return project, absent(err, "project", ref)
	}
	return project, nil
}

// Product finds a product by its ID, or by its name in one of the principal's teams, and checks that the principal may
// perform the action on it. It refuses an anonymous caller before it looks anything up.
func Product(tx *models.Tx, p Principal, ref string, action Action) (models.Product, error) {
	if p.Anonymous() {
		return models.Product{}, Check(p, "", action)
	}
	row, err := findInTeams(p, ref, tx.ProductByID, tx.ProductByName)
	if err != nil {
		return row, absent(err, "product", ref)
	}
	return row, Check(p, row.TeamID, action)
}

// Tenant finds a tenant by its ID, or a team's tenant by its name in one of the principal's teams, and checks that the
// principal may perform the action on it. It also returns the ID of the tenant's team. It refuses an anonymous caller
// before it looks anything up.
func Tenant(tx *models.Tx, p Principal, ref string, action Action) (models.Tenant, string, error) {
	if p.Anonymous() {
		return models.Tenant{}, "", Check(p, "", action)
	}
	row, err := findInTeams(p, ref, tx.TenantByID, tx.TenantByName)
	if err != nil {
		return row, "", absent(err, "tenant", ref)
	}
	switch {
	case row.TeamID != nil:
		return row, *row.TeamID, Check(p, *row.TeamID, action)
	case row.ProjectID == nil:
		return row, "", errOwnerless(row)
	}
	project, err := tx.ProjectByID(*row.ProjectID)
	if err != nil {
		return row, "", fmt.Errorf("access: find the project of tenant %s: %w", row.ID, err)
	}
	return row, project.TeamID, CheckProject(p, project, action)
}

// TeamOf returns the ID of the team that a tenant belongs to: its own or its project's. It checks no permission.
func TeamOf(tx *models.Tx, tenant models.Tenant) (string, error) {
	switch {
	case tenant.TeamID != nil:
		return *tenant.TeamID, nil
	case tenant.ProjectID == nil:
		return "", errOwnerless(tenant)
	}
	project, err := tx.ProjectByID(*tenant.ProjectID)
	return project.TeamID, err
}

// TenantAndTeam returns a tenant and the id of the team that owns it. It checks no permission.
func TenantAndTeam(tx *models.Tx, id string) (models.Tenant, string, error) {
	tenant, err := tx.TenantByID(id)
	if err != nil {
		return tenant, "", err
	}
	team, err := TeamOf(tx, tenant)
	return tenant, team, err
}

// Missing returns NotFound for the error of a missing row, and any other error unchanged.
func Missing(err error) error {
	if errors.Is(err, models.ErrNotFound) {
		return NotFound()
	}
	return err
}

func errOwnerless(tenant models.Tenant) error {
	return fmt.Errorf("access: tenant %s has neither a team nor a project", tenant.ID)
}

// findInTeams finds a row by its id, or by its name in one of the principal's teams,
// of which the home team comes first and the others follow in order of creation. It
// returns models.ErrNotFound if there is none.
func findInTeams[T any](
	p Principal, ref string, byID func(string) (T, error), byName func(team, name string) (T, error),
) (row T, err error) {
	if isID(ref) {
		return byID(ref)
	}
	teams := slices.Sorted(slices.Values(p.Teams()))
	if i := slices.Index(teams, p.HomeTeam); i > 0 {
		teams = slices.Insert(slices.Delete(teams, i, i+1), 0, p.HomeTeam)
	}
	err = models.ErrNotFound
	for _, team := range teams {
		if row, err = byName(team, ref); !errors.Is(err, models.ErrNotFound) {
			break
		}
	}
	return row, err
}

func absent(err error, kind, ref string) error {
	if errors.Is(err, models.ErrNotFound) {
		return NotFound()
	}
	return fmt.Errorf("access: find the %s %s: %w", kind, ref, err)
}
