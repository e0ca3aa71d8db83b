package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"postern/models"
	"postern/service/tokens"
	"postern/testkit/state"
)

func TestTokensByTheAPI(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db)
		made := call(t, o.handler, "POST", "/api/v1/tokens", "", `{"name":"ci","scopes":["read","admin"]}`, o.owner...)
		token, _ := made.body["token"].(string)
		if made.status != 201 || token == "" || made.body["kind"] != "personal" {
			t.Fatalf("%d %s", made.status, made.raw)
		}
		who := call(t, o.handler, "GET", "/api/v1/whoami", token, "")
		if account := who.body["account"].(map[string]any); account["email"] != "ana@example.com" || who.body["token"].(map[string]any)["id"] != made.body["id"] {
			t.Errorf("whoami: %s", who.raw)
		}
		if seat := who.body["teams"].([]any)[0].(map[string]any); seat["id"] != o.team || seat["role"] != "owner" {
			t.Errorf("teams: %s", who.raw)
		}
		list := call(t, o.handler, "GET", "/api/v1/tokens", token, "")
		item := list.body["items"].([]any)[0].(map[string]any)
		if item["current"] != true || item["token"] != nil || item["last_used_at"] == nil || strings.Contains(list.raw, token) {
			t.Errorf("list: %s", list.raw)
		}
		denied := call(t, o.handler, "POST", "/proxy", token, `{"target":"http://127.0.0.1:9"}`)
		if denied.status != 403 || denied.body["code"] != "insufficient_scope" || !strings.Contains(denied.header.Get("WWW-Authenticate"), `error="insufficient_scope"`) {
			t.Errorf("beyond its scopes: %d %s %v", denied.status, denied.raw, denied.header)
		}
		if gone := call(t, o.handler, "DELETE", "/api/v1/tokens/"+made.body["id"].(string), token, ""); gone.status != 204 {
			t.Errorf("revoke: %d %s", gone.status, gone.raw)
		}
		after := call(t, o.handler, "GET", "/api/v1/projects", token, "")
		if after.status != 401 || after.header.Get("WWW-Authenticate") != `Bearer realm="postern", error="invalid_token"` {
			t.Errorf("revoked: %d %v", after.status, after.header)
		}
	})
}

// Every credential of another kind, or in another place, is refused (RFC 6750, 3).
func TestWhatIsNoBearerToken(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newServer(t, db).Handler()
		for header, challenge := range map[string]string{
			"Basic YTpi": `Bearer realm="postern", error="invalid_token"`,
			"Bearer":     `Bearer realm="postern", error="invalid_token"`,
			"Bearer postern_pat_00000000000000000000000000000000000000": `Bearer realm="postern", error="invalid_token"`,
			"": `Bearer realm="postern"`,
		} {
			var sent []string
			if header != "" {
				sent = []string{"Authorization", header}
			}
			a := call(t, h, "GET", "/api/v1/projects", "", "", sent...)
			if a.status != 401 || a.header.Get("WWW-Authenticate") != challenge {
				t.Errorf("%q: %d %q", header, a.status, a.header.Get("WWW-Authenticate"))
			}
		}
	})
}

func oauthCall(s *site, path string, form ...string) answer {
	s.t.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	return call(s.t, s.server.Handler(), "POST", path, "", values.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

func TestTheDeviceFlowOnTheWire(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		if plain := oauthCall(s, "/oauth/device_authorization", "client_id", "postern-cli"); plain.status != 200 { // as RFC 8628 has it
			t.Fatalf("without what is ours: %d %s", plain.status, plain.raw)
		}
		asked := oauthCall(s, "/oauth/device_authorization", "client_id", "postern-cli", "machine", "<laptop>", "scope", "read admin")
		code, _ := asked.body["user_code"].(string)
		device, _ := asked.body["device_code"].(string)
		if asked.status != 200 || asked.body["interval"] != 5.0 || asked.body["expires_in"] != 600.0 || asked.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %s %v", asked.status, asked.raw, asked.header)
		}
		poll := func() answer {
			return oauthCall(s, "/oauth/token", "grant_type", deviceGrant, "client_id", "postern-cli", "device_code", device)
		}
		if a := poll(); a.status != 400 || a.body["error"] != "authorization_pending" {
			t.Errorf("%d %s", a.status, a.raw)
		}
		complete, err := url.Parse(asked.body["verification_uri_complete"].(string))
		if err != nil || !strings.HasPrefix(complete.String(), asked.body["verification_uri"].(string)) {
			t.Fatalf("%v, %v", complete, err)
		}
		s.get("/device").is(200, "Sign in a command line")
		s.post("/device", "user_code", "wrong").
			is(422, "Sign in a command line").
			says("#user-code-error", "No program waits")
		s.get(complete.RequestURI()).
			is(200, "Let this command line act as you?").
			says("dl", "<laptop>").
			says("dl", "ana@example.com").
			says("dl", "read, admin")
		if a := poll(); a.body["error"] == nil {
			t.Errorf("looking at the page has approved it: %s", a.raw)
		}
		s.makes("/device", "user_code", strings.ToLower(code)).
			is(200, "Let this command line act as you?").
			holds("user_code", code)
		approved := s.post("/device", "user_code", code, "decision", "approve")
		s.follow(approved).is(200, "<laptop> is signed in")
		s.follow(approved).is(200, "The command line is signed in") // as after a reload
		granted := poll()
		token, _ := granted.body["access_token"].(string)
		if granted.status != 200 || granted.body["token_type"] != "Bearer" || granted.body["scope"] != "read admin" || granted.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %s", granted.status, granted.raw)
		}
		if a := call(t, s.server.Handler(), "GET", "/api/v1/projects", token, ""); a.status != 200 {
			t.Errorf("with the token: %d %s", a.status, a.raw)
		}
		list := s.get("/settings/tokens").
			is(200, "Access tokens").
			says("tbody", "<laptop>").
			says("tbody", "command line")
		question := s.get(list.Find("tbody a").AttrOr("href", "")).
			is(200, "Revoke <laptop>?").
			says("dl", "command line")
		revoke := question.action("confirm")
		s.post(revoke).is(422, "Revoke <laptop>?").says("[role=alert]", "Tick the box")
		if a := call(t, s.server.Handler(), "GET", "/api/v1/projects", token, ""); a.status != 200 {
			t.Errorf("without the tick it is revoked: %d %s", a.status, a.raw)
		}
		s.post(revoke, "confirm", "true").leadsTo("/settings/tokens")
		if a := call(t, s.server.Handler(), "GET", "/api/v1/projects", token, ""); a.status != 401 {
			t.Errorf("revoked: %d %s", a.status, a.raw)
		}
	})
}

func TestBadOAuthRequests(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newSite(t, db)
		for _, tt := range []struct {
			path string
			form []string
			want string
			code int
		}{
			{"/oauth/device_authorization", []string{"machine", "x"}, "invalid_request", 400},
			{"/oauth/device_authorization", []string{"machine", "x", "scope", "read"}, "invalid_request", 400},
			{"/oauth/device_authorization", []string{"client_id", "other", "machine", "x"}, "invalid_client", 401},
			{"/oauth/device_authorization", []string{"client_id", "postern-cli", "machine", "x", "scope", "root"}, "invalid_scope", 400},
			{"/oauth/device_authorization", []string{"client_id", "postern-cli", "client_id", "postern-cli", "machine", "x"}, "invalid_request", 400},
			{"/oauth/token", []string{"client_id", "postern-cli"}, "invalid_request", 400},
			{"/oauth/token", []string{"client_id", "postern-cli", "grant_type", "password"}, "unsupported_grant_type", 400},
			{"/oauth/token", []string{"client_id", "postern-cli", "grant_type", deviceGrant}, "invalid_request", 400},
			{"/oauth/token", []string{"client_id", "postern-cli", "grant_type", deviceGrant, "device_code", "x"}, "invalid_grant", 400},
			{"/oauth/token?client_id=postern-cli", []string{"grant_type", deviceGrant, "device_code", "x"}, "invalid_request", 400},
		} {
			if a := oauthCall(s, tt.path, tt.form...); a.status != tt.code || a.body["error"] != tt.want {
				t.Errorf("%s %v: %d %s", tt.path, tt.form, a.status, a.raw)
			}
		}
		a := call(t, s.server.Handler(), "POST", "/oauth/token", "", `{"grant_type":"x"}`)
		if a.status != 400 || a.body["error"] != "invalid_request" {
			t.Errorf("JSON: %d %s", a.status, a.raw)
		}
	})
}

// Another site can neither approve a code nor make a token in the browser of
// somebody who is signed in.
func TestOtherSitesCannotApprove(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		asked, err := s.server.Tokens.Ask(t.Context(), tokens.Ask{Machine: "laptop"})
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
			a := s.ask(http.MethodPost, path, form.Encode(), []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"})
			if a.status != 403 {
				t.Errorf("%s: %d", path, a.status)
			}
		}
		w := httptest.NewRecorder()
		s.server.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/device", nil))
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("the page can be framed: %s", csp)
		}
	})
}

func TestMakingATokenOnThePage(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		s.get("/settings/tokens").is(200, "Access tokens").says("section", "No tokens yet")
		wrong := s.post("/settings/tokens", "name", "", "expires_on", "2001-01-01").is(422, "Access tokens")
		wrong.says("#token-name-error", "Give a name").
			says("#scope-error", "Choose at least one").
			says("#token-expires-error", "past")
		made := s.makes("/settings/tokens", "name", "ci", "scopes", "read", "scopes", "keys").is(200, "Token created")
		token := clean(made.Find("#new-token").Text())
		if a := call(t, s.server.Handler(), "GET", "/api/v1/whoami", token, ""); a.status != 200 {
			t.Errorf("the shown token: %d %s", a.status, a.raw)
		}
		if list := s.get("/settings/tokens").
			is(200, "Access tokens").
			says("tbody", "read, keys"); strings.Contains(list.raw, token) {
			t.Error("the token is shown a second time")
		}
	})
}
