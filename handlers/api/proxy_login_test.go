package api_test

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/projects"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// createWithLogin is a body of POST /proxy with the given login and more members.
func createWithLogin(login string, more ...string) string {
	return `{"target":"http://127.0.0.1:9","login":` + login + strings.Join(append([]string{""}, more...), ",") + `}`
}

func TestProxy_login(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	h := s.Handler()
	for who, header := range map[string][]string{"no credential": nil, "an account": controlplane.SignUpOwner(t, s)} {
		t.Run(who, func(t *testing.T) {
			made := controlplane.Call(
				t,
				h,
				"POST",
				"/proxy",
				"",
				createWithLogin(`{"redirect_uris":["https://app.example.com/cb"],"providers":[
					{"type":"github","client_id":"hub","client_secret":"never-shown-again"},
					{"type":"oidc","client_id":"one","issuer":"https://8.8.8.8/one"},
					{"type":"oidc","client_id":"two","issuer":"https://8.8.8.8/two","token_type":"provider"}]}`),
				header...)
			if made.Status != 201 || strings.Contains(made.Raw, "never-shown-again") {
				t.Fatalf("POST /proxy: %d %s", made.Status, made.Raw)
			}
			got, _ := made.Body["login"].(map[string]any)
			issuer, _ := got["issuer"].(string)
			id, _ := got["client_id"].(string)
			if issuer != s.Config.PublicURL+"/oauth/"+id || got["authorize_url"] != issuer+"/authorize" {
				t.Errorf("login is %v", got)
			}
			callbacks, _ := got["callbacks"].(map[string]any)
			list, err := db.Read(t.Context()).ProvidersOf(id)
			if err != nil || len(list) != 3 || len(callbacks) != 3 {
				t.Fatalf("%d providers, callbacks %v, %v", len(list), callbacks, err)
			}
			for i, name := range []string{"github", "oidc", "oidc_2"} {
				if callbacks[name] != issuer+"/callback/"+list[i].ID {
					t.Errorf("the callback of %s is %v, want that of %s", name, callbacks[name], list[i].ID)
				}
			}
			project, _ := made.Body["project"].(map[string]any)
			tenants, err := db.Read(t.Context()).TenantsOf(project["id"].(string))
			client, _ := db.Read(t.Context()).AppClientByID(id)
			if err != nil || len(tenants) != 1 || client.TenantID != tenants[0].ID {
				t.Errorf("the app client is of %s, the project has %v, %v", client.TenantID, tenants, err)
			}
			asked := url.Values{
				"client_id":             {id},
				"redirect_uri":          {"https://app.example.com/cb"},
				"response_type":         {"code"},
				"scope":                 {"openid"},
				"state":                 {"s"},
				"code_challenge":        {strings.Repeat("a", 43)},
				"code_challenge_method": {"S256"},
			}
			page := controlplane.Call(t, h, "GET", "/oauth/"+id+"/authorize?"+asked.Encode(), "", "")
			if page.Status != http.StatusOK || strings.Count(page.Raw, "data-provider") != 3 {
				t.Errorf("the hosted page: %d %s", page.Status, page.Raw)
			}
		})
	}
}

// wrongLogin is a request with what its 422 names.
type wrongLogin struct{ body, want string }

// wrongProviders are logins whose providers are refused.
func wrongProviders() map[string]wrongLogin {
	return map[string]wrongLogin{
		"no provider": {createWithLogin(`{}`), "/login/providers required"},
		"no secret": {
			body: createWithLogin(
				`{"providers":[{"type":"google","client_id":"x"},{"type":"github","client_id":"x"}]}`,
			),
			want: "/login/providers/1/client_secret required",
		},
		"unknown provider": {
			body: createWithLogin(`{"providers":[{"type":"myspace"}]}`),
			want: "/login/providers/0/type unknown_provider",
		},
		"managed": {
			body: createWithLogin(`{"providers":[{"type":"github","managed":true}]}`),
			want: "/login/providers/0/managed managed_login_unavailable",
		},
		"no issuer": {
			body: createWithLogin(`{"providers":[{"type":"oidc","client_id":"x"}]}`),
			want: "/login/providers/0/issuer required",
		},
		"forbidden issuer": {
			body: createWithLogin(
				`{"providers":[{"type":"oidc","client_id":"x","issuer":"http://169.254.169.254"}]}`,
			),
			want: "/login/providers/0/issuer target_forbidden",
		},
		"two issuers": {
			body: createWithLogin(
				`{"providers":[{"type":"auth0","client_id":"x","issuer":"https://8.8.8.8",` +
					`"domain":"8.8.8.8"}]}`,
			),
			want: "/login/providers/0/domain one_of_two",
		},
		"too many providers": {
			body: createWithLogin(
				`{"providers":[` + strings.Repeat(`{"type":"google","client_id":"x"},`, 20) + `{"type":"google"}]}`,
			),
			want: "/login/providers too_many",
		},
	}
}

// wrongTokensAndURIs are logins whose token types, redirect URIs or issuers are refused.
func wrongTokensAndURIs(publicURL string) map[string]wrongLogin {
	return map[string]wrongLogin{
		"no token": {
			body: createWithLogin(
				`{"providers":[{"type":"google","client_id":"x","token_type":"none"}]}`,
				`"requests_auth":{"mode":"passthrough"}`,
			),
			want: "/login/providers/0/token_type/upstream method_missing",
		},
		"provider's ID token": {
			body: createWithLogin(
				`{"providers":[{"type":"google","client_id":"x",`+
					`"token_type":{"upstream":"provider_id_token"}}]}`,
				`"requests_auth":{"mode":"passthrough"}`,
			),
			want: "/login/providers/0/token_type/upstream method_missing",
		},
		"redirect to http": {
			body: createWithLogin(
				`{"providers":[{"type":"google",` +
					`"client_id":"x"}],"redirect_uris":["http://app.example.com/"]}`,
			),
			want: "/login/redirect_uris/0 invalid_redirect_uri",
		},
		"ambiguous token type": {
			body: createWithLogin(
				`{"providers":[{"type":"google","client_id":"x","token_type":"provider"},`+
					`{"type":"google","client_id":"y","token_type":"provider"}]}`,
				`"requests_auth":{"mode":"authenticate"}`,
			),
			want: "/login/providers/1/token_type/client token_type_ambiguous",
		},
		"own issuer in a pair": {
			body: createWithLogin(
				`{"providers":[{"type":"google","client_id":"x"}]}`,
				`"requests_auth":{"mode":"authenticate",`+
					`"jwt":{"allowed_pairs":[{"iss":"`+publicURL+`/oauth/cli_1","aud":"cli_1"}]}}`,
			),
			want: "/requests_auth/jwt/allowed_pairs/0/iss own_issuer",
		},
		"two faults": {
			body: createWithLogin(`{"providers":[{"type":"google"}]}`, `"name":"N"`),
			want: "/name invalid_name, /login/providers/0/client_id required",
		},
	}
}

func TestProxy_invalidLogin(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	s.Projects.CapUnclaimed = true
	h := s.Handler()
	header := controlplane.SignUpOwner(t, s)
	cases := wrongProviders()
	maps.Copy(cases, wrongTokensAndURIs(s.Config.PublicURL))
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			got := controlplane.Call(t, h, "POST", "/proxy", "", tt.body, header...)
			if list := strings.Join(got.PointerCodes(), ", "); got.Status != 422 || list != tt.want {
				t.Errorf("%d %s, want 422 %s", got.Status, list, tt.want)
			}
		})
	}
	port := createWithLogin(`{"providers":[{"type":"oidc","client_id":"x","issuer":"https://8.8.8.8:8443"}]}`)
	port = strings.Replace(port, "http://127.0.0.1:9", "http://8.8.8.8", 1)
	got := controlplane.Call(t, h, "POST", "/proxy", "", port)
	if list := strings.Join(got.PointerCodes(), ", "); list != "/login/providers/0/issuer port_needs_claim" {
		t.Errorf("an unclaimed login at another port: %d %s", got.Status, got.Raw)
	}
	keys := createWithLogin(
		`{"providers":[{"type":"google","client_id":"x"}]}`,
		`"requests_auth":{"mode":"authenticate","methods":["api_key"]}`,
	)
	got = controlplane.Call(t, h, "POST", "/proxy", "", keys, header...)
	if list := strings.Join(got.PointerCodes(), ", "); list != "/requests_auth/methods method_missing" {
		t.Errorf("methods without jwt with a login: %d %s", got.Status, got.Raw)
	}
	usual := createWithLogin(
		`{"providers":[{"type":"google","client_id":"x","token_type":"none"}]}`,
		`"name":"usual","requests_auth":{"mode":"authenticate"}`,
	)
	got = controlplane.Call(t, h, "POST", "/proxy", "", usual, header...)
	if got.Status != 201 || got.Body["api_keys"] == nil {
		t.Errorf("a login where calls authenticate: %d %s", got.Status, got.Raw)
	}
	got = controlplane.Call(t, h, "GET", "/api/v1/projects/usual", "", "", header...)
	if !strings.Contains(got.Raw, `"methods":["api_key","jwt"]`) {
		t.Errorf("with a login the methods are not api_key and jwt: %s", got.Raw)
	}
}

// brokenLogin fails when everything of it is written.
type brokenLogin struct{ *appclients.Setup }

var errBroken = errors.New("the disk is full")

func (b brokenLogin) InsertIn(tx *models.Tx, p access.Principal, team string, tenant models.Tenant) error {
	return errors.Join(b.Setup.InsertIn(tx, p, team, tenant), errBroken)
}

func TestProxy_loginAtomic(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	id, secret := "x", contract.Secret("y")
	setup := &appclients.Setup{
		Service: s.AppClients,
		Providers: []contract.NewProvider{{
			Type:             "google",
			ProviderSettings: contract.ProviderSettings{ClientID: &id, ClientSecret: &secret},
		}},
	}
	owner := (&controlplane.Fixture{DB: db, Server: s}).NewTeamOwner(t)
	_, err := s.Projects.Create(t.Context(), owner, projects.CreateInput{
		Target: "http://127.0.0.1:9",
		Name:   "half",
		Login:  brokenLogin{setup},
	})
	taken, takenErr := db.Read(t.Context()).ProjectNameTaken("half")
	_, clientErr := db.Read(t.Context()).AppClientByID(setup.Client.ID)
	if !errors.Is(err, errBroken) || takenErr != nil || taken || len(setup.Offered) != 1 || clientErr == nil {
		t.Errorf("%v; the project is there: %v, %v; the app client: %v", err, taken, takenErr, clientErr)
	}
}

// TestCreateProxy_loginPermission checks that a caller who may create projects but not
// change logins cannot create a login with a project.
func TestCreateProxy_loginPermission(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	id := "x"
	setup := &appclients.Setup{Service: s.AppClients, Providers: []contract.NewProvider{{
		Type:             "google",
		ProviderSettings: contract.ProviderSettings{ClientID: &id},
	}}}
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		return setup.InsertIn(tx, access.Principal{
			Account: "acc_1",
			Roles:   map[string]access.Role{"team_1": access.Viewer},
		}, "team_1", models.Tenant{ID: "tnt_1"})
	})
	if fault.KindOf(err) != fault.Forbidden {
		t.Errorf("a viewer: %v", err)
	}
}

func TestCreateProxy_loginDefaults(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	h := s.Handler()
	header := controlplane.SignUpOwner(t, s)
	google := `{"providers":[{"type":"google","client_id":"x"}]}`
	pair := `{"iss":"https://8.8.8.8","aud":"x"}`
	for _, tc := range []struct {
		name, auth, mode, methods string
		keys                      bool
	}{
		{"login-alone", ``, "authenticate", `["jwt"]`, false},
		{"empty-auth", `"requests_auth":{}`, "authenticate", `["jwt"]`, false},
		{"mode-sent", `"requests_auth":{"mode":"authenticate"}`, "authenticate", `["api_key","jwt"]`, true},
		{"keyless-sent", `"requests_auth":{"keyless":"reject"}`, "authenticate", `["api_key","jwt"]`, true},
		{
			"pairs-sent", `"requests_auth":{"jwt":{"allowed_pairs":[` + pair + `]}}`, "authenticate",
			`["api_key","jwt"]`, true,
		},
		{"methods-sent", `"requests_auth":{"methods":["jwt"]}`, "authenticate", `["jwt"]`, false},
		{"passthrough-sent", `"requests_auth":{"mode":"passthrough"}`, "passthrough", `[]`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			more := []string{`"name":"` + tc.name + `"`}
			if tc.auth != "" {
				more = append(more, tc.auth)
			}
			made := controlplane.Call(t, h, "POST", "/proxy", "", createWithLogin(google, more...), header...)
			if made.Status != 201 || (made.Body["api_keys"] != nil) != tc.keys {
				t.Fatalf("%d %s, want 201 and API keys: %v", made.Status, made.Raw, tc.keys)
			}
			got := controlplane.Call(t, h, "GET", "/api/v1/projects/"+tc.name, "", "", header...)
			if !strings.Contains(got.Raw, `"mode":"`+tc.mode+`"`) ||
				!strings.Contains(got.Raw, `"methods":`+tc.methods) {
				t.Errorf("want mode %s and methods %s: %s", tc.mode, tc.methods, got.Raw)
			}
		})
	}
}
