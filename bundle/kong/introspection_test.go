package kong

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/testkit"
)

// opaqueInput is the sample export whose first version takes opaque tokens.
func opaqueInput(methods ...string) bundle.Input {
	in := sampleInput()
	in.Project.Versions[0].Access = snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Authenticate,
		Methods: append(methods, snapshot.Opaque),
		Keyless: snapshot.Reject,
		Opaque: &snapshot.Introspection{
			Introspection: contract.Introspection{
				Endpoint: "https://id.example/introspect",
				Method:   snapshot.SecretPost,
				ClientID: "shop",
				Issuer:   "https://id.example",
				Audience: "https://api.example",
			},
			HasSecret: true,
		},
	}}
	return in
}

// endpointsIn returns the introspection endpoints in gateway.yaml, and the ids of those that
// routes name.
func endpointsIn(t *testing.T, file string) (map[string]endpointDoc, []string) {
	t.Helper()
	var doc struct {
		Plugins []struct {
			Config struct {
				Introspection map[string]endpointDoc
				Routes        map[string]struct{ Introspection string }
			}
		}
	}
	if err := json.Unmarshal([]byte(file), &doc); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, route := range doc.Plugins[0].Config.Routes {
		if route.Introspection != "" && !slices.Contains(named, route.Introspection) {
			named = append(named, route.Introspection)
		}
	}
	return doc.Plugins[0].Config.Introspection, named
}

func TestIntrospection_endpoint(t *testing.T) {
	in := opaqueInput()
	files, version := write(t, in), in.Project.Versions[0].ID
	got, named := endpointsIn(t, files[gatewayFile])
	want := map[string]endpointDoc{version: {
		Endpoint: "https://id.example/introspect", Method: snapshot.SecretPost, ClientID: "shop",
		Secret: "INTROSPECTION_1_0_0_CLIENT_SECRET", Issuer: "https://id.example", Audience: "https://api.example",
		Tenant: "tnt_1", // default
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
	if !slices.Equal(named, []string{version}) {
		t.Errorf("routes name %q, want %s alone", named, version)
	}
	for file, text := range map[string]string{
		exampleFile: "\n# The client secret for the introspection endpoint of 1.0.0\n" +
			"INTROSPECTION_1_0_0_CLIENT_SECRET=\n",
		"gateway/docker-compose.yaml": "INTROSPECTION_1_0_0_CLIENT_SECRET: \"${INTROSPECTION_1_0_0_CLIENT_SECRET:-}\"",
		probesFile:                    `1.0.0~prod:unknown_token","needs":"nothing"`,
		"MIGRATION-REPORT.json":       `1.0.0~prod:unknown_token"`,
	} {
		if !strings.Contains(files[file], text) {
			t.Errorf("%s lacks %q", file, text)
		}
	}
}

func TestIntrospection_fates(t *testing.T) {
	for name, tt := range testkit.ByName(map[string]struct {
		change func(*snapshot.Introspection)
		reason string
		probe  bool
	}{
		"a secret":  {func(*snapshot.Introspection) {}, "secret_from_environment", true},
		"no secret": {func(i *snapshot.Introspection) { i.HasSecret = false }, "plugin", true},
		"a loopback address": {
			func(i *snapshot.Introspection) { i.Endpoint = "http://127.0.0.1:81/" }, "loopback", false,
		},
		"https with an address": {
			func(i *snapshot.Introspection) { i.Endpoint = "https://192.0.2.1/" }, "https_address", false,
		},
	}) {
		t.Run(name, func(t *testing.T) {
			in := opaqueInput()
			tt.change(in.Project.Versions[0].Access.Opaque)
			files := write(t, in)
			if !strings.Contains(files["MIGRATION-REPORT.json"], `"kong.token_introspection.`+tt.reason+`"`) {
				t.Errorf("the ledger does not say %s", tt.reason)
			}
			if got := strings.Contains(files[probesFile], unknownToken); got != tt.probe {
				t.Errorf("there is a probe: %t, want %t", got, tt.probe)
			}
		})
	}
}

var pairs = &snapshot.AllowedPairs{
	AllowedPairs: []snapshot.TokenIssuer{{Issuer: "https://pair.example", Audience: "shop"}},
}

// Tokens that others have issued are not shown to the endpoint.
func TestIntrospection_foreignTokens(t *testing.T) {
	const tenant = "01234567-89ab-cdef-0123-456789abcdef"
	provider := func(kind, issuer string, upstream snapshot.TokenType) snapshot.Provider {
		return snapshot.Provider{
			ID: "idp_" + kind, Type: kind, Issuer: issuer, Enabled: true, ClientToken: snapshot.ProviderToken,
			UpstreamToken: upstream,
		}
	}
	project := func(in bundle.Input) *snapshot.Project {
		in.Project.Clients = []snapshot.AppClient{{
			ID: "cli_1", Issuer: "https://postern.example/oauth/cli_1", TenantID: in.Project.Tenants[0].ID,
			Providers: []snapshot.Provider{
				provider("github", "", snapshot.ProviderAccessToken),
				provider("google", "", snapshot.ProviderIDToken),
				provider("microsoft", "https://login.microsoftonline.com/"+tenant+"/v2.0", snapshot.NoToken),
				provider("oidc", "https://idp.example", snapshot.ProviderIDToken),
				{ID: "idp_off", Type: "facebook", ClientToken: snapshot.ProviderToken},
				{ID: "idp_ours", Type: "auth0", Issuer: "https://a.example", Enabled: true,
					ClientToken: snapshot.ServiceToken},
			},
		}}
		return in.Project
	}
	alone := project(opaqueInput())
	want := &withheldDoc{Issuers: []string{"https://postern.example/oauth/cli_1"}}
	if diff := cmp.Diff(want, withheldOf(alone, &alone.Versions[0])); diff != "" {
		t.Errorf("opaque alone (-want +got):\n%s", diff)
	}
	both := project(opaqueInput(snapshot.JWT))
	both.Versions[0].Access.JWT = pairs
	want = &withheldDoc{
		Issuers: []string{
			"accounts.google.com", "https://accounts.google.com", "https://idp.example", "https://pair.example",
			"https://postern.example/oauth/cli_1",
		},
		IssuersBelow: []string{"https://login.microsoftonline.com/" + tenant, "https://sts.windows.net/" + tenant},
		Tokens:       []string{"gho_", "ghu_"},
	}
	if diff := cmp.Diff(want, withheldOf(both, &both.Versions[0])); diff != "" {
		t.Errorf("jwt and opaque (-want +got):\n%s", diff)
	}
	both.Clients[0].Providers[3].UpstreamToken = snapshot.ProviderAccessToken
	if got := withheldOf(both, &both.Versions[0]); !got.Opaque {
		t.Errorf("a provider with opaque tokens of any form: %+v, want all withheld", got)
	}
}

// With both jwt and opaque, the probe of the pairs is a token that isn't sent to the endpoint.
func TestIntrospection_probesWithJWT(t *testing.T) {
	in := opaqueInput(snapshot.JWT)
	in.Project.Versions[0].Access.JWT = pairs
	probes := write(t, in)[probesFile]
	for _, line := range []string{
		`prod:unknown_token","needs":"nothing","path":"/1.0.0/prod/",` +
			`"headers":["Authorization: Bearer none"],"status":401`,
		`prod:malformed_token","needs":"nothing","path":"/1.0.0/prod/","headers":["Authorization: Bearer ` +
			`eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL3BhaXIuZXhhbXBsZSJ9.bm9uZQ"],"status":401,"code":"invalid_token"`,
	} {
		if !strings.Contains(probes, line) {
			t.Errorf("no probe %s", line)
		}
	}
}

func TestVerify_introspectionEndpoint(t *testing.T) {
	in := opaqueInput(snapshot.JWT)
	in.Project.Clients = []snapshot.AppClient{{
		ID: "cli_1", Name: "web", Issuer: "https://postern.example/oauth/cli_1", TenantID: in.Project.Tenants[0].ID,
		Providers: []snapshot.Provider{
			{ID: "idp_1", Type: "github", Enabled: true, ClientToken: snapshot.ProviderToken,
				UpstreamToken: snapshot.NoToken},
		},
	}}
	original := write(t, in)
	if _, err := check(t, forge(t, maps.Clone(original))); err != nil {
		t.Fatalf("the export as it is: %v", err)
	}
	for name, c := range map[string]struct{ old, new string }{
		"another endpoint":          {"https://id.example/introspect", "https://id.exampel/introspect"},
		"another audience":          {`"audience":"https://api.example"`, `"audience":"https://api.exampel"`},
		"the variable of another":   {"INTROSPECTION_1_0_0_CLIENT_SECRET", "KONG_PG_PASSWORD"},
		"a provider's tokens shown": {`"tokens":["gho_","ghu_"]`, `"tokens":["ghu_"]`},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(original)
			files[gatewayFile] = strings.Replace(files[gatewayFile], c.old, c.new, 1)
			if files[gatewayFile] == original[gatewayFile] {
				t.Fatal("the case changes nothing")
			}
			refused(t, forge(t, files), gatewayFile, "")
		})
	}
}
