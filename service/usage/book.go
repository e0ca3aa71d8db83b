package usage

import (
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of the live log in memory: entries over all projects, of about half a
// KiB each, and of one project. What desks hold comes on top.
const (
	maxEntries   = 64 << 10
	maxOfProject = 1024
)

// maxFollowers bounds who may follow one project at once.
const maxFollowers = 20

// evictable is how long no call must have come before another project may have
// a ring's room.
const evictable = 10 * time.Second

// book is the live log of one process: a ring for each project that was called
// lately.
type book struct {
	entries, each int // the most over all projects, and of one

	rings    sync.Map     // project id -> *ring
	reserved atomic.Int64 // slots of all rings
	dropped  atomic.Int64 // calls of projects that got no ring

	evicting  sync.Mutex
	evictFrom atomic.Int64 // Unix milliseconds before which looking for room is of no use

	mu        sync.Mutex
	followers map[string]int // by project id
	ended     chan struct{}
	endOnce   sync.Once
}

func newBook(entries, each int) *book {
	return &book{entries: entries, each: each, followers: map[string]int{}, ended: make(chan struct{})}
}

// ring is a project's, nil when it has none.
func (b *book) ring(project string) *ring {
	r, _ := b.rings.Load(project)
	found, _ := r.(*ring)
	return found
}

// write puts a call into its project's ring and leaves another one in the slot.
func (b *book) write(s *slot) {
	r := b.ring(s.project)
	if r == nil {
		if b.reserved.Load()+chunk > int64(b.entries) && !b.evict(time.Unix(0, s.start)) {
			b.dropped.Add(1)
			return
		}
		made, _ := b.rings.LoadOrStore(s.project, newRing())
		r = made.(*ring)
	}
	r.write(s, b.mayGrow)
}

// mayGrow reserves one more chunk for a ring, unless that is too much for it or
// for all.
func (b *book) mayGrow(have int) bool {
	if have+chunk > b.each {
		return false
	}
	if b.reserved.Add(chunk) > int64(b.entries) {
		b.reserved.Add(-chunk)
		return false
	}
	return true
}

// evict makes room by forgetting the project that was called the longest ago.
// It gives up when all were called just now, or when another one is at it.
func (b *book) evict(now time.Time) bool {
	if now.UnixMilli() < b.evictFrom.Load() || !b.evicting.TryLock() {
		return false
	}
	defer b.evicting.Unlock()
	var project any
	var idlest *ring
	b.rings.Range(func(id, value any) bool {
		if r := value.(*ring); idlest == nil || r.usedAt.Load() < idlest.usedAt.Load() {
			project, idlest = id, r
		}
		return true
	})
	if idlest == nil || !idlest.idleSince(evictable, now) {
		b.evictFrom.Store(now.Add(time.Second).UnixMilli())
		return false
	}
	b.rings.Delete(project)
	if !idlest.tryLock() {
		return false // its slots stay reserved: too few are better than too many
	}
	b.reserved.Add(-int64(len(idlest.slots)))
	idlest.slots, idlest.count, idlest.first, idlest.gone = nil, 0, 0, true
	idlest.mu.Unlock()
	return true
}

// join counts a follower in, unless there are too many; leave counts him out.
func (b *book) join(project string) (leave func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.followers[project] >= maxFollowers {
		return nil, false
	}
	b.followers[project]++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.followers[project]--; b.followers[project] == 0 {
			delete(b.followers, project)
		}
	}, true
}

func (b *book) end() { b.endOnce.Do(func() { close(b.ended) }) }
