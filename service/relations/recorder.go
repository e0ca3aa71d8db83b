package relations

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Bounds of the Recorder.
const (
	maxQueued  = 10_000
	maxBatch   = 200
	writeWait  = 500 * time.Millisecond
	retryEvery = 500 * time.Millisecond
	retryFor   = 10 * time.Minute // then a change is given up
)

// Change is what the gateway found in an answer: User owns Object from now on or, with Forget, Object has no
// owner in the tenant.
type Change struct {
	ProjectID, TenantID, Object string

	User   string // not with Forget
	Forget bool
}

// Recorder writes changes to the database in the order in which they were recorded, many in one
// transaction if there are many. It is safe for concurrent use.
type Recorder struct {
	DB      *models.DB
	Table   *Table
	Changed func(context.Context) // serves what was committed, see projects.Feed
	Prunes  bool                  // Run removes old revisions of relations
	Log     *slog.Logger
	Wait    time.Duration // how long Record waits until a change is written; 0: half a second

	mu      sync.Mutex
	queue   []*entry
	woken   chan struct{}
	stopped bool
	once    sync.Once
}

type entry struct {
	Change

	at   time.Time
	done chan struct{} // closed when it is written and served, or given up
}

func (r *Recorder) wake() chan struct{} {
	r.once.Do(func() { r.woken = make(chan struct{}, 1) })
	return r.woken
}

// Record queues a change and waits until it is written, at most Wait. An owner that is to be added counts
// on this replica at once, even if the database is unavailable; other replicas see it when it is written.
// Record returns false if the queue is full.
func (r *Recorder) Record(c Change) bool {
	e := &entry{Change: c, at: time.Now(), done: make(chan struct{})}
	r.mu.Lock()
	if r.stopped || len(r.queue) >= maxQueued {
		r.mu.Unlock()
		r.Log.Error("could not record a relation: too many are waiting for the database", "project", c.ProjectID)
		return false
	}
	if !c.Forget {
		r.Table.expect(c.ProjectID, e.key())
	}
	r.queue = append(r.queue, e)
	r.mu.Unlock()
	select {
	case r.wake() <- struct{}{}:
	default:
	}
	patience := time.NewTimer(cmp.Or(r.Wait, writeWait))
	defer patience.Stop()
	select {
	case <-e.done:
	case <-patience.C:
	}
	return true
}

func (e *entry) key() policy.RelationKey {
	return policy.KeyOf(e.TenantID, e.User, policy.OwnerRelation, e.Object)
}

// Run writes queued changes until ctx ends, and then the rest of the queue.
func (r *Recorder) Run(ctx context.Context) {
	var pruned time.Time
	for {
		if r.flush(ctx) {
			continue
		}
		if r.Prunes && time.Since(pruned) >= time.Hour {
			pruned = time.Now()
			r.prune(ctx)
		}
		wait := time.NewTimer(retryEvery)
		if r.idle() {
			wait.Reset(time.Hour)
		}
		select {
		case <-ctx.Done():
			wait.Stop()
			r.stop(ctx)
			return
		case <-r.wake():
		case <-wait.C:
		}
		wait.Stop()
	}
}

// keepRevisions is how long revisions of relations are kept. A replica that is further behind reads
// everything again.
const keepRevisions = 24 * time.Hour

func (r *Recorder) prune(ctx context.Context) {
	before := models.Now().Add(-keepRevisions)
	err := r.DB.Write(ctx, func(tx *models.Tx) error { return tx.PruneRelationRevisions(before) })
	if err != nil && ctx.Err() == nil {
		r.Log.Warn("could not remove old revisions of relations; retrying in an hour", "error", err)
	}
}

// stop writes the rest of the queue, for at most five seconds.
func (r *Recorder) stop(ctx context.Context) {
	last, end := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer end()
	for r.flush(last) {
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	if n := len(r.queue); n > 0 {
		r.Log.Error("relations were lost because the database can't be reached", "count", n)
	}
}

func (r *Recorder) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.queue) == 0
}

// flush writes the oldest entries. It reports whether the caller should call it again at once.
func (r *Recorder) flush(ctx context.Context) bool {
	r.mu.Lock()
	batch := r.queue[:min(len(r.queue), maxBatch)]
	r.mu.Unlock()
	if len(batch) == 0 {
		return false
	}
	err := r.write(ctx, batch)
	if err != nil && !models.Unavailable(err) && len(batch) > 1 {
		batch = batch[:1] // one entry is the cause: its project or tenant was deleted
		err = r.write(ctx, batch)
	}
	switch {
	case err == nil:
		r.Changed(ctx)
	case !isFinal(batch[0], err):
		r.Log.Warn("could not write relations; retrying", "error", err)
		return false
	default:
		batch = batch[:1]
		r.Log.Error("gave up recording a relation", "project", batch[0].ProjectID, "error", err)
	}
	r.mu.Lock()
	r.queue = append([]*entry(nil), r.queue[len(batch):]...)
	r.mu.Unlock()
	for _, e := range batch {
		if !e.Forget {
			r.Table.release(e.ProjectID, e.key())
		}
		close(e.done)
	}
	return true
}

// isFinal reports whether a retry cannot succeed, or the entry is older than retryFor.
func isFinal(e *entry, err error) bool {
	if models.Unavailable(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return time.Since(e.at) > retryFor
	}
	return true
}

// write writes a batch in one transaction, in order.
func (r *Recorder) write(ctx context.Context, batch []*entry) error {
	now := models.Now()
	return r.DB.Write(ctx, func(tx *models.Tx) error {
		for rest := batch; len(rest) > 0; {
			if rest[0].Forget {
				gone := models.RelationFilter{TenantID: rest[0].TenantID, Object: rest[0].Object}
				if _, err := tx.RemoveRelations(rest[0].ProjectID, gone, now); err != nil {
					return err
				}
				rest = rest[1:]
				continue
			}
			var rows []models.Relation
			for len(rest) > 0 && !rest[0].Forget {
				rows = append(rows, rest[0].row(now))
				rest = rest[1:]
			}
			rows, err := r.admitted(tx, rows)
			if err != nil {
				return err
			}
			if _, err := tx.AddRelations(rows, now); err != nil {
				return err
			}
		}
		return nil
	})
}

// admitted returns the rows without those of unclaimed workspaces that are full. Each batch is
// checked before it is written, so that a workspace can have one batch more.
func (r *Recorder) admitted(tx *models.Tx, rows []models.Relation) ([]models.Relation, error) {
	full := map[string]bool{}
	for _, row := range rows {
		if _, asked := full[row.ProjectID]; asked {
			continue
		}
		project, err := tx.ProjectByID(row.ProjectID)
		if err == nil {
			err = access.CheckQuota(tx, project.TeamID, models.QuotaRelations)
		}
		switch {
		case fault.CodeOf(err) == "workspace_full":
			full[row.ProjectID] = true
			r.Log.Warn("could not record relations: the unclaimed workspace is full", "project", row.ProjectID)
		case err != nil && !errors.Is(err, models.ErrNotFound): // a missing project is AddRelations's error
			return nil, err
		default:
			full[row.ProjectID] = false
		}
	}
	return slices.DeleteFunc(rows, func(row models.Relation) bool { return full[row.ProjectID] }), nil
}

func (e *entry) row(now time.Time) models.Relation {
	return models.Relation{
		ProjectID: e.ProjectID,
		TenantID:  e.TenantID,
		Object:    e.Object,
		Relation:  policy.OwnerRelation,
		User:      e.User,
		CreatedAt: now,
	}
}
