package policy

import (
	"net/netip"
	"slices"
	"strings"
)

// Contains reports whether one of the networks contains the address. An IPv4-mapped
// IPv6 address counts as the IPv4 address.
func Contains(networks []netip.Prefix, a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a) })
}

// ClientAddress returns the address of the client behind hop, the peer of the connection: hop itself, unless it is a
// trusted proxy. Then it is the right-most untrusted address of the X-Forwarded-For lines: each trusted proxy vouches
// for the entry that it appended, and an untrusted client can invent everything to the left of its own. If all entries
// are trusted, it is the leftmost one. An entry that isn't an address ends the chain (as nginx's ngx_http_realip_module
// with real_ip_recursive on).
func ClientAddress(hop netip.Addr, forwardedFor []string, trusted []netip.Prefix) netip.Addr {
	client := hop.Unmap().WithZone("")
	for _, line := range slices.Backward(forwardedFor) {
		for line != "" && Contains(trusted, client) {
			entry := line
			if comma := strings.LastIndexByte(line, ','); comma >= 0 {
				line, entry = line[:comma], line[comma+1:]
			} else {
				line = ""
			}
			next, ok := parseForwarded(strings.Trim(entry, " \t"))
			if !ok {
				return client
			}
			client = next
		}
	}
	return client
}

// parseForwarded parses an address with or without a port; proxies write both.
func parseForwarded(entry string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		return a.Unmap().WithZone(""), true
	}
	ap, err := netip.ParseAddrPort(entry)
	return ap.Addr().Unmap().WithZone(""), err == nil
}
