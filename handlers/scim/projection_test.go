package scim_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// members returns the sorted names of a resource's members.
func members(resource any) string {
	object, _ := resource.(map[string]any)
	return strings.Join(slices.Sorted(maps.Keys(object)), " ")
}

// first returns the first resource of a list.
func first(got controlplane.Response) any {
	list, _ := got.Body["Resources"].([]any)
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// TestSCIM_attributes selects attributes in every operation that answers a resource.
func TestSCIM_attributes(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	c := newClient(t, controlplane.NewFixture(t, db), "shop")
	const body = `{"userName":"ana@example.com","name":{"givenName":"Ana","familyName":"Ark"}}`
	user := c.call(t, 201, http.MethodPost, "/Users?attributes=userName", body)
	if got := members(user.Body); got != "id schemas userName" {
		t.Errorf("POST: members %s", got)
	}
	if user.Header.Get("ETag") == "" || user.Header.Get("Location") == "" {
		t.Errorf("POST: headers %v, want ETag and Location", user.Header)
	}
	path := "/Users/" + user.Body["id"].(string)
	const patch = `{"Operations":[{"op":"replace","path":"active","value":true}]}`
	for _, tt := range []struct{ method, body, query, want string }{
		{"GET", "", "attributes=USERNAME, emails", "emails id schemas userName"},
		{"GET", "", "attributes=userName&attributes=emails", "emails id schemas userName"},
		{"GET", "", "attributes=urn:ietf:params:scim:schemas:core:2.0:User:active", "active id schemas"},
		{"GET", "", "attributes=unknown", "id schemas"},
		{"GET", "", "excludedAttributes=meta,name,id,schemas", "active displayName emails id schemas userName"},
		{"GET", "", "excludedAttributes=emails.value,emails.type,emails.primary,meta,name,displayName,active",
			"id schemas userName"},
		{"PUT", body, "attributes=meta", "id meta schemas"},
		{"PATCH", patch, "excludedAttributes=meta,name,displayName,emails", "active id schemas userName"},
	} {
		answer := c.call(t, 200, tt.method, path+"?"+strings.ReplaceAll(tt.query, " ", "%20"), tt.body)
		if got := members(answer.Body); got != tt.want {
			t.Errorf("%s %s: members %s, want %s", tt.method, tt.query, got, tt.want)
		}
	}
	part := c.call(t, 200, http.MethodGet, path+"?attributes=name.familyName", "")
	if got := members(part.Body["name"]); got != "familyName" {
		t.Errorf("a part of name: members %s", got)
	}
	both := c.call(t, 400, http.MethodGet, path+"?attributes=id&excludedAttributes=meta", "")
	has(t, both, map[string]any{"scimType": "invalidValue"})
	list := c.call(t, 200, http.MethodGet, "/Users?attributes=userName", "")
	if got := members(first(list)); got != "id schemas userName" {
		t.Errorf("list: members %s", got)
	}
}

// TestSCIM_search queries by POST, one kind of resource and both.
func TestSCIM_search(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		c := newClient(t, controlplane.NewFixture(t, db), "shop")
		user := c.call(t, 201, http.MethodPost, "/Users", `{"userName":"ana"}`)
		id := user.Body["id"].(string)
		has(t, user, map[string]any{"emails": nil})
		group := `{"displayName":"Staff","externalId":"g1","members":[{"value":"` + id + `"}]}`
		c.call(t, 201, http.MethodPost, "/Groups", group)
		for _, tt := range []struct {
			path, body string
			total      float64
			members    string // of the first resource
		}{
			{"/Users/.search", `{"filter":"userName eq \"ana\"","attributes":["groups"]}`, 1, "groups id schemas"},
			{"/Groups/.search", `{"attributes":["displayName"]}`, 1, "displayName id schemas"},
			{"/.search", `{"attributes":["userName","displayName"]}`, 2, "id schemas userName"},
			{"/.search", `{"attributes":["userName","displayName"],"startIndex":2}`, 2, "displayName id schemas"},
			{"/.search", `{"filter":"userName eq \"ana\"","excludedAttributes":["meta"]}`, 1,
				"active groups id schemas userName"},
			{"/.search", `{"filter":"externalId eq \"g1\"","attributes":["externalId"]}`, 1, "externalId id schemas"},
			{"/.search", `{"count":0}`, 2, ""},
			{"/.search", `{"startIndex":3}`, 2, ""},
		} {
			got := c.call(t, 200, http.MethodPost, tt.path, tt.body)
			if got.Body["totalResults"] != tt.total {
				t.Errorf("%s %s: want %v results: %s", tt.path, tt.body, tt.total, got.Raw)
			}
			if got := members(first(got)); got != tt.members {
				t.Errorf("%s %s: members %q, want %q", tt.path, tt.body, got, tt.members)
			}
		}
		for _, body := range []string{`{"filter":"title eq \"x\""}`, `{"count":"x"}`, `[]`} {
			c.call(t, 400, http.MethodPost, "/.search", body)
		}
	})
}

// TestSCIM_unknownAddress checks that a SCIM client gets a SCIM error where no route is, and
// other clients do not.
func TestSCIM_unknownAddress(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	c := newClient(t, controlplane.NewFixture(t, db), "shop")
	got := c.call(t, 404, http.MethodGet, "/Nothing", "")
	has(t, got, map[string]any{"status": "404"})
	has(t, c.call(t, 405, http.MethodDelete, "/Users", ""), map[string]any{"status": "405"})
	other := controlplane.Call(t, c.Handler, http.MethodGet, "/api/v1/nothing", "", "", c.Owner...)
	if kind := other.Header.Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("outside SCIM: %s", kind)
	}
}

// TestSCIM_withoutAddress checks that an address may be absent and removed, and that filters
// for users do not find those without one by an empty address.
func TestSCIM_withoutAddress(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	c := newClient(t, controlplane.NewFixture(t, db), "shop")
	for _, name := range []string{"ana", "bob"} { // two without an address are not in conflict
		c.call(t, 201, http.MethodPost, "/Users", `{"userName":"`+name+`"}`)
	}
	user := c.call(t, 201, http.MethodPost, "/Users", `{"userName":"eve@example.com"}`)
	got := c.call(t, 200, http.MethodPatch, "/Users/"+user.Body["id"].(string),
		`{"Operations":[{"op":"remove","path":"emails"}]}`)
	has(t, got, map[string]any{"emails": nil, "userName": "eve@example.com"})
	c.total(t, "/Users", `emails.value eq ""`, "", 0)
	query := "?filter=" + url.QueryEscape(`active eq true`)
	if all := c.call(t, 200, http.MethodGet, "/Users"+query, ""); all.Body["totalResults"] != 3.0 {
		t.Errorf("want 3 users: %s", all.Raw)
	}
}
