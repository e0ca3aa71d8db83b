package policy

import (
	"net/netip"

	"postern/core/snapshot"
)

// admits reports whether the rules let addr call, as Kong's ip-restriction does: denied
// addresses may not call, and if Allow is not empty only its addresses may.
func admits(rules *snapshot.IPRules, addr netip.Addr) bool {
	if len(rules.Deny) > 0 && Contains(rules.Deny, addr) {
		return false
	}
	return len(rules.Allow) == 0 || Contains(rules.Allow, addr)
}
