package usage

import (
	"sync"
	"sync/atomic"
)

// Bounds on the calls that a shard keeps for the live log.
const (
	gatherAt = 32  // at which they are moved to the live log
	maxHeld  = 512 // reached only while the goroutine that moves them is not scheduled
)

// maxShards bounds the cache of each connection, which has an entry for each shard.
const maxShards = 16

// shard counts calls, mostly those that end on one core, so that what a call writes is in
// that core's cache. The padding keeps shards out of each other's cache lines.
type shard struct {
	mu    sync.Mutex
	place int // in shards.all
	tally tally
	taken uint64 // how often tally or minutes was taken
	seen  uint64 // calls that were recorded
	calls []slot // not in the live log yet
	spare []slot // replaces calls when they are taken

	minutes minutes

	_ [128]byte
}

type shards struct {
	all  []shard
	near sync.Pool // of *shard: returns mostly the one that this core used last
	next atomic.Uint32

	gathering sync.Mutex    // held while calls are moved to the live log
	gathers   atomic.Uint64 // how often that was begun
}

func newShards(n int) *shards {
	d := &shards{all: make([]shard, min(n, maxShards))}
	for i := range d.all {
		d.all[i].place, d.all[i].tally, d.all[i].minutes = i, tally{}, minutes{}
	}
	d.near.New = func() any { return &d.all[d.next.Add(1)%uint32(len(d.all))] }
	return d
}

// record counts a call, and keeps it for the live log unless the shard is full. kept reports
// whether it was kept, due whether it is time to gather. cached is the counter that the call's
// connection used last, nil without a connection.
func (d *shards) record(c *Call, cached *last) (kept, due bool) {
	here := d.near.Get().(*shard)
	here.mu.Lock()
	here.seen++
	here.count(c, cached)
	if kept = len(here.calls) < maxHeld; kept {
		here.keep(c)
	}
	due = len(here.calls) >= gatherAt
	here.mu.Unlock()
	d.near.Put(here)
	return kept, due
}

// recorded returns how many calls were recorded.
func (d *shards) recorded() (n uint64) {
	for i := range d.all {
		s := &d.all[i]
		s.mu.Lock()
		n += s.seen
		s.mu.Unlock()
	}
	return n
}

// keep keeps a call for the live log, in a slot that was used before if there is one.
func (s *shard) keep(c *Call) {
	n := len(s.calls)
	if n < cap(s.calls) {
		s.calls = s.calls[:n+1]
	} else {
		s.calls = append(s.calls, slot{})
	}
	s.calls[n].set(c)
}

// gatherIfFree gathers unless another goroutine is gathering.
func (d *shards) gatherIfFree(into *liveLog) {
	if d.gathering.TryLock() {
		defer d.gathering.Unlock()
		d.gatherLocked(into)
	}
}

// gather moves the calls of all shards to the live log, in the order in which they ended.
// One of the goroutines that wait for the lock gathers for all of them.
func (d *shards) gather(into *liveLog) {
	before := d.gathers.Load()
	d.gathering.Lock()
	defer d.gathering.Unlock()
	if d.gathers.Load() == before {
		d.gatherLocked(into)
	}
}

func (d *shards) gatherLocked(into *liveLog) {
	d.gathers.Add(1)
	var space [maxShards][]slot
	for held := d.collect(space[:0]); ; {
		next := earliest(held)
		if next < 0 {
			return
		}
		into.write(&held[next][0])
		held[next] = held[next][1:]
	}
}

// collect takes the calls of all shards. All are locked at once: if one call ended before
// another began, the later one must not be taken alone.
func (d *shards) collect(lists [][]slot) [][]slot {
	for i := range d.all {
		d.all[i].mu.Lock()
	}
	for i := range d.all {
		if here := &d.all[i]; len(here.calls) > 0 {
			lists = append(lists, here.calls)
			here.calls, here.spare = here.spare[:0], here.calls
		}
	}
	for i := range d.all {
		d.all[i].mu.Unlock()
	}
	return lists
}

// earliest returns the index of the list whose first call ended first, -1 if all are
// empty. Each list is sorted by end, unless the clock was set back.
func earliest(lists [][]slot) int {
	found := -1
	for i, list := range lists {
		if len(list) > 0 && (found < 0 || list[0].end() < lists[found][0].end()) {
			found = i
		}
	}
	return found
}
