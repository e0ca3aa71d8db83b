package kong

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
)

// The plugin accepts the tokens of the issuers that a version names. A version that asks
// for another one must be closed on the exported gateway, and the ledger must say so.
func TestTokens_versions(t *testing.T) {
	in := sampleInput()
	opaque := takeTokens(in.Project)
	in.Project.Deleted = true
	files := write(t, in)
	checkMethods(t, files[gatewayFile], map[string]string{
		in.Project.Versions[0].Name: "jwt",
		in.Project.Versions[1].Name: "api_key,jwt",
		opaque.Name:                 "opaque",
	})
	for _, code := range []string{
		"kong.access_policy.no_provider_tokens",
		"kong.token_issuer.plugin",
		"kong.token_introspection.plugin",
		"kong.hosted_login.realm",
		"kong.api_scope.client_scope",
		"kong.hosted_login.machine_realm",
		"kong.identity_provider.realm",
		"kong.identity_provider.own_tokens",
		`"identity_provider:cli_1:idp_2"`,
		"kong.group_mapping.rule_kept",
		"kong.deleted_project.answers",
		"groups = /sales… → sales",
		in.Project.Tenants[0].Name + "/web",
		in.Project.Tenants[0].Name + "/web/Google\"",
		in.Project.Tenants[0].Name + "/web/Auth0 (acme.eu.auth0.com)",
	} {
		if !strings.Contains(files["MIGRATION-REPORT.json"], code) {
			t.Errorf("the ledger does not say %s", code)
		}
	}
}

// takeTokens lets the first version take tokens, the second keys and tokens, and adds a
// version with opaque tokens, which it returns, and an app client.
func takeTokens(p *snapshot.Project) snapshot.Version {
	issuers := []snapshot.TokenIssuer{{Issuer: "https://accounts.example", Audience: "shop"}}
	p.Versions[0].Access = snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Authenticate,
		Methods: []string{snapshot.JWT},
		Keyless: snapshot.Reject,
		JWT:     &snapshot.AllowedPairs{AllowedPairs: issuers},
	}}
	p.Versions[1].Access = snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Authenticate,
		Methods: []string{snapshot.APIKey, snapshot.JWT},
		Keyless: snapshot.Reject,
		JWT:     &snapshot.AllowedPairs{AllowedPairs: issuers},
	}}
	opaque := p.Versions[0]
	opaque.ID, opaque.Name = "ver_opaque", "9.9.9"
	opaque.Environments = []snapshot.Environment{{ID: "env_opaque", Name: "prod", Target: "http://up.example"}}
	opaque.Access = snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
		Mode:    snapshot.Authenticate,
		Methods: []string{snapshot.Opaque},
		Keyless: snapshot.Reject,
		Opaque: &snapshot.Introspection{
			Introspection: contract.Introspection{
				Endpoint: "https://accounts.example/introspect", Method: snapshot.SecretBasic,
			},
		},
	}}
	p.Versions = append(p.Versions, opaque)
	p.API = snapshot.API{Audience: "https://api.example", Scopes: []snapshot.APIScope{{Name: "orders:read"}}}
	p.Clients = []snapshot.AppClient{{
		ID:       "cli_0",
		Name:     "robot",
		Issuer:   "https://postern.example/oauth/cli_0",
		TenantID: p.Tenants[0].ID,
		Machine:  true,
	}, {
		ID:       "cli_1",
		Name:     "web",
		Issuer:   "https://postern.example/oauth/cli_1",
		TenantID: p.Tenants[0].ID,
		Providers: []snapshot.Provider{
			{ID: "idp_1", Type: "google", ClientID: "app-1", ClientToken: snapshot.ProviderToken},
			{ID: "idp_2", Type: "auth0", Issuer: "https://acme.eu.auth0.com/"},
		},
	}}
	p.Clients[1].Providers[0].Settings = &snapshot.ProviderSettings{
		Mappings: []snapshot.GroupMapping{{Claim: "groups", Value: "/sales", Match: "prefix", Group: "sales"}},
	}
	return opaque
}

// checkMethods checks that every route of the versions in want authenticates, with the
// methods of its version alone.
func checkMethods(t *testing.T, file string, want map[string]string) {
	t.Helper()
	var gateway struct {
		Services []struct {
			Name   string
			Routes []struct{ ID string }
		}
		Plugins []struct {
			Config struct {
				Routes map[string]struct {
					Mode    string
					Methods []string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(file), &gateway); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, service := range gateway.Services {
		version, _, _ := strings.Cut(service.Name, "~")
		methods, ours := want[version]
		if !ours {
			continue
		}
		for _, route := range service.Routes {
			policy, there := gateway.Plugins[0].Config.Routes[route.ID]
			if !there {
				t.Errorf("%s: no policy for route %s", service.Name, route.ID)
			}
			if policy.Mode != "authenticate" {
				t.Errorf("%s: mode %q, want authenticate", service.Name, policy.Mode)
			}
			if got := strings.Join(policy.Methods, ","); got != methods {
				t.Errorf("%s: methods %q, want %q", service.Name, got, methods)
			}
			seen++
		}
	}
	if seen < 6 {
		t.Errorf("%d routes of the three versions, want two for each environment", seen)
	}
}

func TestTokens_unreachableIssuers(t *testing.T) {
	for name, tt := range map[string]struct{ issuer, jwksURL, reason string }{
		"a host name":           {"https://id.example", "", "plugin"},
		"loopback":              {"http://127.0.0.1:8080", "", "loopback"},
		"https with an address": {"https://192.0.2.1", "", "https_address"},
		"keys at a host name":   {"http://localhost:8080", "https://id.example/keys", "plugin"},
		"keys on loopback":      {"https://id.example", "http://[::1]/keys", "loopback"},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			takeTokens(in.Project)
			pair := &snapshot.AllowedPairs{
				AllowedPairs: []snapshot.TokenIssuer{{Issuer: tt.issuer, Audience: "shop", JWKSURL: tt.jwksURL}},
			}
			in.Project.Versions[0].Access.JWT, in.Project.Versions[1].Access.JWT = pair, pair
			ledger := write(t, in)["MIGRATION-REPORT.json"]
			if n := strings.Count(ledger, `"kong.token_issuer.`+tt.reason+`"`); n != 2 {
				t.Errorf("%d of 2 issuers have the code kong.token_issuer.%s", n, tt.reason)
			}
		})
	}
}

// A version keeps its issuers when the method jwt is removed. No route of the plugin has them.
func TestTokens_versionWithoutTokens(t *testing.T) {
	in := sampleInput()
	takeTokens(in.Project)
	in.Project.Versions[1].Access.Methods = []string{snapshot.APIKey}
	var zip bytes.Buffer
	if _, err := bundle.Write(t.Context(), &zip, in); err != nil {
		t.Fatal(err)
	}
	against := bundle.Against{Targets: []bundle.Target{Target}}
	if _, err := bundle.Verify(t.Context(), bytes.NewReader(zip.Bytes()), int64(zip.Len()), against); err != nil {
		t.Error(err)
	}
}

// Keycloak takes no answers by POST, which the ledger says of each provider that sends them.
func TestJudgeLogin_formPost(t *testing.T) {
	for _, tt := range []struct {
		mode             string
		client, upstream snapshot.TokenType
		want             string
	}{
		{"query", snapshot.ServiceToken, snapshot.ServiceToken, "realm"},
		{"form_post", snapshot.ServiceToken, snapshot.ServiceToken, "realm_form_post"},
		{"form_post", snapshot.ProviderToken, snapshot.ProviderAccessToken, "own_tokens_form_post"},
		{"form_post", snapshot.ServiceToken, snapshot.ProviderIDToken, "sealed_tokens_form_post"},
	} {
		in := sampleInput()
		takeTokens(in.Project)
		p := &in.Project.Clients[1].Providers[1]
		p.Type, p.Issuer, p.ClientToken, p.UpstreamToken = "oidc", "https://id.example", tt.client, tt.upstream
		p.Settings = &snapshot.ProviderSettings{ResponseMode: tt.mode}
		ledger := write(t, in)["MIGRATION-REPORT.json"]
		if !strings.Contains(ledger, `"kong.identity_provider.`+tt.want+`"`) ||
			strings.Contains(ledger, "responses only in GET requests") != (tt.mode == "form_post") {
			t.Errorf("%+v: the ledger says %.500s", tt, ledger)
		}
	}
}

// Facebook's debug_token takes a token in the URL, which the ledger says of providers of that type only.
func TestJudgeLogin_facebook(t *testing.T) {
	for kind, want := range map[string]bool{"facebook": true, "google": false} {
		in := sampleInput()
		takeTokens(in.Project)
		in.Project.Clients[1].Providers[1].Type = kind
		ledger := write(t, in)["MIGRATION-REPORT.json"]
		if got := strings.Contains(ledger, "kong.identity_provider.realm_facebook") &&
			strings.Contains(ledger, "debug_token"); got != want {
			t.Errorf("%s: the ledger names debug_token: %t", kind, got)
		}
	}
}
