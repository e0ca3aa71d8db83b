// Package balance spreads the calls of one environment over the targets of its upstream. It owns the choice of a
// target, the health of each target (passive and active checks), and its breaker. It leaves connections, requests and
// the sending of checks to package gateway, and the settings to core/contract. The choices are those of Kong 3.9:
// smooth weighted round robin (nginx, ngx_http_upstream_round_robin.c), least connections by (connections + 1) /
// weight, and consistent hashing, here by rendezvous (Thaler and Ravishankar 1998), in which a change of targets moves
// no other call.
package balance

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// MostTargets is the limit on the targets of a group.
const MostTargets = 32

// Method is how a group chooses among its targets.
type Method int

// The methods.
const (
	RoundRobin Method = iota
	LeastConnections
	Hash // a call without a value is spread by round robin
)

// Target is one address of an upstream.
type Target struct {
	Address string // its identity: health and counts follow it
	Weight  int    // 0: no new calls
}

// Settings are the settings of a group.
type Settings struct {
	Targets []Target // 1 to MostTargets, of which one has a weight above 0
	Method  Method
	Passive Passive
	Active  Active
	Breaker Breaker
}

// Passive takes a target out after Failures failed calls in a row, for a time. The zero value takes none out.
type Passive struct {
	Failures int
	Out      time.Duration
}

// Active are checks whose results Checked reports. If there are any, they alone decide about health. The zero value
// means that there are none.
type Active struct {
	Healthy, Unhealthy int           // results in a row that change the health
	Interval           time.Duration // between two checks
}

func (a Active) exist() bool { return a.Unhealthy > 0 }

// Breaker stops calls to a target after Failures failed ones within Window. After Open it lets one call through, which
// decides. The zero value stops none.
type Breaker struct {
	Failures     int
	Window, Open time.Duration
}

// UnavailableError is the error of Take if no target may get the call.
type UnavailableError struct {
	Open       bool          // a breaker stops the calls; false: no target is healthy
	RetryAfter time.Duration // until a target may be back
}

func (e *UnavailableError) Error() string {
	if e.Open {
		return "the breaker of the upstream is open"
	}
	return "no target of the upstream is healthy"
}

// Group is the targets of one upstream. It is safe for concurrent use.
type Group struct {
	settings Settings
	targets  []*target // by their index in the settings
	weighted mask      // targets with a weight above 0
	alone    bool      // there is nothing to choose or refuse

	turn atomic.Uint32 // of LeastConnections, for equal targets

	mu      sync.Mutex
	current []int64 // of RoundRobin: nginx's current_weight
}

// mask is a set of targets, by index.
type mask uint32

func (m mask) has(i int) bool { return m&(1<<i) != 0 }

// target is the state of one target. It outlives changes of settings.
type target struct {
	address string
	seed    uint64 // of Hash

	inProgress atomic.Int64
	failures   atomic.Int64 // in a row
	outUntil   atomic.Int64 // by passive checks, in Unix nanoseconds
	failing    atomic.Bool  // by active checks
	openUntil  atomic.Int64 // of the breaker, in Unix nanoseconds; 0: closed
	trial      atomic.Bool  // the one call is on its way

	mu      sync.Mutex
	failed  []time.Time // within the breaker's window
	good    int         // active checks in a row
	bad     int
	problem string // of the last failed call or check
	status  Status
	changed time.Time // of status
	reason  string    // the problem that changed status to one that isn't healthy
}

// New returns a group. Targets that last has too keep their calls, counts and health.
func New(s Settings, last *Group, now time.Time) *Group {
	g := &Group{settings: s, current: make([]int64, len(s.Targets))}
	for i, one := range s.Targets {
		t := last.targetOf(one.Address)
		if t == nil {
			t = &target{address: one.Address, seed: sum(one.Address), changed: now}
		}
		t.adapt(&s, now)
		g.targets = append(g.targets, t)
		if one.Weight > 0 {
			g.weighted |= 1 << i
		}
	}
	g.alone = len(s.Targets) == 1 && !s.Active.exist() && s.Breaker.Failures == 0
	return g
}

func (g *Group) targetOf(address string) *target {
	if g != nil {
		for _, t := range g.targets {
			if t.address == address {
				return t
			}
		}
	}
	return nil
}

// Len returns the number of targets.
func (g *Group) Len() int { return len(g.targets) }

// First returns the index of the first target that isn't drained.
func (g *Group) First() int { return bits.TrailingZeros32(uint32(g.weighted)) }

// Key is the value by which Hash chooses a target. The zero value is for a call without a key.
type Key struct {
	sum   uint64
	known bool
}

// KeyOf returns the key of a value. It is the same in all processes.
func KeyOf(value string) Key {
	if value == "" {
		return Key{}
	}
	return Key{sum(value), true}
}

// Lease is a call on its way to a target. It may be copied, and is released once.
type Lease struct {
	group *Group
	at    int8
	trial bool // the call for which an open breaker waits
}

// Index returns the index of the target in the settings.
func (l Lease) Index() int { return int(l.at) }

// Tried are the targets that a call was sent to.
type Tried struct{ mask mask }

// Add adds the target of a lease.
func (t *Tried) Add(l Lease) { t.mask |= 1 << l.at }

// Take chooses the target of a call, if possible one that has not been tried. The caller reports the result to the
// lease, and releases it. The error is an *UnavailableError.
func (g *Group) Take(now time.Time, key Key, tried Tried) (Lease, error) {
	if g.alone {
		g.targets[0].inProgress.Add(1)
		return Lease{group: g}, nil
	}
	for refused := mask(0); ; {
		from := g.usable(now) &^ refused
		if others := from &^ tried.mask; others != 0 {
			from = others
		}
		if from == 0 {
			return Lease{}, g.unavailable(now)
		}
		i := g.choose(from, key)
		if lease, ok := g.lease(i, now); ok {
			return lease, nil
		}
		refused |= 1 << i // another call was faster to be the trial
	}
}

// usable returns the targets that may get a call: those that aren't out, or all if passive checks took all out.
func (g *Group) usable(now time.Time) mask {
	at, in, out := now.UnixNano(), mask(0), mask(0)
	for i, t := range g.targets {
		switch {
		case !g.weighted.has(i):
		case g.settings.Active.exist() && t.failing.Load():
		case g.settings.Breaker.Failures > 0 && !t.passes(at):
		case g.takesOut() && at < t.outUntil.Load():
			out |= 1 << i
		default:
			in |= 1 << i
		}
	}
	if in == 0 {
		return out
	}
	return in
}

// takesOut reports whether passive checks decide about health.
func (g *Group) takesOut() bool { return !g.settings.Active.exist() && g.settings.Passive.Failures > 0 }

func (g *Group) lease(i int, now time.Time) (Lease, bool) {
	t, l := g.targets[i], Lease{group: g, at: int8(i)}
	if g.settings.Breaker.Failures > 0 && t.openUntil.Load() != 0 {
		if !t.passes(now.UnixNano()) || !t.trial.CompareAndSwap(false, true) {
			return l, false
		}
		l.trial = true
	}
	t.inProgress.Add(1)
	return l, true
}

// Available returns the error that Take would return for a call.
func (g *Group) Available(now time.Time) error {
	if g.alone || g.usable(now) != 0 {
		return nil
	}
	return g.unavailable(now)
}

// unavailable returns why no target may get a call.
func (g *Group) unavailable(now time.Time) error {
	out := &UnavailableError{RetryAfter: g.settings.Active.Interval}
	for i, t := range g.targets {
		if !g.weighted.has(i) || g.settings.Active.exist() && t.failing.Load() {
			continue
		}
		wait := time.Duration(max(0, t.openUntil.Load()-now.UnixNano()))
		if !out.Open || wait < out.RetryAfter {
			out.Open, out.RetryAfter = true, wait
		}
	}
	return out
}

func (g *Group) choose(from mask, key Key) int {
	switch {
	case from&(from-1) == 0:
		return bits.TrailingZeros32(uint32(from))
	case g.settings.Method == LeastConnections:
		return g.leastConnections(from)
	case g.settings.Method == Hash && key.known:
		return g.hashed(from, key)
	}
	return g.nextInTurn(from)
}

func (g *Group) nextInTurn(from mask) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	best, total := -1, int64(0)
	for i := range g.targets {
		if !from.has(i) {
			continue
		}
		weight := int64(g.settings.Targets[i].Weight)
		g.current[i] += weight
		total += weight
		if best < 0 || g.current[i] > g.current[best] {
			best = i
		}
	}
	g.current[best] -= total
	return best
}

// leastConnections begins its search at another target each time, so that equal ones get equally many calls.
func (g *Group) leastConnections(from mask) int {
	n := len(g.targets)
	first := int(g.turn.Add(1)) % n
	best, calls, weight := -1, int64(0), int64(0)
	for step := range n {
		i := (first + step) % n
		if !from.has(i) {
			continue
		}
		itsCalls, itsWeight := g.targets[i].inProgress.Load()+1, int64(g.settings.Targets[i].Weight)
		if best < 0 || itsCalls*weight < calls*itsWeight {
			best, calls, weight = i, itsCalls, itsWeight
		}
	}
	return best
}

// hashed returns the target whose lot is lowest. A lot is distributed exponentially with the weight as its rate, so
// that each target gets its share, and keeps its calls when another one goes or comes.
func (g *Group) hashed(from mask, key Key) int {
	best, lowest := -1, 0.0
	for i, t := range g.targets {
		if !from.has(i) {
			continue
		}
		const mantissa = 53
		drawn := (float64(mix(key.sum^t.seed)>>(64-mantissa)) + 1) / (1 << mantissa) // above 0, at most 1
		lot := -math.Log(drawn) / float64(g.settings.Targets[i].Weight)
		if best < 0 || lot < lowest {
			best, lowest = i, lot
		}
	}
	return best
}

// sum is FNV-1a with mix, which spreads similar values.
func sum(value string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(value) {
		h = (h ^ uint64(value[i])) * 1099511628211
	}
	return mix(h)
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
