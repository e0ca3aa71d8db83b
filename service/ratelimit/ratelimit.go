// Package ratelimit counts calls in fixed windows and refuses those over a limit: in memory
// for one node, or in Redis for several nodes together.
//
// It owns the counters, and counts a call in all of its windows or in none. It leaves the
// buckets of a call, the bounds of windows and the response to a refused call to package
// policy.
package ratelimit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

// MaxAddresses bounds the callers' addresses that are counted at a time, because an attacker
// with an IPv6 network can use any number of them. Beyond it the counts of arbitrary other
// addresses are dropped. Keys, owners and projects are limited in other places.
const MaxAddresses = 1 << 18

// Local counts in memory. Its counts are exact under any concurrency. Create one with
// NewLocal. It is safe for concurrent use.
type Local struct {
	seed   maphash.Seed
	shards [shardCount]shard
}

const shardCount = 64

type shard struct {
	mu       sync.RWMutex
	counters map[policy.Bucket]*counter
	sweepAt  int // number of counters at which those that have expired are removed
	byIP     int // number of counters of addresses
}

// counter counts the calls of one bucket. mu guards it.
type counter struct {
	mu      sync.Mutex
	gone    bool // removed from its shard: a caller that waited for the lock looks it up again
	changed bool // since it was written; see Keeper
	windows [snapshot.Windows]counted
	_       [16]byte // fills the cache line, so that it is not shared with another counter
}

// counted is one window: its start, in Unix seconds, and the calls in it.
type counted struct{ start, calls int64 }

// NewLocal returns a Local without counts.
func NewLocal() *Local {
	l := &Local{seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i] = shard{counters: map[policy.Bucket]*counter{}, sweepAt: 1024}
	}
	return l
}

// Close does nothing. It implements io.Closer, as Redis does.
func (l *Local) Close() error { return nil }

// Take implements policy.Limiter.
func (l *Local) Take(_ context.Context, t *policy.Tally) error {
	var held [policy.MaxShares]*counter
	shares := t.Shares()
	for i := range shares {
		held[i] = l.lock(shares[i].Bucket, t.Now)
	}
	count(t, &held)
	return nil
}

// ForConnection returns a limiter for the calls of one connection, which never overlap.
func (l *Local) ForConnection() policy.Limiter { return &connLimiter{local: l} }

// connLimiter is Local for one connection. It remembers the counters of the last call:
// mostly the next one is counted for the same buckets.
type connLimiter struct {
	local *Local
	last  [policy.MaxShares]struct {
		bucket  policy.Bucket
		counter *counter // nil: none yet
	}
}

// Take implements policy.Limiter.
func (l *connLimiter) Take(_ context.Context, t *policy.Tally) error {
	shares := t.Shares()
	var held [policy.MaxShares]*counter
	for i := range shares {
		held[i] = l.lock(i, &shares[i].Bucket, t.Now)
	}
	count(t, &held)
	return nil
}

// lock locks the counter of a call's i-th bucket: the last call's, where it still counts.
func (l *connLimiter) lock(i int, b *policy.Bucket, now time.Time) *counter {
	last := &l.last[i]
	if last.counter != nil && last.bucket == *b {
		if last.counter.mu.Lock(); !last.counter.gone {
			return last.counter
		}
		last.counter.mu.Unlock()
	}
	last.bucket, last.counter = *b, l.local.lock(*b, now)
	return last.counter
}

// count counts a call in its counters, which it unlocks. Every call locks in the order of
// dimensions and at most one counter of each, so that no two can wait for each other.
func count(t *policy.Tally, held *[policy.MaxShares]*counter) {
	shares := t.Shares()
	var starts [snapshot.Windows]int64
	for i := range shares {
		held[i].enter(&shares[i], t.Now, &starts)
		for w := range shares[i].Set.All() {
			t.Refused = t.Refused || held[i].windows[w].calls >= shares[i].Limits[w]
		}
	}
	for i := range shares {
		held[i].changed = held[i].changed || !t.Refused
		for w := range shares[i].Set.All() {
			if !t.Refused {
				held[i].windows[w].calls++
			}
			shares[i].Left[w] = max(0, shares[i].Limits[w]-held[i].windows[w].calls)
		}
		held[i].mu.Unlock()
	}
}

// enter resets the windows that are over. If the clock was set back, the later window stays:
// it may refuse too many calls, but never admits too many.
func (c *counter) enter(s *policy.Share, now time.Time, starts *[snapshot.Windows]int64) {
	for w := range s.Set.All() {
		if starts[w] == 0 {
			starts[w], _ = policy.WindowBounds(w, now)
		}
		if c.windows[w].start < starts[w] {
			c.windows[w] = counted{start: starts[w]}
		}
	}
}

// lock finds or creates the counter of a bucket and locks it.
func (l *Local) lock(b policy.Bucket, now time.Time) *counter {
	s := &l.shards[maphash.Comparable(l.seed, b)%shardCount]
	for {
		s.mu.RLock()
		c := s.counters[b]
		s.mu.RUnlock()
		if c == nil {
			c = s.add(b, now)
		}
		c.mu.Lock()
		if !c.gone {
			return c
		}
		c.mu.Unlock()
	}
}

func (s *shard) add(b policy.Bucket, now time.Time) *counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.counters[b]; c != nil {
		return c
	}
	if len(s.counters) >= s.sweepAt {
		s.sweep(now)
		s.sweepAt = max(1024, 2*len(s.counters))
	}
	if b.By == policy.ByIP {
		if s.byIP >= MaxAddresses/shardCount {
			s.forgetAddress()
		}
		s.byIP++
	}
	c := &counter{}
	s.counters[b] = c
	return c
}

// sweep removes counters whose windows are all over. It skips those that are locked.
func (s *shard) sweep(now time.Time) {
	for b, c := range s.counters {
		if !c.mu.TryLock() {
			continue
		}
		if c.over(now) {
			s.remove(b, c)
		}
		c.mu.Unlock()
	}
}

func (c *counter) over(now time.Time) bool {
	for w, window := range c.windows {
		if current, _ := policy.WindowBounds(snapshot.Window(w), now); window.start >= current {
			return false
		}
	}
	return true
}

// forgetAddress removes the counter of any address that is not locked.
func (s *shard) forgetAddress() {
	for b, c := range s.counters {
		if b.By == policy.ByIP && c.mu.TryLock() {
			s.remove(b, c)
			c.mu.Unlock()
			return
		}
	}
}

func (s *shard) remove(b policy.Bucket, c *counter) {
	c.gone = true
	delete(s.counters, b)
	if b.By == policy.ByIP {
		s.byIP--
	}
}
