package main

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// verdict is what the gateway decides about a call with a key: its status, and its code
// if it is refused.
type verdict string

const (
	admitted verdict = "200"
	frozen   verdict = "403 key_frozen"
	refused  verdict = "401 invalid_key"
)

// window is how long after the answer to a change a gateway may decide by the state
// before it (spec: "other replicas: within one second").
const window = time.Second

// change is when a secret goes over from one verdict to another.
type change struct {
	to    verdict
	from  time.Time // no gateway decides by it before
	until time.Time // without delay, every gateway decides by it afterward
	known time.Time // when it was acknowledged; zero while it is under way
	grace bool      // it is the end of a grace period: from and until are by the gateway's clock
}

// secret is one plaintext of a key.
type secret struct {
	text    string
	key     *key
	changes []change // the first is its creation; before it the secret is refused
}

// allows reports whether a call may get the verdict: whether a state that some gateway
// could hold between the call and its answer gives it. due is when a change must have
// reached the gateway that answered.
func (s *secret) allows(got verdict, sent, answered time.Time, due func(change) time.Time) bool {
	if got == refused && !sent.After(due(s.changes[0])) {
		return true // the gateway has not seen the creation
	}
	for i, c := range s.changes {
		if c.from.After(answered) {
			return false
		}
		last := i == len(s.changes)-1
		if c.to == got && (last || !sent.After(due(s.changes[i+1]))) {
			return true
		}
	}
	return false
}

// key is an API key as its acknowledged changes have left it.
type key struct {
	id, owner string
	state     string    // active, frozen or revoked
	current   *secret   // nil: the answer to the last rotation was lost
	busy      bool      // a change is under way
	calm      time.Time // no change before this time: a grace period is running
	changed   time.Time // when the last change was acknowledged
}

// interval is a time in which a gateway cannot follow changes, or loses what it counts.
type interval struct {
	from  time.Time
	until time.Time // when it must have caught up; zero while that is open
}

func (i interval) includes(t time.Time) bool { return t.After(i.from) && !t.After(i.until) }

// overlaps reports whether the interval and a time have a moment in common.
func (i interval) overlaps(from, until time.Time) bool {
	return !until.Before(i.from) && (i.until.IsZero() || !from.After(i.until))
}

// model holds what was acknowledged, and judges answers by it.
type model struct {
	mu      sync.Mutex
	keys    []*key
	live    []*key    // active or frozen
	recent  []*secret // changed last, at most recentSecrets
	dead    []*secret // revoked, rotated or expired
	lagging map[string][]interval
	clocks  map[string][]clockOff
}

const recentSecrets = 64

func newModel() *model {
	return &model{lagging: map[string][]interval{}, clocks: map[string][]clockOff{}}
}

// never is later than every call.
var never = time.Unix(1<<40, 0)

// due is when a gateway must decide by a change: the window after it was acknowledged,
// or when the gateway has caught up after a time in which it could not follow.
func (m *model) due(gateway string, c change) time.Time {
	if c.known.IsZero() {
		return never
	}
	due := c.known.Add(window)
	for _, l := range m.lagging[gateway] {
		if due.Before(l.from) {
			break // intervals are in order
		}
		if l.until.IsZero() {
			return never
		}
		if l.until.After(due) {
			due = l.until
		}
	}
	if c.until.After(due) {
		return c.until
	}
	return due
}

// judge reports whether the gateway's verdict on a call was right.
func (m *model) judge(s *secret, gateway string, got verdict, sent, answered time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, off := range m.clocks[gateway] {
		if off.overlaps(sent, answered) && off.decides(s, sent, answered) {
			return true
		}
	}
	return s.allows(got, sent, answered, func(c change) time.Time { return m.due(gateway, c) })
}

// lags begins a time in which gateways cannot follow changes, and returns what ends it:
// the given time after the call, they must have caught up.
func (m *model) lags(gateways ...string) (ends func(within time.Duration)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for _, g := range gateways {
		m.lagging[g] = append(m.lagging[g], interval{from: now})
	}
	return func(within time.Duration) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, g := range gateways {
			m.lagging[g][len(m.lagging[g])-1].until = time.Now().Add(within)
		}
	}
}

// pick returns a secret to call with: often one that was changed last, since that is
// where a decision can be late, and sometimes one that is dead.
func (m *model) pick() *secret {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch n := rand.IntN(100); {
	case n < 30 && len(m.recent) > 0:
		return m.recent[rand.IntN(len(m.recent))]
	case n < 45 && len(m.dead) > 0:
		return m.dead[rand.IntN(len(m.dead))]
	}
	for range 10 {
		if s := m.live[rand.IntN(len(m.live))].current; s != nil {
			return s
		}
	}
	return m.recent[rand.IntN(len(m.recent))]
}

// touched puts a secret among those that were changed last.
func (m *model) touched(s *secret) {
	if s == nil {
		return
	}
	if len(m.recent) == recentSecrets {
		m.recent = slices.Delete(m.recent, 0, 1)
	}
	m.recent = append(m.recent, s)
}

// add takes up a key that was created.
func (m *model) add(id, owner, text string, sent, answered time.Time) *key {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := &key{id: id, owner: owner, state: "active", changed: answered}
	created := change{to: admitted, from: sent, until: answered, known: answered}
	k.current = &secret{text: text, key: k, changes: []change{created}}
	m.keys, m.live = append(m.keys, k), append(m.live, k)
	m.touched(k.current)
	return k
}

// choose reserves a live key for a change, or returns nil if all that were tried have one.
func (m *model) choose() *key {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range 20 {
		if len(m.live) == 0 {
			return nil
		}
		k := m.live[rand.IntN(len(m.live))]
		if !k.busy && time.Now().After(k.calm) {
			k.busy = true
			return k
		}
	}
	return nil
}

// begin notes a change of a reserved key that is about to be sent. Its secret is decided
// with to afterward, but not before the time sent, or before a grace period has passed since.
func (m *model) begin(k *key, to verdict, sent time.Time, grace time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k.current != nil {
		k.current.changes = append(k.current.changes, change{to: to, from: sent.Add(grace), grace: grace > 0})
		m.touched(k.current)
	}
}

// end notes that the change of a reserved key was acknowledged, and frees it.
func (m *model) end(k *key, state string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if s := k.current; s != nil {
		last := &s.changes[len(s.changes)-1]
		last.until, last.known = now, now
	}
	k.state, k.changed, k.busy = state, now, false
	if state == "revoked" {
		m.live = slices.DeleteFunc(m.live, func(l *key) bool { return l == k })
		if k.current != nil {
			m.dead = append(m.dead, k.current)
		}
	}
}

// rotated notes that a rotation, which was begun, was acknowledged. The old secret works until
// graceEnds, at the earliest the time given to begin, or for a zero time until the rotation. answer
// has no key if the one with the new secret was lost.
func (m *model) rotated(k *key, answer apiKey, sent, graceEnds time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if old := k.current; old != nil {
		last := &old.changes[len(old.changes)-1]
		last.until, last.known = now, now
		if !graceEnds.IsZero() {
			last.until = graceEnds
			k.calm = graceEnds.Add(window)
		}
		if answer.GraceEndsAt != nil {
			last.from = *answer.GraceEndsAt
		}
		m.dead = append(m.dead, old)
	}
	k.current, k.changed, k.busy = nil, now, false
	if answer.Key != "" {
		created := change{to: admitted, from: sent, until: now, known: now}
		k.current = &secret{text: answer.Key, key: k, changes: []change{created}}
		m.touched(k.current)
	}
}
