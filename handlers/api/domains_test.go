package api_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// Custom domains of a team share a host name; another team can't have a part of it.
func TestDomains_shared(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	for _, name := range []string{"shop", "books"} {
		o.CreateProject(t, o.Principal, name)
	}
	create := func(project, body string, caller []string) controlplane.Response {
		return o.Do(t, "POST", "/api/v1/projects/"+project+"/domains", body, caller)
	}
	first := create("shop", `{"host":"api.example.com"}`, o.Owner)
	if first.Status != 201 || first.Body["path_prefix"] != "" || first.Body["strip_prefix"] != true ||
		fmt.Sprint(first.Body["methods"]) != "[]" {
		t.Fatalf("%d %s", first.Status, first.Raw)
	}
	record, _ := first.Body["record"].(map[string]any)
	o.Names.Set(record["name"].(string), record["value"].(string))
	id, _ := first.Body["id"].(string)
	if got := o.Do(t, "POST", "/api/v1/projects/shop/domains/"+id+"/verify", "", o.Owner); got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Raw)
	}
	orders := create("books", `{"host":"api.example.com","path_prefix":"/orders","methods":["POST","GET"],
		"strip_prefix":false}`, o.Owner)
	if orders.Status != 201 || orders.Body["state"] != "verified" || orders.Body["strip_prefix"] != false ||
		fmt.Sprint(orders.Body["methods"]) != "[GET POST]" || fmt.Sprint(orders.Body["record"]) != fmt.Sprint(record) {
		t.Fatalf("%d %s", orders.Status, orders.Raw)
	}
	for name, c := range map[string]struct {
		project, body string
		caller        []string
		status        int
		want          string
	}{
		"the same calls": {
			"shop", `{"host":"api.example.com","path_prefix":"/orders","methods":["GET"]}`, o.Owner, 409,
			"The project books already has api.example.com/orders for GET, POST (" + orders.Body["id"].(string) + ").",
		},
		"another team's host": {
			o.OutsiderObjects.Project, `{"host":"api.example.com","path_prefix":"/theirs"}`, o.Outsider, 409,
			"host_taken",
		},
		"prefix": {
			"shop", `{"host":"a.example.com","path_prefix":"/a/../b"}`, o.Owner, 422, `"pointer":"/path_prefix"`,
		},
		"method": {"shop", `{"host":"a.example.com","methods":["GET","get"]}`, o.Owner, 422, `"pointer":"/methods/1"`},
		"type":   {"shop", `{"host":"a.example.com","methods":"GET"}`, o.Owner, 422, "/methods"},
		"path in the host": {
			"shop", `{"host":"a.example.com/orders"}`, o.Owner, 422, `"pointer":"/host"`,
		},
		"unknown field": {"shop", `{"host":"a.example.com","prefix":"/a"}`, o.Owner, 422, "/prefix"},
	} {
		got := create(c.project, c.body, c.caller)
		if got.Status != c.status || !strings.Contains(got.Raw, c.want) {
			t.Errorf("%s: %d %s, want %d and %s", name, got.Status, got.Raw, c.status, c.want)
		}
	}
	one := "/api/v1/projects/books/domains/" + orders.Body["id"].(string)
	changed := o.Do(t, "PATCH", one, `{"methods":[],"strip_prefix":true}`,
		append(o.Owner, "If-Match", orders.Body["etag"].(string)))
	if changed.Status != 200 || changed.Body["path_prefix"] != "/orders" || changed.Body["strip_prefix"] != true {
		t.Errorf("%d %s", changed.Status, changed.Raw)
	}
	if got := o.Do(t, "GET", "/api/v1/projects/books/domains/api.example.com", "", o.Owner); got.Status != 200 ||
		got.Body["id"] != orders.Body["id"] {
		t.Errorf("by its host name: %d %s", got.Status, got.Raw)
	}
}
