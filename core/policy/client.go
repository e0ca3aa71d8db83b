package policy

import (
	"net/netip"
	"slices"
	"strings"
)

// Contains tells whether the address lies in one of the networks. An IPv4 address
// written as IPv6 is the IPv4 address.
func Contains(networks []netip.Prefix, a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a) })
}

// ClientAddress is for whom a call was made that hop has sent: hop itself, unless
// it is trusted. Then it is the right-most address of the X-Forwarded-For lines
// that is not trusted: each trusted proxy vouches for the entry that it has added,
// and what stands to the left of the first stranger is that stranger's to invent.
// Where all are trusted it is the left-most; an entry that is no address ends the
// chain (nginx, ngx_http_realip_module, with real_ip_recursive on).
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

// parseForwarded takes an address with or without a port, as proxies write it.
func parseForwarded(entry string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		return a.Unmap().WithZone(""), true
	}
	ap, err := netip.ParseAddrPort(entry)
	return ap.Addr().Unmap().WithZone(""), err == nil
}
