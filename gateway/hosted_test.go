package gateway_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

// hosted judges tokens of app clients by what they are called. Like the real one it
// takes those alone whose client is published.
type hosted map[string]policy.Token

func (h hosted) Verify(
	_ context.Context, token string, from policy.Issuers, _ time.Time, into *policy.Token,
) policy.Denial {
	said, ok := h[token]
	if !ok || from.Own.Client(said.Issuer) == nil {
		return policy.InvalidToken
	}
	*into = said
	return policy.Denial{}
}

func hostedClient(id, tenant string) snapshot.AppClient {
	return snapshot.AppClient{
		ID:       id,
		Issuer:   snapshot.IssuerOf("https://postern.example", id),
		TenantID: tenant,
		Providers: []snapshot.Provider{
			{
				ID:            "idp_service",
				UpstreamToken: snapshot.ServiceToken,
			}, {ID: "idp_none", UpstreamToken: snapshot.NoToken},
			{
				ID:            "idp_access",
				UpstreamToken: snapshot.ProviderAccessToken,
			}, {ID: "idp_id", UpstreamToken: snapshot.ProviderIDToken},
			{ID: "idp_odd", UpstreamToken: "odd"}, {ID: "idp_unset"}},
	}
}

func issuedBy(client, provider string, edits ...func(*policy.Token)) policy.Token {
	t := policy.Token{
		Issuer:  snapshot.IssuerOf("https://postern.example", client),
		Subject: "usr_ana",
		Scopes:  []string{"openid", "email"},
		Hosted: policy.Hosted{
			Client:   client,
			ID:       "jti_1",
			Session:  "ses_1",
			Provider: provider,
			Groups:   []string{"admins", "staff"},
			Carries:  snapshot.ServiceToken,
		},
	}
	for _, edit := range edits {
		edit(&t)
	}
	return t
}

func sealing(kind snapshot.TokenType, sealed string) func(*policy.Token) {
	return func(t *policy.Token) { t.Carries, t.Sealed = kind, sealed }
}

func of(subject string) func(*policy.Token) { return func(t *policy.Token) { t.Subject = subject } }

func groupsAt(at int64) func(*policy.Token) { return func(t *policy.Token) { t.GroupsAt = at } }

// withHosted makes the project serve cli_1 of its own tenant, and another project one of a tenant that the first does
// not serve.
func withHosted(edits ...func(*snapshot.Project)) rigOption {
	return func(r *rig, o *gateway.Options) {
		access, id := snapshot.ProviderAccessToken, snapshot.ProviderIDToken
		o.Verifier = hosted{
			"service":     issuedBy("cli_1", "idp_service"),
			"none":        issuedBy("cli_1", "idp_none"),
			"gone":        issuedBy("cli_1", "idp_gone"),
			"odd":         issuedBy("cli_1", "idp_odd"),
			"unset":       issuedBy("cli_1", "idp_unset"),
			"access":      issuedBy("cli_1", "idp_access", sealing(access, "sealed-access")),
			"id":          issuedBy("cli_1", "idp_id", sealing(id, "sealed-id")),
			"bare":        issuedBy("cli_1", "idp_access"),
			"wrong-kind":  issuedBy("cli_1", "idp_access", sealing(id, "sealed-id")),
			"cannot-open": issuedBy("cli_1", "idp_access", sealing(access, "lost")),
			"breaks":      issuedBy("cli_1", "idp_access", sealing(access, "breaks")),
			"empty":       issuedBy("cli_1", "idp_access", sealing(access, "empty")),
			"frozen":      issuedBy("cli_1", "idp_service", of("usr_frozen")),
			"deleted":     issuedBy("cli_1", "idp_service", of("usr_deleted")),
			"ended":       issuedBy("cli_1", "idp_service", func(t *policy.Token) { t.Session = "ses_ended" }),
			"left":        issuedBy("cli_1", "idp_service", of("usr_left"), groupsAt(1000)),
			"rejoined":    issuedBy("cli_1", "idp_service", of("usr_left"), groupsAt(1001)),
			"elsewhere":   issuedBy("cli_2", "idp_service"),
			"truncated":   issuedBy("cli_1", "idp_service", func(t *policy.Token) { t.Truncated = true }),
			"crowded": issuedBy("cli_1", "idp_service", func(t *policy.Token) {
				t.Groups = slices.Repeat([]string{longGroup}, 17)
			}),
			"nowhere": issuedBy("cli_3", "idp_service"),
		}
		o.Opener = seals{
			"jti_1 sealed-access": "gho_the.provider's",
			"jti_1 sealed-id":     "eyJ.id.token",
			"jti_1 breaks":        "x\r\nX-Tenant-Id: tnt_2",
			"jti_1 empty":         "",
		}
		r.project.Versions[0].Access.Mode = snapshot.Authenticate
		r.project.Versions[0].Access.Methods = []string{snapshot.APIKey, snapshot.JWT}
		r.project.Clients = []snapshot.AppClient{hostedClient("cli_1", "tnt_1")}
		r.project.Barred = []snapshot.BarredUser{{ID: "usr_frozen"}, {ID: "usr_deleted", Deleted: true}}
		r.project.EndedSessions = []string{"ses_ended"}
		r.project.GroupsLeft = []snapshot.GroupsLeft{{User: "usr_left", At: 1000}}
		for _, edit := range edits {
			edit(r.project)
		}
	}
}

// longGroup is in a header 16 times at most: with the separator it has 253 bytes, and policy.MaxGroups are 4096.
var longGroup = strings.Repeat("g", 251)

const bearer = "Authorization: Bearer "

func keyToo(tenant string) func(*snapshot.Project) {
	return func(p *snapshot.Project) {
		p.Tenants = append(p.Tenants, snapshot.Tenant{ID: "tnt_acme", Name: "acme", FallbackOwner: "acme-fallback"})
		p.Clients[0].TenantID = tenant
	}
}

func unserved(p *snapshot.Project) { p.Clients[0].TenantID = "tnt_gone" }

// The upstream's headers are written as "Header: value"; a name without a value is absent.
var hostedCases = map[string]struct {
	edits  []func(*snapshot.Project)
	lines  []string
	status int
	code   string
	says   string // WWW-Authenticate
	got    []string
}{
	"service": {
		lines: []string{noKey, bearer + "service", "X-Consumer-Groups: root", "x_consumer_groups: root",
			"X-Consumer-Groups-Truncated: true", "x-consumer_groups_truncated: true"},
		status: 200,
		got: []string{
			"X-Authenticated-Userid: usr_ana", "X-Authenticated-Scope: openid email",
			"X-Consumer-Groups: admins, staff", "X-Consumer-Groups-Truncated:", "X-Tenant-Id: tnt_1",
			bearer + "service",
			"X-Consumer-Id:", "X-Consumer-Username:", "X-Credential-Identifier:",
		},
	},
	"groups left out of the token": {
		lines:  []string{noKey, bearer + "truncated"},
		status: 200,
		got:    []string{"X-Consumer-Groups: admins, staff", "X-Consumer-Groups-Truncated: true"},
	},
	"groups left out of the header": {
		lines:  []string{noKey, bearer + "crowded"},
		status: 200,
		got: []string{
			"X-Consumer-Groups: " + strings.Join(slices.Repeat([]string{longGroup}, 16), ", "),
			"X-Consumer-Groups-Truncated: true",
		},
	},
	"none": {
		lines:  []string{noKey, bearer + "none"},
		status: 200,
		got:    []string{"X-Authenticated-Userid: usr_ana", "Authorization:"},
	},
	"none, in lower case": {
		lines:  []string{noKey, "authorization: bearer none"},
		status: 200,
		got:    []string{"Authorization:"},
	},
	"the provider's access token": {
		lines:  []string{noKey, bearer + "access"},
		status: 200,
		got:    []string{"X-Authenticated-Userid: usr_ana", bearer + "gho_the.provider's"},
	},
	"the provider's ID token": {
		lines:  []string{noKey, "AUTHORIZATION: Bearer id"},
		status: 200,
		got:    []string{bearer + "eyJ.id.token"},
	},
	"and Connection names it": {
		lines:  []string{noKey, bearer + "access", "Connection: Authorization"},
		status: 200,
		got:    []string{bearer + "gho_the.provider's"},
	},
	"none, and Connection names it": {
		lines:  []string{noKey, bearer + "none", "Connection: Authorization"},
		status: 200,
		got:    []string{"Authorization:"},
	},
	"it cannot be opened": {
		lines:  []string{noKey, bearer + "cannot-open"},
		status: 503,
		code:   "provider_token_unavailable",
	},
	"it would begin a header": {
		lines:  []string{noKey, bearer + "breaks"},
		status: 503,
		code:   "provider_token_unavailable",
	},
	"it is empty": {
		lines:  []string{noKey, bearer + "empty"},
		status: 503,
		code:   "provider_token_unavailable",
	},
	"it carries none": {
		lines:  []string{noKey, bearer + "bare"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"it carries the other one": {
		lines:  []string{noKey, bearer + "wrong-kind"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"the provider was taken away": {
		lines:  []string{noKey, bearer + "gone"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"a token type we do not know": {
		lines:  []string{noKey, bearer + "odd"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"no token type": {
		lines:  []string{noKey, bearer + "unset"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"the user is frozen": {
		lines:  []string{noKey, bearer + "frozen"},
		status: 403,
		code:   "user_frozen",
	},
	"the user is deleted": {
		lines:  []string{noKey, bearer + "deleted"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"the session is ended": {
		lines:  []string{noKey, bearer + "ended"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"a token from before the user left a group": {
		lines:  []string{noKey, bearer + "left"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"a token from after the user left a group": {
		lines:  []string{noKey, bearer + "rejoined"},
		status: 200,
	},
	"a client of another project": {
		lines:  []string{noKey, bearer + "elsewhere"},
		status: 403,
		code:   "wrong_tenant",
	},
	"a client of no one": {
		lines:  []string{noKey, bearer + "nowhere"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"its tenant is not served": {
		edits:  []func(*snapshot.Project){unserved},
		lines:  []string{noKey, bearer + "service"},
		status: 403,
		code:   "wrong_tenant",
	},
	"two lines of it": {
		lines:  []string{noKey, bearer + "service", bearer + "service"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"with a key": {
		lines:  []string{bearer + "access"},
		status: 200,
		got: []string{
			billingConsumer, "X-Authenticated-Userid: usr_ana", "X-Authenticated-Scope: read write",
			"X-Consumer-Groups: admins, staff", bearer + "gho_the.provider's", "X-Api-Key:",
		},
	},
	"with a key of another tenant": {
		edits:  []func(*snapshot.Project){keyToo("tnt_acme")},
		lines:  []string{bearer + "service"},
		status: 403,
		code:   "wrong_tenant",
	},
	"with a key, of a frozen user": {lines: []string{bearer + "frozen"}, status: 403, code: "user_frozen"},
	"a key alone": {
		status: 200,
		got:    []string{billingConsumer, "X-Authenticated-Userid:", "X-Consumer-Groups:"},
	},
	"falling back": {
		edits:  []func(*snapshot.Project){withFallbackOwner},
		lines:  []string{noKey, bearer + "service"},
		status: 200,
		got:    []string{"X-Consumer-Username: fallback-owner", "X-Authenticated-Userid: usr_ana"},
	},
	"falling back for the tenant": {
		edits:  []func(*snapshot.Project){withFallbackOwner, keyToo("tnt_acme")},
		lines:  []string{noKey, bearer + "service"},
		status: 200,
		got:    []string{"X-Consumer-Username: acme-fallback", "X-Tenant-Id: tnt_acme"},
	},
	"no falling back when frozen": {
		edits:  []func(*snapshot.Project){withFallbackOwner},
		lines:  []string{noKey, bearer + "frozen"},
		status: 403,
		code:   "user_frozen",
	},
	"where tokens are not looked at": {
		edits: []func(*snapshot.Project){func(p *snapshot.Project) {
			p.Versions[0].Access.Methods = []string{snapshot.APIKey}
		}},
		lines:  []string{bearer + "access"},
		status: 200,
		got:    []string{bearer + "access", "X-Authenticated-Userid:"},
	},
	"with jwt alone and no client": {
		edits:  []func(*snapshot.Project){func(p *snapshot.Project) { p.Clients = nil }},
		lines:  []string{noKey, bearer + "service"},
		status: 401,
		code:   "invalid_token",
		says:   invalidTokenChallenge,
	},
	"Basic next to a project's client": {
		lines:  []string{"Authorization: Basic none"},
		status: 200,
		got:    []string{"Authorization: Basic none"},
	},
}

// The engine and net/http answer each case alike.
func TestTokens_ownIssuer(t *testing.T) {
	for name, tc := range hostedCases {
		for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
			r := newRig(t, nil, append([]rigOption{withHosted(tc.edits...)}, more...)...)
			r.alsoServes(t, hostedClient("cli_2", "tnt_1")) // whose id would be served here
			got := r.get("/shop/1.0.0/prod/x", tc.lines...)
			r.wantCode(name+", "+path, got, tc.status, tc.code)
			if says := got.Header.Get("WWW-Authenticate"); says != tc.says {
				t.Errorf("%s, %s: WWW-Authenticate is %q, want %q", name, path, says, tc.says)
			}
			if got.StatusCode != 200 {
				if n := len(r.upstreamCalls()); n != 0 {
					t.Errorf("%s, %s: refused, but the upstream got %d calls", name, path, n)
				}
			} else {
				r.wantHeaders(name+", "+path, tc.got)
			}
			if log := r.log.String(); strings.Contains(log, "gho_") || strings.Contains(log, "sealed-") ||
				strings.Contains(log, "tnt_2") {
				t.Errorf("%s, %s: the log has a token: %s", name, path, log)
			}
		}
	}
}

// alsoServes publishes another project next to the rig's, with an app client.
func (r *rig) alsoServes(t *testing.T, client snapshot.AppClient) {
	t.Helper()
	other := *r.project
	other.ID, other.Name, other.Clients = "prj_other", "other", []snapshot.AppClient{client}
	if err := r.gateway.Publish([]*snapshot.Project{r.project, &other}); err != nil {
		t.Fatal(err)
	}
}

// wantHeaders compares what the only call had when it reached the upstream.
func (r *rig) wantHeaders(name string, want []string) {
	r.t.Helper()
	for _, line := range want {
		field, value, _ := strings.Cut(line, ":")
		if has := strings.Join(r.lastCall().header[field], ","); has != strings.TrimSpace(value) {
			r.t.Errorf("%s: the upstream got %s %q, want %q", name, field, has, strings.TrimSpace(value))
		}
	}
}
