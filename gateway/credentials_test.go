package gateway_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

// words judges tokens by what they are called: package bearer decides what makes a token valid, and the gateway what
// follows from it.
type words struct{}

func (words) Verify(
	_ context.Context, token string, from policy.Issuers, _ time.Time, into *policy.Token,
) policy.Denial {
	switch token {
	case "good":
		*into = policy.Token{
			Issuer:  from.Named[0].Issuer,
			Subject: "alice",
			Scopes:  []string{"read", "write"},
			Tenant:  from.Named[0].Tenant,
		}
	case "away":
		return policy.IssuerUnavailable
	default:
		return policy.InvalidToken
	}
	return policy.Denial{}
}

func withTokens(mode string, methods ...string) rigOption {
	return func(r *rig, o *gateway.Options) {
		o.Verifier = words{}
		access := &r.project.Versions[0].Access
		access.Mode, access.Methods = mode, methods
		access.JWT = &snapshot.AllowedPairs{
			AllowedPairs: []snapshot.TokenIssuer{{Issuer: "https://accounts.example", Audience: "shop"}},
		}
	}
}

func withFallbackOwner(p *snapshot.Project) { p.Versions[0].Access.Keyless = snapshot.OwnerFallback }

func ofTenant(name string) rigOption {
	return withProject(func(p *snapshot.Project) {
		p.Versions[0].Access.Issuers()[0].Tenant = name
		p.Tenants = append(p.Tenants, snapshot.Tenant{ID: "tnt_acme", Name: "acme", FallbackOwner: "acme-fallback"})
	})
}

// tokenCase is a call with a token. The engine and net/http answer it alike.
type tokenCase struct {
	options []rigOption
	lines   []string // next to the good key, unless they say noKey
	status  int
	code    string
	says    string // WWW-Authenticate
	body    string // "": any
	got     []string
}

var (
	billingConsumer = "X-Consumer-Id: " + policy.ConsumerID("prj_shop", "billing")
	onlyTokens      = withTokens(snapshot.Authenticate, snapshot.JWT)
	either          = withTokens(snapshot.Authenticate, snapshot.APIKey, snapshot.JWT)
)

// shapedKey has the shape of a key.
const shapedKey = "pst_dev_pxIRwpt1ei3QPdY42K7HUZfRShBftlBa3eo1Ki"

// The upstream's headers are written as "Header: value"; a name without a value is absent.
var tokenCases = map[string]tokenCase{
	"a good token": {
		options: []rigOption{onlyTokens},
		lines:   []string{noKey, "Authorization: Bearer good"},
		status:  200,
		got: []string{
			"X-Authenticated-Userid: alice", "X-Authenticated-Scope: read write", "X-Tenant-Id: tnt_1",
			"Authorization: Bearer good", "X-Consumer-Id:", "X-Consumer-Username:",
			"X-Credential-Identifier:",
		},
	},
	"the scheme in lower case": {
		options: []rigOption{onlyTokens},
		lines:   []string{noKey, "authorization: bearer good"},
		status:  200,
		got:     []string{"X-Authenticated-Userid: alice"},
	},
	"blanks before the token": {
		options: []rigOption{onlyTokens},
		lines:   []string{noKey, "Authorization:  Bearer   good "},
		status:  200,
		got:     []string{"X-Authenticated-Userid: alice"},
	},
	"a bad token": {
		options: []rigOption{onlyTokens},
		lines:   []string{noKey, "Authorization: Bearer bad"},
		status:  401,
		code:    "invalid_token",
		says:    `Bearer error="invalid_token"`,
	},
	"an empty token": {
		options: []rigOption{onlyTokens},
		lines:   []string{noKey, "Authorization: Bearer"},
		status:  401,
		code:    "invalid_token",
		says:    `Bearer error="invalid_token"`,
	},
	"two Authorization lines": {
		options: []rigOption{onlyTokens},
		lines:   []string{noKey, "Authorization: Bearer good", "Authorization: Bearer good"},
		status:  401,
		code:    "invalid_token",
		says:    `Bearer error="invalid_token"`,
	},
	"no token": {
		options: []rigOption{onlyTokens},
		lines:   []string{noKey},
		status:  401,
		code:    "credentials_required",
		says:    "Bearer",
	},
	"another scheme": {
		options: []rigOption{onlyTokens},
		lines:   []string{noKey, "Authorization: Basic good"},
		status:  401,
		code:    "credentials_required",
		says:    "Bearer",
	},
	"a scheme that begins so": {
		options: []rigOption{onlyTokens},
		lines:   []string{noKey, "Authorization: BearerX good"},
		status:  401,
		code:    "credentials_required",
		says:    "Bearer",
	},
	"a key where tokens are due": {
		options: []rigOption{onlyTokens},
		status:  401,
		code:    "credentials_required",
		says:    "Bearer",
	},
	"a key in place of the token": {
		options: []rigOption{onlyTokens},
		lines:   []string{noKey, "Authorization: Bearer " + shapedKey},
		status:  401,
		code:    "invalid_token",
		says:    `Bearer error="invalid_token"`,
		body:    string(policy.KeysNotAccepted.Body()),
	},
	"an issuer that is away": {
		options: []rigOption{onlyTokens},
		lines:   []string{noKey, "Authorization: Bearer away"},
		status:  503,
		code:    "issuer_unavailable",
	},
	"spoofed next to a good token": {
		options: []rigOption{onlyTokens},
		lines: []string{
			noKey, "Authorization: Bearer good", "X-Authenticated-Userid: root",
			"x_authenticated_userid: root", "X-Consumer-Username: root",
			"Connection: X-Authenticated-Userid",
		},
		status: 200,
		got:    []string{"X-Authenticated-Userid: alice", "X-Consumer-Username:"},
	},

	"either: a key": {
		options: []rigOption{either},
		status:  200,
		got:     []string{billingConsumer, "X-Authenticated-Userid:", "X-Api-Key:"},
	},
	"either: a token": {
		options: []rigOption{either},
		lines:   []string{noKey, "Authorization: Bearer good"},
		status:  200,
		got:     []string{"X-Authenticated-Userid: alice", "X-Consumer-Username:"},
	},
	"either: neither": {
		options: []rigOption{either},
		lines:   []string{noKey},
		status:  401,
		code:    "credentials_required",
		says:    `Key realm="postern", Bearer`,
	},
	"either: a key in place of the token": {
		options: []rigOption{either},
		lines:   []string{noKey, "Authorization: Bearer " + shapedKey},
		status:  401,
		code:    "credentials_required",
		says:    `Key realm="postern"`,
		body:    string(policy.KeyInAuthorization.Body()),
	},
	"either: both": {
		options: []rigOption{either},
		lines:   []string{"Authorization: Bearer good"},
		status:  200,
		got:     []string{billingConsumer, "X-Authenticated-Userid: alice", "X-Credential-Identifier: key_1"},
	},
	"either: a good snapshot.APIKey, bad token": {
		options: []rigOption{either},
		lines:   []string{"Authorization: Bearer bad"},
		status:  401,
		code:    "invalid_token",
		says:    `Bearer error="invalid_token"`,
	},
	"either: a bad snapshot.APIKey, good token": {
		options: []rigOption{either},
		lines:   []string{"X-API-Key: bad", "Authorization: Bearer good"},
		status:  401,
		code:    "invalid_key",
		says:    policy.WWWAuthenticateValue,
	},
	"either: of different tenants": {
		options: []rigOption{either, ofTenant("acme")},
		lines:   []string{"Authorization: Bearer good"},
		status:  403,
		code:    "wrong_tenant",
	},
	"either: a key and Basic": {
		options: []rigOption{either},
		lines:   []string{"Authorization: Basic x"},
		status:  200,
		got:     []string{billingConsumer, "Authorization: Basic x"},
	},
	"of a tenant that is not served": {
		options: []rigOption{either, ofTenant("gone")},
		lines:   []string{noKey, "Authorization: Bearer good"},
		status:  403,
		code:    "wrong_tenant",
	},

	"falling back with a token": {
		options: []rigOption{either, withProject(withFallbackOwner)},
		lines:   []string{noKey, "Authorization: Bearer good"},
		status:  200,
		got:     []string{"X-Consumer-Username: fallback-owner", "X-Authenticated-Userid: alice"},
	},
	"falling back for a tenant": {
		options: []rigOption{either, withProject(withFallbackOwner), ofTenant("acme")},
		lines:   []string{noKey, "Authorization: Bearer good"},
		status:  200,
		got:     []string{"X-Consumer-Username: acme-fallback", "X-Tenant-Id: tnt_acme"},
	},
	"no falling back from a bad one": {
		options: []rigOption{either, withProject(withFallbackOwner)},
		lines:   []string{noKey, "Authorization: Bearer bad"},
		status:  401,
		code:    "invalid_token",
		says:    `Bearer error="invalid_token"`,
	},
	"passthrough without": {
		options: []rigOption{withTokens(snapshot.Passthrough, snapshot.JWT)},
		lines:   []string{noKey},
		status:  200,
		got:     []string{"X-Authenticated-Userid:"},
	},
	"passthrough with a bad token": {
		options: []rigOption{withTokens(snapshot.Passthrough, snapshot.JWT)},
		lines:   []string{noKey, "Authorization: Bearer bad"},
		status:  401,
		code:    "invalid_token",
		says:    `Bearer error="invalid_token"`,
	},
	"where no tokens are looked at": {
		options: []rigOption{withTokens(snapshot.Passthrough)},
		lines:   []string{noKey, "Authorization: Bearer bad"},
		status:  200,
		got:     []string{"Authorization: Bearer bad", "X-Authenticated-Userid:"},
	},
	"keys alone do not look at it": {
		options: []rigOption{withTokens(snapshot.Authenticate, snapshot.APIKey)},
		lines:   []string{"Authorization: Bearer bad"},
		status:  200,
		got:     []string{billingConsumer, "Authorization: Bearer bad"},
	},
	"a gateway without a verifier": {
		options: []rigOption{onlyTokens, func(_ *rig, o *gateway.Options) { o.Verifier = nil }},
		lines:   []string{noKey, "Authorization: Bearer good"},
		status:  503,
		code:    "issuer_unavailable",
	},
	"passthrough, a token that holds": {
		options: []rigOption{withTokens(snapshot.Passthrough, snapshot.JWT)},
		lines:   []string{noKey, "Authorization: Bearer good"},
		status:  200,
		got:     []string{"X-Authenticated-Userid: alice"},
	},
}

func TestTokens_accepted(t *testing.T) { runTokenCases(t, tokenCases) }

func runTokenCases(t *testing.T, cases map[string]tokenCase) {
	for name, tc := range cases {
		for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
			r := newRig(t, nil, append(tc.options, more...)...)
			got := r.get("/shop/1.0.0/prod/x?access_token=good", tc.lines...)
			r.wantCode(name+", "+path, got, tc.status, tc.code)
			if says := got.Header.Get("WWW-Authenticate"); says != tc.says {
				t.Errorf("%s, %s: WWW-Authenticate is %q, want %q", name, path, says, tc.says)
			}
			if tc.body != "" && got.body != tc.body {
				t.Errorf("%s, %s: the body is %s, want %s", name, path, got.body, tc.body)
			}
			if got.StatusCode != 200 {
				if n := len(r.upstreamCalls()); n != 0 {
					t.Errorf("%s, %s: refused, but the upstream got %d calls", name, path, n)
				}
				continue
			}
			for _, line := range tc.got {
				field, want, _ := strings.Cut(line, ":")
				if has := strings.Join(r.lastCall().header[field], ","); has != strings.TrimSpace(want) {
					t.Errorf("%s, %s: the upstream got %s %q, want %q", name, path, field, has, strings.TrimSpace(want))
				}
			}
		}
	}
}
