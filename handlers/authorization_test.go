package handlers_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/access"
	"postern/models"
	"postern/testkit/state"
)

// Whoever may not do it is refused and nothing is written down; who may, leaves
// one audit entry with each change.
func TestEveryRouteGuardsWhatExists(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db)
		declared := map[string]bool{}
		for _, route := range o.server.Routes() {
			name := route.Method + " " + route.Path
			want, ok := guards[name]
			declared[name] = true
			if !ok {
				t.Errorf("%s is not declared in this test: say who may ask it", name)
			}
			if ok && !want.open && !want.personal() && !slices.Contains(access.Actions(), want.action) {
				t.Errorf("%s declares no action: %q", name, want.action)
			}
			if ok && !want.open {
				t.Run(name, func(t *testing.T) { o.check(t, want.filled(route.Method, route.Path), route.Method, route.Path) })
			}
		}
		for name := range guards {
			if !declared[name] {
				t.Errorf("%s is declared here and is no route", name)
			}
		}
	})
}

func isAPI(route string) bool { return strings.HasPrefix(route, "/api/") || route == "/proxy" }

func (o *office) check(t *testing.T, want guard, method, route string) {
	has := o.furnish(t, want.needs, route)
	type row struct {
		who, path string
		caller    []string
		status    int
	}
	path := has.path(route)
	rows := []row{{"nobody", path, nil, want.nobody}}
	if want.stranger != 0 {
		rows = append(rows, row{"a stranger", path, o.stranger, want.stranger})
	}
	if isAPI(route) && want.key != 0 {
		rows = append(rows, row{"another workspace's key", path, o.otherKey, want.key})
	}
	for role, caller := range o.others {
		if !want.personal() && !access.Can(role, want.action) {
			rows = append(rows, row{"a " + string(role), path, caller, http.StatusForbidden})
		}
	}
	if strings.Count(route, ":") > 1 && !want.personal() {
		below := has
		below.project, below.projectName, below.team = o.strangers.project, o.strangers.projectName, o.strangers.team
		rows = append(rows, row{"a stranger below what is theirs", below.path(route), o.stranger, http.StatusNotFound})
	}
	before := o.audit(t, has)
	for _, r := range rows {
		got := o.ask(t, method, r.path, has.fill(want.body, o.team), r.caller)
		if got.status != r.status {
			t.Errorf("%s got %d, want %d: %.200q", r.who, got.status, r.status, got.raw)
		}
		if r.status == http.StatusSeeOther && !strings.HasPrefix(got.header.Get("Location"), "/signin") {
			t.Errorf("%s is led to %s, not to the sign-in page", r.who, got.header.Get("Location"))
		}
		known := strings.Contains(r.path, has.project) || strings.Contains(r.path, has.projectName) // answers repeat the address
		if !strings.HasPrefix(r.who, "a ") && !known && (strings.Contains(got.raw, has.project) || strings.Contains(got.raw, has.projectName)) {
			t.Errorf("%s learns of the project: %.200q", r.who, got.raw)
		}
	}
	if added := o.added(t, has, before); len(added) != 0 {
		t.Errorf("what was refused is in the audit log: %+v", added[0])
	}
	o.checkAllowed(t, want, method, route, has, o.owner, o.principal.Account)
	for role, caller := range o.others {
		if !want.personal() && access.Can(role, want.action) {
			o.checkAllowed(t, want, method, route, o.furnish(t, want.needs, route), caller, o.accounts[role])
		}
	}
}

// checkAllowed asks as somebody who may, and looks for the one audit entry.
func (o *office) checkAllowed(t *testing.T, want guard, method, route string, has things, caller []string, account string) {
	t.Helper()
	before := o.audit(t, has)
	got := o.ask(t, method, has.path(route), has.fill(want.body, o.team), caller)
	if got.status != want.owner || strings.HasPrefix(got.header.Get("Location"), "/signin") {
		t.Fatalf("%s got %d, want %d: %.200q", account, got.status, want.owner, got.raw)
	}
	o.follow(got)
	added, changes := o.added(t, has, before), method != http.MethodGet && !want.silent
	switch {
	case !changes && len(added) != 0:
		t.Errorf("%d audit entries although nothing changed", len(added))
	case changes && len(added) != 1:
		t.Errorf("the change of %s left %d audit entries, want 1", account, len(added))
	case changes && (added[0].Actor != account || added[0].RequestID == "" || added[0].Action != string(want.action)):
		t.Errorf("the audit entry does not say who did %s in which request: %+v", want.action, added[0])
	}
}

// follow keeps the owner's session when an answer gives it another secret.
func (o *office) follow(got answer) {
	for _, cookie := range (&http.Response{Header: got.header}).Cookies() {
		if cookie.Name == "postern" {
			o.owner = []string{"Cookie", "postern=" + cookie.Value}
		}
	}
}
