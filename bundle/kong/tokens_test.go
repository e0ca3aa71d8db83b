package kong

import (
	"encoding/json"
	"strings"
	"testing"

	"postern/snapshot"
)

// The plugin verifies no tokens. A version that asks for one must be closed on the
// exported gateway, and the ledger must say so.
func TestAVersionThatTakesTokensIsClosed(t *testing.T) {
	in := sampleInput()
	issuers := []snapshot.TokenIssuer{{Issuer: "https://accounts.example", Audience: "shop"}}
	in.Project.Versions[0].Access = snapshot.Access{Mode: snapshot.Authenticate, Methods: []snapshot.Method{snapshot.JWT}, Keyless: snapshot.Reject, Issuers: issuers}
	in.Project.Versions[1].Access = snapshot.Access{Mode: snapshot.Authenticate, Methods: []snapshot.Method{snapshot.APIKey, snapshot.JWT}, Keyless: snapshot.Reject, Issuers: issuers}
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
				t.Errorf("%s: mode %q with the methods %q, want authenticate with %q", service.Name, policy.Mode, policy.Methods, methods)
			}
			seen++
		}
	}
	if seen < 4 {
		t.Errorf("%d routes of the two versions, want two for each environment", seen)
	}
	for _, code := range []string{"kong.access_policy.keys_only", "kong.token_issuer.not_verified"} {
		if !strings.Contains(files["MIGRATION-REPORT.json"], code) {
			t.Errorf("the ledger does not say %s", code)
		}
	}
}
