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

// A worker says every aliveEvery that it is alive; one that was not heard of for
// deadAfter is dead, and its jobs are given to others. River's own rescue would
// take an hour, and never comes for jobs without a timeout. An export's lease lasts
// 10 s from a moment when its worker was alive, and has to end first: a job whose
// export is leased is done without an effect.
const (
	aliveEvery = 2 * time.Second
	deadAfter  = 10*time.Second + aliveEvery
)

// rescuer keeps this process among the living and takes over from the dead.
type rescuer struct {
	db  *models.DB
	id  string // of this process, in River's attempted_by too
	log *slog.Logger

	end     context.CancelFunc
	running sync.WaitGroup
	last    time.Time // when this process last said that it is alive
	since   time.Time // since when it has done so without a gap
}

// start announces this process before it can hold a job.
func (r *rescuer) start(ctx context.Context) error {
	err := r.db.Write(ctx, func(tx *models.Tx) error {
		if err := tx.WorkerAlive(r.id); err != nil || r.db.Dialect() != migrations.SQLite {
			return err
		}
		return tx.DeleteOtherWorkers(r.id)
	})
	if err != nil {
		return fmt.Errorf("jobs: announce this worker: %w", err)
	}
	r.last, r.since = time.Now(), time.Now()
	ctx, r.end = context.WithCancel(ctx)
	r.running.Go(func() { r.run(ctx) })
	return nil
}

// stop comes after the last job has ended.
func (r *rescuer) stop(ctx context.Context) error {
	if r.end == nil {
		return nil
	}
	r.end()
	r.running.Wait()
	r.end = nil
	if err := r.db.Write(ctx, func(tx *models.Tx) error { return tx.DeleteWorker(r.id) }); err != nil {
		return fmt.Errorf("jobs: take back the announcement of this worker: %w", err)
	}
	return nil
}

func (r *rescuer) run(ctx context.Context) {
	ticker := time.NewTicker(aliveEvery)
	defer ticker.Stop()
	for {
		if err := r.round(ctx); err != nil && ctx.Err() == nil {
			r.log.Warn("this worker could not say that it is alive", "error", err)
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
	// After an outage of the database all look dead; each gets the time to come back.
	if r.db.Dialect() != migrations.SQLite && now.Sub(r.since) < deadAfter {
		return nil
	}
	var rescued int64
	err := r.db.Write(ctx, func(tx *models.Tx) (err error) {
		rescued, err = tx.RescueJobs(deadAfter)
		return err
	})
	if rescued > 0 {
		r.log.Warn("took over jobs of a worker that is gone", "jobs", rescued)
	}
	return err
}
