package models

import (
	"time"

	"gorm.io/gorm"
)

// DeletedUser is a row of deleted_users: a deleted end user whose last tokens may not have expired. The tenant isn't a
// foreign key, because it can be deleted first.
type DeletedUser struct {
	UserID   string `gorm:"primaryKey"`
	TenantID string
	EndsAt   time.Time
}

// Barred is an end user that gateways must refuse.
type Barred struct {
	ID      string
	Deleted bool
}

// served are the ids of the tenants that a project serves.
func (t *Tx) served(projectID string) *gorm.DB {
	// A union, because PostgreSQL reads all tenants of the installation for an OR with a subquery.
	own := t.db.Model(&Tenant{}).Select("id").Where("project_id = ?", projectID)
	attached := t.db.Model(&ProjectTenant{}).Select("tenant_id").Where("project_id = ?", projectID)
	return t.db.Raw("? UNION ?", own, attached)
}

// Serves reports whether a project serves a tenant.
func (t *Tx) Serves(projectID string, tenant Tenant) (bool, error) {
	if tenant.ProjectID != nil {
		return *tenant.ProjectID == projectID, nil
	}
	var n int64
	err := t.db.Model(&ProjectTenant{}).Where("project_id = ? AND tenant_id = ?", projectID, tenant.ID).Count(&n).Error
	return n > 0, err
}

func (t *Tx) clientsServed(projectID string) *gorm.DB {
	return t.db.Model(&AppClient{}).Select("id").Where("tenant_id IN (?)", t.served(projectID))
}

// secretHash is the column of app clients that gateways may not read.
const secretHash = "SecretHash"

// AppClientsServed lists by ID the app clients of the tenants that a project serves, without the hashes of their
// secrets.
func (t *Tx) AppClientsServed(projectID string) ([]AppClient, error) {
	var list []AppClient
	return list, t.db.Omit(secretHash).Where("tenant_id IN (?)", t.served(projectID)).Order("id").Find(&list).Error
}

// AppClientsOfTenants lists the app clients of tenants by ID, without the hashes of their secrets.
func (t *Tx) AppClientsOfTenants(tenantIDs []string) ([]AppClient, error) {
	var list []AppClient
	return list, t.db.Omit(secretHash).Where("tenant_id IN ?", tenantIDs).Order("id").Find(&list).Error
}

// AppClientsWithSecrets is AppClientsServed with the hashes of their secrets.
func (t *Tx) AppClientsWithSecrets(projectID string) ([]AppClient, error) {
	var list []AppClient
	return list, t.db.Where("tenant_id IN (?)", t.served(projectID)).Order("id").Find(&list).Error
}

// AppClientServed finds an app client, without the hash of its secret.
func (t *Tx) AppClientServed(id string) (AppClient, error) {
	var c AppClient
	return c, t.db.Omit(secretHash).Where("id = ?", id).Take(&c).Error
}

// TeamServed finds a team. It reads only whether the team is claimed, and when it ends.
func (t *Tx) TeamServed(id string) (Team, error) {
	var team Team
	return team, t.db.Select("id", "claimed_at", "expires_at").Where("id = ?", id).Take(&team).Error
}

// TeamsServed is TeamServed for several teams. It leaves out teams that don't exist.
func (t *Tx) TeamsServed(ids []string) ([]Team, error) {
	var list []Team
	return list, t.db.Select("id", "claimed_at", "expires_at").Where("id IN ?", ids).Find(&list).Error
}

// UserServed finds the end user of an identity. It reads only their ID and state.
func (t *Tx) UserServed(tenantID, issuer, subject string) (EndUser, error) {
	var u EndUser
	return u, t.db.
		Select("end_users.id", "end_users.state").
		Joins("JOIN identities ON identities.user_id = end_users.id").
		Where("identities.tenant_id = ? AND identities.issuer = ?", tenantID, issuer).
		Where("identities.subject = ?", subject).
		Take(&u).Error
}

// HasLogin reports whether a project serves app clients.
func (t *Tx) HasLogin(projectID string) (bool, error) {
	var n int64
	err := t.clientsServed(projectID).Limit(1).Count(&n).Error
	return n > 0, err
}

// SigningKeysServed lists the signing keys of AppClientsServed that verify at now, oldest first, without the private
// keys.
func (t *Tx) SigningKeysServed(projectID string, now time.Time) ([]SigningKey, error) {
	var list []SigningKey
	return list, t.db.
		Omit("PrivateKey").
		Where("client_id IN (?) AND (expires_at IS NULL OR expires_at > ?)", t.clientsServed(projectID), now).
		Order("active_at, id").
		Find(&list).Error
}

// ProvidersServed lists the providers of AppClientsServed in the order in which they were created, without their
// secrets.
func (t *Tx) ProvidersServed(projectID string) ([]Provider, error) {
	var list []Provider
	return list, t.db.
		Omit("ClientSecret").
		Where("app_client_id IN (?)", t.clientsServed(projectID)).
		Order("created_at, id").
		Find(&list).Error
}

// BarredUsers lists by ID the end users that gateways must refuse for a project: its tenants' users who were frozen
// after the given time, deleted users whose tokens haven't expired at now, and users frozen at any time who own a key
// that is valid for the project. A change to a frozen user renews the time, so that they are listed for longer than
// necessary.
func (t *Tx) BarredUsers(projectID string, now, frozenAfter time.Time) ([]Barred, error) {
	var list []Barred
	// The state is part of the text, because SQLite uses a partial index only then.
	frozen := t.db.
		Model(&EndUser{}).
		Select("id, false AS deleted").
		Where("state = 'frozen' AND tenant_id IN (?) AND updated_at > ?", t.served(projectID), frozenAfter)
	deleted := t.db.
		Model(&DeletedUser{}).
		Select("user_id AS id, true AS deleted").
		Where("tenant_id IN (?) AND ends_at > ?", t.served(projectID), now)
	return list, t.db.Raw(
		"SELECT id, deleted FROM (? UNION ? UNION ALL ?) AS barred ORDER BY id", frozen,
		t.frozenOwners(projectID), deleted,
	).Scan(
		&list,
	).Error
}

// frozenOwners selects the frozen end users who own a key that is valid for a project. With
// a key of its product, the owner can be a user of a tenant that only another
// project of the product serves.
func (t *Tx) frozenOwners(projectID string) *gorm.DB {
	product := t.db.Model(&Project{}).Select("product_id").Where("id = ?", projectID)
	near := t.db.Model(&Project{}).Select("id").Where("id = ? OR product_id = (?)", projectID, product)
	attached := t.db.Model(&ProjectTenant{}).Select("tenant_id").Where("project_id IN (?)", near)
	tenants := t.db.Model(&Tenant{}).Select("id").Where("project_id IN (?) OR id IN (?)", near, attached)
	owned := t.db.Model(&APIKey{}).Select("1").
		Where(
			"owner = end_users.id AND state <> 'revoked' AND (project_id = ? OR product_id = (?))", projectID,
			product,
		)
	return t.db.
		Model(&EndUser{}).
		Select("id, false AS deleted").
		Where("state = 'frozen' AND tenant_id IN (?) AND EXISTS (?)", tenants, owned)
}

// ProjectsNear lists by ID the projects that serve a tenant, and the projects that share a product with one of them,
// because the product's keys are valid for all of its projects.
func (t *Tx) ProjectsNear(tenant Tenant) ([]string, error) {
	served, err := t.ProjectsOfTenant(tenant)
	if err != nil {
		return nil, err
	}
	products := t.db.Model(&Project{}).Select("product_id").Where("id IN ?", served)
	var ids []string
	return ids, t.db.
		Model(&Project{}).
		Where("id IN ? OR product_id IN (?)", served, products).
		Order("id").
		Pluck("id", &ids).Error
}

// KeysOwned lists by ID an owner's keys in some projects that aren't revoked.
func (t *Tx) KeysOwned(projectIDs []string, owner string) ([]APIKey, error) {
	var list []APIKey
	return list, t.db.
		Where("owner = ? AND project_id IN ? AND state <> 'revoked'", owner, projectIDs).
		Order("id").
		Find(&list).Error
}

// DeleteEndedUsers deletes the rows of users whose last tokens have expired.
func (t *Tx) DeleteEndedUsers(now time.Time) error {
	return t.db.Where("ends_at <= ?", now).Delete(&DeletedUser{}).Error
}
