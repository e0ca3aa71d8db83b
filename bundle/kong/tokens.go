package kong

import (
	"encoding/base64"
	"encoding/json"
	"slices"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// enforced returns the part of the version's policy that a route's entry contains. It has the methods that the plugin
// implements, in its order. Leaving a method out never admits a call: a version that requires a credential and has no
// method refuses every call. Issuers, the introspection endpoint and the places of keys have their own members.
func enforced(access snapshot.Access) snapshot.RequestsAuth {
	out := access.RequestsAuth
	out.Methods, out.JWT, out.Opaque, out.APIKey = []string{}, nil, nil, snapshot.APIKeyAuth{}
	for _, one := range []string{snapshot.APIKey, snapshot.JWT, snapshot.Opaque} {
		if access.Allows(one) {
			out.Methods = append(out.Methods, one)
		}
	}
	return out
}

// tenantFallback returns the owner that calls with a token of the tenant count for, and whether a version admits such
// calls.
func tenantFallback(p *snapshot.Project, t snapshot.Tenant) (ownerDoc, bool) {
	counts := func(v snapshot.Version) bool {
		return v.Access.Keyless == snapshot.OwnerFallback && v.Access.TakesTokens()
	}
	if t.FallbackOwner == "" || !slices.ContainsFunc(p.Versions, counts) {
		return ownerDoc{}, false
	}
	return ownerDoc{Owner: t.FallbackOwner, Consumer: policy.ConsumerID(p.ID, t.FallbackOwner)}, true
}

// The ends of the IDs of probes with a token: one that no issuer's keys verify, and one that an introspection endpoint
// doesn't know.
const (
	malformedToken = ":malformed_token"
	unknownToken   = ":unknown_token"
)

// tokenProbes returns the probes of a route with tokens that are refused. There are none if the plugin treats tokens
// differently from the hosted gateway.
func tokenProbes(p *snapshot.Project, v *snapshot.Version, r route) []probe {
	access := v.Access
	if missingTokens(p, access) != "" {
		return nil
	}
	var out []probe
	add := func(name, token string) {
		out = append(out, probe{
			ID:      r.name + name,
			Needs:   needsNothing,
			Path:    r.path + "/",
			Headers: append(r.hostHeader(), "Authorization: Bearer "+token),
			Status:  policy.InvalidToken.Status,
			Code:    policy.InvalidToken.Code,
		})
	}
	if introspects(access) && misplaced(access.Opaque.Endpoint) == "" {
		add(unknownToken, "none")
	}
	switch {
	case !access.Allows(snapshot.JWT):
	case !introspects(access):
		add(malformedToken, "none")
	default: // a token that names no issuer would be shown to the endpoint
		if introspectors := policy.NewIntrospectors(p, v.ID, &access); len(introspectors.KeyIssuers()) > 0 {
			add(malformedToken, unsigned(introspectors.KeyIssuers()[0]))
		}
	}
	return out
}

// unsigned returns a JSON Web Token of an issuer without a signature.
func unsigned(issuer string) string {
	claims, err := json.Marshal(map[string]string{"iss": issuer})
	if err != nil {
		panic(err) // a string has a JSON form
	}
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none"}`)) + "." + part(claims) + "." + part([]byte("none"))
}

// tokenPaths returns the prefixes, in host form, where tokens are accepted.
func tokenPaths(b *bundle.Build) []string {
	var paths []string
	for _, pl := range layoutOf(b).places {
		if pl.version.Access.TakesTokens() {
			paths = append(paths, pl.routes[0].path+"/")
		}
	}
	return paths
}

// missingTokens returns the reason why the plugin refuses tokens that the hosted gateway
// accepts for a version; "" if it accepts them all.
func missingTokens(p *snapshot.Project, access snapshot.Access) string {
	if access.Allows(snapshot.JWT) && hasProviderTokens(p) {
		return "no_provider_tokens"
	}
	if p.ImportedKeys && (access.TakesTokens() || bundle.ReadsAuthorization(access.RequestsAuth)) {
		return "former_keys"
	}
	return ""
}

// hasProviderTokens reports whether browsers or upstreams get tokens of a provider, which only the hosted gateway can
// check or unseal.
func hasProviderTokens(p *snapshot.Project) bool {
	for _, c := range p.Clients {
		for _, one := range c.Providers {
			if one.ClientToken == snapshot.ProviderToken || one.UpstreamToken == snapshot.ProviderAccessToken ||
				one.UpstreamToken == snapshot.ProviderIDToken {
				return true
			}
		}
	}
	return false
}

// judgeTenantFallback returns the place of a tenant's fallback owner.
func judgeTenantFallback(p *snapshot.Project, s bundle.Subject) bundle.Verdict {
	if _, used := tenantFallback(p, *s.Tenant); !used || s.Tenant.Detached {
		return bundle.Verdict{Reason: "unused"}
	}
	return bundle.Verdict{
		Reason: "tenant",
		Target: bundle.At(gatewayFile, "/plugins/0/config/tenants/%s/fallback", s.ID),
	}
}

func accessFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "plugin", Status: bundle.Exact, How: "the `postern-auth` plugin, a policy per route",
			Note: "The exported gateway accepts and refuses the same calls, with the same status, code and message."},
		{
			Reason: "former_keys",
			Status: bundle.Approximate,
			How:    "the `postern-auth` plugin, a policy per route; the last secret of each key is in `keys`",
			Note: "The hosted gateway also knows the secrets that imported keys had before they were rotated, and " +
				"the secrets of revoked keys that have been removed. If a caller sends one of these secrets in place " +
				"of a token, the call gets 401, and no issuer gets the secret. This zip doesn't contain their " +
				"hashes. At worst, such a secret is sent to your introspection endpoint, or to the upstream if the " +
				"call also has a valid key. It is never accepted as a key.",
			Remedy: "If such a secret must not leave the gateway, use a header other than Authorization for keys, " +
				"and tell the owners of rotated keys to stop sending the old ones.",
		},
		{
			Reason: "no_provider_tokens",
			Status: bundle.Lossy,
			How:    "the `postern-auth` plugin, a policy per route; tokens from providers are refused",
			Note: "Tokens from the issuers in `allowed_pairs` and from the project's app clients are accepted as " +
				"before, and so are opaque tokens that your own endpoint checks. Calls with a provider's own token " +
				"get 401, and calls that would send a provider's token to the upstream get 503.",
			Remedy: "Have users with a provider's own token sign in to the exported realm. Its tokens are accepted " +
				"and identify the same users. If upstreams get a provider's token, see the provider's item.",
		},
	}
}

func fallbackFates() []bundle.Fate {
	return []bundle.Fate{
		{Reason: "plugin", Status: bundle.Exact, How: "the `postern-auth` plugin, `fallback`",
			Note: "A call without a key is let through with the same owner."},
		{Reason: "tenant", Title: "Tenant fallback owners", Status: bundle.Exact,
			How:  "the `postern-auth` plugin, `fallback` of the tenant",
			Note: "A call without a key is let through with the same owner if its token names the tenant."},
		{Reason: "unused", Status: bundle.Exact, How: "not needed",
			Note: "A tenant's fallback owner applies to calls with a token that names the tenant. In this project, " +
				"these calls never get a fallback owner."},
	}
}
