package gateway

import (
	"net/netip"
	"sync"
	"sync/atomic"

	"postern/core/policy"
)

// slots counts the current calls to one environment: in total, and per address (for IPv6, one /64), so that a caller
// with many slow calls does not keep the others out.
type slots struct {
	inProgress atomic.Int64

	mu     sync.Mutex
	shares map[netip.Prefix]*share
}

// share counts the calls of one address.
type share struct {
	of         *slots
	network    netip.Prefix
	inProgress atomic.Int64
	holders    int // connections and calls that have it; guarded by of.mu
}

// keptShares is how many unused shares an environment keeps: a caller that calls many
// environments in turn takes another share with each call.
const keptShares = 2

// share returns the share of an address. The caller releases it.
func (s *slots) share(network netip.Prefix) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.shares[network]
	if own == nil {
		if s.shares == nil {
			s.shares = map[netip.Prefix]*share{}
		}
		own = &share{of: s, network: network}
		s.shares[network] = own
	}
	own.holders++
	return own
}

func (s *share) release() {
	if s == nil {
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.holders--; s.holders == 0 && len(s.of.shares) > keptShares {
		delete(s.of.shares, s.network)
	}
}

// takeSlot takes a slot for the call, or returns the denial if all slots are taken. It caches
// the share, because the connection's next call mostly is to the same environment.
func (c *call) takeSlot() (policy.Denial, bool) {
	of := &c.route.environment.health.slots
	if own := c.cache.share; own == nil || own.of != of || own.network != c.conn.network {
		own.release()
		c.cache.share = of.share(c.conn.network)
	}
	own := c.cache.share
	switch limits := &c.gateway.limits; {
	case of.inProgress.Add(1) > limits.InProgress:
		of.inProgress.Add(-1)
		c.warn("too many simultaneous calls to one environment", nil)
		c.retryAfter = 1
		return policy.TooManyCalls, false
	case own.inProgress.Add(1) > limits.InProgressFromOne:
		own.inProgress.Add(-1)
		of.inProgress.Add(-1)
		c.warn("too many simultaneous calls to one environment from one address", nil)
		c.retryAfter = 1
		return policy.RateLimited, false
	}
	c.slot = own
	return policy.Denial{}, true
}

func (c *call) releaseSlot() {
	if c.slot == nil {
		return
	}
	c.slot.inProgress.Add(-1)
	c.slot.of.inProgress.Add(-1)
	c.slot = nil
}
