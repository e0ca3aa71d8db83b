package models

import (
	"time"

	"gorm.io/gorm"

	"postern/core/contract"
)

// APIKey is a row of api_keys. With Environment "" it is valid for all environments. With a product it is valid for
// the product's projects in addition to its own.
type APIKey struct {
	ID           string `gorm:"primaryKey"`
	TeamID       string // of the project; hashes are unique within a team
	ProjectID    string
	TenantID     string
	KeyTypeID    string
	ProductID    *string
	Owner        string
	Environment  string
	State        string
	Limits       *Limits  `gorm:"serializer:json"`      // nil: those of its type
	AllowedCIDRs Prefixes `gorm:"column:allowed_cidrs"` // empty: from anywhere
	Hash         []byte
	OldHash      Digest
	GraceEndsAt  *time.Time
	ExpiresAt    *time.Time
	LastUsedAt   *time.Time // accurate to a minute; only TouchKeys writes it
	UpdatedAt    time.Time

	contract.KeyDetails
	contract.KeyIdentity
}

// KeyByID finds a key.
func (t *Tx) KeyByID(id string) (APIKey, error) {
	var k APIKey
	return k, t.db.Where("id = ?", id).Take(&k).Error
}

// KeysByID finds keys. It leaves out IDs that don't exist.
func (t *Tx) KeysByID(ids []string) ([]APIKey, error) {
	var list []APIKey
	return list, t.db.Where("id IN ?", ids).Find(&list).Error
}

// MaxActiveKeys bounds the keys that CountActiveKeys counts for each project.
const MaxActiveKeys = 1000

// CountActiveKeys counts each project's keys that are neither frozen nor revoked nor expired at now, up to
// MaxActiveKeys+1.
func (t *Tx) CountActiveKeys(projectIDs []string, now time.Time) (map[string]int64, error) {
	var rows []struct {
		ProjectID string
		N         int64
	}
	some := t.db.
		Model(&APIKey{}).
		Select("1").
		Where("api_keys.project_id = projects.id").
		Where(keyIsActive, now).
		Limit(MaxActiveKeys + 1)
	err := t.db.
		Model(&Project{}).
		Select("id AS project_id, (SELECT count(*) FROM (?) AS counted) AS n", some).
		Where("id IN ?", projectIDs).
		Scan(&rows).Error
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int64, len(rows))
	for _, row := range rows {
		counts[row.ProjectID] = row.N
	}
	return counts, nil
}

// CountAllKeys counts the keys of the whole installation.
func (t *Tx) CountAllKeys() (int64, error) {
	var n int64
	return n, t.db.Model(&APIKey{}).Count(&n).Error
}

// keysAtOnce keeps each query of ScanServedKeys far below the deadline of a statement.
const keysAtOnce = 10_000

// ScanServedKeys calls fn with every key of the project by ID. Each row overwrites the previous one. It has only the
// columns that a gateway needs, which excludes descriptions, for example. A million rows go through here when a server
// starts, and skipping columns and the parsing of times saves half of the work. Each page of rows is read in its own
// query.
func (t *Tx) ScanServedKeys(projectID string, fn func(*APIKey) error) error {
	after := ""
	for {
		read, err := t.servedKeys(projectID, &after, fn)
		if err != nil || read < keysAtOnce {
			return err
		}
	}
}

// servedKeys reads a page of ScanServedKeys, and sets after to the last id.
func (t *Tx) servedKeys(projectID string, after *string, fn func(*APIKey) error) (read int, err error) {
	rows, err := t.db.Raw("SELECT id, team_id, project_id, tenant_id, key_type_id, product_id, owner, environment, "+
		"state, limits, allowed_cidrs, hash, old_hash, grace_ends_at, expires_at, metadata, consumer, credential_id "+
		"FROM api_keys WHERE project_id = ? AND id > ? ORDER BY id LIMIT ?", projectID, *after, keysAtOnce).Rows()
	if err != nil {
		return 0, err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	var k APIKey
	into := []any{
		&k.ID, &k.TeamID, &k.ProjectID, &k.TenantID, &k.KeyTypeID, &k.ProductID, &k.Owner, &k.Environment, &k.State,
		documentColumn{&k.Limits}, &k.AllowedCIDRs, &k.Hash, &k.OldHash, &k.GraceEndsAt, &k.ExpiresAt,
		&k.Metadata, documentColumn{&k.Consumer}, &k.CredentialID,
	}
	for rows.Next() {
		k = APIKey{} // what fn keeps must not be overwritten
		if err := rows.Scan(into...); err != nil {
			return read, err
		}
		read++
		*after = k.ID
		if err := fn(&k); err != nil {
			return read, err
		}
	}
	return read, rows.Err()
}

// ScanKeysOf calls fn by ID with every key that is valid for a project of a product: the project's own keys and the
// product's.
func (t *Tx) ScanKeysOf(projectID string, productID *string, fn func(*APIKey) error) error {
	return scanKeys(t.keysOf(projectID, productID), fn)
}

// ScanKeysOfTenant is ScanKeysOf for the keys of one tenant. If own is set, the tenant is the project's own tenant.
// Then it also passes all keys of other projects, because keys of their own tenants count for it.
func (t *Tx) ScanKeysOfTenant(
	projectID string, productID *string, tenantID string, own bool, fn func(*APIKey) error,
) error {
	of := t.keysOf(projectID, productID)
	if own && productID != nil {
		return scanKeys(t.db.Where(of).Where("tenant_id = ? OR project_id <> ?", tenantID, projectID), fn)
	}
	return scanKeys(t.db.Where(of).Where("tenant_id = ?", tenantID), fn)
}

// CountKeysOf counts the keys that ScanKeysOf passes.
func (t *Tx) CountKeysOf(projectID string, productID *string) (int64, error) {
	var n int64
	return n, t.keysOf(projectID, productID).Model(&APIKey{}).Count(&n).Error
}

// keysOf selects the keys that are valid for a project. Keys of its product that were created in a
// deleted project are not.
func (t *Tx) keysOf(projectID string, productID *string) *gorm.DB {
	if productID == nil {
		return t.db.Where("project_id = ?", projectID)
	}
	return t.db.Where("project_id = ? OR (product_id = ? AND project_id NOT IN (?))",
		projectID, *productID, t.db.Model(&Project{}).Select("id").Where("deleted_at IS NOT NULL"))
}

// keyIsSpecial selects the keys of which an export may say more than that they move: in the words of their index.
const keyIsSpecial = "(state <> 'active' OR limits IS NOT NULL OR allowed_cidrs <> '[]' OR old_hash IS NOT NULL OR " +
	"expires_at IS NOT NULL)"

// ScanSpecialKeys calls fn by ID with the keys of a project before the given ID that aren't active, or have limits,
// address ranges, a former secret or their own expiry.
func (t *Tx) ScanSpecialKeys(projectID, before string, fn func(*APIKey) error) error {
	return scanKeys(t.db.Where("project_id = ? AND id < ?", projectID, before).Where(keyIsSpecial), fn)
}

// ScanKeysAfter calls fn by ID with at most limit keys of a project and a tenant after the given ID.
func (t *Tx) ScanKeysAfter(projectID, tenantID, after string, limit int, fn func(*APIKey) error) error {
	return scanKeys(t.db.
		Where("project_id = ? AND tenant_id = ? AND id > ?", projectID, tenantID, after).
		Limit(limit), fn)
}

// ScanKeysOfOwners calls fn by ID with the keys of owners in a project before the given ID.
func (t *Tx) ScanKeysOfOwners(projectID string, owners []string, before string, fn func(*APIKey) error) error {
	return scanKeys(t.db.Where("project_id = ? AND owner IN ? AND id < ?", projectID, owners, before), fn)
}

// afterKeys comes after the ids of all keys.
const afterKeys = "key`"

// KeyAfter returns the ID of the project's key that follows the first n keys, and more set to true. If there is none,
// it returns an ID after all keys.
func (t *Tx) KeyAfter(projectID string, n int) (id string, more bool, err error) {
	var ids []string
	of := t.db.Model(&APIKey{}).Where("project_id = ?", projectID)
	err = of.Order("id").Offset(n).Limit(1).Pluck("id", &ids).Error
	if err != nil || len(ids) == 0 {
		return afterKeys, false, err
	}
	return ids[0], true, nil
}

// CountKeysOfTenants counts the keys of a project before the given ID, by their tenants.
func (t *Tx) CountKeysOfTenants(project Project, before string) (map[string]int64, error) {
	const statement = "SELECT id AS tenant_id, (SELECT count(*) FROM api_keys WHERE api_keys.project_id = ? AND " +
		"api_keys.tenant_id = tenants.id AND api_keys.id < ?) AS n FROM tenants WHERE project_id = ? OR team_id = ?"
	var rows []struct {
		TenantID string
		N        int64
	}
	err := t.db.Raw(statement, project.ID, before, project.ID, project.TeamID).Scan(&rows).Error
	counts := make(map[string]int64, len(rows))
	for _, row := range rows {
		counts[row.TenantID] = row.N
	}
	return counts, err
}

func scanKeys(of *gorm.DB, fn func(*APIKey) error) (err error) {
	var k APIKey
	names, into, err := columnsOf(of, &k, "LastUsedAt")
	if err != nil {
		return err
	}
	rows, err := of.Model(&APIKey{}).Select(names).Order("id").Rows()
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		k = APIKey{} // what fn keeps of the row must not be overwritten
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := fn(&k); err != nil {
			return err
		}
	}
	return rows.Err()
}

// UpdateKey writes a key if the row still has the UpdatedAt that the caller saw. It returns false if another change
// came first. The values that a key is created with stay unchanged.
func (t *Tx) UpdateKey(k APIKey, seen time.Time) (bool, error) {
	res := t.db.Model(&APIKey{}).Where("id = ? AND updated_at = ?", k.ID, seen).Select("*").
		Omit("ID", "TeamID", "ProjectID", "TenantID", "KeyTypeID", "ProductID", "Owner", "Environment", "CreatedAt",
			"LastUsedAt").
		UpdateColumns(&k)
	return res.RowsAffected == 1, res.Error
}
