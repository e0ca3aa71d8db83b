// Package usage counts proxied calls and shows them: sums by the hour, when a key was
// last used, and the latest calls one by one (the live log).
//
// It owns the counters, their hourly and daily rows, traffic and latencies by time and route, the live log and its
// bounds, and who may read them. The gateway defines what a call is, and reports calls to a Recorder. Counters are
// written every second: a kill loses at most one second, and the counts of replicas add up. Counts of projects with
// many keys in use are appended to a log, which one process adds to the rows each minute (log.go). The live log is in
// memory only, of one process.
//
// With the counters, each gateway writes what it knows of the health of targets (target_reports.go). Workers tell
// webhooks (target_events.go).
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

// How long writing a flush, and folding a batch of the log, may take. Counts that are not written stay in memory or in
// the log, and are written the next time. Tests have more patience.
var (
	flushTimeout = 10 * time.Second
	foldTimeout  = 10 * time.Second
)

// Call is a proxied call that has ended. It is counted in the hour in which it began.
// The recorder copies Method, Path and RemoteIP; the other strings must not change.
type Call struct {
	ProjectID, VersionID, EnvironmentID string

	Owner        string // "" for none
	CredentialID string // the key's id; "" without one
	RemoteIP     string
	Host         string // custom domain; "" for the gateway's own address
	Method       string
	Path         string // without the query
	Route        string // a pattern, never a path: each value is a row
	Status       int
	Code         string // of the gateway's own response, "" if the upstream answered
	Step         string // the gateway's step that answered
	Forwarded    bool   // to the upstream
	Tries        int    // how often the call was sent to the upstream, or that was tried; 0 if it wasn't forwarded
	Target       string // host of the target of the last try; "" if the environment has only one
	ShadowRule   string // what of the rules in shadow would have refused the call; "": nothing
	ShadowCode   string // of that refusal
	InvalidAt    string // operation of the OpenAPI document that the call, forwarded, did not match; "": none
	InvalidWhy   string // what about it
	TrackedRule  string // id of the rule that remembers or forgets an object; "": none
	Tracked      string // remembered, forgotten or missed
	TrackedThing string // the object; "" if it was missed
	MissReason   string // why it was missed, see policy.MissReason
	BytesIn      int64
	BytesOut     int64
	TraceID      string // for the access log alone
	Start        time.Time
	FirstByte    time.Duration // until the response began; 0: there was none, or the gateway's own
	Duration     time.Duration
}

// Recorder records the calls of one process. Create one with NewRecorder. It is safe for
// concurrent use.
type Recorder struct {
	Folds        bool          // Run sums up the hours of past days and deletes what is old; set before Run
	KeepRequests time.Duration // in the live log; 0: until newer ones take their place; set before Run

	Targets func() []TargetHealth // what this process's gateway knows of targets; nil without one; set before Run
	Events  Events                // notified of the health of targets, if Folds; set before Run

	db      *models.DB
	log     *slog.Logger
	shards  *shards
	shadow  dailyCounts[shadowCounter]
	invalid dailyCounts[invalidCounter]
	misses  dailyCounts[missCounter]
	live    *liveLog

	flushing sync.Mutex // held while counters are written to rows
	used     usedKeys
	traffic  minutes // taken from the shards and not written
	folder   folder
	failing  bool
	reporter targetReporter

	tellingFails bool // by followLog
}

// NewRecorder returns a recorder without calls.
func NewRecorder(db *models.DB, log *slog.Logger) *Recorder {
	return &Recorder{
		db:     db,
		Folds:  true,
		log:    log,
		shards: newShards(runtime.GOMAXPROCS(0)),
		live:   newLiveLog(maxEntries, maxOfProject),
		used:   usedKeys{},

		traffic: minutes{},
	}
}

// Calls returns how many calls were recorded since the process started.
func (r *Recorder) Calls() uint64 { return r.shards.recorded() }

// Observe counts a call and adds it to the live log. It never waits for the database. It
// waits for a reader only while that takes the calls out of the shards.
func (r *Recorder) Observe(c Call) { r.observe(&c, nil) }

// ConnRecorder records the calls of one connection, which never overlap. It caches
// the counter of the last call, so that the next call need not look it up.
type ConnRecorder struct {
	recorder *Recorder
	last     last
}

// ForConnection returns a recorder for the calls of one connection.
func (r *Recorder) ForConnection() *ConnRecorder { return &ConnRecorder{recorder: r} }

// Observe is Recorder.Observe for the connection's next call.
func (r *ConnRecorder) Observe(c Call) { r.recorder.observe(&c, &r.last) }

// observe records a call. cached is the counter that its connection used last, nil without one.
func (r *Recorder) observe(c *Call, cached *last) {
	if c.InvalidAt != "" {
		r.countInvalid(c)
	}
	if c.ShadowRule != "" {
		r.countShadow(c)
	}
	if c.MissReason != "" {
		r.countMiss(c)
	}
	kept, due := r.shards.record(c, cached)
	if !kept { // the shard is full, perhaps with the calls of other projects
		var s slot
		s.set(c)
		r.live.write(&s)
	}
	if due {
		r.shards.gatherIfFree(r.live)
	}
}

// Run writes the counters every second until ctx ends. Call Close after it, once no more
// calls are observed.
func (r *Recorder) Run(ctx context.Context) {
	tick, slow := time.NewTicker(FlushEvery), time.NewTicker(trafficEvery)
	defer tick.Stop()
	defer slow.Stop()
	var folding sync.WaitGroup // runs next to the flushes, which it must not delay
	if r.Folds {
		folding.Go(func() { r.followLog(ctx) })
	}
	defer folding.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// A stop must not interrupt a write: Close would not know if it was committed.
			err := r.Flush(context.WithoutCancel(ctx))
			r.sweep()
			r.logFailure(err)
			r.reportTargets(context.WithoutCancel(ctx))
			if r.Folds {
				r.foldSome(ctx)
			}
		case <-slow.C:
			if err := r.flushTraffic(context.WithoutCancel(ctx), ""); err != nil && !r.failing {
				r.log.Error("could not write sums of traffic; keeping them in memory", "error", err)
			}
		}
	}
}

// logFailure logs when writing begins to fail and when it works again.
func (r *Recorder) logFailure(err error) {
	switch {
	case err != nil && !r.failing:
		r.log.Error("could not write usage; keeping it in memory", "error", err)
	case err == nil && r.failing:
		r.log.Info("usage is being written again")
	}
	r.failing = err != nil
}

// Flush writes the counters: few to the hourly rows, and what is too much for those to
// usage_log. After an error they are still in memory. If the database committed but its
// confirmation was lost, the calls are counted twice.
func (r *Recorder) Flush(ctx context.Context) error { return r.flush(ctx, false) }

// Close ends the live log's followers and writes the counters until that succeeds or ctx
// ends. Its error has the number of calls that are lost. If only misses, latencies or times of last use are lost, it
// logs that.
func (r *Recorder) Close(ctx context.Context) error {
	r.EndFollowers()
	for {
		err := r.flush(ctx, true)
		if err == nil {
			err = r.flushTraffic(ctx, "")
		}
		if err == nil && r.Folds {
			if err := r.FoldLog(ctx); err != nil {
				r.log.Warn("leaving logged usage to the next process", "error", err)
			}
		}
		if err == nil {
			r.forgetGateway(ctx)
			return nil
		}
		select {
		case <-ctx.Done():
			if n := r.shards.counted(); n > 0 {
				return fmt.Errorf("usage: %d calls were counted but could not be written: %w", n, err)
			}
			r.log.Warn("could not write misses, latencies or times of last use", "error", err)
			return nil
		case <-time.After(FlushEvery / 4):
		}
	}
}

// ring returns a project's part of the live log, up to date, nil if there is none.
func (r *Recorder) ring(project string) *ring {
	r.shards.gather(r.live)
	found := r.live.ring(project)
	if found != nil && r.KeepRequests > 0 {
		found.drop(time.Now().Add(-r.KeepRequests))
	}
	return found
}

// sweep drops calls from the live log that are older than they are kept.
func (r *Recorder) sweep() {
	if r.KeepRequests > 0 {
		r.live.drop(time.Now().Add(-r.KeepRequests))
	}
}

// EndFollowers ends every present and future Follow.
func (r *Recorder) EndFollowers() { r.live.end() }

func (r *Recorder) flush(ctx context.Context, last bool) error {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	r.shards.gather(r.live)
	if err := r.flushCounters(ctx); err != nil {
		return err
	}
	if err := r.flushMisses(ctx); err != nil {
		return err
	}
	if err := r.flushShadows(ctx); err != nil {
		return err
	}
	if err := r.flushInvalid(ctx); err != nil {
		return err
	}
	due := r.used.due(models.Now(), last)
	if len(due) == 0 {
		return nil
	}
	err := r.db.Write(ctx, func(tx *models.Tx) error { return touch(tx, due) })
	if err != nil {
		return fmt.Errorf("usage: write when keys were used: %w", err)
	}
	r.used.markWritten(due, models.Now())
	return nil
}

// flushCounters writes the counters to the hourly rows, or to usage_log.
func (r *Recorder) flushCounters(ctx context.Context) error {
	taken := r.shards.take()
	if len(taken) == 0 {
		return nil
	}
	direct, logged := taken.split()
	entries, err := logEntries(logged, sumsOfEntry, models.Now())
	if err == nil {
		err = r.db.Write(ctx, func(tx *models.Tx) error {
			if err := tx.AppendUsageLog(entries); err != nil || len(direct) == 0 {
				return err
			}
			return tx.AddUsage(rowsOf(direct))
		})
	}
	if err != nil {
		r.shards.giveBack(taken)
		return fmt.Errorf("usage: write %d sums: %w", len(taken), err)
	}
	r.used.add(direct)
	return nil
}

// Service implements the queries of usage and of the live log.
type Service struct {
	DB       *models.DB
	Recorder *Recorder // of this process

	// NoGateway is set where this process serves no calls: its live log stays empty, and the calls are in those of the
	// processes that serve them.
	NoGateway bool
}
