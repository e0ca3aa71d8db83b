package models

import (
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"postern/core/contract"
	"postern/migrations"
)

// MoveIn is a row of move_ins: an import of another gateway's file into a team.
type MoveIn struct {
	ID        string `gorm:"primaryKey"`
	TeamID    string
	Gateway   string           // followed by the name of the import, such as kong/staging
	Result    contract.MovedIn `gorm:"serializer:json"`
	CreatedAt time.Time
}

// Name returns the name of the import, its product and its tenant.
func (m *MoveIn) Name() string {
	_, name, _ := strings.Cut(m.Gateway, "/")
	return name
}

// MovedObject is a row of moved_objects: an object that an import created, or keys that it created.
type MovedObject struct {
	ID        string `gorm:"primaryKey"`
	MoveInID  string
	TeamID    string
	Gateway   string
	Kind      string
	Object    string  // its ID, or the name of an owner; "" for keys
	Within    string  // ID of the project, or else of the tenant, that it belongs to
	Source    string  // identifies the object in the file
	Planned   []byte  // SHA-256 of the object in the plan
	Written   []byte  // SHA-256 of the object as it was written
	Keys      KeyList `gorm:"serializer:json"`
	UpdatedBy *string // the last import that changed it
}

// MoveInByID finds an import.
func (t *Tx) MoveInByID(id string) (MoveIn, error) {
	var one MoveIn
	return one, t.db.Where("id = ?", id).Take(&one).Error
}

// MovedObjectsOf lists the objects that all imports of a gateway's files under a name have created in a team, oldest
// first.
func (t *Tx) MovedObjectsOf(teamID, gateway string) ([]MovedObject, error) {
	var list []MovedObject
	return list, t.db.Where("team_id = ? AND gateway = ?", teamID, gateway).Order("id").Find(&list).Error
}

// ObjectUpdatedBy returns an object of a gateway's imports that was last changed by one of the given imports. Errors:
// ErrNotFound.
func (t *Tx) ObjectUpdatedBy(teamID, gateway string, imports []string) (MovedObject, error) {
	var one MovedObject
	return one, t.db.
		Select("ID", "Kind", "Source", "UpdatedBy").
		Where("team_id = ? AND gateway = ? AND updated_by IN ?", teamID, gateway, imports).
		Order("id").
		Take(&one).Error
}

// UpdateMovedObject updates the record of an object.
func (t *Tx) UpdateMovedObject(one MovedObject) error {
	return t.db.
		Model(&MovedObject{}).
		Where("id = ?", one.ID).
		Select("Planned", "Written", "UpdatedBy").
		UpdateColumns(&one).Error
}

// DeleteMovedObjects removes the records of objects.
func (t *Tx) DeleteMovedObjects(ids []string) error {
	for some := range slices.Chunk(ids, batchSize) {
		if err := t.db.Where("id IN ?", some).Delete(&MovedObject{}).Error; err != nil {
			return err
		}
	}
	return nil
}

// DeleteMoveIn removes the record of an import and of its objects.
func (t *Tx) DeleteMoveIn(id string) error {
	if err := t.db.Where("move_in_id = ?", id).Delete(&MovedObject{}).Error; err != nil {
		return err
	}
	return t.db.Where("id = ?", id).Delete(&MoveIn{}).Error
}

// LockMoveIns keeps other imports into a team from beginning until the transaction ends.
func (t *Tx) LockMoveIns(teamID string) error {
	return t.db.Model(&Team{}).Where("id = ?", teamID).UpdateColumn("id", gorm.Expr("id")).Error
}

// partsOfProject are tables with parts of a project that an import of another gateway's file doesn't create.
var partsOfProject = []holding{
	{"api_keys", "id", "project_id = ?"},
	{"domains", "id", "project_id = ?"},
	{"environments", "id", "version_id IN (SELECT id FROM versions WHERE project_id = ?)"},
	{"versions", "id", "project_id = ?"},
	{"project_tenants", "tenant_id", "project_id = ?"},
	{"openapi_documents", "version_id", "version_id IN (SELECT id FROM versions WHERE project_id = ?)"},
	{"call_signing_keys", "id", "project_id = ?"},
	{"relations", "object", "project_id = ?"},
	{"exports", "id", "project_id = ?"},
	{"app_clients", "id", "tenant_id IN (SELECT id FROM tenants WHERE project_id = ?)"},
	{"end_users", "id", "tenant_id IN (SELECT id FROM tenants WHERE project_id = ?)"},
	{"user_groups", "id", "tenant_id IN (SELECT id FROM tenants WHERE project_id = ?)"},
	{"approvals", "id", "tenant_id IN (SELECT id FROM tenants WHERE project_id = ?)"},
}

// partsOfTenant are tables with parts of a tenant.
var partsOfTenant = []holding{
	{"api_keys", "id", "tenant_id = ?"},
	{"user_groups", "id", "tenant_id = ?"},
	{"project_tenants", "project_id", "tenant_id = ?"},
	{"app_clients", "id", "tenant_id = ?"},
	{"end_users", "id", "tenant_id = ?"},
	{"approvals", "id", "tenant_id = ?"},
	{"relations", "object", "tenant_id = ?"},
}

// partsOfProduct are tables with parts of a product.
var partsOfProduct = []holding{{"api_keys", "id", "product_id = ?"}, {"projects", "id", "product_id = ?"}}

// PartsOfProject counts the parts of a project by their tables.
func (t *Tx) PartsOfProject(id string) (map[string]int64, error) { return t.parts(partsOfProject, id) }

// PartsOfTenant counts the parts of a tenant by their tables.
func (t *Tx) PartsOfTenant(id string) (map[string]int64, error) { return t.parts(partsOfTenant, id) }

func (t *Tx) parts(tables []holding, id string) (map[string]int64, error) {
	out := map[string]int64{}
	for _, one := range tables {
		var n int64
		if err := t.db.Table(one.table).Where(one.where, id).Count(&n).Error; err != nil {
			return nil, err
		}
		if n > 0 {
			out[one.table] = n
		}
	}
	return out, nil
}

// PartsOfProduct counts the keys of a product, revoked ones included, and its projects.
func (t *Tx) PartsOfProduct(id string) (map[string]int64, error) { return t.parts(partsOfProduct, id) }

// MoveInsOf lists the imports of a gateway's files into a team, oldest first.
func (t *Tx) MoveInsOf(teamID, gateway string) ([]MoveIn, error) {
	var list []MoveIn
	return list, t.db.Where("team_id = ? AND gateway = ?", teamID, gateway).Order("id").Find(&list).Error
}

// DomainsOfProject lists a project's domains by their addresses.
func (t *Tx) DomainsOfProject(id string) ([]Domain, error) {
	var list []Domain
	return list, t.db.Where("project_id = ?", id).Order("host, path_prefix, methods").Find(&list).Error
}

// SetImportedVersion writes the columns of an existing version that an import sets.
func (t *Tx) SetImportedVersion(v Version) error {
	return t.db.
		Model(&Version{}).
		Where("id = ?", v.ID).
		Select("RequestsAuth", "IPAllow", "IPDeny", "Rules", "Transforms", "UpdatedAt").
		UpdateColumns(&v).Error
}

// SetImportedProject writes the columns of an existing project that an import sets.
func (t *Tx) SetImportedProject(p Project) error {
	return t.db.
		Model(&Project{}).
		Where("id = ?", p.ID).
		Select("DisplayName", "Limits", "CORS", "UpdatedAt").
		UpdateColumns(&p).Error
}

// ForgetKeys removes the keys of an import that is being undone. Another import can create them again.
func (t *Tx) ForgetKeys(ids []string) error {
	for some := range slices.Chunk(ids, batchSize) {
		if err := t.db.Where("id IN ?", some).Delete(&APIKey{}).Error; err != nil {
			return err
		}
	}
	return nil
}

// LeaveGroups removes an app owner from all groups of a tenant.
func (t *Tx) LeaveGroups(tenantID, owner string) error {
	groups := t.db.Model(&UserGroup{}).Select("id").Where("tenant_id = ?", tenantID)
	return t.db.Where("owner = ? AND group_id IN (?)", owner, groups).Delete(&GroupOwner{}).Error
}

// AnalyzeKeys makes PostgreSQL update its statistics on keys, as it does by itself a minute after a large insert. Until
// then, it plans queries as if there were few keys, and undoing an import of 100,000 keys takes minutes. For a user who
// doesn't own the table, the server returns a warning rather than an error.
func (t *Tx) AnalyzeKeys() error {
	if t.dialect != migrations.Postgres {
		return nil
	}
	return t.db.Exec("ANALYZE api_keys").Error
}
