package api_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// ignored are parts of requests that their operations would ignore.
var ignored = []badInput{
	{"a filter twice", "GET /api/v1/projects/shop/keys?owner=a&owner=b", "", 422, "repeated_parameter", "/owner"},
	{"a limit of what is removed", "DELETE /api/v1/projects/shop/relations?user=a&limit=1", "", 422,
		"unknown_field", "/limit"},
	{"a limit of one object", "GET /api/v1/projects/shop?limit=200", "", 422, "unknown_field", "/limit"},
	{"a limit of a list with one page", "GET /api/v1/projects/shop/key-types?limit=1", "", 422, "one_page", "/limit"},
	{"a cursor of a list with one page", "GET /api/v1/projects/shop/key-types?cursor=x", "", 422,
		"one_page", "/cursor"},
	{"a query that is cut off", "DELETE /api/v1/projects/shop/relations?user=a;object=order:1", "", 400,
		"malformed", ""},
	{"an escape that is none", "GET /api/v1/projects/shop/keys?owner=50%25&q=%zz", "", 400, "malformed", ""},
	{"a body of what takes none", "DELETE /api/v1/projects/shop/relations?user=a", `{"object":"order:1"}`, 422,
		"unexpected_body", ""},
	{"too deep", "POST /api/v1/products", `{"name":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, 422,
		"too_deep", ""},
}

// TestConditions checks that a condition is checked or refused: one that is ignored looks like one that held.
func TestConditions(t *testing.T) {
	t.Parallel()
	h := controlplane.NewServer(t, state.OpenSQLite(t)).Handler()
	shop := controlplane.CreateShop(t, h)
	for _, header := range []string{"If-Match", "If-None-Match", "If-Unmodified-Since"} {
		got := controlplane.Call(t, h, "POST", "/api/v1/keys/"+shop.KeyID+"/revoke", shop.Token, "", header, `"x"`)
		if got.Status != 422 || got.Body["code"] != "condition_not_checked" {
			t.Errorf("%s: %d %s", header, got.Status, got.Raw)
		}
	}
}

// A boolean parameter without a value is true, and one with an empty value is refused, in every operation that has one.
func TestBooleanParameters(t *testing.T) {
	t.Parallel()
	h := controlplane.NewServer(t, state.OpenSQLite(t)).Handler()
	shop := controlplane.CreateShop(t, h)
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				In, Name string
				Schema   struct{ Type string }
			}
		}
	}
	description := controlplane.Call(t, h, "GET", "/openapi.json", "", "")
	if err := json.Unmarshal([]byte(description.Raw), &document); err != nil {
		t.Fatal(err)
	}
	found := 0
	for path, operations := range document.Paths {
		for method, operation := range operations {
			for _, one := range operation.Parameters {
				if one.In != "query" || one.Schema.Type != "boolean" {
					continue
				}
				found++
				at := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "absent")
				for query, wrong := range map[string]bool{
					one.Name + "=": true, one.Name + "=maybe": true, one.Name: false,
				} {
					got := controlplane.Call(t, h, strings.ToUpper(method), at+"?"+query, shop.Token, "{}")
					refused := got.Status == 422 && strings.Contains(got.Raw, `"pointer":"/`+one.Name+`"`)
					if refused != wrong {
						t.Errorf("%s %s?%s: %d %s", method, path, query, got.Status, got.Raw)
					}
				}
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d boolean parameters", found)
	}

	const file = "owner,key\nana,k9J2hG5fD8sA1pO4iU7yT0rE\n"
	take := func(query string, header ...string) map[string]any {
		t.Helper()
		at := "/api/v1/projects/shop/keys/import?key_type=full" + query
		got := controlplane.Call(t, h, "POST", at, shop.Token, file,
			append([]string{"Content-Type", "text/csv"}, header...)...)
		if got.Status != 200 {
			t.Fatalf("%s: %d %s", query, got.Status, got.Raw)
		}
		return got.Body
	}
	for _, query := range []string{"&dry_run", "&dry_run=true", "&dry%5Frun", ""} { // the last one creates the key
		if got := take(query); got["created"] != 1.0 {
			t.Errorf("%q: %v", query, got)
		}
	}
	if got := take("&dry_run"); got["unchanged"] != 1.0 {
		t.Errorf("after the import: %v", got)
	}
}

// What is wrong about the mapping of a file of keys points at it.
func TestKeyImport_mapping(t *testing.T) {
	t.Parallel()
	h := controlplane.NewServer(t, state.OpenSQLite(t)).Handler()
	shop := controlplane.CreateShop(t, h)
	for query, pointer := range map[string]string{
		"map=":                        "/map",
		"map=apiKey":                  "/map",
		"map=apiKey%3Dsecret":         "/map", // no field
		"map=absent%3Dkey":            "/map", // no column
		"map=key%3Downer":             "",     // two columns of one field: the file's header is shown
		"key_type=gold":               "/key_type",
		"key_type=full&allow_weak=no": "/allow_weak",
	} {
		got := controlplane.Call(t, h, "POST", "/api/v1/projects/shop/keys/import?"+query, shop.Token,
			"owner,key\nana,k9J2hG5fD8sA1pO4iU7yT0rE\n", "Content-Type", "text/csv")
		if got.Status != 422 || strings.Contains(got.Raw, `"pointer":"`) != (pointer != "") ||
			!strings.Contains(got.Raw, pointer) {
			t.Errorf("%s: %d %s, want the pointer %q", query, got.Status, got.Raw, pointer)
		}
	}
}
