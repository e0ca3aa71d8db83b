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

	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/handlers"
	"postern/handlers/pages/ascode"
	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// reach is how else an operation of the JSON API can be carried out, or the reasons why it can't.
type reach struct {
	commands, pages   []string
	noCommand, noPage string
}

// reaches returns how each operation is reached: by the commands of the contract, the routes of "As code", and what
// reachable adds.
func reaches(t *testing.T) map[string]*reach {
	t.Helper()
	out := map[string]*reach{}
	of := func(operation string) *reach {
		if out[operation] == nil {
			out[operation] = &reach{}
		}
		return out[operation]
	}
	for _, op := range contract.Operations() {
		words, _ := op.Describe().Words()
		if flag := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "--") }); flag >= 0 {
			words = words[:flag]
		}
		if one := of(op.Describe().ID); len(words) > 0 {
			one.commands = []string{strings.Join(words, " ")}
		}
	}
	table := ascode.NewTable(ascode.Readers{})
	for route, page := range table.Pages {
		for _, call := range page.Reads {
			of(call.Operation).pages = append(of(call.Operation).pages, "GET "+route)
		}
	}
	for route, calls := range table.Forms {
		for _, call := range calls {
			of(call.Operation).pages = append(of(call.Operation).pages, "POST "+route)
		}
	}
	for _, more := range reachable {
		one := of(more.operation)
		for _, command := range alternatives(more.command) {
			if slices.Contains(one.commands, command) {
				t.Errorf("%s: the contract names the command %q: remove it from reachable", more.operation, command)
			}
			one.commands = append(one.commands, command)
		}
		for _, page := range alternatives(more.page) {
			if slices.Contains(one.pages, page) {
				t.Errorf("%s: the table of As code has %q: remove it from reachable", more.operation, page)
			}
			one.pages = append(one.pages, page)
		}
		one.noCommand, one.noPage = reasonIn(more.command), reasonIn(more.page)
	}
	return out
}

// TestReachable compares the JSON API with the command line and the dashboard: whatever one of them does, the
// others do too, or reachable says why not.
func TestReachable(t *testing.T) {
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	pages := map[string]bool{}
	for _, route := range controlplane.Routes(server) {
		pages[route.Method+" "+route.Path] = true
	}
	commands := commandsOf(newRoot(terminal.Terminal{Out: io.Discard, Err: io.Discard, In: strings.NewReader("")}), "")
	usedCommands, usedPages := maps.Clone(localCommands), maps.Clone(dashboardForms)
	operations := queriesOf(t, server)
	for operation, one := range testkit.ByName(reaches(t)) {
		if operations[operation] == nil {
			t.Errorf("the API has no operation %s", operation)
		}
		if (len(one.commands) > 0) == (one.noCommand != "") {
			t.Errorf("%s has the commands %q, and none because %q: one of them", operation, one.commands, one.noCommand)
		}
		if (len(one.pages) > 0) == (one.noPage != "") {
			t.Errorf("%s has the pages %q, and none because %q: one of them", operation, one.pages, one.noPage)
		}
		for _, command := range one.commands {
			if !commands[command] {
				t.Errorf("%s: there is no command %q", operation, command)
			}
			usedCommands[command] = ""
		}
		for _, page := range one.pages {
			if !pages[page] {
				t.Errorf("%s: the dashboard has no route %q", operation, page)
			}
			usedPages[page] = ""
		}
		delete(operations, operation)
	}
	for operation := range testkit.ByName(operations) {
		t.Errorf("%s: add to reachable which command and which page do the same", operation)
	}
	for command := range commands {
		if _, known := usedCommands[command]; !known {
			t.Errorf("postern %s: name it in its operation, or add it to localCommands with a reason", command)
		}
	}
	for page := range pages {
		if _, known := usedPages[page]; !known && isForm(page) {
			t.Errorf("%s: add it to the table of As code, or to dashboardForms with a reason", page)
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
	root := newRoot(terminal.Terminal{Out: io.Discard, Err: io.Discard, In: strings.NewReader("")})
	queries := queriesOf(t, server)
	for operation, one := range testkit.ByName(reaches(t)) {
		for _, path := range one.commands {
			command, _, err := root.Find(strings.Fields(path))
			if err != nil {
				t.Fatal(err)
			}
			for parameter, flag := range map[string]string{"sort": "sort", "q": "search"} {
				if queries[operation][parameter] != nil && command.Flag(flag) == nil {
					t.Errorf("postern %s has no --%s, but %s has %s", path, flag, operation, parameter)
				}
			}
			var orders []string
			for _, order := range queries[operation]["sort"] {
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
	if cell == "" || strings.HasPrefix(cell, "-") {
		return nil
	}
	return strings.Split(cell, "; ")
}

func reasonIn(cell string) string {
	if strings.HasPrefix(cell, "-") {
		return cell
	}
	return ""
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
