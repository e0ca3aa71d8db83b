package scim_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestSCIM_unkept checks that what a request has and Postern does not do is refused or warned of, in every kind of
// request.
func TestSCIM_unkept(t *testing.T) {
	t.Parallel()
	c := newClient(t, controlplane.NewFixture(t, state.OpenSQLite(t)), "shop")
	user := c.call(t, 201, http.MethodPost, "/Users", `{"userName":"ana@example.com"}`)
	group := c.call(t, 201, http.MethodPost, "/Groups", `{"displayName":"Staff"}`)
	one, all := "/Users/"+user.Body["id"].(string), "/Groups/"+group.Body["id"].(string)
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string // the type of the refusal, or a part of the warning; "" for none
	}{
		{"POST", "/Users", `{"userName":"b","title":"x","locale":"de"}`, 201, "locale, title"},
		{"PUT", one, `{"userName":"ana@example.com","nickName":"a"}`, 200, "nickname"},
		{"PATCH", one, `{"Operations":[{"op":"add","path":"title","value":"x"}]}`, 200, "title"},
		{"PATCH", one, `{"Operations":[{"op":"replace","path":"active","value":true}]}`, 200, ""},
		{"GET", "/Users?sortBy=userName", "", 200, "Query parameters"},
		{"GET", one + "?aadOptscim062020", "", 200, "Query parameters"}, // as customers of Entra ID write it
		{"POST", "/Users/.search", `{"sortBy":"userName"}`, 200, "sortBy"},
		{"POST", "/Users", `{"userName":"c","usrName":"x"}`, 400, "invalidSyntax"},
		{"POST", "/Users", `{"userName":"c","urn:example:User":{"a":1}}`, 400, "invalidSyntax"},
		{"PUT", all, `{"displayName":"Staff","owner":"x"}`, 400, "invalidSyntax"},
		{"PATCH", one, `{"Operations":[{"op":"add","path":"usrName","value":"x"}]}`, 400, "invalidPath"},
		{"PATCH", all, `{"Operations":[{"op":"remove","path":"members[value eq 'x']"}]}`, 400, "invalidFilter"},
		{"PATCH", all, `{"Operations":[{"op":"remove","path":"members[type eq \"Group\"]"}]}`, 400, "noTarget"},
		{"POST", "/Users/.search", `{"filters":"x"}`, 400, "invalidSyntax"},
		{"GET", "/Users?filter=active+eq+true&filter=active+eq+false", "", 400, "invalidValue"},
	} {
		got := c.call(t, tt.status, tt.method, tt.path, tt.body)
		warning := strings.Join(got.Header.Values("Warning"), "; ")
		if said, _ := got.Body["scimType"].(string); tt.status == 400 && said != tt.want || tt.status != 400 &&
			(!strings.Contains(warning, tt.want) || (warning != "") != (tt.want != "")) {
			t.Errorf("%s %s %s: warning %q, %s", tt.method, tt.path, tt.body, warning, got.Raw)
		}
	}
	for _, path := range []string{one, all} {
		header := append([]string{"If-Match", `W/"0"`}, c.Owner...)
		if got := controlplane.Call(t, c.Handler, "DELETE", c.base+path, "", "", header...); got.Status != 412 {
			t.Errorf("DELETE %s of another version: %d %s", path, got.Status, got.Raw)
		}
	}
}
