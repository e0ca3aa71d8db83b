package projects

import (
	"net/netip"
	"sync"
	"time"

	"github.com/dustin/go-humanize/english"

	"postern/core/policy"
	"postern/platform/fault"
)

// How many projects callers without an account can create within one clock hour, from
// one address (IPv6: one /64, which is one subscriber's) and from the network around it,
// so that a rented range does not count as many callers.
const (
	quotaWindow = time.Hour
	perAddress  = 20
	perNetwork  = 100
	maxPrefixes = 50_000 // addresses and networks that are counted separately within one window
)

// CreationQuota counts the projects that callers without an account create, in this
// process. Its zero value is ready for use. It is safe for concurrent use.
type CreationQuota struct {
	mu      sync.Mutex
	window  time.Time
	created map[netip.Prefix]int
}

// Allow counts one request, or refuses it as TooMany with the time to wait. Callers whose
// address cannot be read share one count, as do all callers once maxPrefixes are
// counted.
func (q *CreationQuota) Allow(remoteAddr string, now time.Time) error {
	address, network := policy.Source(remoteAddr)
	q.mu.Lock()
	defer q.mu.Unlock()
	if window := now.Truncate(quotaWindow); q.created == nil || !window.Equal(q.window) {
		q.created, q.window = map[netip.Prefix]int{}, window
	}
	address, network = q.prefix(address), q.prefix(network)
	if q.created[address] >= perAddress || q.created[network] >= perNetwork {
		wait := q.window.Add(quotaWindow).Sub(now)
		return fault.New(fault.TooMany, "too_many_proxies",
			"Too many proxies were created from your network in the last hour. Sign in to create more, or try again "+
				"in %s.",
			english.Plural(int(wait/time.Minute)+1, "minute", "")).After(wait)
	}
	q.created[address]++
	q.created[network]++
	return nil
}

// overflow counts the callers without their own entry. As their address and as their network it is counted twice for
// each of them, so that half as many are allowed.
var overflow = netip.Prefix{}

// prefix returns the entry that p is counted under.
func (q *CreationQuota) prefix(p netip.Prefix) netip.Prefix {
	if _, known := q.created[p]; known || len(q.created) < maxPrefixes {
		return p
	}
	return overflow
}
