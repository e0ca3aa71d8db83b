package gateway_test

import (
	"strings"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

// words judges tokens by what they are called: what makes a token good is package
// bearer's, what comes of it is the gateway's.
type words struct{}

func (words) Verify(token string, from policy.Issuers, _ time.Time, into *policy.Token) policy.Denial {
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

func withTokens(mode snapshot.Mode, methods ...snapshot.Method) rigOption {
	return func(r *rig, o *gateway.Options) {
		o.Verifier = words{}
		access := &r.project.Versions[0].Access
		access.Mode, access.Methods = mode, methods
		access.Issuers = []snapshot.TokenIssuer{{Issuer: "https://accounts.example", Audience: "shop"}}
	}
}

func fallsBack(p *snapshot.Project) { p.Versions[0].Access.Keyless = snapshot.OwnerFallback }

func ofTenant(name string) rigOption {
	return withProject(func(p *snapshot.Project) {
		p.Versions[0].Access.Issuers[0].Tenant = name
		p.Tenants = append(p.Tenants, snapshot.Tenant{ID: "tnt_acme", Name: "acme", FallbackOwner: "acme-house"})
	})
}

// Each case is answered alike by the engine and by net/http. What the upstream gets
// is given as Header: value, a name with nothing behind it is absent.
func TestTokensAtTheGateway(t *testing.T) {
	const key, jwt = snapshot.APIKey, snapshot.JWT
	consumer := "X-Consumer-Id: " + policy.ConsumerID("prj_shop", "billing")
	onlyTokens, either := withTokens(snapshot.Authenticate, jwt), withTokens(snapshot.Authenticate, key, jwt)
	for name, tc := range map[string]struct {
		options []rigOption
		lines   []string // beside the good key, unless they say noKey
		status  int
		code    string
		says    string // WWW-Authenticate
		got     []string
	}{
		"a good token": {[]rigOption{onlyTokens}, []string{noKey, "Authorization: Bearer good"}, 200, "", "",
			[]string{"X-Authenticated-Userid: alice", "X-Authenticated-Scope: read write", "X-Tenant-Id: tnt_1", "Authorization: Bearer good",
				"X-Consumer-Id:", "X-Consumer-Username:", "X-Credential-Identifier:"}},
		"the scheme in lower case":    {[]rigOption{onlyTokens}, []string{noKey, "authorization: bearer good"}, 200, "", "", []string{"X-Authenticated-Userid: alice"}},
		"blanks before the token":     {[]rigOption{onlyTokens}, []string{noKey, "Authorization:  Bearer   good "}, 200, "", "", []string{"X-Authenticated-Userid: alice"}},
		"a bad token":                 {[]rigOption{onlyTokens}, []string{noKey, "Authorization: Bearer bad"}, 401, "invalid_token", `Bearer error="invalid_token"`, nil},
		"an empty token":              {[]rigOption{onlyTokens}, []string{noKey, "Authorization: Bearer"}, 401, "invalid_token", `Bearer error="invalid_token"`, nil},
		"two Authorization lines":     {[]rigOption{onlyTokens}, []string{noKey, "Authorization: Bearer good", "Authorization: Bearer good"}, 401, "invalid_token", `Bearer error="invalid_token"`, nil},
		"no token":                    {[]rigOption{onlyTokens}, []string{noKey}, 401, "credentials_required", "Bearer", nil},
		"another scheme":              {[]rigOption{onlyTokens}, []string{noKey, "Authorization: Basic good"}, 401, "credentials_required", "Bearer", nil},
		"a scheme that begins so":     {[]rigOption{onlyTokens}, []string{noKey, "Authorization: BearerX good"}, 401, "credentials_required", "Bearer", nil},
		"a key where tokens are due":  {[]rigOption{onlyTokens}, nil, 401, "credentials_required", "Bearer", nil},
		"an issuer that is away":      {[]rigOption{onlyTokens}, []string{noKey, "Authorization: Bearer away"}, 503, "issuer_unavailable", "", nil},
		"spoofed beside a good token": {[]rigOption{onlyTokens}, []string{noKey, "Authorization: Bearer good", "X-Authenticated-Userid: root", "x_authenticated_userid: root", "X-Consumer-Username: root", "Connection: X-Authenticated-Userid"}, 200, "", "", []string{"X-Authenticated-Userid: alice", "X-Consumer-Username:"}},

		"either: a key":                  {[]rigOption{either}, nil, 200, "", "", []string{consumer, "X-Authenticated-Userid:", "X-Api-Key:"}},
		"either: a token":                {[]rigOption{either}, []string{noKey, "Authorization: Bearer good"}, 200, "", "", []string{"X-Authenticated-Userid: alice", "X-Consumer-Username:"}},
		"either: neither":                {[]rigOption{either}, []string{noKey}, 401, "credentials_required", `Key realm="postern", Bearer`, nil},
		"either: both":                   {[]rigOption{either}, []string{"Authorization: Bearer good"}, 200, "", "", []string{consumer, "X-Authenticated-Userid: alice", "X-Credential-Identifier: key_1"}},
		"either: a good key, bad token":  {[]rigOption{either}, []string{"Authorization: Bearer bad"}, 401, "invalid_token", `Bearer error="invalid_token"`, nil},
		"either: a bad key, good token":  {[]rigOption{either}, []string{"X-API-Key: bad", "Authorization: Bearer good"}, 401, "invalid_key", policy.WWWAuthenticateValue, nil},
		"either: of different tenants":   {[]rigOption{either, ofTenant("acme")}, []string{"Authorization: Bearer good"}, 403, "wrong_tenant", "", nil},
		"either: a key and Basic":        {[]rigOption{either}, []string{"Authorization: Basic x"}, 200, "", "", []string{consumer, "Authorization: Basic x"}},
		"of a tenant that is not served": {[]rigOption{either, ofTenant("gone")}, []string{noKey, "Authorization: Bearer good"}, 403, "wrong_tenant", "", nil},

		"falling back with a token":       {[]rigOption{either, withProject(fallsBack)}, []string{noKey, "Authorization: Bearer good"}, 200, "", "", []string{"X-Consumer-Username: house", "X-Authenticated-Userid: alice"}},
		"falling back for a tenant":       {[]rigOption{either, withProject(fallsBack), ofTenant("acme")}, []string{noKey, "Authorization: Bearer good"}, 200, "", "", []string{"X-Consumer-Username: acme-house", "X-Tenant-Id: tnt_acme"}},
		"no falling back from a bad one":  {[]rigOption{either, withProject(fallsBack)}, []string{noKey, "Authorization: Bearer bad"}, 401, "invalid_token", `Bearer error="invalid_token"`, nil},
		"passthrough without":             {[]rigOption{withTokens(snapshot.Passthrough, jwt)}, []string{noKey}, 200, "", "", []string{"X-Authenticated-Userid:"}},
		"passthrough with a bad token":    {[]rigOption{withTokens(snapshot.Passthrough, jwt)}, []string{noKey, "Authorization: Bearer bad"}, 401, "invalid_token", `Bearer error="invalid_token"`, nil},
		"where no tokens are looked at":   {[]rigOption{withTokens(snapshot.Passthrough)}, []string{noKey, "Authorization: Bearer bad"}, 200, "", "", []string{"Authorization: Bearer bad", "X-Authenticated-Userid:"}},
		"keys alone do not look at it":    {[]rigOption{withTokens(snapshot.Authenticate, key)}, []string{"Authorization: Bearer bad"}, 200, "", "", []string{consumer, "Authorization: Bearer bad"}},
		"a gateway without a verifier":    {[]rigOption{onlyTokens, func(_ *rig, o *gateway.Options) { o.Verifier = nil }}, []string{noKey, "Authorization: Bearer good"}, 503, "issuer_unavailable", "", nil},
		"passthrough, a token that holds": {[]rigOption{withTokens(snapshot.Passthrough, jwt)}, []string{noKey, "Authorization: Bearer good"}, 200, "", "", []string{"X-Authenticated-Userid: alice"}},
	} {
		for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
			r := newRig(t, nil, append(tc.options, more...)...)
			got := r.get("/shop/1.0.0/prod/x?access_token=good", tc.lines...)
			r.wantCode(name+", "+path, got, tc.status, tc.code)
			if says := got.Header.Get("WWW-Authenticate"); says != tc.says {
				t.Errorf("%s, %s: WWW-Authenticate is %q, want %q", name, path, says, tc.says)
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
