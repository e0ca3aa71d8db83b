package models

import (
	"strings"
	"time"

	"gorm.io/gorm"
)

// KeyFilter chooses keys; what is empty chooses all.
type KeyFilter struct {
	Owner       string
	State       string // active, frozen, revoked, or expired at Now
	Tenant      string // name
	KeyType     string // name
	Environment string // name; AllEnvironments for keys that open all
	Text        string // a part of prefix…last4 or the description, in any case
	Now         time.Time
}

// AllEnvironments in a KeyFilter means keys that are valid for all environments; no environment can have that name.
const AllEnvironments = "all"

const (
	keyIsActive  = "state = 'active' AND (expires_at IS NULL OR expires_at > ?)"
	keyIsFrozen  = "state = 'frozen' AND (expires_at IS NULL OR expires_at > ?)"
	keyIsExpired = "state <> 'revoked' AND expires_at <= ?"
)

// KeysListed lists the keys that open a project, newest first: its own, and those
// of its product that have a key type and a tenant that the project has too.
func (t *Tx) KeysListed(project Project, f KeyFilter, page Page) (List[APIKey], error) {
	id := func(row APIKey) string { return row.ID }
	q := f.narrow(t.db, t.listed(project))
	if page.match = f.unindexed(); f.Text == "" {
		q, page.match = filtered(q, page.match), nil
	}
	if page.Sort == (Sort{}) {
		return newestFirst(q, page, id)
	}
	return sorted(q, page, orders[APIKey]{
		"created":   byID("id", id),
		"owner":     {sql: "owner", value: func(row APIKey) any { return row.Owner }},
		"last_used": {sql: lastUsed, value: lastUseOf, kind: timeOrder},
	}, "id", id)
}

// lastUsed is the expression of the index api_keys_last_used, in which keys that were never used come first. Owners
// are not folded either, as an index has them.
const lastUsed = "COALESCE(last_used_at, '0001-01-01 00:00:00+00:00')"

func lastUseOf(row APIKey) any {
	if row.LastUsedAt == nil {
		return time.Time{}
	}
	return row.LastUsedAt.UTC()
}

// notIndexed is project_id as an expression, for which SQLite does not choose an index: one on another column finds
// fewer keys.
const notIndexed = "project_id || ''"

// CountKeysListed counts what KeysListed lists, up to MaxTotal+1.
func (t *Tx) CountKeysListed(project Project, f KeyFilter) (int64, error) {
	if f.KeyType != "" && project.ProductID == nil {
		types := t.db.Model(&KeyType{}).Select("id").Where("project_id = ? AND name = ?", project.ID, f.KeyType)
		f.KeyType = ""
		of := t.db.Model(&APIKey{}).Where(notIndexed+" = ? AND key_type_id IN (?)", project.ID, types)
		return countSome(f.choose(t.db, of))
	}
	return countSome(f.choose(t.db, t.listed(project)).Model(&APIKey{}))
}

func (t *Tx) listed(project Project) *gorm.DB {
	q := t.db.Where("project_id = ?", project.ID)
	if project.ProductID != nil {
		names := t.db.Model(&KeyType{}).Select("name").Where("project_id = ?", project.ID)
		types := t.db.Model(&KeyType{}).Select("id").Where("name IN (?)", names)
		attached := t.db.Model(&ProjectTenant{}).Select("tenant_id").Where("project_id = ?", project.ID)
		tenants := t.db.Model(&Tenant{}).Select("id").Where("project_id IS NOT NULL OR id IN (?)", attached)
		q = t.db.Where("project_id = ? OR (product_id = ? AND key_type_id IN (?) AND tenant_id IN (?) "+
			"AND project_id NOT IN (?))", project.ID, *project.ProductID, types, tenants,
			t.db.Model(&Project{}).Select("id").Where("deleted_at IS NOT NULL"))
	}
	return q
}

func (f KeyFilter) choose(db, q *gorm.DB) *gorm.DB { return filtered(f.narrow(db, q), f.unindexed()) }

func filtered(q *gorm.DB, conditions []condition) *gorm.DB {
	for _, c := range conditions {
		q = q.Where("("+c.sql+")", c.vars...)
	}
	return q
}

// narrow applies what an index has.
func (f KeyFilter) narrow(db, q *gorm.DB) *gorm.DB {
	if f.Owner != "" {
		q = q.Where("owner = ?", f.Owner)
	}
	if f.Tenant != "" {
		q = q.Where("tenant_id IN (?)", db.Model(&Tenant{}).Select("id").Where("name = ?", f.Tenant))
	}
	if f.KeyType != "" {
		q = q.Where("key_type_id IN (?)", db.Model(&KeyType{}).Select("id").Where("name = ?", f.KeyType))
	}
	return q
}

// unindexed are the other conditions.
func (f KeyFilter) unindexed() (out []condition) {
	add := func(sql string, vars ...any) { out = append(out, condition{sql, vars}) }
	switch f.State {
	case "":
	case "active":
		add(keyIsActive, f.Now)
	case "frozen":
		add(keyIsFrozen, f.Now)
	case "expired":
		add(keyIsExpired, f.Now)
	default:
		add("state = ?", f.State)
	}
	if f.Environment == AllEnvironments {
		add("environment = ''")
	} else if f.Environment != "" {
		add("environment = ?", f.Environment)
	}
	if f.Text != "" {
		literal := escapeLike(strings.ToLower(f.Text))
		add(`lower(prefix || '…' || last4 || ' ' || description) LIKE ? ESCAPE '\'`, "%"+literal+"%")
	}
	return out
}
