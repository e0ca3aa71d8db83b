package access

import (
	"net"
	"net/netip"
)

// Source is whom a request counts for where attempts are counted: the address of
// host:port, or for IPv6 the network of 64 bits that one subscriber has to choose
// from (RFC 6177), such as 2001:db8::/64. What is no address counts as it is.
func Source(remoteAddr string) string {
	host, _, err := net.SplitHostPort(remoteAddr)
	if err != nil {
		host = remoteAddr
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	return netip.PrefixFrom(addr, 64).Masked().String()
}
