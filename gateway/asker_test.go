package gateway_test

import (
	"strings"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

// issuers answer what the tokens are called; who answers is package live's.
type issuers struct{}

func (issuers) Ask(token string, whom *policy.Introspectors, _ time.Time, into *policy.Token) (policy.Denial, bool) {
	if whom.EndpointVersion != "ver_1" {
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

func asking(methods ...snapshot.Method) rigOption {
	return func(r *rig, o *gateway.Options) {
		withTokens(snapshot.Authenticate, methods...)(r, o)
		o.Asker = issuers{}
		r.project.Versions[0].Access.Opaque = snapshot.Introspection{
			Endpoint: "https://accounts.example/introspect",
			Method:   snapshot.SecretBasic,
		}
	}
}

// Each case is answered alike by the engine and by net/http.
func TestTokensThatSomebodyIsAskedAbout(t *testing.T) {
	const refused = `Bearer error="invalid_token"`
	opaque, both := asking(snapshot.Opaque), asking(snapshot.JWT, snapshot.Opaque)
	nobody := func(_ *rig, o *gateway.Options) { o.Asker = nil }
	for name, tc := range map[string]struct {
		options []rigOption
		lines   []string
		status  int
		code    string
		says    string
		got     []string
	}{
		"a good one": {
			options: []rigOption{opaque},
			lines:   []string{noKey, "Authorization: Bearer opaque"},
			status:  200,
			got: []string{
				"X-Authenticated-Userid: alice", "X-Authenticated-Scope: read", "X-Tenant-Id: tnt_1",
				"Authorization: Bearer opaque", "X-Consumer-Username:",
			},
		},
		"a bad one": {
			options: []rigOption{opaque},
			lines:   []string{noKey, "Authorization: Bearer bad"},
			status:  401,
			code:    "invalid_token",
			says:    refused,
		},
		"none": {
			options: []rigOption{opaque},
			lines:   []string{noKey},
			status:  401,
			code:    "credentials_required",
			says:    "Bearer",
		},
		"an issuer that is away": {
			options: []rigOption{opaque},
			lines:   []string{noKey, "Authorization: Bearer away"},
			status:  503,
			code:    "provider_unavailable",
		},
		"an issuer that makes none": {
			options: []rigOption{opaque},
			lines:   []string{noKey, "Authorization: Bearer nonsense"},
			status:  502,
			code:    "provider_answer_invalid",
		},
		"one that may be anybody's": {
			options: []rigOption{opaque},
			lines:   []string{noKey, "Authorization: Bearer anybody's"},
			status:  401,
			code:    "unverifiable_token",
			says:    refused,
		},
		"a verified one, opaque only": {
			options: []rigOption{opaque},
			lines:   []string{noKey, "Authorization: Bearer good"},
			status:  401,
			code:    "invalid_token",
			says:    refused,
		},
		"both: a verified one": {
			options: []rigOption{both},
			lines:   []string{noKey, "Authorization: Bearer good"},
			status:  200,
			got:     []string{"X-Authenticated-Scope: read write"},
		},
		"both: an opaque one": {
			options: []rigOption{both},
			lines:   []string{noKey, "Authorization: Bearer opaque"},
			status:  200,
			got:     []string{"X-Authenticated-Scope: read"},
		},
		"nobody to ask": {
			options: []rigOption{opaque, nobody},
			lines:   []string{noKey, "Authorization: Bearer opaque"},
			status:  503,
			code:    "provider_unavailable",
		},
		"passthrough, a bad one": {
			options: []rigOption{
				opaque,
				withProject(func(p *snapshot.Project) { p.Versions[0].Access.Mode = snapshot.Passthrough }),
			},
			lines:  []string{noKey, "Authorization: Bearer bad"},
			status: 401,
			code:   "invalid_token",
			says:   refused,
		},
		"where nobody is asked": {
			options: []rigOption{asking(snapshot.JWT)},
			lines:   []string{noKey, "Authorization: Bearer opaque"},
			status:  401,
			code:    "invalid_token",
			says:    refused,
		},
	} {
		for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
			r := newRig(t, nil, append(tc.options, more...)...)
			got := r.get("/shop/1.0.0/prod/x", tc.lines...)
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
