package handlers_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// unsorted are the lists that have one order, with the reason.
var unsorted = map[string]string{
	"get-environment-callers": "the 20 owners with the most calls",
	"get-usage":               "hours or days in order, with what is grouped by; at most 10,000",
	"get-version-callers":     "the 20 owners with the most calls",
	"get-import-plan":         "the entities of a file, in its order",
	"get-export-ledger":       "one line for each kind of setting, in the order of the export's report",
	"list-environments":       "a version has at most 20, in the order of their creation",
	"list-versions":           "a project has at most 50, in the order of their creation",
	"list-consents":           "a user has at most one for each app client of the tenant, of which there are 50",
	"list-imports":            "a team's few plans and its last 200 imports, the newest first",
	"list-invalid-requests":   "one line for each route of the document and reason, the most frequent are what counts",
	"list-key-types":          "a project has at most 50, in the order of their creation, as the forms offer them",
	"list-openapi-operations": "the order of the document",
	"list-providers":          "an app client has at most 20, in the order of their buttons",
	"list-relation-misses":    "one line for each rule and reason, of 2,000 rules",
	"list-requests":           "a log of 1,024 calls in order of arrival, which status, owner, path and code filter",
	"list-shadow-refusals":    "one line for each rule and reason, of 2,000 rules",
	"list-upstreams":          "an environment has at most 32 targets, in the order in which they are set",
	"list-upstream-headers":   "an environment sets a few headers for its upstream",
	"preview-export":          "the lines of the ledger, as get-export-ledger has them",
}

// unsearched are the lists that can be sorted, but not searched, with the reason.
var unsearched = map[string]string{
	"list-exports":       "an export has no name; state and format filter",
	"list-deliveries":    "a delivery has no name; state and event filter",
	"list-sessions":      "an account has at most 100",
	"list-user-sessions": "a session has no name",
}

// TestLists_all walks the lists of the API: each can be sorted and searched, or is above with a reason.
func TestLists_all(t *testing.T) {
	t.Parallel()
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	missing := map[string]map[string]bool{"sort": {}, "q": {}}
	document := controlplane.Call(t, server.Handler(), http.MethodGet, "/openapi.json", "", "").Body
	for id, list := range listsIn(document) {
		for name := range missing {
			if !slices.Contains(list.parameters, name) {
				missing[name][id] = true
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(missing["sort"])) {
		if unsorted[id] == "" {
			t.Errorf("%s cannot be sorted, and has no reason in unsorted", id)
		}
		delete(missing["q"], id)
	}
	for _, id := range slices.Sorted(maps.Keys(missing["q"])) {
		if unsearched[id] == "" {
			t.Errorf("%s cannot be searched, and has no reason in unsearched", id)
		}
	}
	for id := range unsorted {
		if !missing["sort"][id] {
			t.Errorf("%s is in unsorted, but is not a list or can be sorted", id)
		}
	}
	for id := range unsearched {
		if !missing["q"][id] {
			t.Errorf("%s is in unsearched, but is not a list or can be searched", id)
		}
	}
}

// TestLists_cursor sends each list of the API a cursor that isn't of its pages, and one of another order. If they
// counted as the beginning, they would repeat or skip rows.
func TestLists_cursor(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	all := "/invite/team/session/:code/:export/:mapping/versions/:version/openapi/:domain/api-scopes/:key_type"
	has := o.NewAllObjects(t, "webhook", all+"/:group/:user")
	if err := o.Server.Exports.Build(t.Context(), has.Path(":export"), true); err != nil { // it has a ledger then
		t.Fatal(err)
	}
	parameter := regexp.MustCompile(`\{(\w+)\}`)
	tried := 0
	for id, list := range listsIn(o.Do(t, http.MethodGet, "/openapi.json", "", nil).Body) {
		if !slices.Contains(list.parameters, "cursor") {
			continue
		}
		tried++
		t.Run(id, func(t *testing.T) {
			path := has.Path(parameter.ReplaceAllString(list.path, ":$1"))
			for _, cursor := range []string{"x", "key_1", "e30"} {
				got := o.Do(t, http.MethodGet, path+"?cursor="+cursor, "", o.Owner)
				if got.Status != http.StatusUnprocessableEntity || !slices.Equal(got.Pointers(), []string{"/cursor"}) {
					t.Errorf("%s: %d %.200s, want 422 for /cursor", cursor, got.Status, got.Raw)
				}
			}
		})
	}
	if tried < 20 {
		t.Errorf("%d lists have cursors", tried)
	}
	more(t, o, has, 0)
	first := o.Do(t, http.MethodGet, "/api/v1/projects?limit=1&sort=name", "", o.Owner).Body
	for _, sort := range []string{"created", "-name", ""} {
		path := fmt.Sprintf("/api/v1/projects?sort=%s&cursor=%v", sort, first["next_cursor"])
		got := o.Do(t, http.MethodGet, path, "", o.Owner)
		if got.Status != http.StatusUnprocessableEntity {
			t.Errorf("a cursor of the order by name, sorted by %q: %d %.200s", sort, got.Status, got.Raw)
		}
	}
}

// listed is a list of the API.
type listed struct {
	path       string
	parameters []string
}

// listsIn returns the lists of /openapi.json by the id of their operation.
func listsIn(document map[string]any) map[string]listed {
	out := map[string]listed{}
	for path, item := range document["paths"].(map[string]any) {
		operation, _ := item.(map[string]any)["get"].(map[string]any)
		id, _ := operation["operationId"].(string)
		if !strings.HasPrefix(id, "list-") && !isList(document, operation) {
			continue
		}
		of := listed{path: path}
		parameters, _ := operation["parameters"].([]any)
		for _, p := range parameters {
			name, _ := p.(map[string]any)["name"].(string)
			of.parameters = append(of.parameters, name)
		}
		out[id] = of
	}
	return out
}

// isList reports whether an operation answers with items.
func isList(document, operation map[string]any) bool {
	at := operation
	for _, name := range []string{"responses", "200", "content", "application/json", "schema"} {
		at, _ = at[name].(map[string]any)
	}
	if ref, _ := at["$ref"].(string); ref != "" {
		at = document
		for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			at, _ = at[name].(map[string]any)
		}
	}
	properties, _ := at["properties"].(map[string]any)
	items, _ := properties["items"].(map[string]any)
	return items["items"] != nil
}
