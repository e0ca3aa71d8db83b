package policy

import (
	"net/netip"

	"postern/core/snapshot"
)

// admits judges an address as Kong's ip-restriction does: what is denied is out,
// and where something is allowed, all else is out.
func admits(rules *snapshot.IPRules, addr netip.Addr) bool {
	if len(rules.Deny) > 0 && Contains(rules.Deny, addr) {
		return false
	}
	return len(rules.Allow) == 0 || Contains(rules.Allow, addr)
}
