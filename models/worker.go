package models

import (
	"fmt"
	"time"

	"postern/migrations"
)

// Worker is a row of workers: a process that works on jobs, and the time of its
// last heartbeat by the database's clock.
type Worker struct {
	ID     string `gorm:"primaryKey"`
	SeenAt time.Time
}

// NewWorkerID returns a new id for a worker.
func NewWorkerID() string { return NewID("wrk") }

// clock is the time that all replicas have in common.
func (t *Tx) clock() (now time.Time, err error) {
	if t.dialect == migrations.SQLite {
		return Now(), nil
	}
	return now, t.db.Raw("SELECT now()").Scan(&now).Error
}

// WorkerAlive records that a worker is alive, and deletes those that have long been dead.
func (t *Tx) WorkerAlive(id string) error {
	now, err := t.clock()
	if err != nil {
		return err
	}
	err = t.db.Exec(`INSERT INTO workers (id, seen_at) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`, id, now).Error
	if err != nil {
		return fmt.Errorf("models: record that a worker is alive: %w", err)
	}
	return t.db.Where("seen_at < ?", now.Add(-time.Hour)).Delete(&Worker{}).Error
}

// DeleteWorker deletes a worker that has ended.
func (t *Tx) DeleteWorker(id string) error { return t.db.Where("id = ?", id).Delete(&Worker{}).Error }

// DeleteOtherWorkers deletes all workers but one. Only the sole user of a database may call it.
func (t *Tx) DeleteOtherWorkers(id string) error {
	return t.db.Where("id <> ?", id).Delete(&Worker{}).Error
}

// A job's holder is the last in its list of attempts. One that was rescued runs at
// least once more.
const (
	rescueOnPostgres = `UPDATE river_job
		SET state = 'available', scheduled_at = now(), max_attempts = greatest(max_attempts, attempt + 1)
		WHERE state = 'running'
		AND attempted_by[array_upper(attempted_by, 1)] NOT IN (SELECT id FROM workers WHERE seen_at > ?)`
	rescueOnSQLite = `UPDATE river_job
		SET state = 'available', scheduled_at = datetime('now', 'subsec'), max_attempts = max(max_attempts, attempt + 1)
		WHERE state = 'running'
		AND json_extract(attempted_by, '$[#-1]') NOT IN (SELECT id FROM workers WHERE seen_at > ?)`
)

// RescueJobs makes jobs available again if their worker was not seen for the given time, and returns their number. A
// job may have been done in part, so every job can run twice.
func (t *Tx) RescueJobs(deadAfter time.Duration) (int64, error) {
	now, err := t.clock()
	if err != nil {
		return 0, err
	}
	statement := rescueOnPostgres
	if t.dialect == migrations.SQLite {
		statement = rescueOnSQLite
	}
	res := t.db.Exec(statement, now.Add(-deadAfter))
	if res.Error != nil {
		return 0, fmt.Errorf("models: rescue jobs: %w", res.Error)
	}
	return res.RowsAffected, nil
}
