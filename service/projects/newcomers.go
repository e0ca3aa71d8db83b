package projects

import (
	"net/netip"
	"sync"
	"time"

	"postern/core/policy"
	"postern/platform/fault"
)

// How many proxies callers without an account can ask for within an hour of the
// clock: from one address, which for IPv6 is the /64 that one subscriber has, and
// from the network around it, so that a rented range is not as many callers as it
// has addresses.
const (
	newcomerWindow = time.Hour
	perAddress     = 20
	perNetwork     = 100
	maxNewcomers   = 50_000 // networks and addresses that are told apart within one window
)

// Newcomers counts what callers without an account ask for, in this process. Its
// zero value is ready, and safe for concurrent use.
type Newcomers struct {
	mu     sync.Mutex
	window time.Time
	asked  map[netip.Prefix]int
}

// Allow counts one request, or refuses it with a fault of kind TooMany that says
// when the next one will be taken. Callers whose address cannot be read share one
// count, and so do all that come when there are more than can be told apart.
func (n *Newcomers) Allow(remoteAddr string, now time.Time) error {
	address, network := policy.Source(remoteAddr)
	n.mu.Lock()
	defer n.mu.Unlock()
	if window := now.Truncate(newcomerWindow); n.asked == nil || !window.Equal(n.window) {
		n.asked, n.window = map[netip.Prefix]int{}, window
	}
	address, network = n.counted(address), n.counted(network)
	if n.asked[address] >= perAddress || n.asked[network] >= perNetwork {
		wait := n.window.Add(newcomerWindow).Sub(now)
		return fault.New(fault.TooMany, "too_many_proxies",
			"Too many proxies were asked for from your network within this hour. Sign in to make more, or try again "+
				"in %d minutes.",
			int(wait/time.Minute)+1).After(wait)
	}
	n.asked[address]++
	n.asked[network]++
	return nil
}

// crowd stands for everybody who cannot be told apart. As an address and as a
// network it is counted twice for each of them, so that half as many are let in.
var crowd = netip.Prefix{}

func (n *Newcomers) counted(p netip.Prefix) netip.Prefix {
	if _, known := n.asked[p]; known || len(n.asked) < maxNewcomers {
		return p
	}
	return crowd
}
