package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/models"
	"postern/platform/config"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestCreateProxyAnswersWhatAClientNeeds(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
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
	})
}

// Every row is a mistake that a caller can make, with the status and pointer
// that tell what to mend.
func TestBadInputNamesTheField(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := controlplane.NewServer(t, db).Handler()
		m := controlplane.CreateShop(t, h)
		tests := []struct {
			name, method, path, body string
			status                   int
			code, pointer            string
		}{
			{"no JSON", "POST", "/proxy", `{"target":`, 400, "malformed", ""},
			{"two documents", "POST", "/proxy", `{"target":"http://127.0.0.1:9"}{}`, 400, "malformed", ""},
			{"no body", "POST", "/proxy", "", 400, "malformed", ""},
			{
				"a member twice",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate","mode":"passthrough"}}`,
				400,
				"malformed",
				"",
			},
			{
				"no UTF-8",
				"POST",
				"/proxy",
				"{\"target\":\"http://127.0.0.1:9\",\"display_name\":\"\xff\"}",
				400,
				"malformed",
				"",
			},
			{
				"an environment named all",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","environments":{"all":{"target":"http://127.0.0.1:9"}}}`,
				422,
				"invalid_name",
				"/environments/all",
			},
			{
				"a target too long",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9/` + strings.Repeat("x", 2048) + `"}`,
				422,
				"invalid_url",
				"/target",
			},
			{
				"an expiry that cannot be written",
				"POST",
				"/api/v1/projects/shop/keys",
				`{"owner":"o","expires_at":"9999-12-31T23:59:59-01:00"}`,
				422,
				"invalid_expiry",
				"/expires_at",
			},
			{"an array", "POST", "/proxy", `[]`, 422, "invalid_type", ""},
			{"no target", "POST", "/proxy", `{}`, 422, "required", "/target"},
			{
				"unknown field",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","taget":"x"}`,
				422,
				"unknown_field",
				"/taget",
			},
			{
				"unknown field within",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","requests_auth":{"mod":"x"}}`,
				422,
				"unknown_field",
				"/requests_auth/mod",
			},
			{"other case", "POST", "/proxy", `{"Target":"http://127.0.0.1:9"}`, 422, "unknown_field", "/Target"},
			{"wrong type", "POST", "/proxy", `{"target":1}`, 422, "invalid_type", "/target"},
			{"a list without items", "GET", "/api/v1/projects?limit=0", ``, 422, "out_of_range", "/limit"},
			{"a list that is too long", "GET", "/api/v1/tenants?limit=201", ``, 422, "out_of_range", "/limit"},
			{"a limit that is no number", "GET", "/api/v1/tenants?limit=ten", ``, 422, "invalid_type", "/limit"},
			{
				"a state that there is none of",
				"GET",
				"/api/v1/tenants/acme/users?state=asleep",
				``,
				422,
				"invalid_value",
				"/state",
			},
			{
				"a role that there is none of",
				"PUT",
				"/api/v1/groups/grp_1/members/usr_1",
				`{"role":"king"}`,
				422,
				"invalid_value",
				"/role",
			},
			{"no URL", "POST", "/proxy", `{"target":"nonsense"}`, 422, "invalid_url", "/target"},
			{"userinfo", "POST", "/proxy", `{"target":"http://u:canary@127.0.0.1:9"}`, 422, "invalid_url", "/target"},
			{"private address", "POST", "/proxy", `{"target":"http://10.0.0.1"}`, 422, "target_forbidden", "/target"},
			{
				"metadata address",
				"POST",
				"/proxy",
				`{"target":"http://169.254.169.254/latest"}`,
				422,
				"target_forbidden",
				"/target",
			},
			{
				"target of an environment",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","environments":{"dev":{"target":"http://10.0.0.1"}}}`,
				422,
				"target_forbidden",
				"/environments/dev/target",
			},
			{"name taken", "POST", "/proxy", controlplane.ShopBody, 409, "name_taken", "/name"},
			{
				"bad name",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","name":"Shop"}`,
				422,
				"invalid_name",
				"/name",
			},
			{
				"login",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","login":{"providers":[]}}`,
				422,
				"required",
				"/login/providers",
			},
			{
				"jwt",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate","methods":["jwt"]}}`,
				422,
				"required",
				"/requests_auth/jwt/allowed_pairs",
			},
			{
				"opaque",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate","methods":["opaque"]}}`,
				422,
				"required",
				"/requests_auth/opaque",
			},
			{
				"an introspection endpoint at a port of another protocol", "POST", "/proxy",
				`{"target":"http://127.0.0.1:9","requests_auth":{"mode":"authenticate","methods":["opaque"],` +
					`"opaque":{"endpoint":"https://8.8.8.8:25/i"}}}`,
				422, "port_forbidden", "/requests_auth/opaque/endpoint",
			},
			{"Azure's wire server", "POST", "/proxy", `{"target":"http://168.63.129.16"}`,
				422, "target_forbidden", "/target"},
			{"a port of another protocol", "POST", "/proxy", `{"target":"http://8.8.8.8:22"}`,
				422, "port_forbidden", "/target"},
			{
				"limits of a key type",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","requests_auth":{"key_types":[{"name":"gold","scopes":["a"],"limits":{"week":1}}]}}`,
				422,
				"unknown_window",
				"/requests_auth/key_types/0/limits/week",
			},
			{
				"a product's name",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","product":"S"}`,
				422,
				"invalid_name",
				"/product",
			},
			{
				"a reserved tenant",
				"POST",
				"/proxy",
				`{"target":"http://127.0.0.1:9","tenant":"default"}`,
				422,
				"reserved_name",
				"/tenant",
			},
			{"too large", "POST", "/proxy", `{"target":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "too_large", ""},
			{"key without owner", "POST", "/api/v1/projects/shop/keys", `{}`, 422, "", "/owner"},
			{
				"key of an unknown type",
				"POST",
				"/api/v1/projects/shop/keys",
				`{"owner":"o","key_type":"gold"}`,
				422,
				"unknown_key_type",
				"/key_type",
			},
			{
				"key in an unknown environment",
				"POST",
				"/api/v1/projects/shop/keys",
				`{"owner":"o","environment":"dev"}`,
				422,
				"unknown_environment",
				"/environment",
			},
			{
				"a key limited to nothing",
				"POST",
				"/api/v1/projects/shop/keys",
				`{"owner":"o","limits":{"minute":0}}`,
				422,
				"invalid_limit",
				"/limits/minute",
			},
			{
				"a key with a fraction of a call",
				"POST",
				"/api/v1/projects/shop/keys",
				`{"owner":"o","limits":{"minute":0.5}}`,
				422,
				"",
				"/limits/minute",
			},
			{
				"a day that admits less than an hour",
				"POST",
				"/api/v1/projects/shop/keys",
				`{"owner":"o","limits":{"hour":10,"day":9}}`,
				422,
				"limit_out_of_order",
				"/limits/day",
			},
			{
				"a range with host bits",
				"POST",
				"/api/v1/projects/shop/keys",
				`{"owner":"o","allowed_cidrs":["10.0.0.0/8","203.0.113.7/24"]}`,
				422,
				"invalid_range",
				"/allowed_cidrs/1",
			},
			{
				"a name for a range",
				"PATCH",
				"/api/v1/keys/" + m.KeyID,
				`{"allowed_cidrs":["localhost"]}`,
				422,
				"invalid_range",
				"/allowed_cidrs/0",
			},
			{
				"key of an unknown tenant",
				"POST",
				"/api/v1/projects/shop/keys",
				`{"owner":"o","tenant":"acme"}`,
				422,
				"unknown_tenant",
				"/tenant",
			},
			{
				"key of a product",
				"POST",
				"/api/v1/projects/shop/keys",
				`{"owner":"o","product":"store"}`,
				422,
				"unknown_product",
				"/product",
			},
			{
				"an expiry in the past",
				"PATCH",
				"/api/v1/keys/" + m.KeyID,
				`{"expires_at":"2020-01-01T00:00:00Z"}`,
				422,
				"invalid_expiry",
				"/expires_at",
			},
			{"another owner", "PATCH", "/api/v1/keys/" + m.KeyID, `{"owner":"o"}`, 422, "unknown_field", "/owner"},
			{
				"limits of a project",
				"PATCH",
				"/api/v1/projects/shop",
				`{"limits":{"ip":{"second":-1}}}`,
				422,
				"invalid_limit",
				"/limits/ip/second",
			},
			{
				"limits of what is not counted",
				"PATCH",
				"/api/v1/projects/shop",
				`{"limits":{"route":{"second":1}}}`,
				422,
				"unknown_field",
				"/limits/route",
			},
			{
				"an unknown product",
				"PATCH",
				"/api/v1/projects/shop",
				`{"product":"store"}`,
				422,
				"unknown_product",
				"/product",
			},
			{
				"a denied range",
				"PATCH",
				"/api/v1/projects/shop/versions/" + m.VersionID,
				`{"ip":{"deny":["::1/64"]}}`,
				422,
				"invalid_range",
				"/ip/deny/0",
			},
			{
				"a key type's scope",
				"POST",
				"/api/v1/projects/shop/key-types",
				`{"name":"gold","scopes":["A"]}`,
				422,
				"invalid_scope",
				"/scopes/0",
			},
			{
				"a built-in key type",
				"PATCH",
				"/api/v1/projects/shop/key-types/full",
				`{"scopes":["read"]}`,
				409,
				"built_in",
				"",
			},
			{
				"a built-in key type's end",
				"DELETE",
				"/api/v1/projects/shop/key-types/read-only",
				``,
				409,
				"built_in",
				"",
			},
			{
				"a key type that exists",
				"POST",
				"/api/v1/projects/shop/key-types",
				`{"name":"full","scopes":["a"]}`,
				409,
				"name_taken",
				"/name",
			},
			{"a tenant named default", "POST", "/api/v1/tenants", `{"name":"default"}`, 422, "reserved_name", "/name"},
			{
				"a tenant's fallback owner",
				"POST",
				"/api/v1/tenants",
				`{"name":"acme","fallback_owner":" "}`,
				422,
				"invalid_owner",
				"/fallback_owner",
			},
			{
				"a product's display name",
				"POST",
				"/api/v1/products",
				`{"name":"store","display_name":"a\nb"}`,
				422,
				"invalid_display_name",
				"/display_name",
			},
			{
				"grace too long",
				"POST",
				"/api/v1/keys/" + m.KeyID + "/rotate",
				`{"grace_seconds":2592001}`,
				422,
				"invalid_grace",
				"/grace_seconds",
			},
			{
				"grace that overflows",
				"POST",
				"/api/v1/keys/" + m.KeyID + "/rotate",
				`{"grace_seconds":18446744074}`,
				422,
				"invalid_grace",
				"/grace_seconds",
			},
			{
				"export format",
				"POST",
				"/api/v1/projects/shop/exports",
				`{"format":"tar"}`,
				422,
				"invalid_format",
				"/format",
			},
			{
				"a limit that no number holds",
				"POST",
				"/api/v1/projects/shop/keys",
				`{"owner":"o","limits":{"minute":1e30}}`,
				422,
				"out_of_range",
				"/limits",
			},
			{
				"a grace that no number holds",
				"POST",
				"/api/v1/keys/" + m.KeyID + "/rotate",
				`{"grace_seconds":1e30}`,
				422,
				"out_of_range",
				"/grace_seconds",
			},
			{"no body", "POST", "/api/v1/projects/shop/keys", ``, 400, "malformed", ""},
			{"a time of the audit log", "GET", "/api/v1/audit?from=x", ``, 422, "invalid_value", "/from"},
			{
				"a filter that is none",
				"GET",
				"/api/v1/projects/shop/keys?owner=o&bogus=1",
				``,
				422,
				"unknown_field",
				"/bogus",
			},
			{
				"a grouping by another name",
				"GET",
				"/api/v1/projects/shop/usage?by=owner",
				``,
				422,
				"unknown_field",
				"/by",
			},
			{
				"export with secrets",
				"POST",
				"/api/v1/projects/shop/exports",
				`{"format":"data","secrets":true}`,
				422,
				"not_available_yet",
				"/secrets",
			},
			{
				"mode of a version",
				"PATCH",
				"/api/v1/projects/shop/versions/" + m.VersionID,
				`{"requests_auth":{"mode":"x"}}`,
				422,
				"invalid_mode",
				"/requests_auth/mode",
			},
			{
				"target of an update",
				"PATCH",
				"/api/v1/projects/shop/environments/" + m.EnvironmentID,
				`{"target":"ftp://x"}`,
				422,
				"invalid_url",
				"/target",
			},
		}
		for _, tt := range tests {
			a := controlplane.Call(t, h, tt.method, tt.path, m.Token, tt.body)
			if a.Status != tt.status || (tt.code != "" && a.Body["code"] != tt.code) {
				t.Errorf("%s: got %d %s", tt.name, a.Status, a.Raw)
			}
			if got := strings.Join(a.Pointers(), " "); got != tt.pointer {
				t.Errorf("%s: points at %q, want %q", tt.name, got, tt.pointer)
			}
			if ct := a.Header.Get("Content-Type"); ct != "application/problem+json" {
				t.Errorf("%s: content type %q", tt.name, ct)
			}
			if a.Body["request_id"] == nil || a.Body["detail"] == "" {
				t.Errorf("%s: no request id or no detail: %s", tt.name, a.Raw)
			}
			for _, field := range a.Errors() {
				if field["code"] == nil || field["detail"] == "" {
					t.Errorf("%s: a field without code or detail: %s", tt.name, a.Raw)
				}
			}
			if strings.Contains(a.Raw, "canary") {
				t.Errorf("%s: repeats what may be a secret: %s", tt.name, a.Raw)
			}
		}
	})
}

func TestAnotherMediaTypeIsRefused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		a := controlplane.Call(
			t, controlplane.NewServer(t, db).Handler(), "POST", "/proxy", "", "target=x", "Content-Type",
			"application/x-www-form-urlencoded",
		)
		if a.Status != http.StatusUnsupportedMediaType || a.Body["code"] != "unsupported_media_type" {
			t.Errorf("%d %s", a.Status, a.Raw)
		}
	})
}

func TestStaleUpdatesAreRefused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
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
	})
}

func TestCredentialsAreAskedForAndChecked(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
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
	})
}

func TestAPIWritesFromOtherSitesAreRefused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := controlplane.NewServer(t, db).Handler()
		for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
			a := controlplane.Call(t, h, "POST", "/proxy", "", controlplane.ShopBody, header...)
			if a.Status != 403 || a.Body["code"] != "cross_origin" {
				t.Errorf("%v: %d %s", header, a.Status, a.Raw)
			}
		}
	})
}

func TestOnlyOurOwnNamesAreAnswered(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
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
			for _, probe := range []string{"/healthz", "/readyz", "/metrics"} {
				ask(probe, 200)
			}
		}
	})
}

func TestWhoMayMakeProxies(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewServer(t, db)
		m := controlplane.CreateShop(t, s.Handler())
		books := strings.Replace(controlplane.ShopBody, "shop", "books", 1)
		for policy, want := range map[config.Anonymous][2]int{
			config.AnonymousToken: {401, 409},
			config.AnonymousOff:   {401, 403},
		} {
			s.Config.Anonymous = policy
			if a := controlplane.Call(t, s.Handler(), "POST", "/proxy", "", books); a.Status != want[0] {
				t.Errorf("%s: nobody got %d", policy, a.Status)
			}
			if a := controlplane.Call(t, s.Handler(), "POST", "/proxy", m.Token, controlplane.ShopBody); a.Status != want[1] {
				t.Errorf("%s: a workspace key got %d %s", policy, a.Status, a.Raw)
			}
		}
	})
}

// undescribed says why a route is not in the OpenAPI document.
var undescribed = map[string]string{
	"GET /api/v1/exports/{export}/download": "answers a file in ranges, which huma does not do; an export names it " +
		"as download_url",
}

func TestTheOpenAPIDocumentDescribesEveryRoute(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		server := controlplane.NewServer(t, db)
		a := controlplane.Call(t, server.Handler(), "GET", "/openapi.json", "", "")
		var got, want []string
		for path, item := range a.Body["paths"].(map[string]any) {
			for method := range item.(map[string]any) {
				got = append(got, strings.ToUpper(method)+" "+path)
			}
		}
		except := maps.Clone(undescribed)
		parameter := regexp.MustCompile(`:(\w+)`)
		for _, route := range server.Routes() {
			name := route.Method + " " + parameter.ReplaceAllString(route.Path, "{$1}")
			if _, ok := except[name]; ok {
				delete(except, name)
			} else if controlplane.IsAPI(route.Path) && !strings.Contains(route.Path, "/scim/v2/") { // SCIM describes itself (RFC 7643, 7)
				want = append(want, name)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("operations (-routes +document):\n%s", diff)
		}
		for name := range except {
			t.Errorf("%s is excepted and is no route", name)
		}
	})
}
