package gateway_test

import (
	"context"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

// issuers answer what the tokens are called; who answers is package live's.
type issuers struct{}

func (issuers) Introspect(
	_ context.Context, token string, from *policy.Introspectors, _ time.Time, into *policy.Token,
) (policy.Denial, bool) {
	if from.EndpointVersion != "ver_1" {
		return policy.InvalidToken, true
	}
	switch token {
	case "opaque":
		*into = policy.Token{Issuer: "https://accounts.example/introspect", Subject: "alice", Scopes: []string{"read"}}
		return policy.Denial{}, true
	case "away":
		return policy.TokenIssuerAway, true
	case "nonsense":
		return policy.TokenIssuerNonsense, true
	case "anybody's":
		return policy.UnverifiableToken, true
	case "bad":
		return policy.InvalidToken, true
	}
	return policy.Denial{}, false // the verifier's, if there is one for it
}

func asking(methods ...string) rigOption {
	return func(r *rig, o *gateway.Options) {
		withTokens(snapshot.Authenticate, methods...)(r, o)
		o.Introspector = issuers{}
		r.project.Versions[0].Access.Opaque = &snapshot.Introspection{
			Introspection: contract.Introspection{
				Endpoint: "https://accounts.example/introspect", Method: snapshot.SecretBasic,
			},
		}
	}
}

const invalidTokenChallenge = `Bearer error="invalid_token"`

var (
	introspected      = asking(snapshot.Opaque)
	introspectedOrJWT = asking(snapshot.JWT, snapshot.Opaque)
)

func withoutIntrospector(_ *rig, o *gateway.Options) { o.Introspector = nil }

var askerCases = map[string]tokenCase{
	"a good one": {
		options: []rigOption{introspected},
		lines:   []string{noKey, "Authorization: Bearer opaque"},
		status:  200,
		got: []string{
			"X-Authenticated-Userid: alice", "X-Authenticated-Scope: read", "X-Tenant-Id: tnt_1",
			"Authorization: Bearer opaque", "X-Consumer-Username:",
		},
	},
	"a bad one": {
		options: []rigOption{introspected},
		lines:   []string{noKey, "Authorization: Bearer bad"},
		status:  401,
		code:    "invalid_token",
		says:    invalidTokenChallenge,
	},
	"none": {
		options: []rigOption{introspected},
		lines:   []string{noKey},
		status:  401,
		code:    "credentials_required",
		says:    "Bearer",
	},
	"an issuer that is away": {
		options: []rigOption{introspected},
		lines:   []string{noKey, "Authorization: Bearer away"},
		status:  503,
		code:    "provider_unavailable",
	},
	"an issuer that makes none": {
		options: []rigOption{introspected},
		lines:   []string{noKey, "Authorization: Bearer nonsense"},
		status:  502,
		code:    "provider_answer_invalid",
	},
	"one that may be anybody's": {
		options: []rigOption{introspected},
		lines:   []string{noKey, "Authorization: Bearer anybody's"},
		status:  401,
		code:    "unverifiable_token",
		says:    invalidTokenChallenge,
	},
	"a verified one, opaque only": {
		options: []rigOption{introspected},
		lines:   []string{noKey, "Authorization: Bearer good"},
		status:  401,
		code:    "invalid_token",
		says:    invalidTokenChallenge,
	},
	"both: a verified one": {
		options: []rigOption{introspectedOrJWT},
		lines:   []string{noKey, "Authorization: Bearer good"},
		status:  200,
		got:     []string{"X-Authenticated-Scope: read write"},
	},
	"both: an opaque one": {
		options: []rigOption{introspectedOrJWT},
		lines:   []string{noKey, "Authorization: Bearer opaque"},
		status:  200,
		got:     []string{"X-Authenticated-Scope: read"},
	},
	"no one to ask": {
		options: []rigOption{introspected, withoutIntrospector},
		lines:   []string{noKey, "Authorization: Bearer opaque"},
		status:  503,
		code:    "provider_unavailable",
	},
	"passthrough, a bad one": {
		options: []rigOption{
			introspected,
			withProject(func(p *snapshot.Project) { p.Versions[0].Access.Mode = snapshot.Passthrough }),
		},
		lines:  []string{noKey, "Authorization: Bearer bad"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"where no one is asked": {
		options: []rigOption{asking(snapshot.JWT)},
		lines:   []string{noKey, "Authorization: Bearer opaque"},
		status:  401,
		code:    "invalid_token",
		says:    invalidTokenChallenge,
	},
}

func TestIntrospection_tokens(t *testing.T) { runTokenCases(t, askerCases) }
