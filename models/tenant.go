package models

import (
	"cmp"
	"time"

	"gorm.io/gorm/clause"

	"postern/core/contract"
)

// Tenant is a row of tenants: a project's own (ProjectID is set) or a team's
// (TeamID is set), which is attached to projects by rows of project_tenants.
type Tenant struct {
	ID            string `gorm:"primaryKey"`
	ProjectID     *string
	TeamID        *string
	Name          string
	DisplayName   string        // "" shows the name
	FallbackOwner string        // "" is the project's
	CORS          contract.CORS `gorm:"serializer:json"` // not set: the project's
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// ProjectTenant is a row of project_tenants: a team's tenant that a project serves.
type ProjectTenant struct {
	ProjectID string `gorm:"primaryKey"`
	TenantID  string `gorm:"primaryKey"`
	CreatedAt time.Time
}

// TenantsOf lists the tenants that a project serves by name: its own and those
// attached to it.
func (t *Tx) TenantsOf(projectID string) ([]Tenant, error) {
	var list []Tenant
	return list, t.db.Where("id IN (?)", t.served(projectID)).Order("name").Find(&list).Error
}

// TenantsOfProjects lists the tenants of each project as TenantsOf does.
func (t *Tx) TenantsOfProjects(projectIDs []string) (map[string][]Tenant, error) {
	var links []ProjectTenant
	if err := t.db.Where("project_id IN ?", projectIDs).Find(&links).Error; err != nil {
		return nil, err
	}
	serving := map[string][]string{} // projects by tenant
	for _, link := range links {
		serving[link.TenantID] = append(serving[link.TenantID], link.ProjectID)
	}
	// Projects can serve more tenants than a statement can have parameters.
	attached := t.db.Model(&ProjectTenant{}).Select("tenant_id").Where("project_id IN ?", projectIDs)
	var list []Tenant
	err := t.db.Where("project_id IN ? OR id IN (?)", projectIDs, attached).Order("name").Find(&list).Error
	if err != nil {
		return nil, err
	}
	out := map[string][]Tenant{}
	for _, one := range list {
		if one.ProjectID != nil {
			out[*one.ProjectID] = append(out[*one.ProjectID], one)
		}
		for _, project := range serving[one.ID] {
			if one.ProjectID == nil || *one.ProjectID != project {
				out[project] = append(out[project], one)
			}
		}
	}
	return out, nil
}

// TenantsServed lists the tenants that a project serves by name.
func (t *Tx) TenantsServed(projectID string, page Page) (List[Tenant], error) {
	// A union, because PostgreSQL reads all tenants of the installation for an OR with a subquery.
	const served = "(SELECT * FROM tenants WHERE project_id = ? UNION ALL SELECT tenants.* " +
		"FROM project_tenants AS link JOIN tenants ON tenants.id = link.tenant_id " +
		"WHERE link.project_id = ? AND tenants.project_id IS NULL) AS tenants"
	q := t.db.Table(served, projectID, projectID)
	page = t.searching(page, "name", "display_name")
	if page.Sort == (Sort{}) {
		return ascending(q, page, "name", func(row Tenant) string { return row.Name })
	}
	return sorted(q, page, t.tenantOrders(), "id", func(row Tenant) string { return row.ID })
}

// TenantNames maps the ids to the names of tenants.
func (t *Tx) TenantNames(ids []string) (map[string]string, error) {
	var list []Tenant
	if err := t.db.Select("id", "name").Where("id IN ?", ids).Find(&list).Error; err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, one := range list {
		names[one.ID] = one.Name
	}
	return names, nil
}

// TenantByID finds a tenant.
func (t *Tx) TenantByID(id string) (Tenant, error) {
	var one Tenant
	return one, t.db.Where("id = ?", id).Take(&one).Error
}

// TenantsOfTeam lists a team's own tenants by name, without those of its projects.
func (t *Tx) TenantsOfTeam(teamID string) ([]Tenant, error) {
	var list []Tenant
	return list, t.db.Where("team_id = ?", teamID).Order("name").Find(&list).Error
}

// TenantsWithin lists the tenants that keys of the teams' projects can belong to: the teams' and the projects' own.
func (t *Tx) TenantsWithin(teamIDs, projectIDs []string) ([]Tenant, error) {
	var list []Tenant
	return list, t.db.Where("team_id IN ? OR project_id IN ?", teamIDs, projectIDs).Find(&list).Error
}

// TenantsByID finds tenants. It leaves out IDs that don't exist.
func (t *Tx) TenantsByID(ids []string) ([]Tenant, error) {
	var list []Tenant
	return list, t.db.Where("id IN ?", ids).Find(&list).Error
}

// TenantsOfKeys lists the IDs of the tenants of a project's and its product's keys.
func (t *Tx) TenantsOfKeys(projectID string, productID *string) ([]string, error) {
	if productID != nil {
		var ids []string
		return ids, t.keysOf(projectID, productID).Model(&APIKey{}).Distinct().Pluck("tenant_id", &ids).Error
	}
	// One look at the index for each tenant. DISTINCT would read it for each key.
	const statement = `WITH RECURSIVE tenants_of (id) AS (
		SELECT min(tenant_id) FROM api_keys WHERE project_id = ?
		UNION ALL
		SELECT (SELECT min(tenant_id) FROM api_keys WHERE project_id = ? AND tenant_id > tenants_of.id)
		FROM tenants_of WHERE tenants_of.id IS NOT NULL
	) SELECT id FROM tenants_of WHERE id IS NOT NULL`
	var ids []string
	return ids, t.db.Raw(statement, projectID, projectID).Scan(&ids).Error
}

// UpdateTenant writes the changeable columns if the row still has the UpdatedAt that
// the caller saw. It returns false if another change came first.
func (t *Tx) UpdateTenant(one Tenant, seen time.Time) (bool, error) {
	res := t.db.
		Model(&Tenant{}).
		Where("id = ? AND updated_at = ?", one.ID, seen).
		Select("DisplayName", "FallbackOwner", "UpdatedAt").
		UpdateColumns(&one)
	return res.RowsAffected == 1, res.Error
}

// ProjectsOfTenant lists the ids of the projects that serve a tenant.
func (t *Tx) ProjectsOfTenant(tenant Tenant) ([]string, error) {
	if tenant.ProjectID != nil {
		return []string{*tenant.ProjectID}, nil
	}
	var ids []string
	return ids, t.db.
		Model(&ProjectTenant{}).
		Where("tenant_id = ?", tenant.ID).
		Order("project_id").
		Pluck("project_id", &ids).Error
}

// ProjectsOfTenants lists the projects of each tenant by name: the one that it belongs to, or those that it is attached
// to.
func (t *Tx) ProjectsOfTenants(tenants []Tenant) (map[string][]Project, error) {
	var shared, ids []string
	for _, one := range tenants {
		if one.ProjectID != nil {
			ids = append(ids, *one.ProjectID)
		} else {
			shared = append(shared, one.ID)
		}
	}
	var links []ProjectTenant
	if err := t.db.Where("tenant_id IN ?", shared).Find(&links).Error; err != nil {
		return nil, err
	}
	serving := map[string][]string{} // tenants by project
	for _, link := range links {
		ids = append(ids, link.ProjectID)
		serving[link.ProjectID] = append(serving[link.ProjectID], link.TenantID)
	}
	for _, one := range tenants {
		if one.ProjectID != nil {
			serving[*one.ProjectID] = append(serving[*one.ProjectID], one.ID)
		}
	}
	projects, err := t.ProjectsByID(ids)
	out := map[string][]Project{}
	for _, project := range projects {
		for _, tenant := range serving[project.ID] {
			out[tenant] = append(out[tenant], project)
		}
	}
	return out, err
}

// DetachTenant detaches a team's tenant from a project. It returns false if it wasn't attached.
func (t *Tx) DetachTenant(projectID, tenantID string) (bool, error) {
	res := t.db.Where("project_id = ? AND tenant_id = ?", projectID, tenantID).Delete(&ProjectTenant{})
	return res.RowsAffected == 1, res.Error
}

// EnsureTenant returns the team's tenant with that name. If there is none, it inserts one and sets made to true.
func (t *Tx) EnsureTenant(one Tenant) (out Tenant, made bool, err error) {
	res := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&one)
	if res.Error != nil {
		return out, false, res.Error
	}
	out, err = t.TenantByName(*one.TeamID, one.Name)
	return out, res.RowsAffected == 1, err
}

// TenantByName finds one of a team's own tenants.
func (t *Tx) TenantByName(teamID, name string) (Tenant, error) {
	var one Tenant
	return one, t.db.Where("team_id = ? AND name = ?", teamID, name).Take(&one).Error
}

// TenantsOfTeams lists the tenants of the teams and of their projects, oldest first.
func (t *Tx) TenantsOfTeams(teamIDs []string, page Page) (List[Tenant], error) {
	// A union, because SQLite takes twice as long to check for each row that the other index hasn't found it.
	const listed = "(SELECT * FROM tenants WHERE team_id IN ? UNION ALL SELECT tenants.* FROM projects " +
		"JOIN tenants ON tenants.project_id = projects.id WHERE projects.team_id IN ?) AS tenants"
	q := t.db.Table(listed, teamIDs, teamIDs)
	page = t.searching(page, "name", "display_name")
	id := func(row Tenant) string { return row.ID }
	if page.Sort == (Sort{}) {
		return ascending(q, page, "id", id)
	}
	return sorted(q, page, t.tenantOrders(), "id", id)
}

func (t *Tx) tenantOrders() orders[Tenant] {
	return orders[Tenant]{
		"created": byID("id", func(row Tenant) string { return row.ID }),
		"name":    byText(t, shownName, func(row Tenant) string { return cmp.Or(row.DisplayName, row.Name) }),
	}
}

// AttachTenant attaches a team's tenant to a project. It returns false if it was already attached.
func (t *Tx) AttachTenant(one ProjectTenant) (bool, error) {
	res := t.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&one)
	return res.RowsAffected == 1, res.Error
}

// MoveTenant moves a team's tenant to another team, with the given name.
func (t *Tx) MoveTenant(one Tenant) error {
	return t.db.Model(&Tenant{}).Where("id = ?", one.ID).Select("TeamID", "Name", "UpdatedAt").UpdateColumns(&one).Error
}
