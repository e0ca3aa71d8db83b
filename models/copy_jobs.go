package models

import (
	"database/sql"
	"time"
)

// readJobs and writeJob translate a job that has not ended. River keeps lists and documents
// as JSON in SQLite. The bits of unique_states have the same order in both.
const (
	readJobs = `SELECT state, attempt, max_attempts, attempted_at, created_at, scheduled_at, priority, json(args),
			json(attempted_by), json(errors), kind, json(metadata), queue, json(tags), unique_key, unique_states
		FROM river_job WHERE finalized_at IS NULL ORDER BY id`
	writeJob = `INSERT INTO river_job (state, attempt, max_attempts, attempted_at, created_at, scheduled_at, priority,
			args, attempted_by, errors, kind, metadata, queue, tags, unique_key, unique_states)
		VALUES ($1::river_job_state, $2, $3, $4, $5, $6, $7, $8::jsonb,
			(SELECT array_agg(e) FROM jsonb_array_elements_text($9::jsonb) e),
			(SELECT array_agg(e) FROM jsonb_array_elements($10::jsonb) e),
			$11, $12::jsonb, $13, (SELECT coalesce(array_agg(e), '{}') FROM jsonb_array_elements_text($14::jsonb) e),
			$15, $16::integer::bit(8))`
)

// jobs copies the jobs that have not ended. The workers' rows are copied as well, so that a job that was running
// continues when its worker has been silent.
func (c copying) jobs() (n int64, err error) {
	rows, err := c.from.sqlTx.QueryContext(c.ctx, readJobs)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			state, args, kind, metadata, queue string
			attempt, maxAttempts, priority     int64
			attemptedAt                        *time.Time
			createdAt, scheduledAt             time.Time
			attemptedBy, failures, tags        sql.NullString
			uniqueKey                          []byte
			uniqueStates                       sql.NullInt64
		)
		err := rows.Scan(&state, &attempt, &maxAttempts, &attemptedAt, &createdAt, &scheduledAt, &priority, &args,
			&attemptedBy, &failures, &kind, &metadata, &queue, &tags, &uniqueKey, &uniqueStates)
		if err != nil {
			return n, err
		}
		if len(uniqueKey) == 0 {
			uniqueKey = nil
		}
		_, err = c.to.sqlTx.ExecContext(c.ctx, writeJob, state, attempt, maxAttempts, attemptedAt, createdAt,
			scheduledAt, priority, args, attemptedBy, failures, kind, metadata, queue, tags, uniqueKey, uniqueStates)
		if err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}
