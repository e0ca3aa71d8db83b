package models

import (
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm"

	"postern/migrations"
)

// A search returns rows of the teams with the given IDs, at most limit of each kind.

// FindProjects finds served projects by ID, by a prefix of their name, or by a part of their display name. The text has
// to be in lowercase.
func (t *Tx) FindProjects(teamIDs []string, text string, limit int) ([]Project, error) {
	var list []Project
	return list, t.db.
		Where("team_id IN ? AND deleted_at IS NULL", teamIDs).
		Where(`(id = ? OR name LIKE ? ESCAPE '\' OR lower(display_name) LIKE ? ESCAPE '\')`,
			text, escapeLike(text)+"%", "%"+escapeLike(text)+"%").
		Order("name").Limit(limit).Find(&list).Error
}

// FindTenants finds tenants that belong to teams by ID, by a prefix of their name, or by a part of their display name.
// The text has to be in lowercase.
func (t *Tx) FindTenants(teamIDs []string, text string, limit int) ([]Tenant, error) {
	var list []Tenant
	return list, t.db.
		Where("team_id IN ?", teamIDs).
		Where(`(id = ? OR name LIKE ? ESCAPE '\' OR lower(display_name) LIKE ? ESCAPE '\')`,
			text, escapeLike(text)+"%", "%"+escapeLike(text)+"%").
		Order("name").Limit(limit).Find(&list).Error
}

// readFirst is how many rows of all teams a search reads in the order of their text before it begins with the projects
// of the teams: that takes long where these have thousands.
const readFirst = 500

// FindKeysByOwner finds keys by a prefix of their owner.
func (t *Tx) FindKeysByOwner(teamIDs []string, text string, limit int) ([]APIKey, error) {
	var first []APIKey
	err := t.beginning(t.db, "owner", text).Select("id", "project_id").Limit(readFirst).Find(&first).Error
	if err != nil {
		return nil, err
	}
	projects := map[string]bool{}
	for i := range first {
		projects[first[i].ProjectID] = true
	}
	if err := t.keepServed(projects, teamIDs); err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(first, func(key APIKey) bool { return !projects[key.ProjectID] })
	var list []APIKey
	if len(found) < limit && len(first) == readFirst {
		return t.keysOfTeams(teamIDs, text, limit)
	}
	ids := make([]string, 0, limit)
	for i := range found[:min(limit, len(found))] {
		ids = append(ids, found[i].ID)
	}
	return list, t.inByteOrder(t.db.Where("id IN ?", ids), "owner").Find(&list).Error
}

// keepServed removes the ids of projects that are deleted, or of other teams.
func (t *Tx) keepServed(ids map[string]bool, teamIDs []string) error {
	var kept []string
	err := t.db.
		Model(&Project{}).
		Where("id IN ? AND deleted_at IS NULL", slices.Collect(maps.Keys(ids))).
		Where("team_id IN ?", teamIDs).
		Pluck("id", &kept).Error
	clear(ids)
	for _, id := range kept {
		ids[id] = true
	}
	return err
}

// FindKey finds a key by its ID or its hash. It returns nil if there is none.
func (t *Tx) FindKey(teamIDs []string, id string, hash []byte) (*APIKey, error) {
	var list []APIKey
	err := t.db.Where("id = ? OR (team_id IN ? AND hash = ?)", id, teamIDs, hash).Find(&list).Error
	if err != nil {
		return nil, err
	}
	for i := range list {
		project := map[string]bool{list[i].ProjectID: true}
		if err := t.keepServed(project, teamIDs); err != nil {
			return nil, err
		}
		if len(project) > 0 {
			return &list[i], nil
		}
	}
	return nil, nil
}

// keysOfTeams finds keys by the beginning of their owner in the projects of the teams.
func (t *Tx) keysOfTeams(teamIDs []string, text string, limit int) (list []APIKey, err error) {
	projects := t.db.Model(&Project{}).Select("id").Where("team_id IN ? AND deleted_at IS NULL", teamIDs)
	var ids []string
	if err := projects.Session(&gorm.Session{}).Limit(MaxMerged+1).Pluck("id", &ids).Error; err != nil {
		return nil, err
	}
	if len(ids) > MaxMerged {
		within := t.db.Where("project_id IN (?)", projects)
		return list, t.beginning(within, "owner", text).Limit(limit).Find(&list).Error
	}
	err = beginningIn(t, "project_id", ids, "owner", text, limit, &list)
	return list, err
}

// beginningIn sets list to the first rows whose column begins with the text, in the projects or tenants with the ids.
// It reads what an index has of each: with a subquery instead of the ids, PostgreSQL could read the rows of all teams
// in the order of the column, until it had found enough.
func beginningIn[T any](t *Tx, of string, ids []string, column, text string, limit int, list *[]T) error {
	var all []*gorm.DB
	for _, id := range ids {
		all = append(all, t.beginning(t.db.Model(new(T)).Where(of+" = ?", id), column, text).Limit(limit))
	}
	if len(all) == 0 {
		return nil
	}
	w := window{rows: all[0], more: all[1:], table: "found"}
	return t.inByteOrder(merged[T](w, w.of), column).Limit(limit).Find(list).Error
}

// FindUsers finds end users by ID or by a prefix of their lowercase email address.
func (t *Tx) FindUsers(teamIDs []string, text string, limit int) ([]EndUser, error) {
	var list []EndUser
	if err := t.db.Where("id = ?", text).Find(&list).Error; err != nil {
		return nil, err
	}
	if found, err := t.usersOfTeams(list, teamIDs); err != nil || len(found) > 0 {
		return found, err
	}
	var first []EndUser
	if err := t.beginning(t.db, "email", text).Limit(readFirst).Find(&first).Error; err != nil {
		return nil, err
	}
	read := len(first)
	found, err := t.usersOfTeams(first, teamIDs)
	if err != nil || len(found) >= limit || read < readFirst {
		return found[:min(limit, len(found))], err
	}
	projects := t.db.Model(&Project{}).Select("id").Where("team_id IN ?", teamIDs)
	own := t.db.Model(&Tenant{}).Select("id").Where("team_id IN ?", teamIDs)
	tenants := t.db.Raw("? UNION ?", own, t.db.Model(&Tenant{}).Select("id").Where("project_id IN (?)", projects))
	var ids []string
	err = t.db.Table("(?) AS tenants", tenants).Limit(MaxMerged+1).Pluck("id", &ids).Error
	switch {
	case err != nil:
		return nil, err
	case len(ids) > MaxMerged:
		within := t.db.Where("tenant_id IN (?)", tenants)
		return list, t.beginning(within, "email", text).Limit(limit).Find(&list).Error
	}
	err = beginningIn(t, "tenant_id", ids, "email", text, limit, &list)
	return list, err
}

// usersOfTeams returns the users of tenants of the teams and of their projects.
func (t *Tx) usersOfTeams(users []EndUser, teamIDs []string) ([]EndUser, error) {
	if len(users) == 0 {
		return nil, nil
	}
	tenants := map[string]bool{}
	for i := range users {
		tenants[users[i].TenantID] = true
	}
	var kept []string
	err := t.db.
		Model(&Tenant{}).
		Joins("LEFT JOIN projects ON projects.id = tenants.project_id").
		Where("tenants.id IN ?", slices.Collect(maps.Keys(tenants))).
		Where("tenants.team_id IN ? OR projects.team_id IN ?", teamIDs, teamIDs).
		Pluck("tenants.id", &kept).Error
	return slices.DeleteFunc(users, func(u EndUser) bool { return !slices.Contains(kept, u.TenantID) }), err
}

// beginning orders rows by a column, from the text on to the last that begins with it. It
// compares bytes, as the indexes of steps 86 and 97 do.
func (t *Tx) beginning(q *gorm.DB, column, text string) *gorm.DB {
	named := t.byteOrder(column)
	return t.inByteOrder(q.Where(named+" >= ? AND "+named+" < ?", text, text+"\U0010FFFF"), column)
}

func (t *Tx) inByteOrder(q *gorm.DB, column string) *gorm.DB { return q.Order(t.byteOrder(column)) }

func (t *Tx) byteOrder(column string) string {
	if t.dialect == migrations.Postgres {
		return column + ` COLLATE "C"`
	}
	return column
}

func escapeLike(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
}
