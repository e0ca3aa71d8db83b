package handlers_test

import (
	"maps"
	"net/http"
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
	"get-export-ledger":       "one line for each kind of setting, in the order of the export's report",
	"list-consents":           "a user has at most one for each app client of the tenant, of which there are 50",
	"list-invalid-requests":   "one line for each route of the document and reason, the most frequent are what counts",
	"list-key-types":          "a project has at most 50, in the order of their creation, as the forms offer them",
	"list-openapi-operations": "the order of the document",
	"list-providers":          "an app client has at most 20, in the order of their buttons",
	"list-relation-misses":    "one line for each rule and reason, of 2,000 rules",
	"list-requests":           "a log of 1,024 calls in order of arrival, which status, owner, path and code filter",
	"list-shadow-refusals":    "one line for each rule and reason, of 2,000 rules",
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
	document := controlplane.Call(t, server.Handler(), http.MethodGet, "/openapi.json", "", "").Body
	missing := map[string]map[string]bool{"sort": {}, "q": {}}
	for _, item := range document["paths"].(map[string]any) {
		operation, _ := item.(map[string]any)["get"].(map[string]any)
		id, _ := operation["operationId"].(string)
		if !strings.HasPrefix(id, "list-") && !isList(document, operation) {
			continue
		}
		named := map[string]bool{}
		parameters, _ := operation["parameters"].([]any)
		for _, p := range parameters {
			name, _ := p.(map[string]any)["name"].(string)
			named[name] = true
		}
		for name := range missing {
			if !named[name] {
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
			t.Errorf("%s is in unsorted, but is no list or can be sorted", id)
		}
	}
	for id := range unsearched {
		if !missing["q"][id] {
			t.Errorf("%s is in unsearched, but is no list or can be searched", id)
		}
	}
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
