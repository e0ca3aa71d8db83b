//go:build conformance

package conformance

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/introspection"
	"postern/service/projects"
	"postern/testkit/idp"
	"postern/testkit/sample"
	"postern/testkit/state"
)

// The client of the gateways at the endpoint. Both names have characters that have to be
// encoded.
const opaqueClient, opaqueSecret = "shop:api", "a b/+:%$'\"=&~é"

// opaqueProject has a version for each way in which the endpoint is asked and in which
// opaque tokens go with other credentials.
func opaqueProject(up *upstream, e *endpoint, pair snapshot.TokenIssuer) (*snapshot.Project, map[string]sample.Plain) {
	at := func(path string, method snapshot.IntrospectionMethod, secret bool) snapshot.Introspection {
		one := snapshot.Introspection{
			Introspection: contract.Introspection{Endpoint: e.URL + path, Method: method}, HasSecret: secret,
		}
		if secret {
			one.ClientID = opaqueClient
		}
		return one
	}
	project, keys := sample.Fresh(up.url, snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Authenticate,
		Methods: []string{snapshot.Opaque},
		Keyless: snapshot.Reject,
		Opaque:  new(at("/basic", snapshot.SecretBasic, true)),
	}})
	project.FallbackOwner = "fallback-owner"
	project.Limits.Owner = snapshot.Limits{snapshot.Hour: 100_000}
	project.Tenants[0].FallbackOwner = "own-fallback"
	add := func(name string, access snapshot.Access) {
		access.Methods = append(access.Methods, snapshot.Opaque)
		project.Versions = append(project.Versions, snapshot.Version{
			ID: "ver_" + name, Name: name, Access: access,
			Environments: []snapshot.Environment{{ID: "env_" + name, Name: "prod", Target: up.url}},
		})
	}
	named := at("/named", snapshot.SecretBasic, false)
	named.ClientID, named.Issuer, named.Audience = "public", "https://id.example", "shop"
	keysToo := []string{snapshot.APIKey}
	add("either", snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Authenticate,
		Methods: keysToo,
		Keyless: snapshot.Reject,
		Opaque:  new(at("/post?tenant=1", snapshot.SecretPost, true)),
	}})
	add("both", snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Authenticate,
		Methods: []string{snapshot.JWT},
		Keyless: snapshot.Reject,
		JWT:     &snapshot.AllowedPairs{AllowedPairs: []snapshot.TokenIssuer{pair}},
		Opaque:  new(named),
	}})
	add("fallback", snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Authenticate,
		Methods: keysToo,
		Keyless: snapshot.OwnerFallback,
		Opaque:  new(at("/plain", snapshot.SecretPost, false)),
	}})
	add("open", snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Passthrough,
		Keyless: snapshot.Reject,
		Opaque:  new(at("/plain", snapshot.SecretBasic, false)),
	}})
	return project, keys
}

// placesOfOpaque are the addresses of opaqueProject's versions.
var placesOfOpaque = []string{prod, "/either/prod", "/both/prod", "/fallback/prod", "/open/prod"}

// introspectorOf asks the endpoints of a project's versions, which it reads from a database as the
// running product does.
func introspectorOf(t *testing.T, project *snapshot.Project, secret secrets.Secret) gateway.Introspector {
	t.Helper()
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
	if err != nil {
		t.Fatal(err)
	}
	db, log := state.OpenSQLite(t), slog.New(slog.DiscardHandler)
	service := &projects.Service{
		DB: db, Targets: guard, Vault: vault, Log: log, KeyPrefix: "pst", UnclaimedTTL: time.Hour,
		CheckLogin: func(*models.Tx, string) error { return nil },
		Changed:    func(context.Context) {},
	}
	made, err := service.Create(t.Context(), access.Principal{}, projects.CreateInput{Target: "http://127.0.0.1:9"})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(tx *models.Tx) error {
		for _, v := range project.Versions {
			row := models.Version{
				ID: v.ID, ProjectID: made.Project.ID, Name: v.Name, RequestsAuth: v.Access.RequestsAuth,
				CreatedAt: time.Now(), UpdatedAt: time.Now(),
			}
			if v.Name == "1.0.0" { // which the created project has
				row.Name = "of-the-sample"
			}
			if v.Access.Introspection().HasSecret {
				sealed, err := vault.Seal(tx, made.Workspace.Team, projects.IntrospectionPlace(v.ID), secret)
				if err != nil {
					return err
				}
				row.IntrospectionSecret = sealed
			}
			if err := tx.Insert(&row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	client := guard.Client()
	t.Cleanup(client.CloseIdleConnections)
	return &introspection.Introspector{DB: db, Vault: vault, Client: client, Log: log}
}

// opaqueTokens are tokens about which the endpoint answers that they are good, unless a
// gateway refuses them before or verifies them by keys.
func opaqueTokens(t *testing.T, of *idp.Issuer) map[string]string {
	key := idp.KeyOf(jose.RS256, "r")
	with := func(name string, value any) string { return key.Sign(t, nil, of.Claims(idp.WithClaim(name, value))) }
	good := key.Sign(t, nil, of.Claims())
	return map[string]string{
		"of the pair":                good,
		"of the pair, expired":       with("exp", time.Now().Add(-time.Hour).Unix()),
		"of the pair, sub is a list": with("sub", []string{"a"}),
		"of another issuer":          with("iss", "https://id.example"),
		"of no issuer":               with("iss", nil),
		"of the pair, changed":       good[:len(good)-4] + "AAAA",
		"of the pair, no signature":  good[:strings.LastIndex(good, ".")+1],
		"of an app client":           with("iss", "https://postern.example/oauth/cli_1"),
		"signs":                      "a+b/c=~!$&'()*,;:@",
		"quotes":                     `"a"\b`,
		"a blank inside":             "a b",
		"not ASCII":                  "tokén",
		"of 16 KiB":                  strings.Repeat("x", 16<<10),
		"over 16 KiB":                strings.Repeat("x", 16<<10+1),
		"dots":                       "a.b.c",
		"GitHub's":                   "gho_16C7e42F292c6912E7710c838347Ae178B4a",
		"nothing":                    "",
	}
}

// Both gateways ask the endpoint the same question on every call, and make the same of its
// answers.
func TestConformanceOpaqueTokens(t *testing.T) {
	up, e, of := newUpstream(t), startEndpoint(t), startTokenIssuer(t)
	project, keys := opaqueProject(up, e, of.Pair())
	withAppClients(t, project)
	kong, log := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up,
		"INTROSPECTION_1_0_0_CLIENT_SECRET="+opaqueSecret, "INTROSPECTION_EITHER_CLIENT_SECRET="+opaqueSecret)
	introspector := introspectorOf(t, project, opaqueSecret)
	postern := startPosternWith(t, up, project, keys, func(o *gateway.Options) { o.Introspector = introspector })
	active := key(keys["active"])
	statuses, calls := map[int]int{}, 0
	both := func(c Case) {
		e.take()
		want := postern.send(c)
		asked := e.take()
		compare(t, c, postern, kong, want, kong.send(c))
		if diff := cmp.Diff(asked, e.take()); diff != "" {
			t.Errorf("%s: the endpoint was asked (-postern +kong):\n%s", c.Name, diff)
		}
		statuses[want.Status]++
		calls++
	}
	for _, name := range slices.Sorted(maps.Keys(e.answers)) {
		line := "Authorization: Bearer " + name
		both(get(name, prod+"/x?api_key=canary-in-the-query", line))
		if name == "silence" || strings.HasSuffix(name, "that-drips") {
			continue // the others wait as long
		}
		for _, at := range placesOfOpaque[1:] {
			both(get(name+" at "+at, at+"/x", line))
		}
		both(get(name+" with a key", "/either/prod/x", line, active))
	}
	tokens := opaqueTokens(t, of)
	for _, name := range slices.Sorted(maps.Keys(tokens)) {
		line := "Authorization: Bearer " + tokens[name]
		for _, at := range placesOfOpaque {
			both(get(name+" at "+at, at+"/x", line))
		}
		both(get(name+" with a wrong key", "/either/prod/x", line, "X-API-Key: pst_wrong"))
	}
	for _, at := range placesOfOpaque {
		for name, lines := range map[string][]string{
			"no credential":     {},
			"lower-case scheme": {"authorization: bearer good"},
			"tabs":              {"Authorization: \tBEARER \t good \t"},
			"another scheme":    {"Authorization: Basic YTpi"},
			"bearer alone":      {"Authorization: Bearer"},
			"spoofed": {
				"Authorization: Bearer good", "X-Authenticated-Userid: root", "X_Authenticated_Scope: all",
			},
			"key alone": {active},
		} {
			both(get(name+" at "+at, at+"/x?access_token=good", lines...))
		}
	}
	if statuses[200] < 100 || statuses[401] < 100 || statuses[502] < 50 || statuses[503] < 50 {
		t.Errorf("answers by status: %v: that shows too little", statuses)
	}
	t.Logf("%d calls, by status: %v", calls, statuses)
	checkNoSecrets(t, log)
}

// checkNoSecrets checks that Kong's log says why tokens could not be judged, with neither
// them nor the secret.
func checkNoSecrets(t *testing.T, log string) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "cannot check tokens: ") {
		t.Error("Kong's log does not say why tokens could not be judged")
	}
	for _, canary := range []string{opaqueSecret, "gho_16C7e42F", "subject-255", "Bearer", "canary"} {
		if strings.Contains(string(text), canary) {
			t.Errorf("Kong's log has %q", canary)
		}
	}
}

// A gateway without the value of the secret does not ask, and refuses the calls.
func TestConformanceOpaqueTokens_withoutSecret(t *testing.T) {
	up, e, of := newUpstream(t), startEndpoint(t), startTokenIssuer(t)
	project, keys := opaqueProject(up, e, of.Pair())
	t.Setenv("INTROSPECTION_1_0_0_CLIENT_SECRET", "")
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	got := kong.send(get("no secret", prod+"/x", "Authorization: Bearer good"))
	if got.Status != http.StatusServiceUnavailable || got.Code != "provider_unavailable" || len(got.Seen) > 0 {
		t.Errorf("%d %s, and the upstream saw %d calls; want 503 provider_unavailable", got.Status, got.Code,
			len(got.Seen))
	}
	if asked := e.take(); len(asked) > 0 {
		t.Errorf("the endpoint was asked: %+v", asked)
	}
	if got := kong.send(get("another version", "/open/prod/x", "Authorization: Bearer good")); got.Status != 200 {
		t.Errorf("a version whose endpoint asks for no secret: %d %s", got.Status, got.Body)
	}
}
