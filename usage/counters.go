package usage

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"postern/models"
)

// counter is what a call is counted under: a row, but for its sums. None of it
// is the caller's to invent, which keeps the number of rows bounded.
type counter struct {
	hour                                    int64 // since 1970-01-01T00:00Z
	project, environment, owner, key, route string
	class                                   int64 // first digit of the status
}

// sums are what is counted.
type sums struct {
	calls, in, out int64
	last           int64 // Unix seconds of the latest call's start
}

// tally is what was counted since the last time it was taken.
type tally map[counter]*sums

// shard is one of several places to count, so that calls on different cores
// seldom meet. It fills its cache lines, or they would meet there.
type shard struct {
	mu    sync.Mutex
	tally tally
	taken uint64 // how often
	_     [128 - 24]byte
}

type counters []shard

func newCounters() counters {
	c := make(counters, 4*runtime.GOMAXPROCS(0))
	for i := range c {
		c[i].tally = tally{}
	}
	return c
}

func (c counters) add(call *Call) {
	began := call.Start.Unix()
	at := counter{
		hour: began / 3600, project: call.ProjectID, environment: call.EnvironmentID, owner: call.Owner,
		key: call.CredentialID, route: call.Route, class: int64(call.Status / 100),
	}
	one := sums{1, call.BytesIn, call.BytesOut, began}
	if call.Kept == nil {
		c.somewhere().add(at, one)
		return
	}
	last, known := (*call.Kept).(*place)
	if !known {
		last = &place{shard: c.somewhere()}
		*call.Kept = last
	}
	last.add(at, one)
}

func (c counters) somewhere() *shard {
	return &c[rand.IntN(len(c))] //nolint:gosec // which shard it is is no secret
}

func (s *shard) add(at counter, one sums) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.at(at).add(one)
}

// place is where a caller's last call was counted: the next one mostly belongs there.
type place struct {
	shard *shard
	taken uint64 // the shard's, then: sums that were taken count no more
	at    counter
	sums  *sums
}

func (p *place) add(at counter, one sums) {
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	if p.sums == nil || p.taken != p.shard.taken || p.at != at {
		p.taken, p.at, p.sums = p.shard.taken, at, p.shard.tally.at(at)
	}
	p.sums.add(one)
}

func (t tally) at(at counter) *sums {
	s := t[at]
	if s == nil {
		s = &sums{}
		t[at] = s
	}
	return s
}

func (s *sums) add(other sums) {
	s.calls += other.calls
	s.in += other.in
	s.out += other.out
	s.last = max(s.last, other.last)
}

func (t tally) merge(other tally) {
	for at, s := range other {
		t.at(at).add(*s)
	}
}

// take empties the counters.
func (c counters) take() tally {
	all := tally{}
	for i := range c {
		s := &c[i]
		s.mu.Lock()
		taken := s.tally
		s.tally = make(tally, len(taken)) // the next second is much like this one
		s.taken++
		s.mu.Unlock()
		all.merge(taken)
	}
	return all
}

// giveBack undoes take.
func (c counters) giveBack(taken tally) {
	s := &c[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.merge(taken)
}

// calls is how many have not been taken.
func (c counters) calls() (n int64) {
	for i := range c {
		s := &c[i]
		s.mu.Lock()
		for _, counted := range s.tally {
			n += counted.calls
		}
		s.mu.Unlock()
	}
	return n
}

func (t tally) rows() []models.UsageHour {
	rows := make([]models.UsageHour, 0, len(t))
	for at, s := range t {
		rows = append(rows, models.UsageHour{
			ProjectID: at.project, Hour: at.hour, EnvironmentID: at.environment, Owner: at.owner, KeyID: at.key, Route: at.route,
			StatusClass: at.class, Calls: s.calls, BytesIn: s.in, BytesOut: s.out,
		})
	}
	return rows
}

// touchEvery is how long a key's last use is not written again.
const touchEvery = time.Minute

// usedKeys are the keys that were used lately, by id.
type usedKeys map[string]*use

type use struct {
	last      int64 // Unix seconds of the latest call
	writtenAt time.Time
	written   int64 // the last that is in the row
}

func (u usedKeys) see(t tally) {
	for at, s := range t {
		if at.key == "" {
			continue
		}
		if u[at.key] == nil {
			u[at.key] = &use{}
		}
		u[at.key].last = max(u[at.key].last, s.last)
	}
}

// due are the keys to be written now, by the second of their last use, and when
// it is the last time, all that are not written yet. Keys that have nothing to
// write and could be written again are forgotten.
func (u usedKeys) due(now time.Time, last bool) map[int64][]string {
	due := map[int64][]string{}
	for id, key := range u {
		again := now.Sub(key.writtenAt) >= touchEvery
		switch {
		case key.last > key.written && (again || last):
			due[key.last] = append(due[key.last], id)
		case key.last <= key.written && again:
			delete(u, id)
		}
	}
	return due
}

func (u usedKeys) written(due map[int64][]string, now time.Time) {
	for at, ids := range due {
		for _, id := range ids {
			u[id].written, u[id].writtenAt = at, now
		}
	}
}
