package models

import (
	"strings"
	"time"

	"gorm.io/gorm"
)

// KeyFilter selects keys. Empty fields select all.
type KeyFilter struct {
	Owner       string
	State       string // active, frozen, revoked, or expired at Now
	Tenant      string // name
	KeyType     string // name
	Environment string // name; AllEnvironments for keys that are valid for all
	Text        string // a part of prefix…last4, the description or the metadata, ignoring case
	Now         time.Time
}

// AllEnvironments in a KeyFilter means keys that are valid for all environments; no environment can have that name.
const AllEnvironments = "all"

const (
	keyIsActive  = "state = 'active' AND (expires_at IS NULL OR expires_at > ?)"
	keyIsFrozen  = "state = 'frozen' AND (expires_at IS NULL OR expires_at > ?)"
	keyIsExpired = "state <> 'revoked' AND expires_at <= ?"
)

// KeysListed lists the keys that are valid for a project, newest first: its own, and its product's keys whose key type
// and tenant the project has too.
func (t *Tx) KeysListed(project Project, f KeyFilter, page Page) (List[APIKey], error) {
	choices, err := t.keyChoices(project, f)
	if err != nil {
		return List[APIKey]{}, err
	}
	page.apart = condition{"project_id <> ?", []any{project.ID}}
	q, err := t.choose(&page, t.keyRows(project), choices)
	if err != nil {
		return List[APIKey]{}, err
	}
	id := func(row APIKey) string { return row.ID }
	if page.Sort == (Sort{}) {
		return newestFirst(q, page, id)
	}
	// Case-sensitive, because the indexes are.
	owner := order[APIKey]{sql: "owner", value: func(row APIKey) any { return row.Owner }}
	if f.Owner != "" {
		owner = byID("id", id) // all have the same owner
	}
	return sorted(q, page, orders[APIKey]{
		"created":   byID("id", id),
		"owner":     owner,
		"last_used": {sql: "used", value: lastUseOf, kind: timeOrder, computed: true},
	}, "id", id)
}

// lastUsed is the expression of the indexes by last use, in which keys that were never used come first.
const lastUsed = "COALESCE(last_used_at, '0001-01-01 00:00:00+00:00')"

func lastUseOf(row APIKey) any {
	if row.LastUsedAt == nil {
		return time.Time{}
	}
	return row.LastUsedAt.UTC()
}

// keyRows returns a query of the project's keys and, if it has a product, one of the product's keys, which can include
// keys of the project. An index supports each order of KeysListed for both.
func (t *Tx) keyRows(project Project) []*gorm.DB {
	own := t.keysWithUse("project_id = ?", project.ID)
	if project.ProductID == nil {
		return []*gorm.DB{own}
	}
	return []*gorm.DB{own, t.keysWithUse("product_id = ?", *project.ProductID)}
}

func (t *Tx) keysWithUse(sql string, vars ...any) *gorm.DB {
	of := t.db.Model(&APIKey{}).Select("*, "+lastUsed+" AS used").Where(sql, vars...)
	return t.db.Table("(?) AS listed", of)
}

// opensProject is the condition for keys of a project's product that were created in another project: the project must
// have their key type and tenant, and the other project must not be in the trash.
const opensProject = `found.project_id = ? OR EXISTS (
		SELECT 1 FROM key_types AS theirs JOIN key_types AS ours ON ours.name = theirs.name
		WHERE theirs.id = found.key_type_id AND ours.project_id = ?
	) AND EXISTS (
		SELECT 1 FROM tenants WHERE tenants.id = found.tenant_id AND (tenants.project_id IS NOT NULL OR EXISTS (
			SELECT 1 FROM project_tenants AS attached
			WHERE attached.project_id = ? AND attached.tenant_id = tenants.id
		))
	) AND NOT EXISTS (
		SELECT 1 FROM projects WHERE projects.id = found.project_id AND projects.deleted_at IS NOT NULL
	)`

// keyChoices returns the parts of a filter. For a product's keys, only the owner has an index.
func (t *Tx) keyChoices(project Project, f KeyFilter) (out []choice, err error) {
	if project.ProductID != nil {
		out = append(out, choice{condition: condition{opensProject, []any{project.ID, project.ID, project.ID}}})
	}
	if f.Owner != "" {
		one := choice{condition: condition{"owner = ?", []any{f.Owner}}, orders: []string{"", "created", "owner"}}
		for _, rows := range t.keyRows(project) {
			one.rows = append(one.rows, rows.Where("owner = ?", f.Owner))
		}
		out = append(out, one)
	}
	if f.Tenant != "" {
		one := choice{condition: condition{
			"EXISTS (SELECT 1 FROM tenants WHERE tenants.id = found.tenant_id AND tenants.name = ?)", []any{f.Tenant},
		}}
		if project.ProductID == nil {
			if one.rows, one.orders, err = t.keysOfTenantNamed(project, f.Tenant); err != nil {
				return nil, err
			}
		}
		out = append(out, one)
	}
	if f.KeyType != "" {
		one := choice{condition: condition{
			"EXISTS (SELECT 1 FROM key_types WHERE key_types.id = found.key_type_id AND key_types.name = ?)",
			[]any{f.KeyType},
		}}
		if project.ProductID == nil {
			named := t.db.Model(&KeyType{}).Select("id").Where("project_id = ? AND name = ?", project.ID, f.KeyType)
			one.rows = []*gorm.DB{t.keysWithUse(notIndexed+" = ? AND key_type_id IN (?)", project.ID, named)}
		}
		out = append(out, one)
	}
	if f.State != "" {
		out = append(out, t.keyState(project, f))
	}
	return append(out, f.unindexed()...), nil
}

// notIndexed is project_id as an expression, so that SQLite doesn't choose an index that begins with it: the index on
// the other column in the query finds fewer keys.
const notIndexed = "project_id || ''"

// keysOfTenantNamed returns the keys of the project's and the team's tenants with that name, and the orders in which an
// index has them.
func (t *Tx) keysOfTenantNamed(project Project, name string) (rows []*gorm.DB, orders []string, err error) {
	var ids []string
	err = t.db.
		Model(&Tenant{}).
		Where("name = ? AND (project_id = ? OR team_id = ?)", name, project.ID, project.TeamID).
		Pluck("id", &ids).Error
	if err != nil {
		return nil, nil, err
	}
	if len(ids) == 1 {
		orders = []string{"", "created"}
	}
	return []*gorm.DB{t.keysWithUse("project_id = ? AND tenant_id IN ?", project.ID, ids)}, orders, nil
}

func (t *Tx) keyState(project Project, f KeyFilter) choice {
	switch f.State {
	case "active":
		return choice{condition: condition{keyIsActive, []any{f.Now}}}
	case "frozen":
		return t.specialKeys(project, condition{keyIsFrozen, []any{f.Now}})
	case "expired":
		return t.specialKeys(project, condition{keyIsExpired, []any{f.Now}})
	}
	return t.specialKeys(project, condition{"state = ?", []any{f.State}})
}

// specialKeys returns the choice for a state other than active. An index has the keys that aren't active or can expire.
func (t *Tx) specialKeys(project Project, is condition) choice {
	one := choice{condition: is, wider: true}
	if project.ProductID == nil {
		one.rows = []*gorm.DB{t.keysWithUse("project_id = ? AND "+keyIsSpecial, project.ID)}
		one.orders = []string{"", "created"}
	}
	return one
}

// unindexed returns the conditions without an index.
func (f KeyFilter) unindexed() (out []choice) {
	add := func(sql string, vars ...any) { out = append(out, choice{condition: condition{sql, vars}}) }
	if f.Environment == AllEnvironments {
		add("environment = ''")
	} else if f.Environment != "" {
		add("environment = ?", f.Environment)
	}
	if f.Text != "" {
		literal := escapeLike(strings.ToLower(f.Text))
		add(`lower(prefix || '…' || last4 || ' ' || description || ' ' || metadata) LIKE ? ESCAPE '\'`, "%"+literal+"%")
	}
	return out
}

// CountKeysOfType counts the keys of a type that KeysListed lists, and those of them that are active at now. It stops
// at MaxTotal+1 keys.
func (t *Tx) CountKeysOfType(project Project, name string, now time.Time) (all, active int64, err error) {
	types := t.db.Model(&KeyType{}).Select("id").Where("project_id = ? AND name = ?", project.ID, name)
	q := t.db.Table("api_keys AS found").Where(notIndexed+" = ? AND key_type_id IN (?)", project.ID, types)
	if project.ProductID != nil {
		q = t.db.
			Table("api_keys AS found").
			Joins("JOIN key_types ON key_types.id = found.key_type_id AND key_types.name = ?", name).
			Where("(found.project_id = ? OR found.product_id = ?)", project.ID, *project.ProductID).
			Where("("+opensProject+")", project.ID, project.ID, project.ID)
	}
	var counted struct{ Seen, Active int64 }
	some := q.Select("found.state, found.expires_at").Limit(MaxTotal + 1)
	err = t.db.
		Table("(?) AS counted", some).
		Select("count(*) AS seen, count(CASE WHEN "+keyIsActive+" THEN 1 END) AS active", now).
		Take(&counted).Error
	return counted.Seen, counted.Active, err
}
