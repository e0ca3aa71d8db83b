package engine

import (
	"sync"
	"sync/atomic"
)

// Budget limits the idle connections of many pools together.
type Budget struct {
	most int64
	idle atomic.Int64

	mu    sync.Mutex
	pools map[*Pool]struct{} // all with idle connections, and some without
}

// NewBudget returns a budget for at most that many idle connections.
func NewBudget(most int) *Budget {
	return &Budget{most: int64(most), pools: map[*Pool]struct{}{}}
}

// Pool holds the idle connections of one project. Connections never move to another pool, so extra bytes that an
// upstream sends after a response can only reach calls of the same project. It is safe for concurrent use.
type Pool struct {
	budget *Budget

	mu        sync.Mutex
	idle      int
	listed    bool                   // in the budget
	upstreams map[*Upstream]struct{} // that have had idle connections
}

// maxIdle is the limit on the idle connections of one pool.
const maxIdle = 256

// NewPool returns the pool of one project.
func (b *Budget) NewPool() *Pool {
	return &Pool{budget: b, upstreams: map[*Upstream]struct{}{}}
}

// keep adds a connection of up to the idle ones. It returns false if there is no room.
func (p *Pool) keep(up *Upstream, b *backend) bool {
	p.mu.Lock()
	if up.closed || p.idle >= maxIdle {
		p.mu.Unlock()
		return false
	}
	up.idle = append(up.idle, b)
	p.idle++
	if !up.listed {
		up.listed = true
		p.upstreams[up] = struct{}{}
	}
	if !up.reaping {
		up.reapLater(up.keeps())
	}
	unlisted := !p.listed
	p.listed = true
	p.mu.Unlock()
	if unlisted {
		p.budget.list(p)
	}
	if p.budget.idle.Add(1) > p.budget.most {
		p.budget.shrink()
	}
	return true
}

// left counts connections that are no longer idle. The caller holds p.mu.
func (p *Pool) left(n int) {
	p.idle -= n
	p.budget.idle.Add(-int64(n))
}

func (b *Budget) list(p *Pool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pools[p] = struct{}{}
}

// forget removes a pool without idle connections: most likely its project is gone.
func (b *Budget) forget(p *Pool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.unlist()
}

// shrink closes one idle connection: of a few pools taken at random, the oldest of the pool
// that has most, so that projects with few connections keep theirs.
func (b *Budget) shrink() {
	b.mu.Lock()
	defer b.mu.Unlock()
	var fullest *Pool
	most, seen := 0, 0
	for p := range b.pools {
		n := p.waiting()
		if n == 0 {
			p.unlist()
			continue
		}
		if n > most {
			fullest, most = p, n
		}
		if seen++; seen == candidates {
			break
		}
	}
	if fullest != nil {
		fullest.closeOldest()
	}
}

func (p *Pool) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle
}

// unlist removes a pool without idle connections from the budget. The caller holds the
// budget's mu.
func (p *Pool) unlist() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle == 0 {
		p.listed = false
		delete(p.budget.pools, p)
	}
}

func (p *Pool) closeOldest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var oldest *Upstream
	for up := range p.upstreams {
		if len(up.idle) > 0 && (oldest == nil || up.idle[0].idleSince.Before(oldest.idle[0].idleSince)) {
			oldest = up
		}
	}
	if oldest != nil {
		oldest.closeFirst(1)
	}
}
