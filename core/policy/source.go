package policy

import (
	"net"
	"net/netip"
)

// Source is whom a connection counts for where callers are counted: its address, or
// for IPv6 the network of 64 bits that one subscriber has to choose from (RFC 6177).
// around is the network beside which a rented range does not count as many callers:
// /24, or /48. Both are zero for what is no address. remoteAddr is host:port or a
// host.
func Source(remoteAddr string) (own, around netip.Prefix) {
	host, _, err := net.SplitHostPort(remoteAddr)
	if err != nil {
		host = remoteAddr
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}, netip.Prefix{}
	}
	addr = addr.Unmap().WithZone("")
	aroundBits := 24
	if addr.Is6() {
		aroundBits = 48
	}
	return Network(addr), netip.PrefixFrom(addr, aroundBits).Masked()
}

// Network is what an address counts for: itself, or for IPv6 the network of 64 bits
// that one subscriber has to choose from (RFC 6177).
func Network(addr netip.Addr) netip.Prefix {
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(addr, bits).Masked()
}

// SourceName is Source as text, an IPv4 address without its length. What is no
// address counts as it is.
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
