package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

const shopYAML = `openapi: 3.0.3
info: {title: Shop API, version: 2.1.0}
servers:
  - {url: "http://127.0.0.1:9/live", description: Live}
  - {url: "http://127.0.0.1:9/try", description: Sandbox}
paths:
  /orders: {get: {responses: {200: {description: fine}}}, post: {responses: {201: {description: made}}}}
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {summary: One order, responses: {200: {description: fine}}}
`

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	token := controlplane.CreateShop(t, h).Token
	const at = "/api/v1/projects/shop/versions/1.0.0/openapi"
	call := func(method, path, body string, header ...string) controlplane.Response {
		t.Helper()
		return controlplane.Call(t, h, method, path, token, body, header...)
	}
	for _, path := range []string{at, at + "/operations", at + "/rules"} {
		if got := call("GET", path, ""); got.Status != 404 || got.Body["code"] != "no_openapi_document" {
			t.Errorf("%s without a document: %d %s", path, got.Status, got.Raw)
		}
	}
	if got := call("DELETE", at, ""); got.Status != 404 {
		t.Errorf("remove none: %d %s", got.Status, got.Raw)
	}
	dry := call("PUT", at+"?dry_run=true", shopYAML, "Content-Type", "application/yaml")
	if dry.Status != 200 || dry.Body["saved"] != false || !strings.Contains(dry.Raw, "GET /orders/{id}") {
		t.Errorf("dry run: %d %s", dry.Status, dry.Raw)
	}
	if got := call("GET", at, ""); got.Status != 404 {
		t.Errorf("after a dry run: %d", got.Status)
	}
	set := call("PUT", at, shopYAML, "Content-Type", "application/yaml")
	if set.Status != 200 || set.Body["title"] != "Shop API" || set.Body["saved"] != true {
		t.Fatalf("%d %s", set.Status, set.Raw)
	}
	document := call("GET", at, "")
	if document.Body["openapi"] != "3.0.3" || document.Header.Get("ETag") != set.Header.Get("ETag") {
		t.Errorf("%v %s", document.Header, document.Raw)
	}
	operations := call("GET", at+"/operations", "")
	list := operations.Body["operations"].([]any)
	if len(list) != 3 || !strings.Contains(operations.Raw, "One order") {
		t.Errorf("operations: %s", operations.Raw)
	}
	proposed := call("GET", at+"/rules", "")
	for _, want := range []string{`"orders:read"`, `"orders:write"`, `"derived":true`, `"shadow"`} {
		if !strings.Contains(proposed.Raw, want) {
			t.Errorf("no %s in %s", want, proposed.Raw)
		}
	}
	rules, err := json.Marshal(map[string]any{
		"default": "allow", "mode": "enforce", "read_write_scopes": false, "rules": proposed.Body["rules"],
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := call("PUT", "/api/v1/projects/shop/versions/1.0.0/rules", string(rules)); got.Status != 200 {
		t.Errorf("save the proposed rules: %d %s", got.Status, got.Raw)
	}
	if got := call("PUT", at, `{}`, "If-Match", `"other"`); got.Status != 422 && got.Status != 412 {
		t.Errorf("stale: %d %s", got.Status, got.Raw)
	}
	changed := strings.Replace(shopYAML, "One order", "An order", 1) +
		"  /new: {get: {responses: {200: {description: x}}}}\n"
	got := call("PUT", at, changed, "Content-Type", "application/yaml", "If-Match", `"stale"`)
	if got.Status != 412 {
		t.Errorf("stale: %d %s", got.Status, got.Raw)
	}
	got = call("PUT", at, changed, "Content-Type", "application/yaml", "If-Match", set.Header.Get("ETag"))
	want := `"changes":{"added":["GET /new"],"removed":[],"changed":["GET /orders/{id}"]}`
	if got.Status != 200 || !strings.Contains(got.Raw, want) {
		t.Errorf("replaced: %d %s, want %s", got.Status, got.Raw, want)
	}
	asText, err := json.Marshal(shopYAML)
	if err != nil {
		t.Fatal(err)
	}
	if got := call("PUT", at, string(asText)); got.Status != 200 ||
		!strings.Contains(got.Raw, `"removed":["GET /new"]`) {
		t.Errorf("as a JSON string: %d %s", got.Status, got.Raw)
	}
	if got := call("DELETE", at, ""); got.Status != 204 {
		t.Errorf("remove: %d %s", got.Status, got.Raw)
	}
}

func TestOpenAPI_refusals(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	token := controlplane.CreateShop(t, h).Token
	const at = "/api/v1/projects/shop/versions/1.0.0/openapi"
	for name, tt := range map[string]struct{ body, want string }{
		"Swagger": {`{"swagger":"1.2"}`, " invalid_openapi"},
		"remote reference": {
			`{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{"/a":{"$ref":"http://127.0.0.1:9/a"}}}`,
			" invalid_openapi",
		},
		"metadata address": {`{"url":"http://169.254.169.254/latest/meta-data"}`, "/url target_forbidden"},
		"no address":       {`{"url":"shop.yaml"}`, "/url invalid_url"},
		"no server there":  {`{"url":"http://127.0.0.1:9/openapi.json"}`, "/url unreachable"},
	} {
		got := controlplane.Call(t, h, "PUT", at, token, tt.body)
		if list := got.PointerCodes(); got.Status != 422 || len(list) != 1 || list[0] != tt.want {
			t.Errorf("%s: %d %v, want 422 %q: %s", name, got.Status, list, tt.want, got.Raw)
		}
	}
	twice := controlplane.Call(t, h, "PUT", at, token, `{"openapi":"3.0.0","info":{"title":"t","version":"1"},`+
		`"paths":{"a":{},"b":{}}}`)
	if list := twice.PointerCodes(); twice.Status != 422 || len(list) != 2 || twice.Body["code"] != "invalid_openapi" {
		t.Errorf("two reasons: %d %s", twice.Status, twice.Raw)
	}
	for size, want := range map[int]int{2 << 20: 422, 18 << 20: 413} {
		large := `{"openapi":"3.0.0","x":"` + strings.Repeat("x", size) + `"}`
		if got := controlplane.Call(t, h, "PUT", at, token, large); got.Status != want ||
			want == 422 && !strings.Contains(got.Raw, "Claim the workspace") {
			t.Errorf("%d bytes: %d, want %d: %s", size, got.Status, want, got.Raw)
		}
	}
	if got := controlplane.Call(t, h, "PUT", at, "", shopYAML); got.Status != 401 {
		t.Errorf("anonymous: %d", got.Status)
	}
}

// Accepted mistakes, and parts without effect, are in the answers to POST /proxy and to the import, and stay with the
// document.
func TestOpenAPI_warnings(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	const document = `{"swagger":"2.0","info":{"title":"t","version":1.0},"host":"127.0.0.1:9","schemes":["http"],` +
		`"paths":{"/a":{"get":{"responses":{"200":{"description":"fine","schema":{"$ref":"#/definitions/A"}}}}}}}`
	made := controlplane.Call(t, h, "POST", "/proxy", "", `{"openapi":`+document+`}`)
	project := made.Body["project"].(map[string]any)["name"].(string)
	token := made.Body["workspace_key"].(string)
	at := "/api/v1/projects/" + project + "/versions/1.0/openapi"
	for name, got := range map[string]string{
		"POST /proxy": made.Raw,
		"import":      controlplane.Call(t, h, "PUT", at, token, document).Raw,
		"operations":  controlplane.Call(t, h, "GET", at+"/operations", token, "").Raw,
	} {
		for _, want := range []string{
			`{"code":"swagger_converted","detail":"The document is Swagger 2.0.`,
			`{"code":"openapi_unquoted","detail":"An unquoted value was read as a number`, `1.1: info/version."}`,
			`{"code":"openapi_dangling_reference","detail":"A reference doesn't resolve`,
			`GET /a: responses/200/content/application~1json/schema to #/components/schemas/A."}`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in %s", name, want, got)
			}
		}
	}
	stored := controlplane.Call(t, h, "GET", at, token, "")
	if stored.Status != 200 || !strings.Contains(stored.Raw, `"openapi":"3.0.3"`) {
		t.Errorf("%d %s", stored.Status, stored.Raw)
	}
}

func TestCreateProxy_openAPI(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	h := controlplane.NewServer(t, db).Handler()
	published := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "v=2" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, strings.Replace(shopYAML, "http://127.0.0.1:9/live", "/relative", 1))
	}))
	t.Cleanup(published.Close)
	asText, err := json.Marshal(shopYAML)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ document, target string }{
		"text":    {string(asText), `"http://127.0.0.1:9/live"`},
		"address": {`"` + published.URL + `/openapi.yaml?v=2"`, `"` + published.URL + `/relative"`},
		"object": {`{"openapi":"3.1.0","info":{"title":"Shop API","version":"2.1.0"},"paths":{},` +
			`"servers":[{"url":"http://127.0.0.1:9/object"},{"url":"http://127.0.0.1:9/sandbox"}]}`,
			`"http://127.0.0.1:9/object"`},
	} {
		got := controlplane.Call(t, h, "POST", "/proxy", "", `{"openapi":`+tt.document+`}`)
		if got.Status != 201 {
			t.Errorf("%s: %d %s", name, got.Status, got.Raw)
			continue
		}
		for _, want := range []string{`"version":"2.1.0"`, `"name":"sandbox"`, `"name":"prod"`, tt.target} {
			if !strings.Contains(got.Raw, want) {
				t.Errorf("%s: no %s in %s", name, want, got.Raw)
			}
		}
		project := got.Body["project"].(map[string]any)["name"].(string)
		token := got.Body["workspace_key"].(string)
		document := controlplane.Call(t, h, "GET", "/api/v1/projects/"+project+"/versions/2.1.0/openapi", token, "")
		if document.Status != 200 || !strings.Contains(document.Raw, "Shop API") {
			t.Errorf("%s: document: %d %s", name, document.Status, document.Raw)
		}
	}
	for name, tt := range map[string]struct{ body, want string }{
		"not valid": {`{"openapi":{"swagger":"1.2"}}`, "/openapi invalid_openapi"},
		"a number":  {`{"openapi":5}`, "/openapi invalid_type"},
		"metadata":  {`{"openapi":"http://169.254.169.254/"}`, "/openapi target_forbidden"},
		"no servers": {
			`{"openapi":{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}}`, "/target required",
		},
		"relative server": {
			`{"openapi":{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{},` +
				`"servers":[{"url":"/v1"}]}}`, "/target required",
		},
	} {
		got := controlplane.Call(t, h, "POST", "/proxy", "", tt.body)
		if list := got.PointerCodes(); got.Status != 422 || len(list) != 1 || list[0] != tt.want {
			t.Errorf("%s: %d %v, want %s: %s", name, got.Status, list, tt.want, got.Raw)
		}
	}
}

func TestOpenAPI_settings(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := controlplane.NewServer(t, db).Handler()
		token := controlplane.CreateShop(t, h).Token
		const at = "/api/v1/projects/shop/versions/1.0.0/openapi"
		call := func(method, path, body string, header ...string) controlplane.Response {
			return controlplane.Call(t, h, method, path, token, body, header...)
		}
		wants := func(name string, got controlplane.Response, status int, parts ...string) {
			t.Helper()
			for _, part := range parts {
				if !strings.Contains(got.Raw, part) {
					t.Errorf("%s: no %s in %s", name, part, got.Raw)
				}
			}
			if got.Status != status {
				t.Errorf("%s: %d %s", name, got.Status, got.Raw)
			}
		}
		wants("at first", call("GET", at+"/settings", ""), 200, `"validation":"off"`, `"publication":"off"`,
			`"unchecked":[]`)
		wants("no document", call("PUT", at+"/settings", `{"validation":"enforce","publication":"off"}`),
			422, "/validation", "no_openapi_document")
		wants("a generated one", call("PUT", at+"/settings", `{"validation":"off","publication":"public"}`),
			200, `"publication":"public"`)
		unchecked := strings.Replace(shopYAML, "schema: {type: string}", "schema: {type: string, pattern: '(?=a)'}", 1)
		wants("import", call("PUT", at, unchecked, "Content-Type", "application/yaml"), 200)
		set := call("PUT", at+"/settings", `{"validation":"report","publication":"callers"}`)
		wants("set", set, 200, `"validation":"report"`, `"publication":"callers"`, "(?=a)")
		wants("stale", call("PUT", at+"/settings", `{"validation":"off","publication":"off"}`, "If-Match",
			`"stale"`), 412)
		wants("unknown", call("PUT", at+"/settings", `{"validation":"later","publication":"later"}`), 422,
			"/validation", "/publication")
		wants("left out", call("PUT", at+"/settings", `{"publication":"off"}`), 422, `"pointer":"/validation"`,
			`"required"`)
		wants("unknown field", call("PUT", at+"/settings", `{"validation":"off","publication":"off",
			"validate":"report"}`), 422, "/validate")
		wants("invalid requests", call("GET", at+"/invalid-requests", ""), 200, `"items":[]`)
		wants("remove", call("DELETE", at, ""), 204)
		wants("without its document", call("GET", at+"/settings", ""), 200, `"validation":"off"`,
			`"publication":"callers"`)
		wants("audit", call("GET", "/api/v1/audit", ""), 200, "OpenAPI settings of version 1.0.0")
	})
}

// Documents of real services have more values than other bodies may have.
func TestCreateProxy_largeOpenAPI(t *testing.T) {
	t.Parallel()
	h := controlplane.NewServer(t, state.OpenSQLite(t)).Handler()
	many := "[" + strings.Repeat("1,", 60_000) + "1]"
	body := `{"target":"http://127.0.0.1:9","openapi":{"openapi":"3.1.0",` +
		`"info":{"title":"t","version":"1"},"paths":{},` +
		`"x-many":` + many + `}}`
	if got := controlplane.Call(t, h, "POST", "/proxy", "", body); got.Status != 201 {
		t.Errorf("in the document: %d %.300s", got.Status, got.Raw)
	}
	body = `{"openapi":{},"target":` + many + `}`
	if got := controlplane.Call(t, h, "POST", "/proxy", "", body); got.Status != 422 ||
		got.Body["code"] != "too_many_values" {
		t.Errorf("with other values: %d %.300s", got.Status, got.Raw)
	}
}
