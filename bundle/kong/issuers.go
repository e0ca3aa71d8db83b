package kong

import (
	"cmp"
	"strconv"
	"strings"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// issuerDoc is a pair of issuer and audience whose tokens the plugin verifies.
type issuerDoc struct {
	Issuer   string `json:"issuer"`
	Audience string `json:"audience"`
	JWKSURL  string `json:"jwks_url,omitempty"`
	Tenant   string `json:"tenant,omitempty"` // id; "": the tenant is not served
}

// issuersOf returns the issuers that a version trusts, with the ids of their tenants.
func issuersOf(p *snapshot.Project, access snapshot.Access) []issuerDoc {
	if !access.Allows(snapshot.JWT) {
		return nil
	}
	realm := policy.NewRealm(p)
	var out []issuerDoc
	for _, one := range access.Issuers {
		out = append(out, issuerDoc{
			Issuer:   one.Issuer,
			Audience: one.Audience,
			JWKSURL:  one.JWKSURL,
			Tenant:   realm.TenantNamed(one.Tenant),
		})
	}
	return out
}

// judgeIssuer returns where an issuer of a version is in gateway.yaml, with the first route
// of the version, and whether a container can fetch its keys.
func judgeIssuer(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	_, place, _ := strings.Cut(s.ID, ":")
	number, err := strconv.Atoi(place)
	if err != nil || number >= len(s.Version.Access.Issuers) {
		return bundle.Verdict{}
	}
	if !s.Version.Access.Allows(snapshot.JWT) { // the method was removed, and its issuers were kept
		return bundle.Verdict{Reason: "unused"}
	}
	pair := s.Version.Access.Issuers[number]
	places := layoutOf(b).byVersion[s.Version]
	if len(places) == 0 {
		return bundle.Verdict{}
	}
	return bundle.Verdict{
		Reason: misplaced(cmp.Or(pair.JWKSURL, pair.Issuer)),
		Target: bundle.At(gatewayFile, "/plugins/0/config/routes/%s/issuers/%s", places[0].routes[0].id, place),
		Probes: probesOf(b, s),
	}
}

func issuerFates() []bundle.Fate {
	const how = "plugin postern-auth, `issuers` of each route"
	return []bundle.Fate{
		{
			Reason: "plugin",
			Status: bundle.Exact,
			How:    how,
			Note: "Tokens of the issuer for the audience are accepted and refused alike: the gateway fetches the " +
				"issuer's keys, keeps them, and answers 503 issuer_unavailable while it has none.",
			Remedy: "Let the gateway reach the issuer. For an issuer with a certificate of a private authority, set " +
				"KONG_LUA_SSL_TRUSTED_CERTIFICATE as gateway/README.md says.",
		},
		{
			Reason: "unused",
			Status: bundle.Exact,
			How:    "`project-config.json`; the version does not take tokens",
			Note: "The version does not have the method jwt, so that neither gateway looks at the issuer's tokens. " +
				"The issuer stands in project-config.json.",
		},
		{
			Reason: "loopback",
			Status: bundle.Approximate,
			How:    how + "; its loopback address is the container's own",
			Note: "The issuer's keys have a loopback address, and inside a container that is the container itself: " +
				"its tokens are answered 503 issuer_unavailable until the address is changed.",
			Remedy: "Write the address of the keys with host.docker.internal, or the machine's own address, as the " +
				"issuer's jwks_url in gateway/gateway.yaml.",
		},
		{
			Reason: "https_address",
			Status: bundle.Lossy,
			How:    how + "; the certificate of its keys is never accepted",
			Note: "The issuer's keys are fetched over https by an IP address. Kong compares certificates with host " +
				"names only, so that its tokens are answered 503 issuer_unavailable, whatever addresses the " +
				"certificate names.",
			Remedy: "Write the address of the keys with a host name that the certificate names as the issuer's " +
				"jwks_url in gateway/gateway.yaml.",
		},
	}
}
