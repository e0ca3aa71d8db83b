package gateway

import (
	"sync"
	"sync/atomic"
	"time"
)

// health is what an environment's calls have shown of it, through every table.
type health struct {
	underWay atomic.Int64
	warnings warnings
}

// warnEvery bounds how often the log hears of one kind of trouble of one
// environment. Whoever owns an upstream says how often it fails: a line for each
// time would let him fill the disk, and slow everybody else down.
const warnEvery = time.Second

// warn logs what an operator may want to look into. Neither path, query nor
// header goes to the log: any of them can hold a secret.
func (c *call) warn(what string, err error) {
	suppressed, due := c.route.environment.health.warnings.due(what, c.gateway.now())
	if !due {
		return
	}
	log := c.gateway.log.With("project", c.route.project.name, "version", c.route.version.name, "environment", c.route.environment.name)
	if err != nil {
		log = log.With("error", err.Error())
	}
	if suppressed > 0 {
		log = log.With("suppressed", suppressed) // of its like, since the last line of it
	}
	log.Warn(what)
}

// warnings are those of one environment, by what they say: fixed texts.
type warnings struct {
	mu   sync.Mutex
	said map[string]*seldom
}

func (w *warnings) due(what string, now time.Time) (suppressed int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.said == nil {
		w.said = map[string]*seldom{}
	}
	s := w.said[what]
	if s == nil {
		s = &seldom{}
		w.said[what] = s
	}
	return s.due(warnEvery, now)
}

// seldom is something that is worth a line of the log only once in a while. Its
// owner locks it.
type seldom struct {
	last       time.Time
	suppressed int
}

// due tells whether a line may be written, and how many were not since the last.
// A clock that was set back does not keep it silent.
func (s *seldom) due(every time.Duration, now time.Time) (suppressed int, ok bool) {
	if since := now.Sub(s.last); since >= 0 && since < every {
		s.suppressed++
		return 0, false
	}
	suppressed, s.suppressed, s.last = s.suppressed, 0, now
	return suppressed, true
}
