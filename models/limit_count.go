package models

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"postern/migrations"
)

// LimitCount is a row of limit_counts: the calls of one bucket in one window, in
// which StartsAt and EndsAt are Unix seconds.
type LimitCount struct {
	ProjectID string `gorm:"primaryKey"`
	Dimension string `gorm:"primaryKey"`
	Subject   string `gorm:"primaryKey"`
	Period    string `gorm:"primaryKey"` // name of the window
	StartsAt  int64
	EndsAt    int64
	Calls     int64
}

// limitLock lets replicas write the same rows one after another; see usageLock.
const limitLock = 7620817936

// KeepLimitCounts writes counts. They replace counts of earlier windows; within a window, the higher count stays. It
// deletes rows of windows that had ended by the given time.
func (t *Tx) KeepLimitCounts(rows []LimitCount, now int64) error {
	if t.dialect == migrations.Postgres {
		if err := t.db.Exec("SELECT pg_advisory_xact_lock(?)", limitLock).Error; err != nil {
			return err
		}
	}
	if err := t.db.Where("ends_at <= ?", now).Delete(&LimitCount{}).Error; err != nil || len(rows) == 0 {
		return err
	}
	higher := gorm.Expr("CASE WHEN limit_counts.starts_at = excluded.starts_at AND limit_counts.calls > " +
		"excluded.calls THEN limit_counts.calls ELSE excluded.calls END")
	upsert := clause.OnConflict{
		Columns: []clause.Column{{Name: "project_id"}, {Name: "dimension"}, {Name: "subject"}, {Name: "period"}},
		DoUpdates: clause.Set{
			{Column: clause.Column{Name: "calls"}, Value: higher},
			{Column: clause.Column{Name: "starts_at"}, Value: gorm.Expr("excluded.starts_at")},
			{Column: clause.Column{Name: "ends_at"}, Value: gorm.Expr("excluded.ends_at")},
		},
	}
	return t.db.Clauses(upsert).CreateInBatches(rows, batchSize).Error
}

// ScanLimitCounts calls fn with every count of a window that ends after now, in Unix seconds.
func (t *Tx) ScanLimitCounts(now int64, fn func(LimitCount) error) (err error) {
	rows, err := t.db.Model(&LimitCount{}).Where("ends_at > ?", now).Rows()
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		var one LimitCount
		if err := t.db.ScanRows(rows, &one); err != nil {
			return err
		}
		if err := fn(one); err != nil {
			return err
		}
	}
	return rows.Err()
}
