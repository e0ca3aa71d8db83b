package policy

import (
	"net"
	"net/netip"
)

// Source returns the networks that the limits on unauthenticated callers count by. own is Network of the caller's
// address. wider is the /24 or /48 around it, so that a caller who rents a range of addresses doesn't count as many
// callers. Both are zero if remoteAddr, which is host:port or host, has no IP address.
func Source(remoteAddr string) (own, wider netip.Prefix) {
	host, _, err := net.SplitHostPort(remoteAddr)
	if err != nil {
		host = remoteAddr
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}, netip.Prefix{}
	}
	addr = addr.Unmap().WithZone("")
	widerBits := 24
	if addr.Is6() {
		widerBits = 48
	}
	return Network(addr), netip.PrefixFrom(addr, widerBits).Masked()
}

// Network returns the network that an address is counted by: the address itself, or for IPv6 its /64, in which one
// subscriber can choose addresses freely (RFC 6177).
func Network(addr netip.Addr) netip.Prefix {
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(addr, bits).Masked()
}

// SourceName returns own of Source as text, an IPv4 address without its prefix
// length. It returns remoteAddr if that has no IP address.
func SourceName(remoteAddr string) string {
	own, _ := Source(remoteAddr)
	switch {
	case !own.IsValid():
		return remoteAddr
	case own.Addr().Is4():
		return own.Addr().String()
	}
	return own.String()
}
