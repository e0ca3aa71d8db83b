package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"postern/platform/config"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestCreateProxy_answer(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	a := controlplane.Call(t, h, "POST", "/proxy", "", controlplane.ShopBody)
	if a.Status != 201 || a.Body["expires_at"] == nil || a.Body["claim"].(map[string]any)["code"] == "" {
		t.Fatalf("%d %s", a.Status, a.Raw)
	}
	environment := a.Body["project"].(map[string]any)["environments"].([]any)[0].(map[string]any)
	if environment["name"] != "prod" || environment["target"] != "http://127.0.0.1:9" ||
		!strings.HasSuffix(environment["url"].(string), "/shop/1.0.0/prod") {
		t.Errorf("got %v", environment)
	}
}

// The media type is checked before any query.
func TestCreateProxy_mediaType(t *testing.T) {
	t.Parallel()
	h := controlplane.NewServer(t, state.OpenSQLite(t)).Handler()
	got := controlplane.Call(t, h, "POST", "/proxy", "", "target=x",
		"Content-Type", "application/x-www-form-urlencoded")
	if got.Status != http.StatusUnsupportedMediaType {
		t.Errorf("status %d, want 415: %s", got.Status, got.Raw)
	}
	if got.Body["code"] != "unsupported_media_type" {
		t.Errorf("code %v, want unsupported_media_type", got.Body["code"])
	}
}

func TestUpdate_staleETag(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	m := controlplane.CreateShop(t, h)
	tag := controlplane.Call(t, h, "GET", "/api/v1/projects/shop", m.Token, "").Header.Get("ETag")
	if tag == "" {
		t.Fatal("no ETag")
	}
	for i, want := range []int{200, 412} {
		a := controlplane.Call(
			t,
			h,
			"PATCH",
			"/api/v1/projects/shop",
			m.Token,
			fmt.Sprintf(`{"display_name":"Shop %d"}`, i),
			"If-Match",
			tag,
		)
		if a.Status != want {
			t.Errorf("update %d: %d %s", i, a.Status, a.Raw)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	m := controlplane.CreateShop(t, h)
	for _, tt := range []struct {
		token  string
		path   string
		status int
		code   string
	}{
		{"", "/api/v1/projects", 401, "credentials_required"},
		{"", "/api/v1/keys/" + m.KeyID, 401, "credentials_required"},
		{"pstw_wrong", "/api/v1/projects", 401, "invalid_token"},
		{m.Token, "/api/v1/projects/other", 404, "not_found"},
		{m.Token, "/api/v1/keys/key_other", 404, "not_found"},
		{m.Token, "/api/v1/nothing", 404, "not_found"},
		{m.Token, "/api/v1/projects", 200, ""},
	} {
		a := controlplane.Call(t, h, "GET", tt.path, tt.token, "")
		if a.Status != tt.status || (tt.code != "" && a.Body["code"] != tt.code) {
			t.Errorf("%s: %d %s", tt.path, a.Status, a.Raw)
		}
		if a.Status == 401 && a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: 401 without WWW-Authenticate", tt.path)
		}
	}
}

func TestCreateProxy_crossOrigin(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
		a := controlplane.Call(t, h, "POST", "/proxy", "", controlplane.ShopBody, header...)
		if a.Status != 403 || a.Body["code"] != "cross_origin" {
			t.Errorf("%v: %d %s", header, a.Status, a.Raw)
		}
	}
}

func TestAllowHosts(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	for host, want := range map[string]int{
		"localhost:8080":         200,
		"127.0.0.1:8080":         200,
		"[::1]:8080":             200,
		"evil.example:8080":      421,
		"localhost.evil.example": 421,
		"":                       421,
	} {
		ask := func(path string, want int) {
			r := httptest.NewRequest("GET", path, nil)
			r.Host, r.RemoteAddr = host, "127.0.0.1:1"
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s at %q: %d, want %d", path, host, w.Code, want)
			}
		}
		ask("/signin", want)
		for _, probe := range []string{"/healthz", "/readyz"} {
			ask(probe, 200)
		}
		ask("/metrics", want)
	}
}

func TestCreateProxy_anonymousPolicy(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	m := controlplane.CreateShop(t, s.Handler())
	books := strings.Replace(controlplane.ShopBody, "shop", "books", 1)
	for policy, want := range map[config.Anonymous][2]int{
		config.AnonymousToken: {401, 409},
		config.AnonymousOff:   {401, 403},
	} {
		s.Config.Anonymous = policy
		if a := controlplane.Call(t, s.Handler(), "POST", "/proxy", "", books); a.Status != want[0] {
			t.Errorf("%s: an anonymous caller got %d", policy, a.Status)
		}
		again := controlplane.Call(t, s.Handler(), "POST", "/proxy", m.Token, controlplane.ShopBody)
		if again.Status != want[1] {
			t.Errorf("%s: a workspace key got %d %s", policy, again.Status, again.Raw)
		}
	}
}
