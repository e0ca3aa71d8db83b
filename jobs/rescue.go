package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"postern/migrations"
	"postern/models"
)

// A process writes a heartbeat every aliveEvery. One without a heartbeat for deadAfter
// is dead, and its jobs are given to others. River's own rescue takes an hour, and
// ignores jobs without a timeout. deadAfter is longer than the 10 s lease of an export,
// since a job whose export is still leased ends without an effect.
const (
	aliveEvery = 2 * time.Second
	deadAfter  = 10*time.Second + aliveEvery
)

// rescuer writes this process's heartbeats and requeues the jobs of dead processes.
type rescuer struct {
	db  *models.DB
	id  string // of this process, in River's attempted_by too
	log *slog.Logger

	end     context.CancelFunc
	running sync.WaitGroup
	last    time.Time // of the last heartbeat
	since   time.Time // of the first heartbeat after the last gap
}

// start writes the first heartbeat, before this process can hold a job.
func (r *rescuer) start(ctx context.Context) error {
	err := r.db.Write(ctx, func(tx *models.Tx) error {
		if err := tx.WorkerAlive(r.id); err != nil || r.db.Dialect() != migrations.SQLite {
			return err
		}
		return tx.DeleteOtherWorkers(r.id)
	})
	if err != nil {
		return fmt.Errorf("jobs: write the first heartbeat: %w", err)
	}
	r.last, r.since = time.Now(), time.Now()
	ctx, r.end = context.WithCancel(ctx)
	r.running.Go(func() { r.run(ctx) })
	return nil
}

// stop removes this process. It is called after the last job has ended.
func (r *rescuer) stop(ctx context.Context) error {
	if r.end == nil {
		return nil
	}
	r.end()
	r.running.Wait()
	r.end = nil
	if err := r.db.Write(ctx, func(tx *models.Tx) error { return tx.DeleteWorker(r.id) }); err != nil {
		return fmt.Errorf("jobs: remove this worker: %w", err)
	}
	return nil
}

func (r *rescuer) run(ctx context.Context) {
	ticker := time.NewTicker(aliveEvery)
	defer ticker.Stop()
	for {
		if err := r.round(ctx); err != nil && ctx.Err() == nil {
			r.log.Warn("could not write this worker's heartbeat", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (r *rescuer) round(ctx context.Context) error {
	if err := r.db.Write(ctx, func(tx *models.Tx) error { return tx.WorkerAlive(r.id) }); err != nil {
		return err
	}
	now := time.Now()
	if now.Sub(r.last) > deadAfter/2 {
		r.since = now
	}
	r.last = now
	// After an outage of the database every process looks dead. Each gets deadAfter to
	// write a heartbeat.
	if r.db.Dialect() != migrations.SQLite && now.Sub(r.since) < deadAfter {
		return nil
	}
	var rescued int64
	err := r.db.Write(ctx, func(tx *models.Tx) (err error) {
		rescued, err = tx.RescueJobs(deadAfter)
		return err
	})
	if rescued > 0 {
		r.log.Warn("took over the jobs of a worker that has stopped", "jobs", rescued)
	}
	return err
}
