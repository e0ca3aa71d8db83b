package usage

import (
	"sync"
	"sync/atomic"
)

// Bounds of what a desk holds of the live log, in calls.
const (
	gatherAt = 32  // they are written into the book
	maxHeld  = 512 // no more are taken: whoever should do so is being kept from it
)

// maxDesks bounds what each caller keeps of them.
const maxDesks = 16

// desk is one of several places where calls are told of, one for each core as far
// as can be, so that what a call writes is in the memory that is near. The gap keeps
// desks out of each other's cache lines.
type desk struct {
	mu    sync.Mutex
	place int // among all
	tally tally
	taken uint64 // how often the tally was
	calls []slot // that are not in the book yet
	spare []slot // to go on with when they are taken
	_     [128]byte
}

// desks are all of them.
type desks struct {
	all  []desk
	near sync.Pool // of *desk: gives back the one that this core has used last, or any
	next atomic.Uint32

	gathering sync.Mutex    // held while calls are on their way into the book
	gathers   atomic.Uint64 // how often that began
}

func newDesks(n int) *desks {
	d := &desks{all: make([]desk, min(n, maxDesks))}
	for i := range d.all {
		d.all[i].place, d.all[i].tally = i, tally{}
	}
	d.near.New = func() any { return &d.all[d.next.Add(1)%uint32(len(d.all))] }
	return d
}

// tell counts a call and keeps it for the book, unless there is no room; due says that
// it is time to gather. before is the cache of the call's connection, nil without one.
func (d *desks) tell(c *Call, before *last) (kept, due bool) {
	here := d.near.Get().(*desk)
	here.mu.Lock()
	here.count(c, before)
	if kept = len(here.calls) < maxHeld; kept {
		here.hold(c)
	}
	due = len(here.calls) >= gatherAt
	here.mu.Unlock()
	d.near.Put(here)
	return kept, due
}

// hold keeps a call in a slot that was used before, where there is one.
func (d *desk) hold(c *Call) {
	n := len(d.calls)
	if n < cap(d.calls) {
		d.calls = d.calls[:n+1]
	} else {
		d.calls = append(d.calls, slot{})
	}
	d.calls[n].set(c)
}

// gatherIfFree is gather, unless somebody is at it.
func (d *desks) gatherIfFree(into *book) {
	if d.gathering.TryLock() {
		defer d.gathering.Unlock()
		d.gatherLocked(into)
	}
}

// gather writes what the desks hold into the book, in the order in which the calls
// ended; of two that ended at once either is first. Of those who wait for their turn
// one does it for all.
func (d *desks) gather(into *book) {
	before := d.gathers.Load()
	d.gathering.Lock()
	defer d.gathering.Unlock()
	if d.gathers.Load() == before {
		d.gatherLocked(into)
	}
}

func (d *desks) gatherLocked(into *book) {
	d.gathers.Add(1)
	var space [maxDesks][]slot
	for held := d.collect(space[:0]); ; {
		next := earliest(held)
		if next < 0 {
			return
		}
		into.write(&held[next][0])
		held[next] = held[next][1:]
	}
}

// collect takes what each desk holds. They are locked all at once: of two calls of
// which one ended before the other began, the later must not be found alone.
func (d *desks) collect(lists [][]slot) [][]slot {
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

// earliest is the list whose first call ended before those of the others, -1 when all
// are empty. Each is in that order but for a clock that was set back.
func earliest(lists [][]slot) int {
	found := -1
	for i, list := range lists {
		if len(list) > 0 && (found < 0 || list[0].end() < lists[found][0].end()) {
			found = i
		}
	}
	return found
}
