package usage

import (
	"sync"
	"sync/atomic"
	"time"

	"postern/platform/syncmap"
)

// Bounds of the live log, in entries of about half a KiB: of all projects and of one.
// The calls that shards keep come on top.
const (
	maxEntries   = 64 << 10
	maxOfProject = 1024
)

// maxFollowers bounds the readers that follow one project at a time.
const maxFollowers = 20

// idleFor is how long a project must have had no call before its ring can be evicted.
const idleFor = 10 * time.Second

// liveLog holds the latest calls of one process: a ring for each project that was called
// recently.
type liveLog struct {
	entries, each int // bounds: of all projects, and of one

	rings    syncmap.Map[string, *ring] // by project id
	reserved atomic.Int64               // slots of all rings
	dropped  atomic.Int64               // calls of projects without a ring

	evicting  sync.Mutex
	evictFrom atomic.Int64 // Unix milliseconds; no ring can be evicted before

	mu        sync.Mutex
	followers map[string]int // by project id
	ended     chan struct{}
	endOnce   sync.Once
}

func newLiveLog(entries, each int) *liveLog {
	return &liveLog{entries: entries, each: each, followers: map[string]int{}, ended: make(chan struct{})}
}

// ring returns a project's ring, or nil if it doesn't have one.
func (l *liveLog) ring(project string) *ring {
	r, _ := l.rings.Load(project)
	return r
}

// write puts a call into its project's ring, in exchange for an old one.
func (l *liveLog) write(s *slot) {
	r := l.ring(s.project)
	if r == nil {
		if l.reserved.Load()+chunk > int64(l.entries) && !l.evict(time.Unix(0, s.start)) {
			l.dropped.Add(1)
			return
		}
		r, _ = l.rings.LoadOrStore(s.project, newRing())
	}
	r.write(s, l.mayGrow)
}

// mayGrow reserves one more chunk for a ring of have slots, within the bounds.
func (l *liveLog) mayGrow(have int) bool {
	if have+chunk > l.each {
		return false
	}
	if l.reserved.Add(chunk) > int64(l.entries) {
		l.reserved.Add(-chunk)
		return false
	}
	return true
}

// evict removes the ring of the project whose last call is the oldest. It returns false
// if that is too recent, or if another goroutine is evicting.
func (l *liveLog) evict(now time.Time) bool {
	if now.UnixMilli() < l.evictFrom.Load() || !l.evicting.TryLock() {
		return false
	}
	defer l.evicting.Unlock()
	var project string
	var idlest *ring
	l.rings.Range(func(id string, r *ring) bool {
		if idlest == nil || r.usedAt.Load() < idlest.usedAt.Load() {
			project, idlest = id, r
		}
		return true
	})
	if idlest == nil || !idlest.idleSince(idleFor, now) {
		l.evictFrom.Store(now.Add(time.Second).UnixMilli())
		return false
	}
	l.rings.Delete(project)
	if !idlest.tryLock() {
		return false // its slots stay reserved, so that the bound holds
	}
	l.reserved.Add(-int64(len(idlest.slots)))
	idlest.slots, idlest.count, idlest.first, idlest.gone = nil, 0, 0, true
	idlest.mu.Unlock()
	return true
}

// drop removes the calls that ended before a time.
func (l *liveLog) drop(before time.Time) {
	l.rings.Range(func(_ string, r *ring) bool {
		r.drop(before)
		return true
	})
}

// join adds a follower, unless there are too many. leave removes it.
func (l *liveLog) join(project string) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.followers[project] >= maxFollowers {
		return nil, false
	}
	l.followers[project]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.followers[project]--; l.followers[project] == 0 {
			delete(l.followers, project)
		}
	}, true
}

func (l *liveLog) end() { l.endOnce.Do(func() { close(l.ended) }) }
