package api_test

import (
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
