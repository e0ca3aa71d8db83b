package api_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestCreateProxy_loginBounds sends texts of a login that are longer than allowed. The
// caller is anonymous, and every gateway holds what is stored in memory.
func TestCreateProxy_loginBounds(t *testing.T) {
	t.Parallel()
	long := func(prefix string, n int) string { return prefix + strings.Repeat("x", n) }
	tests := []struct {
		name          string
		provider      map[string]any
		redirect      string
		code, pointer string
	}{
		{"issuer", map[string]any{
			"type":   "oidc",
			"issuer": long("http://127.0.0.1:9/", 2000),
		}, "", "invalid_url", "/login/providers/0/issuer"},
		{"domain", map[string]any{
			"type":   "auth0",
			"domain": long("127.0.0.1/", 2000),
		}, "", "invalid_url", "/login/providers/0/issuer"},
		{
			"GitHub server",
			map[string]any{"issuer": long("http://127.0.0.1:9/", 2000)},
			"",
			"invalid_url",
			"/login/providers/0/issuer",
		},
		{
			"client id",
			map[string]any{"client_id": long("", 301)},
			"",
			"invalid_client_id",
			"/login/providers/0/client_id",
		},
		{
			"client secret",
			map[string]any{"client_secret": long("", 1001)},
			"",
			"invalid_client_secret",
			"/login/providers/0/client_secret",
		},
		{
			"scope",
			map[string]any{"scopes": []string{long("", 201)}},
			"",
			"invalid_scope",
			"/login/providers/0/scopes/0",
		},
		{"redirect URI", nil, long("https://app.example.com/", 2000), "invalid_redirect_uri", "/login/redirect_uris/0"},
	}
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			provider := map[string]any{"type": "github", "client_id": "id", "client_secret": "secret"}
			maps.Copy(provider, tt.provider)
			login := map[string]any{"providers": []any{provider}}
			if tt.redirect != "" {
				login["redirect_uris"] = []string{tt.redirect}
			}
			text, err := json.Marshal(map[string]any{"target": "http://127.0.0.1:9", "login": login})
			if err != nil {
				t.Fatal(err)
			}
			a := controlplane.Call(t, h, "POST", "/proxy", "", string(text))
			if a.Status != 422 || strings.Join(a.Pointers(), " ") != tt.pointer ||
				!strings.Contains(a.Raw, `"`+tt.code+`"`) {
				t.Errorf("%d %.500s, want 422 %s at %s", a.Status, a.Raw, tt.code, tt.pointer)
			}
		})
	}
}
