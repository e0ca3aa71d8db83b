package handlers_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/models"
	"postern/service/access"
	"postern/testkit/state"
)

// Whoever may not do it is refused, which leaves one audit entry that says so; who
// may, leaves one with each change, which says what changed.
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
			if ok && !want.open && !want.operator && !want.personal() &&
				!slices.Contains(access.Actions(), want.action) {
				t.Errorf("%s declares no action: %q", name, want.action)
			}
			if ok && !want.open {
				t.Run(
					name,
					func(t *testing.T) { checkRoute(o, t, want.filled(route.Method, route.Path), route.Method, route.Path) },
				)
			}
		}
		for name := range guards {
			if !declared[name] {
				t.Errorf("%s is declared here and is no route", name)
			}
		}
	})
}

func checkRoute(o *office, t *testing.T, want guard, method, route string) {
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
		if want.operator {
			rows = append(rows, row{"a " + string(role), path, caller, http.StatusNotFound})
		} else if !want.personal() && !access.Can(role, want.action) {
			rows = append(rows, row{"a " + string(role), path, caller, http.StatusForbidden})
		}
	}
	if strings.Count(route, ":") > 1 && !want.personal() {
		below := has
		below.project, below.projectName, below.team = o.strangers.project, o.strangers.projectName, o.strangers.team
		rows = append(rows, row{"a stranger below what is theirs", below.path(route), o.stranger, http.StatusNotFound})
	}
	for _, r := range rows {
		before := o.audit(t)
		got := o.ask(t, method, r.path, o.fill(t, has, want.body), r.caller)
		if got.status != r.status {
			t.Errorf("%s got %d, want %d: %.200q", r.who, got.status, r.status, got.raw)
		}
		if r.status == http.StatusSeeOther && r.caller == nil &&
			!strings.HasPrefix(got.header.Get("Location"), "/signin") {
			t.Errorf("%s is led to %s, not to the sign-in page", r.who, got.header.Get("Location"))
		}
		known := strings.Contains(r.path, has.project) ||
			strings.Contains(r.path, has.projectName) // answers repeat the address
		inside := o.others[access.Role(strings.TrimPrefix(r.who, "a "))] != nil
		if !inside && !known && (strings.Contains(got.raw, has.project) || strings.Contains(got.raw, has.projectName)) {
			t.Errorf("%s learns of the project: %.200q", r.who, got.raw)
		}
		checkRefusal(o, t, want, r.who, r.status, o.added(t, before, o.team, has.team))
	}
	checkAllowed(o, t, want, method, route, has, o.owner, o.principal.Account)
	for role, caller := range o.others {
		if !want.operator && !want.personal() && access.Can(role, want.action) {
			checkAllowed(o, t, want, method, route, o.furnish(t, want.needs, route), caller, o.accounts[role])
		}
	}
}

// checkAllowed asks as somebody who may, and looks for the one audit entry.
func checkAllowed(o *office, t *testing.T,
	want guard,
	method, route string,
	has things,
	caller []string,
	account string,
) {
	t.Helper()
	before := o.audit(t)
	got := o.ask(t, method, has.path(route), o.fill(t, has, want.body), caller)
	if got.status != want.owner || strings.HasPrefix(got.header.Get("Location"), "/signin") {
		t.Fatalf("%s got %d, want %d: %.200q", account, got.status, want.owner, got.raw)
	}
	o.follow(got)
	added, changes := o.added(t, before), (method != http.MethodGet || want.recorded) && !want.silent
	teams := map[string]bool{} // what an account does with its tokens, all its teams learn of
	for _, entry := range added {
		teams[entry.TeamID] = true
	}
	switch {
	case !changes && len(added) != 0:
		t.Errorf("%d audit entries although nothing changed", len(added))
	case changes && (len(added) == 0 || len(added) != len(teams)):
		t.Errorf("the change of %s left %d audit entries for %d teams, want one each", account, len(added), len(teams))
	case changes && (added[0].Actor != account || added[0].RequestID == "" || added[0].Action != string(want.action)):
		t.Errorf("the audit entry does not say who did %s in which request: %+v", want.action, added[0])
	case changes && !want.recorded && want.action != access.WorkspaceClaim && len(added[0].Changes) == 0:
		t.Errorf("the audit entry does not say what changed: %+v", added[0])
	}
}

// checkRefusal looks at what the answer to one caller has added to the log of the
// team whose things were asked for.
func checkRefusal(o *office, t *testing.T, want guard, who string, status int, added []models.AuditEntry) {
	t.Helper()
	trespass := who != "nobody" && !want.personal() && (status == http.StatusForbidden || status == http.StatusNotFound)
	if who == "another workspace's key" && status == http.StatusForbidden {
		trespass = false // in a workspace of its own
	}
	if want.personal() && status == http.StatusNotFound && want.action == access.WorkspaceClaim {
		trespass = true // into the team
	}
	switch below := who == "a stranger below what is theirs"; {
	case below && len(added) == 0: // found nothing where they looked
	case !trespass && len(added) != 0:
		t.Errorf("%s was answered %d, and the log of the team says %+v", who, status, added)
	case trespass && (len(added) != 1 || added[0].Outcome != models.OutcomeRefused || added[0].Actor == o.principal.Account ||
		added[0].RequestID == "" || added[0].Detail["code"] == "" || added[0].Detail["route"] == ""):
		t.Errorf("%s was refused, and the log of the team says %+v", who, added)
	}
}
