package models

import (
	"strings"

	"gorm.io/gorm"

	"postern/migrations"
)

// Rows of a search are those of the teams whose ids are given, at most limit of each kind.

// FindProjects finds served projects by id, by the beginning of their name, or by a part of
// their display name, which has to be in lower case.
func (t *Tx) FindProjects(teamIDs []string, text string, limit int) ([]Project, error) {
	var list []Project
	return list, t.db.
		Where("team_id IN ? AND deleted_at IS NULL", teamIDs).
		Where(`(id = ? OR name LIKE ? ESCAPE '\' OR lower(display_name) LIKE ? ESCAPE '\')`,
			text, escapeLike(text)+"%", "%"+escapeLike(text)+"%").
		Order("name").Limit(limit).Find(&list).Error
}

// FindTenants finds tenants of the teams' own by id, by the beginning of their name, or by a
// part of their display name, which has to be in lower case.
func (t *Tx) FindTenants(teamIDs []string, text string, limit int) ([]Tenant, error) {
	var list []Tenant
	return list, t.db.
		Where("team_id IN ?", teamIDs).
		Where(`(id = ? OR name LIKE ? ESCAPE '\' OR lower(display_name) LIKE ? ESCAPE '\')`,
			text, escapeLike(text)+"%", "%"+escapeLike(text)+"%").
		Order("name").Limit(limit).Find(&list).Error
}

// FindKeysByOwner finds keys by the beginning of their owner.
func (t *Tx) FindKeysByOwner(teamIDs []string, text string, limit int) ([]APIKey, error) {
	var list []APIKey
	return list, t.beginning(t.keysOfTeams(teamIDs), "owner", text).Limit(limit).Find(&list).Error
}

// FindKey finds a key by its id or by its hash, nil for none.
func (t *Tx) FindKey(teamIDs []string, id string, hash []byte) (*APIKey, error) {
	var list []APIKey
	err := t.keysOfTeams(teamIDs).Where("(id = ? OR hash = ?)", id, hash).Limit(1).Find(&list).Error
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

func (t *Tx) keysOfTeams(teamIDs []string) *gorm.DB {
	projects := t.db.Model(&Project{}).Select("id").Where("team_id IN ? AND deleted_at IS NULL", teamIDs)
	return t.db.Where("project_id IN (?)", projects)
}

// FindUsers finds end users by id or by the beginning of their address, which is in lower case.
func (t *Tx) FindUsers(teamIDs []string, text string, limit int) ([]EndUser, error) {
	projects := t.db.Model(&Project{}).Select("id").Where("team_id IN ?", teamIDs)
	tenants := t.db.Model(&Tenant{}).Select("id").Where("team_id IN ? OR project_id IN (?)", teamIDs, projects)
	within := func() *gorm.DB { return t.db.Where("tenant_id IN (?)", tenants) }
	var list []EndUser
	if err := within().Where("id = ?", text).Find(&list).Error; err != nil || len(list) > 0 {
		return list, err
	}
	return list, t.beginning(within(), "email", text).Limit(limit).Find(&list).Error
}

// beginning orders rows by a column, from the text on to the last that begins with it. It
// compares bytes, as the indexes of step 86 do.
func (t *Tx) beginning(q *gorm.DB, column, text string) *gorm.DB {
	if t.dialect == migrations.Postgres {
		column += ` COLLATE "C"`
	}
	return q.Where(column+" >= ? AND "+column+" < ?", text, text+"\U0010FFFF").Order(column)
}

func escapeLike(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
}
