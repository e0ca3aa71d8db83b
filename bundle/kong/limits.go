package kong

import (
	"fmt"
	"net/netip"
	"strings"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
)

type tenantDoc struct {
	Name     string    `json:"name"`
	Fallback *ownerDoc `json:"fallback,omitempty"`
}

type limitsDoc struct {
	Key     contract.Limits `json:"key,omitempty"`
	Owner   contract.Limits `json:"owner,omitempty"`
	IP      contract.Limits `json:"ip,omitempty"`
	Project contract.Limits `json:"project,omitempty"`
}

func limitsDocOf(l snapshot.ProjectLimits) limitsDoc {
	return limitsDoc(l.Stated())
}

// rangesOf returns nil if calls may come from anywhere.
func rangesOf(rules snapshot.IPRules) *contract.IPRules {
	if len(rules.Allow) == 0 && len(rules.Deny) == 0 {
		return nil
	}
	return &contract.IPRules{Allow: texts(rules.Allow), Deny: texts(rules.Deny)}
}

func texts(ranges []netip.Prefix) []string {
	out := make([]string, len(ranges))
	for i, r := range ranges {
		out[i] = r.String()
	}
	return out
}

// limitsLine returns limits in the form of the key table; "none" exempts the key from
// the limits of its type and of the project.
func limitsLine(l snapshot.Limits) string {
	if l.None() {
		return "none"
	}
	var parts []string
	for window, calls := range l {
		if calls > 0 {
			parts = append(parts, fmt.Sprintf("%s:%d", snapshot.Window(window), calls))
		}
	}
	return strings.Join(parts, ",")
}

// judgeLimit returns the place of a limit of the project or of a key type.
func judgeLimit(s bundle.Subject) bundle.Verdict {
	if s.KeyType != nil {
		return bundle.Verdict{Target: bundle.At(gatewayFile, "/plugins/0/config/key_types/%s%s", s.KeyType.ID, s.Place)}
	}
	v := bundle.Verdict{Target: bundle.At(gatewayFile, "/plugins/0/config%s", s.Place)}
	if strings.HasPrefix(s.Place, "/limits/ip/") {
		v.Reason = "by_address"
	}
	return v
}

// judgeOfKey returns the place of a key's own limits and ranges, which are part of its entry.
func judgeOfKey(s bundle.Subject) bundle.Verdict {
	if !needsEntry(s.Key) {
		return bundle.Verdict{Reason: "revoked"}
	}
	return bundle.Verdict{Target: bundle.At(gatewayFile, "/plugins/0/config/keys/%x", s.Key.Hash)}
}

// judgeRule returns the place of an address rule. Every route of its version contains the rule; the pointer is to the
// first one.
func judgeRule(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	places := layoutOf(b).byVersion[s.Version]
	if len(places) == 0 {
		return bundle.Verdict{}
	}
	return bundle.Verdict{
		Target: bundle.At(gatewayFile, "/plugins/0/config/routes/%s%s", places[0].routes[0].id, s.Place),
		Probes: probesOf(b, s),
	}
}

func judgeTenant(s bundle.Subject) bundle.Verdict {
	if s.Tenant.Detached {
		return bundle.Verdict{Reason: "detached"}
	}
	return bundle.Verdict{Target: bundle.At(gatewayFile, "/plugins/0/config/tenants/%s", s.Tenant.ID)}
}
