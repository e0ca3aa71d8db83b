//go:build conformance

package conformance

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/idp"
)

// The keys of the app clients: one for each algorithm that they can sign with, and one
// that has ended.
var ownKeys = map[string]idp.Key{
	"sig_1": idp.KeyOf(jose.ES256, "sig_1"),
	"sig_2": idp.KeyOf(jose.RS256, "sig_2"),
	"sig_3": idp.KeyOf(jose.EdDSA, "sig_3"),
	"sig_4": idp.KeyOf(jose.ES256, "sig_4"),
}

// leftAt is when usr_left left a group.
var leftAt = time.Now().Add(-time.Minute).Unix()

// withAppClients gives the project app clients of both tenants, one of which is frozen, and
// users and sessions that are refused.
func withAppClients(t *testing.T, p *snapshot.Project) {
	t.Helper()
	var keys []snapshot.SigningKey
	for _, id := range slices.Sorted(maps.Keys(ownKeys)) {
		jwk, err := json.Marshal(ownKeys[id].Public())
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, snapshot.SigningKey{ID: id, Algorithm: string(ownKeys[id].Algorithm), JWK: string(jwk)})
	}
	keys[3].ExpiresAt = time.Now().Add(-time.Hour)
	add := func(id, tenant string, machine, frozen bool) {
		p.Clients = append(p.Clients, snapshot.AppClient{
			ID: id, Name: id, Issuer: "https://postern.example/oauth/" + id, TenantID: tenant, Keys: keys,
			Machine: machine, Frozen: frozen, Providers: []snapshot.Provider{
				{ID: "idp_1", Enabled: true, ClientToken: snapshot.ServiceToken, UpstreamToken: snapshot.ServiceToken},
				{ID: "idp_2", Enabled: true, ClientToken: snapshot.ServiceToken, UpstreamToken: snapshot.NoToken},
			},
		})
	}
	add("cli_1", "tnt_1", true, false)
	add("cli_2", "tnt_2", false, false)
	add("cli_3", "tnt_1", true, true)
	p.API.Audience = "https://api.shop.example"
	p.Barred = []snapshot.BarredUser{{ID: "usr_deleted", Deleted: true}, {ID: "usr_frozen"}}
	p.EndedSessions = []string{"ses_ended"}
	p.GroupsLeft = []snapshot.GroupsLeft{{User: "usr_left", At: leftAt}}
}

// ownTokens are tokens of the app clients by name.
func ownTokens(t *testing.T) map[string]string {
	now := time.Now()
	claims := func(client, tenant string, edits ...func(map[string]any)) map[string]any {
		out := map[string]any{
			"iss": "https://postern.example/oauth/" + client, "aud": client, "sub": "usr_1", "client_id": client,
			"tenant": tenant, "sid": "ses_1", "jti": "tok_1", "provider": "idp_1", "iat": now.Unix(),
			"exp": now.Add(time.Hour).Unix(), "scope": "openid orders:read", "groups": []string{"staff", "a, b", "eu"},
		}
		for _, edit := range edits {
			edit(out)
		}
		return out
	}
	sign := func(edits ...func(map[string]any)) string {
		return ownKeys["sig_1"].Sign(t, nil, claims("cli_1", "tnt_1", edits...))
	}
	with := idp.WithClaim
	forger := idp.KeyOf(jose.ES256, "forger")
	out := map[string]string{
		"of the second tenant": ownKeys["sig_1"].Sign(t, nil, claims("cli_2", "tnt_2")),
		"of a machine": sign(with("sub", "cli_1"), with("sid", nil), with("provider", nil),
			with("groups", nil)),
		"of no machine":          ownKeys["sig_1"].Sign(t, nil, claims("cli_2", "tnt_2", with("sub", "cli_2"))),
		"of a frozen app client": ownKeys["sig_1"].Sign(t, nil, claims("cli_3", "tnt_1")),
		"of no app client":       ownKeys["sig_1"].Sign(t, nil, claims("cli_9", "tnt_1")),
		"of a frozen user":       sign(with("sub", "usr_frozen")),
		"of a deleted user":      sign(with("sub", "usr_deleted")),
		"of an ended session":    sign(with("sid", "ses_ended")),
		"from before leaving a group": sign(with("sub", "usr_left"),
			with("iat", now.Add(-2*time.Minute).Unix())),
		"from after leaving a group": sign(with("sub", "usr_left")),
		"from the second of leaving": sign(with("sub", "usr_left"), with("iat", leftAt), with("groups_at", leftAt+1)),
		"with groups of before":      sign(with("sub", "usr_left"), with("groups_at", leftAt)),
		"groups at a text":           sign(with("groups_at", "now")),
		"without a session":          sign(with("sid", nil)),
		"without groups":             sign(with("groups", nil)),
		"in sorted groups":           sign(with("groups", []string{"eu", "staff"})),
		"no group":                   sign(with("groups", []string{})),
		"groups as a text":           sign(with("groups", "staff")),
		"groups of numbers":          sign(with("groups", []int{1})),
		"for the API":                sign(with("aud", []string{"https://api.shop.example"})),
		"for another API":            sign(with("aud", "https://api.blog.example")),
		"without an audience":        sign(with("aud", nil)),
		"another client":             sign(with("client_id", "cli_2")),
		"another tenant":             sign(with("tenant", "tnt_2")),
		"upstreams get none":         sign(with("provider", "idp_2")),
		"a provider that went":       sign(with("provider", "idp_9")),
		"expired just now":           sign(with("exp", now.Add(-2*time.Second).Unix())),
		"a session as a number":      sign(with("sid", 1)),
		"an ID token": ownKeys["sig_1"].Sign(t, map[jose.HeaderKey]any{"typ": "JWT"},
			claims("cli_1", "tnt_1")),
		"forged": idp.Key{ID: "sig_1", Algorithm: jose.ES256, Private: forger.Private}.
			Sign(t, nil, claims("cli_1", "tnt_1")),
		"an unknown key": forger.Sign(t, nil, claims("cli_1", "tnt_1")),
		"no kid":         ownKeys["sig_1"].Sign(t, map[jose.HeaderKey]any{"kid": nil}, claims("cli_1", "tnt_1")),
	}
	for id, k := range ownKeys {
		out[id+" "+string(k.Algorithm)] = k.Sign(t, nil, claims("cli_1", "tnt_1"))
	}
	return out
}

// Tokens that the project's app clients have issued open the exported gateway as they do
// the hosted one, by the same state of users, sessions and app clients.
func TestConformanceOwnTokens(t *testing.T) {
	up, of := newUpstream(t), startTokenIssuer(t)
	project, keys := tokenProject(up, of.Pair())
	withAppClients(t, project)
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	postern := startPosternOf(t, up, project, keys)
	accepted, tokens := 0, ownTokens(t)
	for _, name := range slices.Sorted(maps.Keys(tokens)) {
		line := "Authorization: Bearer " + tokens[name]
		var cases []Case
		for _, at := range placesOfTokens {
			cases = append(cases, get(name+" at "+at, at+"/x", line, "X-Consumer-Groups: forged"))
		}
		cases = append(cases, get(name+" with a key", "/either/prod/x", line, key(keys["active"])))
		for _, c := range cases {
			want := postern.send(c)
			if compare(t, c, postern, kong, want, kong.send(c)) && want.Status == http.StatusOK {
				accepted++
			}
		}
	}
	if accepted < 40 {
		t.Errorf("%d calls were accepted, want at least 40", accepted)
	}
	seen := kong.send(get("the claims", prod+"/x", "Authorization: Bearer "+tokens["sig_1 ES256"])).Seen
	if len(seen) != 1 || seen[0].Headers.Get("X-Consumer-Groups") != "staff, eu" {
		t.Errorf("the upstream saw %v", seen)
	}
}
