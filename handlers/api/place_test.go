package api_test

import (
	"fmt"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// Each field of a problem has the place where it is.
func TestProblem_place(t *testing.T) {
	t.Parallel()
	h := controlplane.NewServer(t, state.OpenSQLite(t)).Handler()
	shop := controlplane.CreateShop(t, h)
	const prod = "/api/v1/projects/shop/versions/1.0.0/environments/prod"
	revoke := "/api/v1/keys/" + shop.KeyID + "/revoke"
	for name, tt := range map[string]struct {
		method, path, body, want string
	}{
		"a condition":       {"POST", revoke, "", "header /If-Match"},
		"a repeated filter": {"GET", "/api/v1/projects/shop/keys?owner=a&owner=b", "", "query /owner"},
		"an unknown filter": {"GET", "/api/v1/projects/shop/keys?ovner=a", "", "query /ovner"},
		"a limit":           {"GET", "/api/v1/projects/shop/keys?limit=x", "", "query /limit"},
		"a cursor":          {"GET", "/api/v1/projects/shop/relations?cursor=x", "", "query /cursor"},
		"a name in the path": {
			"PUT", prod + "/upstream-headers/Host", `{"value":"x"}`, "path /name",
		},
		"a body":           {"POST", revoke, `{"key":1}`, "body "},
		"a member":         {"POST", "/api/v1/projects/shop/keys", `{"owner":1}`, "body /owner"},
		"a missing member": {"POST", "/api/v1/projects/shop/keys", `{}`, "body /owner"},
		"not an object":    {"POST", "/api/v1/projects/shop/keys", `[]`, "body "},
		"a rule's member":  {"POST", "/api/v1/projects/shop/keys", `{"owner":"o","key_type":"x"}`, "body /key_type"},
		"a text":           {"POST", "/api/v1/projects/shop/keys", `{"owner":"\u0000"}`, "body /owner"},
	} {
		t.Run(name, func(t *testing.T) {
			var header []string
			if name == "a condition" {
				header = []string{"If-Match", `"x"`}
			}
			got := controlplane.Call(t, h, tt.method, tt.path, shop.Token, tt.body, header...)
			errors, _ := got.Body["errors"].([]any)
			if len(errors) != 1 {
				t.Fatalf("%d %s", got.Status, got.Raw)
			}
			field := errors[0].(map[string]any)
			if place := fmt.Sprint(field["in"], " ", field["pointer"]); place != tt.want {
				t.Errorf("%s, want %s", place, tt.want)
			}
		})
	}
}
