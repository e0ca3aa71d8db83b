package api_test

import (
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// codesOf are the codes of an answer's warnings.
func codesOf(t *testing.T, a controlplane.Response) string {
	t.Helper()
	list, ok := a.Body["warnings"].([]any)
	if !ok {
		t.Fatalf("no list of warnings: %d %s", a.Status, a.Raw)
	}
	var codes []string
	for _, one := range list {
		warning, _ := one.(map[string]any)
		code, _ := warning["code"].(string)
		if detail, _ := warning["detail"].(string); detail == "" {
			t.Errorf("the warning %s has no text", code)
		}
		codes = append(codes, code)
	}
	return strings.Join(codes, " ")
}

func TestCreateProxy_warnings(t *testing.T) {
	t.Parallel()
	const back = `"redirect_uris":["https://a.example/cb"]}`
	const github = `{"type":"github","client_id":"x","client_secret":"y"}`
	tests := []struct{ name, body, want string }{
		{"nothing set", `{"target":"http://127.0.0.1:9"}`, "passthrough"},
		{"keys", `{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate"}}`, ""},
		{
			"owner fallback",
			`{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate","keyless":"owner_fallback"}}`,
			"owner_fallback",
		},
		{"login", createWithLogin(`{"providers":[` + github + `],"redirect_uris":["https://a.example/cb"]}`), ""},
		{"no redirect URI", createWithLogin(`{"providers":[` + github + `]}`), "no_redirect_uri"},
		{
			"login with passthrough",
			createWithLogin(`{"providers":[`+github+`],"redirect_uris":["https://a.example/cb"]}`,
				`"requests_auth":{"mode":"passthrough","methods":["jwt"]}`),
			"login_not_required",
		},
		{
			"providers off",
			createWithLogin(`{"providers":[{"type":"google","enabled":false}],` + back),
			"no_provider",
		},
		{
			"access tokens of an issuer without a secret",
			createWithLogin(`{"providers":[{"type":"oidc","client_id":"x","issuer":"https://8.8.8.8",
				"token_type":"provider"}],` + back),
			"opaque_tokens_refused",
		},
		{
			"Google without a secret",
			createWithLogin(`{"providers":[{"type":"google","client_id":"x"}],` + back),
			"client_secret_missing",
		},
	}
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			made := controlplane.Call(t, h, "POST", "/proxy", "", tt.body)
			if made.Status != 201 {
				t.Fatalf("POST /proxy: %d %s", made.Status, made.Raw)
			}
			if got := codesOf(t, made); got != tt.want {
				t.Errorf("warnings %q, want %q", got, tt.want)
			}
		})
	}
}

func TestUpdate_warnings(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	made := controlplane.Call(t, h, "POST", "/proxy", "", createWithLogin(
		`{"providers":[{"type":"google","client_id":"x","client_secret":"y"}],
			"redirect_uris":["https://a.example/cb"]}`,
	))
	key, _ := made.Body["workspace_key"].(string)
	project, _ := made.Body["project"].(map[string]any)
	id, _ := project["id"].(string)
	login, _ := made.Body["login"].(map[string]any)
	app, _ := login["client_id"].(string)
	found := controlplane.Call(t, h, "GET", "/api/v1/projects/"+id, key, "")
	versions, _ := found.Body["versions"].([]any)
	version, _ := versions[0].(map[string]any)
	path := "/api/v1/projects/" + id + "/versions/" + version["id"].(string)

	changed := controlplane.Call(t, h, "PATCH", path, key, `{"requests_auth":{"methods":["api_key"]}}`)
	if got := codesOf(t, changed); got != "login_tokens_unused" {
		t.Errorf("warnings of the version %q", got)
	}
	changed = controlplane.Call(t, h, "PATCH", "/api/v1/app-clients/"+app, key, `{"redirect_uris":[]}`)
	if got := codesOf(t, changed); got != "no_redirect_uri" {
		t.Errorf("warnings of the app client %q", got)
	}
	found = controlplane.Call(t, h, "GET", "/api/v1/app-clients/"+app, key, "")
	if _, there := found.Body["warnings"]; there {
		t.Error("a reading answer has warnings")
	}
}
