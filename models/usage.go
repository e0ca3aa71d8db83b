package models

import (
	"slices"
	"time"

	"postern/migrations"
)

// UsageHour is a row of usage_hours: what was counted in one hour, in whole
// hours since 1970-01-01T00:00Z. StatusClass is the first digit of the status.
type UsageHour struct {
	ProjectID     string `gorm:"primaryKey"`
	Hour          int64  `gorm:"primaryKey;autoIncrement:false"`
	EnvironmentID string `gorm:"primaryKey"`
	Owner         string `gorm:"primaryKey"`
	KeyID         string `gorm:"primaryKey"`
	Route         string `gorm:"primaryKey"`
	StatusClass   int64  `gorm:"primaryKey;autoIncrement:false"`
	Calls         int64
	BytesIn       int64
	BytesOut      int64
}

// The dimensions to group usage by. A day is whole days since 1970-01-01, in UTC.
const (
	UsageByHour        = "hour"
	UsageByDay         = "day"
	UsageByEnvironment = "environment_id"
	UsageByOwner       = "owner"
	UsageByKey         = "key_id"
	UsageByRoute       = "route"
	UsageByStatusClass = "status_class"
	UsageByTenant      = "tenant_id" // of the key, else of the user
)

// UsageSum is the sum over the rows of one group; fields that are not grouped by
// are zero.
type UsageSum struct {
	UsageHour
	Day      int64
	TenantID string
}

// usageLock is the PostgreSQL advisory lock that lets replicas add to the same rows one after another: in separate
// turns they could deadlock. It is not the lock that orders revisions, 7620817935 in postgres/0001_schema.sql: a commit
// takes that one while it holds the rows of keys, which TouchKeys waits for.
const usageLock = 7620817937

// batchSize keeps one statement below the number of parameters that both
// databases take.
const batchSize = 500

// AddUsage adds to the hourly rows, and creates missing ones.
func (t *Tx) AddUsage(rows []UsageHour) error {
	if err := t.lockUsage(); err != nil {
		return err
	}
	if err := t.db.Clauses(addingTo("usage_hours", "hour")).CreateInBatches(rows, batchSize).Error; err != nil {
		return err
	}
	return t.addLate(rows)
}

// TouchKeys writes when keys were last used. A later time that is there already
// stays. Neither UpdatedAt nor the change feed is touched: a key that is used
// has not been changed.
func (t *Tx) TouchKeys(ids []string, at time.Time) error {
	if err := t.lockUsage(); err != nil {
		return err
	}
	for len(ids) > 0 {
		batch := ids[:min(len(ids), batchSize)]
		ids = ids[len(batch):]
		err := t.db.
			Model(&APIKey{}).
			Where("id IN ? AND (last_used_at IS NULL OR last_used_at < ?)", batch, at).
			UpdateColumn("last_used_at", at).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// ProjectsWithUsageBefore lists the ids of the projects that have usage from before an hour.
func (t *Tx) ProjectsWithUsageBefore(before int64) ([]string, error) {
	day := before / 24
	const query = `SELECT p.id FROM projects AS p WHERE
		EXISTS (SELECT 1 FROM usage_hours AS h WHERE h.project_id = p.id AND h.hour < ?)
		OR EXISTS (SELECT 1 FROM usage_days AS d WHERE d.project_id = p.id AND d.day < ?)
		OR EXISTS (SELECT 1 FROM usage_traffic AS t WHERE t.project_id = p.id AND t.level IN ?
			AND (t.period = ? AND t.since < ? OR t.period = ? AND t.since < ?))
		ORDER BY p.id`
	var ids []string
	return ids, t.db.Raw(query, before, day, trafficLevels, TrafficHour, before, TrafficDay, day).Scan(&ids).Error
}

// DeleteUsage removes the rows of a project's usage from before an hour, at most those of a
// week of hours, and reports whether there may be more.
func (t *Tx) DeleteUsage(projectID string, before int64) (more bool, err error) {
	var first *int64
	err = t.db.Model(&UsageHour{}).Select("min(hour)").Where("project_id = ?", projectID).Scan(&first).Error
	if err != nil {
		return false, err
	}
	if err := t.lockUsage(); err != nil {
		return false, err
	}
	through := before
	if first != nil {
		through = min(before, *first+7*24)
	}
	err = t.db.Where("project_id = ? AND hour < ?", projectID, through).Delete(&UsageHour{}).Error
	if err != nil || through < before {
		return err == nil, err
	}
	err = t.db.Where("project_id = ? AND day < ?", projectID, before/24).Delete(&UsageDay{}).Error
	if err == nil {
		err = t.deleteSpans(projectID, before/24)
	}
	for _, period := range []int64{TrafficHour, TrafficDay} {
		if err == nil {
			err = t.db.Where("project_id = ? AND level IN ?", projectID, trafficLevels).
				Where("period = ? AND since < ?", period, before*3600/period).Delete(&Traffic{}).Error
		}
	}
	return false, err
}

func (t *Tx) lockUsage() error {
	if t.dialect != migrations.Postgres {
		return nil
	}
	return t.db.Exec("SELECT pg_advisory_xact_lock(?)", usageLock).Error
}

// LastHours lists the latest hour since the given one in which each of the owners called one of the projects, by itself
// or with " (" and an issuer after it.
func (t *Tx) LastHours(projectIDs []string, since int64, owners []string) ([]UsageHour, error) {
	either := t.db.Where("1 = 0")
	for _, owner := range owners {
		either = either.Or("owner >= ? AND owner < ?", owner, owner+"!") // the one after a space
	}
	var list []UsageHour
	return list, t.db.
		Model(&UsageHour{}).
		Select("owner, max(hour) AS hour").
		Where("project_id IN ? AND hour >= ?", projectIDs, since).
		Where("owner >= ? AND owner < ?", slices.Min(owners), slices.Max(owners)+"!"). // spares most rows the others
		Where(either).
		Group("owner").
		Scan(&list).Error
}
