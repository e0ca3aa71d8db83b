package models

import (
	"cmp"
	"time"

	"postern/core/contract"
	"postern/platform/secrets"
)

// Project is a row of projects.
type Project struct {
	ID            string `gorm:"primaryKey"`
	TeamID        string
	Name          string
	DisplayName   string
	FallbackOwner string
	ProductID     *string
	Limits        contract.ProjectLimits `gorm:"serializer:json"`
	APIAudience   string                 // of its API, "" for none
	APIScopes     APIScopes
	ImportedKeys  bool          // keys of any form may be valid: some were imported
	CORS          contract.CORS `gorm:"serializer:json"`
	FrozenAt      *time.Time    // when the operators took it down; nil: they haven't
	FrozenReason  string
	DeletedAt     *time.Time // in the trash since; nil: not deleted
	PurgeAt       *time.Time // when it will be deleted permanently, if DeletedAt is set
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// Version is a row of versions.
type Version struct {
	ID        string `gorm:"primaryKey"`
	ProjectID string
	Name      string

	RequestsAuth        contract.RequestsAuth `gorm:"serializer:json"`
	IntrospectionSecret secrets.Sealed        // of the endpoint in RequestsAuth

	IPAllow    Prefixes // empty: from anywhere
	IPDeny     Prefixes
	Rules      contract.Rules      `gorm:"serializer:json"` // what its routes require
	Transforms contract.Transforms `gorm:"serializer:json"`

	OpenAPISettings contract.OpenAPISettings `gorm:"column:openapi_settings;serializer:json"`

	CreatedAt time.Time
	UpdatedAt time.Time
}

// Environment is a row of environments.
type Environment struct {
	ID        string `gorm:"primaryKey"`
	VersionID string
	Name      string
	Target    string
	Upstream  contract.Upstream `gorm:"serializer:json"`
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Insert writes new rows of any table.
func (t *Tx) Insert(rows ...any) error {
	for _, row := range rows {
		if err := t.db.Create(row).Error; err != nil {
			return err
		}
	}
	return nil
}

// ProjectByName finds a project by its installation-wide name.
func (t *Tx) ProjectByName(name string) (Project, error) {
	var p Project
	return p, t.db.Where("name = ?", name).Take(&p).Error
}

// ProjectByID finds a project by its id.
func (t *Tx) ProjectByID(id string) (Project, error) {
	var p Project
	return p, t.db.Where("id = ?", id).Take(&p).Error
}

// ProjectsByID lists projects by name. It leaves out IDs that don't exist.
func (t *Tx) ProjectsByID(ids []string) ([]Project, error) {
	var list []Project
	return list, t.db.Where("id IN ?", ids).Order("name").Find(&list).Error
}

// ProjectNameTaken reports whether a project of that name exists.
func (t *Tx) ProjectNameTaken(name string) (bool, error) {
	var n int64
	err := t.db.Model(&Project{}).Where("name = ?", name).Count(&n).Error
	return n > 0, err
}

// TeamsOfProjects maps each existing project to its team.
func (t *Tx) TeamsOfProjects(ids []string) (map[string]string, error) {
	var rows []Project
	err := t.db.Select("id", "team_id").Where("id IN ?", ids).Find(&rows).Error
	if err != nil {
		return nil, err
	}
	teams := make(map[string]string, len(rows))
	for _, row := range rows {
		teams[row.ID] = row.TeamID
	}
	return teams, nil
}

// ProjectsOfTeams lists the projects of the teams by name that are in a state, "" for any. It leaves out projects that
// are being purged at now.
func (t *Tx) ProjectsOfTeams(teamIDs []string, state string, now time.Time, page Page) (List[Project], error) {
	q := t.db.Where("team_id IN ?", teamIDs)
	switch state {
	case contract.ProjectServed:
		q = q.Where("deleted_at IS NULL")
	case contract.ProjectDeleted:
		q = q.Where("purge_at > ?", now)
	default:
		q = q.Where("(purge_at IS NULL OR purge_at > ?)", now)
	}
	page = t.searching(page, "name", "display_name")
	if page.Sort == (Sort{}) {
		return ascending(q, page, "name", func(row Project) string { return row.Name })
	}
	id := func(row Project) string { return row.ID }
	return sorted(q, page, orders[Project]{
		"created": byID("id", id),
		"name":    byText(t, shownName, func(row Project) string { return cmp.Or(row.DisplayName, row.Name) }),
	}, "id", id)
}

// AnyDeleted reports whether one of the teams has a project in the trash.
func (t *Tx) AnyDeleted(teamIDs []string, now time.Time) (bool, error) {
	var found []string
	err := t.db.
		Model(&Project{}).
		Where("team_id IN ? AND purge_at > ?", teamIDs, now).
		Limit(1).
		Pluck("id", &found).Error
	return len(found) > 0, err
}

// ProjectsOfTeam lists every project of one team by name.
func (t *Tx) ProjectsOfTeam(teamID string) ([]Project, error) {
	var list []Project
	return list, t.db.Where("team_id = ?", teamID).Order("name").Find(&list).Error
}

// ProjectNamesOfTeam lists the first projects of one team by name, at most limit, without their settings.
func (t *Tx) ProjectNamesOfTeam(teamID string, limit int) ([]Project, error) {
	var list []Project
	return list, t.db.
		Select("id", "team_id", "name", "display_name", "deleted_at", "purge_at").
		Where("team_id = ?", teamID).
		Order("name").
		Limit(limit).
		Find(&list).Error
}

// CountProjectsOfTeam counts the projects of one team, including those in the trash.
func (t *Tx) CountProjectsOfTeam(teamID string) (n int64, err error) {
	return n, t.db.Model(&Project{}).Where("team_id = ?", teamID).Count(&n).Error
}

// AllProjectIDs lists the IDs of all projects except those that are being imported.
func (t *Tx) AllProjectIDs() ([]string, error) {
	var ids []string
	return ids, t.db.
		Model(&Project{}).
		Where("team_id < ? OR team_id > ?", stageKind+"_", afterStages).
		Order("id").
		Pluck("id", &ids).Error
}

// UpdateProject writes the changeable columns if the row still has the UpdatedAt
// that the caller saw. It returns false if another change came first.
func (t *Tx) UpdateProject(p Project, seen time.Time) (bool, error) {
	res := t.db.
		Model(&Project{}).
		Where("id = ? AND updated_at = ?", p.ID, seen).
		Select("DisplayName", "FallbackOwner", "ProductID", "Limits", "UpdatedAt").
		UpdateColumns(&p)
	return res.RowsAffected == 1, res.Error
}

// FreezeProject writes whether the project is taken down. It leaves UpdatedAt unchanged, because the team can't change
// this setting.
func (t *Tx) FreezeProject(p Project) error {
	return t.db.Model(&Project{}).Where("id = ?", p.ID).Select("FrozenAt", "FrozenReason").UpdateColumns(&p).Error
}

// MoveProjects moves all projects of one team to another.
func (t *Tx) MoveProjects(fromTeam, toTeam string) error {
	if err := t.db.Model(&APIKey{}).Where("team_id = ?", fromTeam).UpdateColumn("team_id", toTeam).Error; err != nil {
		return err
	}
	if err := t.moveRevokedHashes(fromTeam, toTeam); err != nil {
		return err
	}
	return t.db.Model(&Project{}).Where("team_id = ?", fromTeam).UpdateColumn("team_id", toTeam).Error
}

// VersionsOf lists the versions of projects by name.
func (t *Tx) VersionsOf(projectIDs ...string) ([]Version, error) {
	var list []Version
	return list, t.db.Where("project_id IN ?", projectIDs).Order("name").Find(&list).Error
}

// VersionByID finds a version.
func (t *Tx) VersionByID(id string) (Version, error) {
	var v Version
	return v, t.db.Where("id = ?", id).Take(&v).Error
}

// UpdateVersion writes the name and the access policy if the row still has the UpdatedAt that the
// caller saw. It returns false if another change came first.
func (t *Tx) UpdateVersion(v Version, seen time.Time) (bool, error) {
	res := t.db.Model(&Version{}).Where("id = ? AND updated_at = ?", v.ID, seen).
		Select(
			"Name", "RequestsAuth", "IntrospectionSecret", "IPAllow", "IPDeny", "UpdatedAt",
		).UpdateColumns(&v)
	return res.RowsAffected == 1, res.Error
}

// EnvironmentsOf lists the environments of projects' versions by name.
func (t *Tx) EnvironmentsOf(projectIDs ...string) ([]Environment, error) {
	var list []Environment
	return list, t.db.
		Joins("JOIN versions ON versions.id = environments.version_id").
		Where("versions.project_id IN ?", projectIDs).
		Order("environments.name").
		Find(&list).Error
}

// EnvironmentByID finds an environment and the version it belongs to.
func (t *Tx) EnvironmentByID(id string) (Environment, Version, error) {
	var e Environment
	if err := t.db.Where("id = ?", id).Take(&e).Error; err != nil {
		return e, Version{}, err
	}
	v, err := t.VersionByID(e.VersionID)
	return e, v, err
}

// UpdateEnvironment writes the name, the target and the settings of the upstream if the row still has the UpdatedAt
// that the caller saw. It returns false if another change came first.
func (t *Tx) UpdateEnvironment(e Environment, seen time.Time) (bool, error) {
	res := t.db.
		Model(&Environment{}).
		Where("id = ? AND updated_at = ?", e.ID, seen).
		Select("Name", "Target", "Upstream", "UpdatedAt").
		UpdateColumns(&e)
	return res.RowsAffected == 1, res.Error
}
