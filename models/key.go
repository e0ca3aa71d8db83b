package models

import (
	"database/sql"
	"time"

	"gorm.io/gorm"
)

// APIKey is a row of api_keys. Environment "" opens all environments.
type APIKey struct {
	ID          string `gorm:"primaryKey"`
	ProjectID   string
	TenantID    string
	KeyTypeID   string
	Owner       string
	Environment string
	Description string
	State       string
	Hash        []byte
	OldHash     []byte
	GraceEndsAt *time.Time
	ExpiresAt   *time.Time
	Prefix      string
	Last4       string
	LastUsedAt  *time.Time // to within a minute; written by TouchKeys alone
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// KeyByID finds a key.
func (t *Tx) KeyByID(id string) (APIKey, error) {
	var k APIKey
	return k, t.db.Where("id = ?", id).Take(&k).Error
}

// KeysOf lists at most limit keys of a project, newest first, before the id
// given ("" for the start).
func (t *Tx) KeysOf(projectID, before string, limit int) ([]APIKey, error) {
	q := t.db.Where("project_id = ?", projectID)
	if before != "" {
		q = q.Where("id < ?", before)
	}
	var list []APIKey
	return list, q.Order("id DESC").Limit(limit).Find(&list).Error
}

// CountKeys counts a project's keys of any state.
func (t *Tx) CountKeys(projectID string) (int64, error) {
	var n int64
	return n, t.db.Model(&APIKey{}).Where("project_id = ?", projectID).Count(&n).Error
}

// CountActiveKeys counts the keys of each project that are neither frozen nor
// revoked nor expired at now.
func (t *Tx) CountActiveKeys(projectIDs []string, now time.Time) (map[string]int64, error) {
	var rows []struct {
		ProjectID string
		N         int64
	}
	err := t.db.Model(&APIKey{}).Select("project_id, count(*) AS n").
		Where("project_id IN ? AND state = 'active' AND (expires_at IS NULL OR expires_at > ?)", projectIDs, now).
		Group("project_id").Scan(&rows).Error
	counts := make(map[string]int64, len(rows))
	for _, row := range rows {
		counts[row.ProjectID] = row.N
	}
	return counts, err
}

// ScanKeys calls fn with every key of the project by id, of all projects when
// projectID is empty, holding one row at a time.
func (t *Tx) ScanKeys(projectID string, fn func(*APIKey) error) error {
	q := t.db.Model(&APIKey{}).Order("id")
	if projectID != "" {
		q = q.Where("project_id = ?", projectID)
	}
	return scan(q, fn)
}

func scan[Row any](q *gorm.DB, fn func(*Row) error) (err error) {
	var rows *sql.Rows
	if rows, err = q.Rows(); err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		var row Row
		if err = q.ScanRows(rows, &row); err != nil {
			return err
		}
		if err = fn(&row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// UpdateKey writes state and secrets if the row still has the UpdatedAt that
// the caller saw; false means somebody else was faster.
func (t *Tx) UpdateKey(k APIKey, seen time.Time) (bool, error) {
	res := t.db.Model(&APIKey{}).Where("id = ? AND updated_at = ?", k.ID, seen).
		Select("State", "Hash", "OldHash", "GraceEndsAt", "Prefix", "Last4", "UpdatedAt").UpdateColumns(&k)
	return res.RowsAffected == 1, res.Error
}
