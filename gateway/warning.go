package gateway

import (
	"log/slog"
	"sync"
	"time"
)

// health is the state of an environment that is kept when the table is replaced: current calls, and the times of log
// lines.
type health struct {
	slots    slots
	warnings warnings
}

// warnEvery is the shortest time between two log lines of one kind about one environment. An
// upstream's owner controls how often it fails, and must not be able to fill the disk.
const warnEvery = time.Second

// warn logs a problem for the operator. It logs no path, query or header: they can hold
// secrets.
func (c *call) warn(what string, err error) {
	before, due := c.route.environment.health.warnings.due(what, warnEvery, c.gateway.now())
	if !due {
		return
	}
	log := c.gateway.log.With(
		"project", c.route.project.name,
		"version", c.route.version.name,
		"environment", c.route.environment.name,
	)
	if c.trace.CallTrace != nil {
		log = log.With("trace_id", c.trace.ID())
	}
	if err != nil {
		log = log.With("error", err.Error())
	}
	before.with(log).Warn(what)
}

// warnings bounds how often each of a few fixed texts is logged.
type warnings struct {
	mu   sync.Mutex
	last map[string]logged
}

// logged is when a text was logged last, and how often it was suppressed since.
type logged struct {
	at         time.Time
	suppressed int
}

// due reports whether a text may be logged now, and returns when it was logged before. It may
// also be after the clock was set back.
func (w *warnings) due(what string, every time.Duration, now time.Time) (before logged, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[string]logged{}
	}
	before = w.last[what]
	if since := now.Sub(before.at); since >= 0 && since < every {
		before.suppressed++
		w.last[what] = before
		return logged{}, false
	}
	w.last[what] = logged{at: now}
	return before, true
}

// with adds to the next line how many were suppressed before it, and since when.
func (s logged) with(log *slog.Logger) *slog.Logger {
	if s.suppressed == 0 {
		return log
	}
	return log.With("suppressed", s.suppressed, "since", s.at.UTC().Format(time.RFC3339))
}
