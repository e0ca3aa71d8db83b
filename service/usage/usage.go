// Package usage counts proxied calls and shows them: sums by the hour, when a
// key was last used, and the latest calls one by one.
//
// It owns the counters in memory and their way into hourly rows, the live log
// and its bounds, and who may see either. It does not own what a call is or when
// it is over: the gateway tells a Recorder through the adapter in app. What a
// process has counted is written every second, so that a clean stop loses
// nothing and a kill at most the last second; rows are added to, so that
// replicas add up. The live log is of one process and is written nowhere.
package usage

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"postern/models"
)

// FlushEvery is how often the counters are written.
const FlushEvery = time.Second

// flushTimeout bounds one write of the counters.
const flushTimeout = 10 * time.Second

// Call is a proxied call that is over. It is counted in the hour in which it
// began. Method, Path and RemoteIP are copied where they are kept; the other
// strings must not change.
type Call struct {
	ProjectID, VersionID, EnvironmentID string

	Owner        string // "" for nobody
	CredentialID string // the key's id; "" without one
	RemoteIP     string
	Method       string
	Path         string // without the query
	Route        string // a pattern, never a path: it makes rows
	Status       int
	Code         string // of the gateway's own answer, "" when the upstream answered
	Step         string // which step answered
	BytesIn      int64
	BytesOut     int64
	Start        time.Time
	Duration     time.Duration
}

// Recorder takes in what one process serves. Make one with NewRecorder; it is
// safe for concurrent use.
type Recorder struct {
	db    *models.DB
	log   *slog.Logger
	desks *desks
	book  *book

	flushing sync.Mutex // held while counters are on their way into rows
	used     usedKeys
	failing  bool
}

// NewRecorder makes a recorder that has seen nothing.
func NewRecorder(db *models.DB, log *slog.Logger) *Recorder {
	return &Recorder{
		db:    db,
		log:   log,
		desks: newDesks(runtime.GOMAXPROCS(0)),
		book:  newBook(maxEntries, maxOfProject),
		used:  usedKeys{},
	}
}

// Observe counts a call and keeps it for the live log. It never waits for a database,
// and for readers no longer than it takes them to take what the desks hold.
func (r *Recorder) Observe(c Call) { r.observe(&c, nil) }

// ConnRecorder records the calls of one connection, which never overlap. It remembers
// what the last one was counted under, so that the next one need not be looked up.
type ConnRecorder struct {
	recorder *Recorder
	last     last
}

// ForConnection returns a recorder for the calls of one connection.
func (r *Recorder) ForConnection() *ConnRecorder { return &ConnRecorder{recorder: r} }

// Observe is Recorder.Observe for the connection's next call.
func (r *ConnRecorder) Observe(c Call) { r.recorder.observe(&c, &r.last) }

// observe records a call. before is the cache of its connection, nil without one.
func (r *Recorder) observe(c *Call, before *last) {
	kept, due := r.desks.tell(c, before)
	if !kept { // by other projects' calls, perhaps: their troubles are not this one's
		var s slot
		s.set(c)
		r.book.write(&s)
	}
	if due {
		r.desks.gatherIfFree(r.book)
	}
}

// Run writes the counters every second until the context ends. Close follows,
// once nothing is observed any more.
func (r *Recorder) Run(ctx context.Context) {
	tick := time.NewTicker(FlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// A stop must not break off a write: Close would not know how it ended.
			err := r.Flush(context.WithoutCancel(ctx))
			r.tell(err)
		}
	}
}

// tell logs when writing begins to fail and when it works again, not every time.
func (r *Recorder) tell(err error) {
	switch {
	case err != nil && !r.failing:
		r.log.Error("usage cannot be written and is kept in memory", "error", err)
	case err == nil && r.failing:
		r.log.Info("usage is written again")
	}
	r.failing = err != nil
}

// Flush writes what was counted before the call. After an error it is still in
// memory; only where a database has committed and could not say so, the same
// calls are counted twice.
func (r *Recorder) Flush(ctx context.Context) error { return r.flush(ctx, false) }

// Close writes the last counters and ends the live log's followers. Its error
// says how many calls are lost.
func (r *Recorder) Close(ctx context.Context) error {
	r.EndFollowers()
	for {
		err := r.flush(ctx, true)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("usage: %d calls were counted and could not be written: %w", r.desks.counted(), err)
		case <-time.After(FlushEvery / 4):
		}
	}
}

// ring is a project's part of the live log, brought up to date; nil when it has none.
func (r *Recorder) ring(project string) *ring {
	r.desks.gather(r.book)
	return r.book.ring(project)
}

// EndFollowers ends every Follow, now and from now on.
func (r *Recorder) EndFollowers() { r.book.end() }

func (r *Recorder) flush(ctx context.Context, last bool) error {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	r.desks.gather(r.book)
	taken := r.desks.take()
	r.used.see(taken)
	rows := taken.rows()
	if len(rows) > 0 {
		if err := r.db.Write(ctx, func(tx *models.Tx) error { return tx.AddUsage(rows) }); err != nil {
			r.desks.giveBack(taken)
			return fmt.Errorf("usage: write %d rows: %w", len(rows), err)
		}
	}
	due := r.used.due(models.Now(), last)
	if len(due) == 0 {
		return nil
	}
	err := r.db.Write(ctx, func(tx *models.Tx) error {
		for at, ids := range due {
			if err := tx.TouchKeys(ids, time.Unix(at, 0).UTC()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("usage: write when keys were used: %w", err)
	}
	r.used.written(due, models.Now())
	return nil
}

// Service shows what was recorded to those who may see it.
type Service struct {
	DB       *models.DB
	Recorder *Recorder // of this process
}
