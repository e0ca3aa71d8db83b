package policy

import (
	"net/netip"

	"postern/snapshot"
)

// admits judges an address as Kong's ip-restriction does: what is denied is out,
// and where something is allowed, all else is out.
func admits(rules *snapshot.IPRules, addr netip.Addr) bool {
	if len(rules.Deny) > 0 && contains(rules.Deny, addr) {
		return false
	}
	return len(rules.Allow) == 0 || contains(rules.Allow, addr)
}

// contains tells whether an address is in one of the ranges. An IPv4 address
// that came in IPv6 clothing (RFC 4291 section 2.5.5.2) is judged as what it is;
// a listener on both families sees every IPv4 caller so.
func contains(ranges []netip.Prefix, addr netip.Addr) bool {
	addr = addr.Unmap()
	for _, one := range ranges {
		if one.Contains(addr) {
			return true
		}
	}
	return false
}
