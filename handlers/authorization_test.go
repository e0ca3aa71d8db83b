package handlers_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/models"
	"postern/service/access"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// Whoever may not do it is refused, which leaves one audit entry that says so; who
// may, leaves one with each change, which says what changed.
func TestEveryRouteGuardsWhatExists(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		declared := map[string]bool{}
		for _, route := range o.Server.Routes() {
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

func checkRoute(o *controlplane.Fixture, t *testing.T, want guard, method, route string) {
	has := o.NewObjects(t, want.needs, route)
	type row struct {
		who, path string
		caller    []string
		status    int
	}
	path := has.Path(route)
	rows := []row{{"nobody", path, nil, want.nobody}}
	if want.stranger != 0 {
		rows = append(rows, row{"a stranger", path, o.Outsider, want.stranger})
	}
	if controlplane.IsAPI(route) && want.key != 0 {
		rows = append(rows, row{"another workspace's key", path, o.OtherWorkspace, want.key})
	}
	for role, caller := range o.Members {
		if want.operator {
			rows = append(rows, row{"a " + string(role), path, caller, http.StatusNotFound})
		} else if !want.personal() && !access.Can(role, want.action) {
			rows = append(rows, row{"a " + string(role), path, caller, http.StatusForbidden})
		}
	}
	if strings.Count(route, ":") > 1 && !want.personal() {
		below := has
		below.Project, below.ProjectName, below.Team = o.OutsiderObjects.Project, o.OutsiderObjects.ProjectName, o.OutsiderObjects.Team
		rows = append(rows, row{"a stranger below what is theirs", below.Path(route), o.Outsider, http.StatusNotFound})
	}
	for _, r := range rows {
		before := o.AuditNumbers(t)
		got := o.Do(t, method, r.path, o.FillBody(t, has, want.body), r.caller)
		if got.Status != r.status {
			t.Errorf("%s got %d, want %d: %.200q", r.who, got.Status, r.status, got.Raw)
		}
		if r.status == http.StatusSeeOther && r.caller == nil &&
			!strings.HasPrefix(got.Header.Get("Location"), "/signin") {
			t.Errorf("%s is led to %s, not to the sign-in page", r.who, got.Header.Get("Location"))
		}
		known := strings.Contains(r.path, has.Project) ||
			strings.Contains(r.path, has.ProjectName) // answers repeat the address
		inside := o.Members[access.Role(strings.TrimPrefix(r.who, "a "))] != nil
		if !inside && !known && (strings.Contains(got.Raw, has.Project) || strings.Contains(got.Raw, has.ProjectName)) {
			t.Errorf("%s learns of the project: %.200q", r.who, got.Raw)
		}
		checkRefusal(o, t, want, r.who, r.status, o.AuditSince(t, before, o.Team, has.Team))
	}
	checkAllowed(o, t, want, method, route, has, o.Owner, o.Principal.Account)
	for role, caller := range o.Members {
		if !want.operator && !want.personal() && access.Can(role, want.action) {
			checkAllowed(o, t, want, method, route, o.NewObjects(t, want.needs, route), caller, o.MemberIDs[role])
		}
	}
}

// checkAllowed asks as somebody who may, and looks for the one audit entry.
func checkAllowed(o *controlplane.Fixture, t *testing.T,
	want guard,
	method, route string,
	has controlplane.Objects,
	caller []string,
	account string,
) {
	t.Helper()
	before := o.AuditNumbers(t)
	got := o.Do(t, method, has.Path(route), o.FillBody(t, has, want.body), caller)
	if got.Status != want.owner || strings.HasPrefix(got.Header.Get("Location"), "/signin") {
		t.Fatalf("%s got %d, want %d: %.200q", account, got.Status, want.owner, got.Raw)
	}
	o.KeepSession(got)
	added, changes := o.AuditSince(t, before), (method != http.MethodGet || want.recorded) && !want.silent
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
func checkRefusal(
	o *controlplane.Fixture, t *testing.T, want guard, who string, status int, added []models.AuditEntry,
) {
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
	case trespass && (len(added) != 1 || added[0].Outcome != models.OutcomeRefused || added[0].Actor == o.Principal.Account ||
		added[0].RequestID == "" || added[0].Detail["code"] == "" || added[0].Detail["route"] == ""):
		t.Errorf("%s was refused, and the log of the team says %+v", who, added)
	}
}
