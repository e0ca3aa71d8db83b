package kong

import (
	"encoding/json"
	"strings"
	"testing"

	"postern/core/snapshot"
)

// The plugin verifies no tokens. A version that asks for one must be closed on the
// exported gateway, and the ledger must say so.
func TestAVersionThatTakesTokensIsClosed(t *testing.T) {
	in := sampleInput()
	issuers := []snapshot.TokenIssuer{{Issuer: "https://accounts.example", Audience: "shop"}}
	in.Project.Versions[0].Access = snapshot.Access{
		Mode:    snapshot.Authenticate,
		Methods: []snapshot.Method{snapshot.JWT},
		Keyless: snapshot.Reject,
		Issuers: issuers,
	}
	in.Project.Versions[1].Access = snapshot.Access{
		Mode:    snapshot.Authenticate,
		Methods: []snapshot.Method{snapshot.APIKey, snapshot.JWT},
		Keyless: snapshot.Reject,
		Issuers: issuers,
	}
	opaque := in.Project.Versions[0]
	opaque.ID, opaque.Name = "ver_opaque", "9.9.9"
	opaque.Environments = []snapshot.Environment{{ID: "env_opaque", Name: "prod", Target: "http://up.example"}}
	opaque.Access = snapshot.Access{
		Mode:    snapshot.Authenticate,
		Methods: []snapshot.Method{snapshot.Opaque},
		Keyless: snapshot.Reject,
		Opaque:  snapshot.Introspection{Endpoint: "https://accounts.example/introspect", Method: snapshot.SecretBasic},
	}
	in.Project.Versions = append(in.Project.Versions, opaque)
	in.Project.Clients = []snapshot.AppClient{{
		ID:       "cli_1",
		Name:     "web",
		Issuer:   "https://postern.example/oauth/cli_1",
		TenantID: in.Project.Tenants[0].ID,
	}}
	files := write(t, in)
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
	if err := json.Unmarshal([]byte(files[gatewayFile]), &gateway); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{in.Project.Versions[0].Name: "", in.Project.Versions[1].Name: "api_key"}
	want[opaque.Name] = ""
	seen := 0
	for _, service := range gateway.Services {
		version, _, _ := strings.Cut(service.Name, "~")
		methods, ours := want[version]
		if !ours {
			continue
		}
		for _, route := range service.Routes {
			policy, there := gateway.Plugins[0].Config.Routes[route.ID]
			if !there || policy.Mode != "authenticate" || strings.Join(policy.Methods, ",") != methods {
				t.Errorf(
					"%s: mode %q with the methods %q, want authenticate with %q", service.Name, policy.Mode,
					policy.Methods, methods,
				)
			}
			seen++
		}
	}
	if seen < 6 {
		t.Errorf("%d routes of the three versions, want two for each environment", seen)
	}
	for _, code := range []string{
		"kong.access_policy.keys_only",
		"kong.token_issuer.not_verified",
		"kong.token_introspection.not_asked",
		"kong.hosted_login.issuer_stays",
		in.Project.Tenants[0].Name + "/web",
	} {
		if !strings.Contains(files["MIGRATION-REPORT.json"], code) {
			t.Errorf("the ledger does not say %s", code)
		}
	}
}
