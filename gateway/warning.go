package gateway

import (
	"log/slog"
	"sync"
	"time"
)

// health is what an environment's calls have shown of it, through every table.
type health struct {
	slots    slots
	warnings warnings
}

// warnEvery bounds how often the log hears of one kind of trouble of one
// environment. Whoever owns an upstream says how often it fails: a line for each
// time would let him fill the disk, and slow everybody else down.
const warnEvery = time.Second

// warn logs what an operator may want to look into. Neither path, query nor
// header goes to the log: any of them can hold a secret.
func (c *call) warn(what string, err error) {
	before, due := c.route.environment.health.warnings.due(what, warnEvery, c.gateway.now())
	if !due {
		return
	}
	log := c.gateway.log.With(
		"project", c.route.project.name, "version", c.route.version.name, "environment",
		c.route.environment.name,
	)
	if err != nil {
		log = log.With("error", err.Error())
	}
	before.with(log).Warn(what)
}

// warnings bound how often each of several things is said: they are fixed texts.
type warnings struct {
	mu   sync.Mutex
	said map[string]said
}

// said is when something was said last, and how often it was not since.
type said struct {
	at         time.Time
	suppressed int
}

// due tells whether something may be said now, and what became of it before. A clock
// that was set back silences nobody.
func (w *warnings) due(what string, every time.Duration, now time.Time) (before said, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.said == nil {
		w.said = map[string]said{}
	}
	before = w.said[what]
	if since := now.Sub(before.at); since >= 0 && since < every {
		before.suppressed++
		w.said[what] = before
		return said{}, false
	}
	w.said[what] = said{at: now}
	return before, true
}

// with says of the lines like the next one how many were left out, and since when.
func (s said) with(log *slog.Logger) *slog.Logger {
	if s.suppressed == 0 {
		return log
	}
	return log.With("suppressed", s.suppressed, "since", s.at.UTC().Format(time.RFC3339))
}
