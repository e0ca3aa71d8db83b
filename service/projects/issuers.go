package projects

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"postern/core/snapshot"
	"postern/platform/egress"
	"postern/platform/fault"
)

const (
	maxIssuers  = 20  // of a version
	maxAudience = 255 // bytes
)

// checkIssuers checks the pairs. at is their JSON Pointer in the body.
func checkIssuers(pairs []snapshot.TokenIssuer, at string, in authContext) []fault.Field {
	if len(pairs) > maxIssuers {
		return []fault.Field{{
			Pointer: at,
			Code:    "too_many_pairs",
			Detail:  fmt.Sprintf("Use at most %d pairs.", maxIssuers),
		}}
	}
	var wrong []fault.Field
	for i, pair := range pairs {
		here := fmt.Sprintf("%s/%d", at, i)
		wrong = append(wrong, checkIssuer(pair, here, in)...)
		if slices.ContainsFunc(pairs[:i], func(have snapshot.TokenIssuer) bool {
			return have.Issuer == pair.Issuer && have.Audience == pair.Audience
		}) {
			wrong = append(wrong, fault.Field{
				Pointer: here,
				Code:    "duplicate",
				Detail:  "This issuer and audience pair is listed twice. Remove one.",
			})
		}
	}
	return wrong
}

func checkIssuer(pair snapshot.TokenIssuer, at string, in authContext) []fault.Field {
	var wrong []fault.Field
	// Through a pair, ID tokens would be accepted too, and frozen users would not be refused.
	if snapshot.IsOwnIssuer(in.publicURL, pair.Issuer) {
		wrong = append(wrong, fault.Field{
			Pointer: at + "/iss",
			Code:    "own_issuer",
			Detail: "This issuer belongs to Postern. Tokens of app clients are accepted in every project that serves " +
				"their tenant. Leave the pair out.",
		})
	}
	if field := in.checkIssuerURL(pair.Issuer, at+"/iss"); field != nil {
		wrong = append(wrong, *field)
	}
	if !isAudience(pair.Audience) {
		wrong = append(wrong, fault.Field{
			Pointer: at + "/aud",
			Code:    "invalid_audience",
			Detail: fmt.Sprintf("Enter the audience of the issuer's tokens for this API. Use 1 to %d printable ASCII "+
				"characters without spaces.", maxAudience),
		})
	}
	if pair.JWKSURL != "" {
		if field := in.checkIssuerURL(pair.JWKSURL, at+"/jwks_url"); field != nil {
			wrong = append(wrong, *field)
		}
	}
	if pair.Tenant != "" && !slices.Contains(in.tenants, pair.Tenant) {
		wrong = append(wrong, fault.Field{
			Pointer: at + "/tenant",
			Code:    "unknown_tenant",
			Detail: "The project doesn't serve a tenant with this name. Use another name, or omit the tenant to use " +
				"the project's own tenant.",
		})
	}
	return wrong
}

// checkIssuerURL is checkTrusted for an issuer's address. For unclaimed projects its port
// is limited as that of targets is.
func (in authContext) checkIssuerURL(raw, pointer string) *fault.Field {
	if field := checkTrusted(raw, pointer); field != nil || !in.webPorts {
		return field
	}
	if u, err := egress.ParseTarget(raw); err != nil || !egress.IsWebPort(u) {
		return &fault.Field{
			Pointer: pointer,
			Code:    "port_needs_claim",
			Detail:  "Unclaimed proxies can use only issuers on ports 80 and 443. Sign in to use another port.",
		}
	}
	return nil
}

// checkTrusted checks the form of an address whose answers decide which calls are
// admitted. They could be forged on the way, so it needs TLS except on loopback. The guard
// checks the address itself whenever it is dialed.
func checkTrusted(raw, pointer string) *fault.Field {
	detail := "Use an https URL, such as https://accounts.example.com. http is allowed only on this machine."
	if raw == "" {
		return &fault.Field{Pointer: pointer, Code: "required", Detail: detail}
	}
	u, err := egress.ParseTarget(raw)
	if err != nil || len(raw) > maxTarget || (u.Scheme != "https" && !isLoopback(u.Hostname())) {
		return &fault.Field{
			Pointer: pointer,
			Code:    "invalid_url",
			Detail:  detail + " Leave out the user name, query and fragment.",
		}
	}
	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || (err == nil && net.IP(addr.AsSlice()).IsLoopback())
}

func isAudience(s string) bool {
	if s == "" || len(s) > maxAudience {
		return false
	}
	for i := range len(s) {
		if s[i] <= 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
