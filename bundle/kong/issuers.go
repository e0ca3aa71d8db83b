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
	Tenant   string `json:"tenant,omitempty"` // ID; "": the tenant isn't served
}

// issuersOf returns the issuers that a version trusts, with the ids of their tenants.
func issuersOf(p *snapshot.Project, access snapshot.Access) []issuerDoc {
	if !access.Allows(snapshot.JWT) {
		return nil
	}
	realm := policy.NewRealm(p)
	var out []issuerDoc
	for _, one := range access.Issuers() {
		out = append(out, issuerDoc{
			Issuer:   one.Issuer,
			Audience: one.Audience,
			JWKSURL:  one.JWKSURL,
			Tenant:   realm.TenantNamed(one.Tenant),
		})
	}
	return out
}

// judgeIssuer returns the place of a version's issuer in gateway.yaml, with the first route of the version, and whether
// a container can fetch its keys.
func judgeIssuer(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	_, place, _ := strings.Cut(s.ID, ":")
	number, err := strconv.Atoi(place)
	pairs := s.Version.Access.Issuers()
	if err != nil || number >= len(pairs) {
		return bundle.Verdict{}
	}
	if !s.Version.Access.Allows(snapshot.JWT) { // the method was removed, and its issuers were kept
		return bundle.Verdict{Reason: "unused"}
	}
	pair := pairs[number]
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
	const how = "the `postern-auth` plugin, `issuers` of each route"
	return []bundle.Fate{
		{
			Reason: "plugin",
			Status: bundle.Exact,
			How:    how,
			Note: "The issuer's tokens for this audience are accepted or refused as before. The gateway fetches and " +
				"caches the issuer's keys. While it doesn't have any keys, it returns 503 issuer_unavailable.",
			Remedy: "Make sure that the gateway can connect to the issuer. If the issuer's certificate is from a " +
				"private authority, set KONG_LUA_SSL_TRUSTED_CERTIFICATE as described in gateway/README.md.",
		},
		{
			Reason: "unused",
			Status: bundle.Exact,
			How:    "`project-config.json`; the version doesn't accept tokens",
			Note: "The version doesn't allow the `jwt` method, so both gateways ignore the issuer's tokens. The " +
				"issuer is in project-config.json.",
		},
		{
			Reason: "loopback",
			Status: bundle.Approximate,
			How:    how + "; its loopback address refers to the container",
			Note: "The issuer's key URL has a loopback address. Inside a container, it refers to the container " +
				"itself. The issuer's tokens get 503 issuer_unavailable until you change the address.",
			Remedy: "In gateway/gateway.yaml, set the issuer's `jwks_url` to the key URL with host.docker.internal " +
				"or the machine's own address.",
		},
		{
			Reason: "https_address",
			Status: bundle.Lossy,
			How:    how + "; the certificate of its key URL is never accepted",
			Note: "The issuer's keys are fetched over https by IP address. Kong compares certificates only with host " +
				"names, so the issuer's tokens get 503 issuer_unavailable, even if the certificate is valid for the " +
				"address.",
			Remedy: "In gateway/gateway.yaml, set the issuer's `jwks_url` to the key URL with a host name that the " +
				"certificate is valid for.",
		},
	}
}
