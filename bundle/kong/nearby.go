package kong

import (
	"net/netip"
	"slices"

	"postern/core/snapshot"
)

// local are the networks from which a gateway sees calls from its own machine: loopback and the addresses of container
// runtimes (RFC 1918; RFC 6598; RFC 4193; RFC 3927; RFC 4291, section 2.5.6).
var local = prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16",
	"::1/128", "fc00::/7", "fe80::/10")

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// The decisions of address rules on calls from the local networks.
const (
	nearbyTaken   = "taken"
	nearbyDenied  = "denied"
	nearbyDepends = "depends" // on the address
)

func fromNearby(rules snapshot.IPRules) string {
	taken, denied := true, true
	for _, l := range local {
		coversLocal := func(r netip.Prefix) bool { return covers(r, l) }
		outside := slices.ContainsFunc(rules.Deny, coversLocal) ||
			len(rules.Allow) > 0 && !slices.ContainsFunc(rules.Allow, l.Overlaps)
		inside := !slices.ContainsFunc(rules.Deny, l.Overlaps) &&
			(len(rules.Allow) == 0 || slices.ContainsFunc(rules.Allow, coversLocal))
		taken, denied = taken && inside, denied && outside
	}
	switch {
	case taken:
		return nearbyTaken
	case denied:
		return nearbyDenied
	}
	return nearbyDepends
}

func covers(r, part netip.Prefix) bool { return r.Bits() <= part.Bits() && r.Contains(part.Addr()) }
