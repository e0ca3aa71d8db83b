package models

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"postern/migrations"
)

// UserFilter selects end users. Zero fields select all.
type UserFilter struct {
	State      string
	Email      string // exact
	Query      string // part of the address, the name or the user name
	Group      string // ID of a group that they are in directly
	UserName   string // exact; for users without one, the address
	ExternalID string // exact
	ID         string // exact
	Frozen     *bool  // nil: frozen or not
}

// usersOf returns the users of a tenant. column is tenant_id, or an expression of it.
func (t *Tx) usersOf(tenantID string) func(column string) *gorm.DB {
	return func(column string) *gorm.DB { return t.db.Model(&EndUser{}).Where(column+" = ?", tenantID) }
}

// usersOfAny is usersOf for several tenants.
func (t *Tx) usersOfAny(tenantIDs []string) func(column string) *gorm.DB {
	return func(column string) *gorm.DB { return t.db.Model(&EndUser{}).Where(column+" IN ?", tenantIDs) }
}

// userChoices are the parts of a filter of users.
func (t *Tx) userChoices(users func(column string) *gorm.DB, f UserFilter) (out []choice) {
	add := func(rows []*gorm.DB, sql string, vars ...any) {
		out = append(out, choice{condition: condition{sql, vars}, rows: rows})
	}
	indexed := func(sql string, vars ...any) {
		add([]*gorm.DB{users("tenant_id").Where(sql, vars...)}, sql, vars...)
	}
	for column, value := range map[string]string{"email": f.Email, "external_id": f.ExternalID, "id": f.ID} {
		if value != "" {
			indexed(column+" = ?", value)
		}
	}
	if f.UserName != "" {
		indexed("(user_name = ? OR (user_name IS NULL AND email = ?))", f.UserName, f.UserName)
	}
	switch {
	case f.State == "frozen", f.Frozen != nil && *f.Frozen:
		indexed("state = 'frozen'") // as in the index
	case f.Frozen != nil:
		add(nil, "state <> 'frozen'")
	}
	if f.State != "" {
		add(nil, "state = ?", f.State)
	}
	if f.Group != "" {
		tenant := "tenant_id"
		if t.dialect == migrations.SQLite {
			tenant = "tenant_id || ''" // not the index of all of the tenant's users
		}
		members := t.db.Model(&GroupMember{}).Select("user_id").Where("group_id = ?", f.Group)
		add([]*gorm.DB{users(tenant).Where("id IN (?)", members)},
			"EXISTS (SELECT 1 FROM group_members AS m WHERE m.group_id = ? AND m.user_id = found.id)", f.Group)
	}
	if f.Query != "" {
		out = append(out, choice{condition: t.userQuery(f.Query)})
	}
	return out
}

// userQuery is the condition that a user's address or a name contains a text.
func (t *Tx) userQuery(text string) condition {
	like := "%" + likeEscaper.Replace(strings.ToLower(text)) + "%"
	name := "lower(name)"
	if t.dialect == migrations.SQLite { // whose LIKE ignores the case of ASCII letters itself
		name = "name"
	}
	return condition{
		`email LIKE ? ESCAPE '!' OR ` + name + ` LIKE ? ESCAPE '!' OR user_name LIKE ? ESCAPE '!'`,
		[]any{like, like, like},
	}
}

var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// EndUsersOf lists a tenant's end users, newest first.
func (t *Tx) EndUsersOf(tenantID string, f UserFilter, page Page) (List[EndUser], error) {
	users := t.usersOf(tenantID)
	return t.listUsers([]*gorm.DB{users("tenant_id")}, users, f, page)
}

// MaxMerged is the maximum number of tenants or projects whose rows one list or search merges.
const MaxMerged = 50

// ErrManyTenants means that a project serves more tenants than MaxMerged.
var ErrManyTenants = errors.New("models: too many tenants to list their users")

// EndUsersServed lists the end users of the tenants that a project serves, newest first. The index has the users of a
// single tenant in the order of the list, so the query merges the users of each tenant. It returns ErrManyTenants if
// there are too many.
func (t *Tx) EndUsersServed(projectID string, f UserFilter, page Page) (List[EndUser], error) {
	var ids []string
	err := t.db.Table("(?) AS served", t.served(projectID)).Limit(MaxMerged+1).Pluck("id", &ids).Error
	switch {
	case err != nil:
		return List[EndUser]{}, err
	case len(ids) > MaxMerged:
		return List[EndUser]{}, ErrManyTenants
	case len(ids) == 1:
		return t.EndUsersOf(ids[0], f, page)
	}
	var all []*gorm.DB
	for _, id := range ids {
		all = append(all, t.usersOf(id)("tenant_id"))
	}
	if len(all) == 0 {
		return List[EndUser]{}, nil
	}
	return t.listUsers(all, t.usersOfAny(ids), f, page)
}

// listUsers lists the users of all queries, each of one tenant. users returns them as a single query.
func (t *Tx) listUsers(
	all []*gorm.DB, users func(column string) *gorm.DB, f UserFilter, page Page,
) (List[EndUser], error) {
	q, err := t.choose(&page, all, t.userChoices(users, f))
	if err != nil {
		return List[EndUser]{}, err
	}
	id := func(row EndUser) string { return row.ID }
	if page.Sort == (Sort{}) {
		return newestFirst(q, page, id)
	}
	return sorted(q, page, orders[EndUser]{
		"created":    byID("id", id),
		"name":       byText(t, shownPerson, func(row EndUser) string { return cmp.Or(row.Name, row.Email) }),
		"state":      byText(t, "state", func(row EndUser) string { return row.State }),
		"last_login": byTime("last_login_at", func(row EndUser) *time.Time { return row.LastLoginAt }),
	}, "id", id)
}

// EndUsersFrom counts a tenant's end users and lists some of them, oldest first, after the first skip.
func (t *Tx) EndUsersFrom(tenantID string, f UserFilter, skip, limit int) (list []EndUser, total int64, err error) {
	var page Page
	rows, err := t.choose(&page, []*gorm.DB{t.usersOf(tenantID)("tenant_id")}, t.userChoices(t.usersOf(tenantID), f))
	if err != nil {
		return nil, 0, err
	}
	q := filtered(t.db.Table("(?) AS found", rows), page.match).Session(&gorm.Session{}) // two statements begin with it
	if err := q.Count(&total).Error; err != nil {
		return nil, 0, err
	}
	return list, total, q.Order("id").Offset(skip).Limit(limit).Find(&list).Error
}

// EndUsersWithin returns the IDs that belong to end users of a tenant.
func (t *Tx) EndUsersWithin(tenantID string, ids []string) ([]EndUser, error) {
	var list []EndUser
	return list, t.db.Where("tenant_id = ? AND id IN ?", tenantID, ids).Order("id").Find(&list).Error
}

// EndUsersByEmail returns at most two end users of a tenant who have proven a lowercase address.
func (t *Tx) EndUsersByEmail(tenantID, email string) ([]EndUser, error) {
	var list []EndUser
	return list, t.db.Where("tenant_id = ? AND email = ? AND email_verified", tenantID, email).Order("id").Limit(2).
		Find(&list).Error
}

// IdentitiesOf lists the identities of an end user at providers, oldest first.
func (t *Tx) IdentitiesOf(userID string) ([]Identity, error) {
	var list []Identity
	return list, t.db.Where("user_id = ?", userID).Order("created_at, issuer").Find(&list).Error
}

// DeleteEndUser removes an end user with their sessions, consents, memberships,
// identities and relations.
func (t *Tx) DeleteEndUser(id string) error {
	if err := t.noteLogouts(t.db.Where("user_id = ?", id), Now()); err != nil {
		return err
	}
	sessions := t.db.Model(&LoginSession{}).Select("id").Where("user_id = ?", id)
	if err := t.db.Where("session_id IN (?)", sessions).Delete(&LoginGrant{}).Error; err != nil {
		return err
	}
	for _, row := range []any{&LoginSession{}, &LoginConsent{}, &GroupMember{}, &Identity{}} {
		if err := t.db.Where("user_id = ?", id).Delete(row).Error; err != nil {
			return err
		}
	}
	if err := t.removeRelationsOfUser(id, Now()); err != nil {
		return err
	}
	return t.db.Where("id = ?", id).Delete(&EndUser{}).Error
}

// LockEndUser finds an end user and keeps others from locking or referring to them until the transaction ends. A
// transaction that also locks the tenant has to lock the tenant first, to avoid deadlocks.
func (t *Tx) LockEndUser(id string) (EndUser, error) {
	q := t.db
	if t.dialect == migrations.Postgres {
		q = q.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
	}
	var u EndUser
	return u, q.Where("id = ?", id).Take(&u).Error
}

// LockTenant finds a tenant and keeps others from locking it until the transaction ends, but not from adding rows that
// refer to it. On SQLite, write transactions exclude each other anyway.
func (t *Tx) LockTenant(id string) (Tenant, error) {
	q := t.db
	if t.dialect == migrations.Postgres {
		q = q.Clauses(clause.Locking{Strength: "NO KEY UPDATE"})
	}
	var one Tenant
	return one, q.Where("id = ?", id).Take(&one).Error
}

// SaveSignupPolicy writes the sign-up policy of a tenant.
func (t *Tx) SaveSignupPolicy(row SignupPolicy) error {
	return t.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
}

// ApprovalsOf lists a tenant's approvals by kind and value.
func (t *Tx) ApprovalsOf(tenantID string) ([]Approval, error) {
	var list []Approval
	return list, t.db.Where("tenant_id = ?", tenantID).Order("kind, value").Find(&list).Error
}

// ApprovalsListed lists a tenant's approvals by age, or by value or created.
func (t *Tx) ApprovalsListed(tenantID string, page Page) (List[Approval], error) {
	q := t.db.Where("tenant_id = ?", tenantID)
	page = t.searching(page, "value")
	id := func(row Approval) string { return row.ID }
	if page.Sort == (Sort{}) {
		return ascending(q, page, "id", id)
	}
	return sorted(q, page, orders[Approval]{
		"created": byID("id", id),
		"value":   byText(t, "value", func(row Approval) string { return row.Value }),
	}, "id", id)
}

// ApprovalByID finds an approval.
func (t *Tx) ApprovalByID(id string) (Approval, error) {
	var one Approval
	return one, t.db.Where("id = ?", id).Take(&one).Error
}

// UpdateApproval writes the groups of an approval.
func (t *Tx) UpdateApproval(row Approval) error {
	return t.db.Model(&Approval{}).Where("id = ?", row.ID).Select("Groups", "UpdatedAt").UpdateColumns(&row).Error
}

// DeleteApproval removes an approval. Users who joined through it stay.
func (t *Tx) DeleteApproval(id string) error {
	return t.db.Where("id = ?", id).Delete(&Approval{}).Error
}
