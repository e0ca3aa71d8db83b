package api_test

import (
	"slices"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func withEndpoint(opaque string) string {
	return `{"target":"http://127.0.0.1:9","name":"asks",` +
		`"requests_auth":{"mode":"authenticate","methods":["opaque"],"opaque":` + opaque + `}}`
}

func TestIntrospection_invalidFields(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	for opaque, want := range map[string]string{ // code and field
		`{}`:                                                            "required endpoint",
		`{"endpoint":"nonsense"}`:                                       "invalid_url endpoint",
		`{"endpoint":"http://i.example/"}`:                              "invalid_url endpoint",
		`{"endpoint":"https://i.example/?a"}`:                           "invalid_url endpoint",
		`{"endpoint":"https://a:b@i.example"}`:                          "invalid_url endpoint",
		`{"endpoint":"https://10.0.0.1/"}`:                              "target_forbidden endpoint",
		`{"endpoint":"https://169.254.169.254/"}`:                       "target_forbidden endpoint",
		`{"endpoint":"http://127.0.0.1:9/","method":"GET"}`:             "invalid_method method",
		`{"endpoint":"http://127.0.0.1:9/","method":"private_key_jwt"}`: "invalid_method method",
		`{"endpoint":"http://127.0.0.1:9/","client_id":"a b"}`:          "invalid_client_id client_id",
		`{"endpoint":"http://127.0.0.1:9/","client_secret":"canary"}`:   "required client_id",
		`{"endpoint":"http://127.0.0.1:9/","client_id":"a",` +
			`"client_secret":"` + strings.Repeat("canary", 200) + `"}`: "invalid_client_secret client_secret",
		`{"endpoint":"http://127.0.0.1:9/","iss":"a b"}`:       "invalid_issuer iss",
		`{"endpoint":"http://127.0.0.1:9/","aud":"a b"}`:       "invalid_audience aud",
		`{"endpoint":"http://127.0.0.1:9/","secret":"canary"}`: "unknown_field secret",
	} {
		a := controlplane.Call(t, h, "POST", "/proxy", "", withEndpoint(opaque))
		code, field, _ := strings.Cut(want, " ")
		if a.Status != 422 || !strings.Contains(a.Raw, `"`+code+`"`) {
			t.Errorf("%s: %d %s, want 422 %s", opaque, a.Status, a.Raw, code)
		}
		if got := a.Pointers(); !slices.Equal(got, []string{"/requests_auth/opaque/" + field}) {
			t.Errorf("%s: %v is named, want %s", opaque, got, field)
		}
		if strings.Contains(a.Raw, "canary") {
			t.Errorf("%s: the answer repeats the secret: %s", opaque, a.Raw)
		}
	}
	named := strings.Replace(withEndpoint(`{"endpoint":"http://127.0.0.1:9/"}`), `["opaque"]`, `["api_key"]`, 1)
	if a := controlplane.Call(t, h, "POST", "/proxy", "", named); a.Status != 422 ||
		!slices.Equal(a.Pointers(), []string{"/requests_auth/opaque"}) {
		t.Errorf("without the method: %d %s", a.Status, a.Raw)
	}
}

// TestIntrospection_secret checks that the secret is write-only, and is not kept when the
// endpoint changes, which would send it to another server.
func TestIntrospection_secret(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := controlplane.NewServer(t, db).Handler()
		a := controlplane.Call(
			t,
			h,
			"POST",
			"/proxy",
			"",
			withEndpoint(
				`{"endpoint":"http://127.0.0.1:9/a","method":"POST","client_id":"api","client_secret":"canary-secret"}`,
			),
		)
		if a.Status != 201 {
			t.Fatalf("%d %s", a.Status, a.Raw)
		}
		token := a.Body["workspace_key"].(string)
		sealed := func() (n int) {
			t.Helper()
			if err := db.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM versions WHERE "+
				"introspection_secret IS NOT NULL").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		shows := func(want string) string {
			t.Helper()
			p := controlplane.Call(t, h, "GET", "/api/v1/projects/asks", token, "")
			if !strings.Contains(p.Raw, `"opaque":`+want) || strings.Contains(p.Raw, "canary") {
				t.Errorf("it shows %s, want %s", p.Raw, want)
			}
			return p.Body["versions"].([]any)[0].(map[string]any)["id"].(string)
		}
		path := "/api/v1/projects/asks/versions/" + shows(
			`{"endpoint":"http://127.0.0.1:9/a","method":"client_secret_basic","client_id":"api","has_secret":true}`,
		)
		patch := func(opaque string, status int) {
			t.Helper()
			a := controlplane.Call(t, h, "PATCH", path, token, `{"requests_auth":{"opaque":`+opaque+`}}`)
			if a.Status != status || strings.Contains(a.Raw, "canary") {
				t.Errorf("%s: %d %s", opaque, a.Status, a.Raw)
			} else if status == 422 && !slices.Equal(a.Pointers(), []string{"/requests_auth/opaque/client_secret"}) {
				t.Errorf("%s: %s", opaque, a.Raw)
			}
		}
		patch(`{"endpoint":"http://127.0.0.1:9/evil","client_id":"api"}`, 422)
		patch(`{"endpoint":"http://127.0.0.1:9/a","client_id":"another"}`, 422)
		patch(`{"endpoint":"http://127.0.0.1:9/a","client_id":"api","method":"client_secret_post",`+
			`"iss":"https://i.example","aud":"shop"}`, 200)
		shows(`{"endpoint":"http://127.0.0.1:9/a","method":"client_secret_post","client_id":"api",` +
			`"iss":"https://i.example","aud":"shop","has_secret":true}`)
		patch(`{"endpoint":"http://127.0.0.1:9/b","client_id":"api","client_secret":"canary-second"}`, 200)
		if n := sealed(); n != 1 {
			t.Errorf("%d secrets are sealed", n)
		}
		patch(`{"endpoint":"http://127.0.0.1:9/c","client_id":"api","client_secret":""}`, 200)
		shows(`{"endpoint":"http://127.0.0.1:9/c","method":"client_secret_basic","client_id":"api","has_secret":false}`)
		if n := sealed(); n != 0 {
			t.Errorf("%d secrets are left", n)
		}
		var leaks int
		row := db.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM audit_entries "+
			"WHERE CAST(changes AS TEXT) LIKE '%canary%' OR CAST(detail AS TEXT) LIKE '%canary%'")
		if err := row.Scan(&leaks); err != nil {
			t.Fatal(err)
		}
		if leaks != 0 {
			t.Errorf("%d audit entries hold the secret", leaks)
		}
	})
}

func TestIntrospection_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop/versions/1.0.0/access")
	action, revision := page.Action("mode"), page.Value("form:has([name=mode]) [name=revision]")
	send := func(revision, endpoint, client, secret string, more ...string) *controlplane.Page {
		return s.Post(action, append([]string{
			"revision", revision, "mode", "authenticate", "methods", "opaque", "keyless", "reject",
			"introspection", endpoint, "introspection_client", client, "introspection_secret", secret,
		}, more...)...)
	}
	send(revision, "", "", "").Shows(422, "Access to version 1.0.0").Says("main", "Use an https URL")
	send(revision, "http://i.example/a", "", "").Shows(422, "Access to version 1.0.0").
		Holds("introspection", "http://i.example/a").
		Says("main", "Use an https URL")
	send(revision, "http://127.0.0.1:9/a", "api", "canary-secret", "introspection_issuer", "https://i.example",
		"introspection_audience", "shop", "introspection_method", "client_secret_post").LeadsTo(action)
	saved := s.Get("/projects/shop/versions/1.0.0/access").
		Holds("introspection", "http://127.0.0.1:9/a").
		Holds("introspection_client", "api").
		Holds("introspection_issuer", "https://i.example").
		Holds("introspection_audience", "shop")
	if got := saved.Value("[name=introspection_method] [selected]"); got != "client_secret_post" {
		t.Errorf("the page shows the method %q", got)
	}
	if strings.Contains(saved.Raw, "canary") || saved.Value("[name=methods][checked]") != "opaque" {
		t.Error("the page holds the secret, or not the method")
	}
	saved.Says("main", "keep the saved secret")
	revision = saved.Value("form:has([name=mode]) [name=revision]")
	send(revision, "http://127.0.0.1:9/evil", "api", "").Shows(422, "Access to version 1.0.0").
		Says("main", "requires the client secret")
	send(revision, "http://127.0.0.1:9/evil", "api", "", "do", "test-introspection").
		Shows(422, "Access to version 1.0.0").
		Says("main", "requires the client secret")
	send(revision, "http://127.0.0.1:9/a", "api", "").LeadsTo(action)
	revision = s.Get("/projects/shop/versions/1.0.0/access").Value("form:has([name=mode]) [name=revision]")
	send(revision, "http://127.0.0.1:9/open", "", "").LeadsTo(action)
	s.Get("/projects/shop/versions/1.0.0/access").Says("main", "Required by some endpoints")
}
