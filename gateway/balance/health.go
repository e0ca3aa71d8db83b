package balance

import "time"

// Status is the health of a target as a group sees it.
type Status string

// The statuses.
const (
	Healthy   Status = ""
	Unhealthy Status = "unhealthy" // by its checks
	Open      Status = "open"      // stopped by its breaker
)

// Health is a group's knowledge of one target.
type Health struct {
	Address string
	Weight  int
	Status  Status
	Since   time.Time
	Reason  string // why it isn't healthy; "" if it is
}

// Health returns the group's knowledge of its targets, in their order. A target that passive checks took out is
// unhealthy until a call to it succeeds, and an open one until its breaker closes.
func (g *Group) Health() []Health {
	out := make([]Health, len(g.targets))
	for i, t := range g.targets {
		t.mu.Lock()
		out[i] = Health{t.address, g.settings.Targets[i].Weight, t.status, t.changed, t.reason}
		t.mu.Unlock()
	}
	return out
}

// IsSettled reports whether a call that succeeds changes nothing: the usual case, in which no clock has to be read.
func (l Lease) IsSettled() bool { return l.group.targets[l.at].failures.Load() == 0 && !l.trial }

// Succeeded reports that the target of a call responded well.
func (l Lease) Succeeded(now time.Time) {
	t := l.group.targets[l.at]
	if l.IsSettled() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.outUntil.Load() <= now.UnixNano() { // a target that is out stays out until its time has passed
		t.failures.Store(0)
	}
	if l.trial {
		t.openUntil.Store(0)
	}
	t.settle(&l.group.settings, now)
}

// Failed reports that the target of a call could not be reached, did not respond in time, or responded with a status
// that counts as a failure. problem says which.
func (l Lease) Failed(problem string, now time.Time) {
	t, s := l.group.targets[l.at], &l.group.settings
	t.mu.Lock()
	defer t.mu.Unlock()
	t.problem = problem
	inRow := t.failures.Add(1)
	if l.group.takesOut() && inRow >= int64(s.Passive.Failures) && t.outUntil.Load() <= now.UnixNano() {
		t.outUntil.Store(now.Add(s.Passive.Out).UnixNano())
	}
	switch {
	case s.Breaker.Failures == 0:
	case l.trial:
		t.openUntil.Store(now.Add(s.Breaker.Open).UnixNano())
	case t.openUntil.Load() == 0:
		t.count(s.Breaker, now)
	}
	t.settle(s, now)
}

// Release ends a call, however it ended. A call that reported nothing leaves a breaker to the next one.
func (l Lease) Release() {
	t := l.group.targets[l.at]
	t.inProgress.Add(-1)
	if l.trial {
		t.trial.Store(false)
	}
}

// Checked reports the result of an active check of a target: its problem, "" if there was none.
func (g *Group) Checked(i int, problem string, now time.Time) {
	t, s := g.targets[i], &g.settings
	t.mu.Lock()
	defer t.mu.Unlock()
	if problem == "" {
		t.good, t.bad = t.good+1, 0
	} else {
		t.good, t.bad, t.problem = 0, t.bad+1, problem
	}
	switch {
	case t.good >= s.Active.Healthy:
		t.failing.Store(false)
	case t.bad >= s.Active.Unhealthy:
		t.failing.Store(true)
	}
	t.settle(s, now)
}

// count counts a failure for a closed breaker. The caller holds t.mu.
func (t *target) count(b Breaker, now time.Time) {
	from := 0
	for from < len(t.failed) && !t.failed[from].After(now.Add(-b.Window)) {
		from++
	}
	t.failed = append(t.failed[:0], t.failed[from:]...)
	if t.failed = append(t.failed, now); len(t.failed) >= b.Failures {
		t.openUntil.Store(now.Add(b.Open).UnixNano())
		t.failed = t.failed[:0]
	}
}

// passes reports whether the breaker lets a call through: any while it is closed, and the one after its time.
func (t *target) passes(at int64) bool {
	until := t.openUntil.Load()
	return until == 0 || at >= until && !t.trial.Load()
}

// adapt drops the state of checks and of a breaker that the settings no longer have.
func (t *target) adapt(s *Settings, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !s.Active.exist() {
		t.good, t.bad = 0, 0
		t.failing.Store(false)
	}
	if s.Active.exist() || s.Passive.Failures == 0 {
		t.outUntil.Store(0)
	}
	if s.Breaker.Failures == 0 {
		t.failed = nil
		t.openUntil.Store(0)
	}
	t.settle(s, now)
}

// settle derives the status from the rest. The caller holds t.mu.
func (t *target) settle(s *Settings, now time.Time) {
	status := Healthy
	switch {
	case t.openUntil.Load() != 0:
		status = Open
	case s.Active.exist():
		if t.failing.Load() {
			status = Unhealthy
		}
	case s.Passive.Failures == 0:
	case now.UnixNano() < t.outUntil.Load(), t.failures.Load() >= int64(s.Passive.Failures):
		status = Unhealthy
	}
	if status != t.status {
		t.status, t.changed, t.reason = status, now, t.problem
	}
	if status == Healthy {
		t.reason = ""
	}
}
