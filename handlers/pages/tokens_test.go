package pages_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"postern/service/tokens"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestTokens_api(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	const body = `{"name":"ci","scopes":["read","admin"]}`
	made := controlplane.Call(t, o.Handler, "POST", "/api/v1/tokens", "", body, o.Owner...)
	token, _ := made.Body["token"].(string)
	if made.Status != 201 || token == "" || made.Body["kind"] != "personal" {
		t.Fatalf("%d %s", made.Status, made.Raw)
	}
	who := controlplane.Call(t, o.Handler, "GET", "/api/v1/whoami", token, "")
	if account := who.Body["account"].(map[string]any); account["email"] != "ana@example.com" ||
		who.Body["token"].(map[string]any)["id"] != made.Body["id"] {
		t.Errorf("whoami: %s", who.Raw)
	}
	if seat := who.Body["teams"].([]any)[0].(map[string]any); seat["id"] != o.Team || seat["role"] != "owner" {
		t.Errorf("teams: %s", who.Raw)
	}
	list := controlplane.Call(t, o.Handler, "GET", "/api/v1/tokens", token, "")
	item := list.Body["items"].([]any)[0].(map[string]any)
	if item["current"] != true || item["token"] != nil || item["last_used_at"] == nil ||
		strings.Contains(list.Raw, token) {
		t.Errorf("list: %s", list.Raw)
	}
	denied := controlplane.Call(t, o.Handler, "POST", "/proxy", token, `{"target":"http://127.0.0.1:9"}`)
	if denied.Status != 403 || denied.Body["code"] != "insufficient_scope" ||
		!strings.Contains(denied.Header.Get("WWW-Authenticate"), `error="insufficient_scope"`) {
		t.Errorf("beyond its scopes: %d %s %v", denied.Status, denied.Raw, denied.Header)
	}
	path := "/api/v1/tokens/" + made.Body["id"].(string)
	if gone := controlplane.Call(t, o.Handler, "DELETE", path, token, ""); gone.Status != 204 {
		t.Errorf("revoke: %d %s", gone.Status, gone.Raw)
	}
	after := controlplane.Call(t, o.Handler, "GET", "/api/v1/projects", token, "")
	if after.Status != 401 ||
		after.Header.Get("WWW-Authenticate") != `Bearer realm="postern", error="invalid_token"` {
		t.Errorf("revoked: %d %v", after.Status, after.Header)
	}
}

// Every credential of another kind, or in another place, is refused (RFC 6750, 3).
func TestBearer_malformed(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	const invalid = `Bearer realm="postern", error="invalid_token"`
	for header, challenge := range map[string]string{
		"Basic YTpi": invalid,
		"Bearer":     invalid,
		"Bearer postern_pat_" + strings.Repeat("0", 38): invalid,
		"": `Bearer realm="postern"`,
	} {
		var sent []string
		if header != "" {
			sent = []string{"Authorization", header}
		}
		a := controlplane.Call(t, h, "GET", "/api/v1/projects", "", "", sent...)
		if a.Status != 401 || a.Header.Get("WWW-Authenticate") != challenge {
			t.Errorf("%q: %d %q", header, a.Status, a.Header.Get("WWW-Authenticate"))
		}
	}
}

var formType = []string{"Content-Type", "application/x-www-form-urlencoded"}

func oauthCall(s *controlplane.Browser, path string, form ...string) controlplane.Response {
	s.T.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	return controlplane.Call(s.T, s.Server.Handler(), "POST", path, "", values.Encode(), formType...)
}

func TestDevice_flow(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	// RFC 8628 requires the client id alone.
	plain := oauthCall(s, "/oauth/device_authorization", "client_id", "postern-cli")
	if plain.Status != 200 {
		t.Fatalf("without machine and scope: %d %s", plain.Status, plain.Raw)
	}
	asked := oauthCall(s, "/oauth/device_authorization",
		"client_id", "postern-cli", "machine", "<laptop>", "scope", "read admin",
	)
	code, _ := asked.Body["user_code"].(string)
	device, _ := asked.Body["device_code"].(string)
	if asked.Status != 200 || asked.Body["interval"] != 5.0 || asked.Body["expires_in"] != 600.0 ||
		asked.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s %v", asked.Status, asked.Raw, asked.Header)
	}
	poll := func() controlplane.Response {
		return oauthCall(
			s, "/oauth/token", "grant_type", controlplane.DeviceGrant, "client_id", "postern-cli",
			"device_code", device,
		)
	}
	if a := poll(); a.Status != 400 || a.Body["error"] != "authorization_pending" {
		t.Errorf("%d %s", a.Status, a.Raw)
	}
	complete, err := url.Parse(asked.Body["verification_uri_complete"].(string))
	if err != nil || !strings.HasPrefix(complete.String(), asked.Body["verification_uri"].(string)) {
		t.Fatalf("%v, %v", complete, err)
	}
	s.Get("/device").Shows(200, "Sign in to the Postern CLI")
	s.Post("/device", "user_code", "wrong").
		Shows(422, "Sign in to the Postern CLI").
		Says("#user-code-error", "No program is waiting")
	s.Get(complete.RequestURI()).
		Shows(200, "Allow the Postern CLI to act as you?").
		Says("dl", "<laptop>").
		Says("dl", "ana@example.com").
		Says("dl", "read, admin")
	if a := poll(); a.Body["error"] == nil {
		t.Errorf("looking at the page has approved it: %s", a.Raw)
	}
	s.Submit("/device", "user_code", strings.ToLower(code)).
		Shows(200, "Allow the Postern CLI to act as you?").
		Holds("user_code", code)
	approved := s.Post("/device", "user_code", code, "decision", "approve")
	s.FollowRedirect(approved).Shows(200, "<laptop> is signed in")
	s.FollowRedirect(approved).Shows(200, "The Postern CLI is signed in") // as after a reload
	granted := poll()
	token, _ := granted.Body["access_token"].(string)
	if granted.Status != 200 || granted.Body["token_type"] != "Bearer" || granted.Body["scope"] != "read admin" ||
		granted.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", granted.Status, granted.Raw)
	}
	if a := controlplane.Call(t, s.Server.Handler(), "GET", "/api/v1/projects", token, ""); a.Status != 200 {
		t.Errorf("with the token: %d %s", a.Status, a.Raw)
	}
	list := s.Get("/settings/tokens").
		Shows(200, "Your account").
		Says("tbody", "<laptop>").
		Says("tbody", "command line")
	question := s.Get(list.Find("tbody a").AttrOr("href", "")).
		Shows(200, "Revoke <laptop>").
		Says("dl", "command line")
	revoke := question.Action("confirm")
	s.Post(revoke).Shows(422, "Revoke <laptop>").Says("[role=alert]", "Check the box")
	if a := controlplane.Call(t, s.Server.Handler(), "GET", "/api/v1/projects", token, ""); a.Status != 200 {
		t.Errorf("without the tick it is revoked: %d %s", a.Status, a.Raw)
	}
	s.Post(revoke, "confirm", "true").LeadsTo("/settings/tokens")
	if a := controlplane.Call(t, s.Server.Handler(), "GET", "/api/v1/projects", token, ""); a.Status != 401 {
		t.Errorf("revoked: %d %s", a.Status, a.Raw)
	}
}

func TestOAuth_malformedRequests(t *testing.T) {
	t.Parallel()
	const authorize, token = "/oauth/device_authorization", "/oauth/token"
	deviceGrant := url.QueryEscape(controlplane.DeviceGrant)
	db := state.OpenSQLite(t)
	s := controlplane.NewBrowser(t, db)
	for _, tt := range []struct {
		path, form, want string
		status           int
	}{
		{authorize, "machine=x", "invalid_request", 400},
		{authorize, "machine=x&scope=read", "invalid_request", 400},
		{authorize, "client_id=other&machine=x", "invalid_client", 401},
		{authorize, "client_id=postern-cli&machine=x&scope=root", "invalid_scope", 400},
		{authorize, "client_id=postern-cli&client_id=postern-cli&machine=x", "invalid_request", 400},
		{token, "client_id=postern-cli", "invalid_request", 400},
		{token, "client_id=postern-cli&grant_type=password", "unsupported_grant_type", 400},
		{token, "client_id=postern-cli&grant_type=" + deviceGrant, "invalid_request", 400},
		{token, "client_id=postern-cli&device_code=x&grant_type=" + deviceGrant, "invalid_grant", 400},
		{token + "?client_id=postern-cli", "device_code=x&grant_type=" + deviceGrant, "invalid_request", 400},
	} {
		a := controlplane.Call(t, s.Server.Handler(), "POST", tt.path, "", tt.form, formType...)
		if a.Status != tt.status || a.Body["error"] != tt.want {
			t.Errorf("%s %s: %d %s, want %d %s", tt.path, tt.form, a.Status, a.Raw, tt.status, tt.want)
		}
	}
	a := controlplane.Call(t, s.Server.Handler(), "POST", "/oauth/token", "", `{"grant_type":"x"}`)
	if a.Status != 400 || a.Body["error"] != "invalid_request" {
		t.Errorf("JSON: %d %s", a.Status, a.Raw)
	}
}

// Another site can neither approve a code nor create a token in the browser of a
// signed-in user.
func TestDevice_otherSite(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	asked, err := s.Server.Tokens.RequestDevice(t.Context(), tokens.DeviceRequest{Machine: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/device", "/settings/tokens"} {
		form := url.Values{
			"user_code": {asked.UserCode},
			"decision":  {"approve"},
			"name":      {"x"},
			"scopes":    {"read"},
		}
		a := s.Do(http.MethodPost, path, form.Encode(), []string{
			"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example",
		})
		if a.Status != 403 {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	w := httptest.NewRecorder()
	s.Server.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/device", nil))
	if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") {
		t.Errorf("the page can be framed: %s", csp)
	}
}

func TestTokens_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	s.Get("/settings/tokens").Shows(200, "Your account").Says("section", "No tokens yet")
	wrong := s.Post("/settings/tokens", "name", "", "expires_at", "2001-01-01").Shows(422, "Your account")
	wrong.Says("#token-name-error", "Enter a name").
		Says("#scope-error", "Choose at least one").
		Says("#token-expires-error", "past")
	made := s.Submit("/settings/tokens", "name", "ci", "scopes", "read", "scopes", "keys").
		Shows(200, "Token created")
	token := controlplane.Clean(made.Find("#new-token").Text())
	if a := controlplane.Call(t, s.Server.Handler(), "GET", "/api/v1/whoami", token, ""); a.Status != 200 {
		t.Errorf("the shown token: %d %s", a.Status, a.Raw)
	}
	if list := s.Get("/settings/tokens").
		Shows(200, "Your account").
		Says("tbody", "read, keys"); strings.Contains(list.Raw, token) {
		t.Error("the token is shown a second time")
	}
}
