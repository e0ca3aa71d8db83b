package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"postern/handlers"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestReachable compares the JSON API with the command line and the dashboard: whatever one of them does, the
// others do too, or reachable says why not.
func TestReachable(t *testing.T) {
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	pages := map[string]bool{}
	for _, route := range controlplane.Routes(server) {
		pages[route.Method+" "+route.Path] = true
	}
	commands := commandsOf(newRoot(terminal{out: io.Discard, err: io.Discard, in: strings.NewReader("")}), "")
	operations := map[string]bool{}
	for id := range queriesOf(t, server) {
		operations[id] = true
	}
	usedCommands, usedPages := maps.Clone(localCommands), maps.Clone(dashboardForms)
	for _, one := range reachable {
		if !operations[one.operation] {
			t.Errorf("the API has no operation %s: remove it from reachable", one.operation)
		}
		delete(operations, one.operation)
		for _, command := range alternatives(one.command) {
			if !commands[command] {
				t.Errorf("%s: there is no command %q", one.operation, command)
			}
			usedCommands[command] = ""
		}
		for _, page := range alternatives(one.page) {
			if !pages[page] {
				t.Errorf("%s: the dashboard has no route %q", one.operation, page)
			}
			usedPages[page] = ""
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(operations)) {
		t.Errorf("%s: add to reachable which command and which page do the same", operation)
	}
	for command := range commands {
		if _, known := usedCommands[command]; !known {
			t.Errorf("postern %s: add it to reachable, or to localCommands with a reason", command)
		}
	}
	for page := range pages {
		if _, known := usedPages[page]; !known && isForm(page) {
			t.Errorf("%s: add it to reachable, or to dashboardForms with a reason", page)
		}
	}
}

// TestReachable_lists compares the lists of the JSON API with those of the command line: both can be sorted and
// searched, and docs/lists.md has the orders.
func TestReachable_lists(t *testing.T) {
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	documented, err := os.ReadFile("../../docs/lists.md")
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(terminal{out: io.Discard, err: io.Discard, in: strings.NewReader("")})
	queries := queriesOf(t, server)
	for _, one := range reachable {
		for _, path := range alternatives(one.command) {
			command, _, err := root.Find(strings.Fields(path))
			if err != nil {
				t.Fatal(err)
			}
			for parameter, flag := range map[string]string{"sort": "sort", "q": "search"} {
				if queries[one.operation][parameter] != nil && command.Flag(flag) == nil {
					t.Errorf("postern %s has no --%s, but %s has %s", path, flag, one.operation, parameter)
				}
			}
			var orders []string
			for _, order := range queries[one.operation]["sort"] {
				if !strings.HasPrefix(order, "-") {
					orders = append(orders, "`"+order+"`")
				}
			}
			row := fmt.Sprintf("| `postern %s` | %s |", path, strings.Join(orders, ", "))
			if orders != nil && !strings.Contains(string(documented), row) {
				t.Errorf("docs/lists.md lacks the row %s", row)
			}
		}
	}
}

// queriesOf returns the parameters of each operation of the OpenAPI document that the server publishes, with their
// values if these are listed.
func queriesOf(t *testing.T, server *handlers.Server) map[string]map[string][]string {
	t.Helper()
	type operation struct {
		ID         string `json:"operationId"`
		Parameters []struct {
			Name   string
			Schema struct{ Enum []any }
		} `json:"parameters"`
	}
	var document struct {
		Paths map[string]map[string]operation `json:"paths"`
	}
	answer := controlplane.Call(t, server.Handler(), "GET", "/openapi.json", "", "")
	if err := json.Unmarshal([]byte(answer.Raw), &document); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string][]string{}
	for _, methods := range document.Paths {
		for _, one := range methods {
			out[one.ID] = map[string][]string{}
			for _, p := range one.Parameters {
				values := []string{}
				for _, value := range p.Schema.Enum {
					values = append(values, fmt.Sprint(value))
				}
				out[one.ID][p.Name] = values
			}
		}
	}
	return out
}

// alternatives splits a cell of reachable. One that begins with "-" is the reason why there is nothing.
func alternatives(cell string) []string {
	if strings.HasPrefix(cell, "-") {
		return nil
	}
	return strings.Split(cell, "; ")
}

// isForm reports whether a route is a form of the dashboard.
func isForm(route string) bool {
	path, isPost := strings.CutPrefix(route, "POST ")
	return isPost && !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/oauth/") &&
		!strings.HasPrefix(path, "/scim/") && path != "/proxy"
}

// commandsOf returns the commands that do something, without the program's name.
func commandsOf(c *cobra.Command, prefix string) map[string]bool {
	out := map[string]bool{}
	for _, child := range c.Commands() {
		name := strings.TrimSpace(prefix + " " + child.Name())
		if !child.HasSubCommands() {
			out[name] = true
		}
		maps.Copy(out, commandsOf(child, name))
	}
	return out
}
