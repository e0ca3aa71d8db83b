package handlers_test

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/models"
	"postern/service/access"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestRoutes_authorization calls every route as every kind of caller. A refused caller
// leaves one audit entry that says so; an allowed one leaves one with each change.
func TestRoutes_authorization(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	for _, route := range controlplane.Routes(o.Server) {
		name := route.Method + " " + route.Path
		want := guards[name]
		if want.open {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := routeTest{o, t, want.withDefaults(route.Method, route.Path), route.Method, route.Path}
			r.refusals()
			r.checkAllowed(r.newObjects(), o.Owner, o.Principal.Account)
			for role, caller := range o.Members {
				if !want.operator && !want.personal() && access.Can(role, want.action) {
					r.checkAllowed(r.newObjects(), caller, o.MemberIDs[role])
				}
			}
		})
	}
}

// TestRoutes_guards checks that the guards declare the routes that exist, and no others.
func TestRoutes_guards(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	for _, route := range controlplane.Routes(controlplane.NewServer(t, state.OpenSQLite(t))) {
		name := route.Method + " " + route.Path
		declared[name] = true
		want, ok := guards[name]
		if !ok {
			t.Errorf("%s is not declared in guards: add who may call it", name)
		}
		if ok && !want.open && !want.operator && !want.personal() &&
			!slices.Contains(access.Actions(), want.action) {
			t.Errorf("%s declares an unknown action: %q", name, want.action)
		}
	}
	for name := range guards {
		if !declared[name] {
			t.Errorf("%s is declared in guards and is not a route", name)
		}
	}
}

// routeTest calls one route.
type routeTest struct {
	o             *controlplane.Fixture
	t             *testing.T
	want          guard
	method, route string
}

func (r routeTest) newObjects() controlplane.Objects {
	return r.o.NewObjects(r.t, r.want.needs, r.route)
}

// caller is one that the route refuses, or that gets its own answer.
type caller struct {
	name   string
	header []string
	path   string
	status int

	member bool // of the team: may learn of the project
	nested bool // requests the team's object below another object of its own team
}

func (r routeTest) callers(has controlplane.Objects) []caller {
	o, want, path := r.o, r.want, has.Path(r.route)+r.o.FillBody(r.t, has, r.want.query)
	list := []caller{{name: "anonymous", path: path, status: want.anonymous}}
	if want.outsider != 0 {
		list = append(list, caller{name: "outsider", path: path, header: o.Outsider, status: want.outsider})
	}
	if controlplane.IsAPI(r.route) && want.otherKey != 0 {
		list = append(list, caller{name: "other key", path: path, header: o.OtherWorkspace, status: want.otherKey})
	}
	for role, header := range o.Members {
		c := caller{name: string(role), path: path, header: header, member: true}
		switch {
		case want.operator:
			c.status = http.StatusNotFound
		case !want.personal() && !access.Can(role, want.action):
			c.status = http.StatusForbidden
		default:
			continue
		}
		list = append(list, c)
	}
	if strings.Count(r.route, ":") > 1 && !want.personal() {
		below := has
		below.Project, below.ProjectName = o.OutsiderObjects.Project, o.OutsiderObjects.ProjectName
		below.Team = o.OutsiderObjects.Team
		list = append(list, caller{
			name:   "outsider below their own",
			path:   below.Path(r.route),
			header: o.Outsider,
			status: http.StatusNotFound,
			nested: true,
		})
	}
	return list
}

// refusals calls the route as each caller that it refuses.
func (r routeTest) refusals() {
	has := r.newObjects()
	for _, c := range r.callers(has) {
		body := r.o.FillBody(r.t, has, r.want.body) // may write its own audit entries
		before := r.o.AuditNumbers(r.t)
		got := r.o.Do(r.t, r.method, c.path, body, c.header)
		if got.Status != c.status {
			r.t.Errorf("%s got %d, want %d: %.200q", c.name, got.Status, c.status, got.Raw)
		}
		if to := got.Header.Get("Location"); c.status == http.StatusSeeOther && c.header == nil &&
			!strings.HasPrefix(to, "/signin") {
			r.t.Errorf("%s is redirected to %s, want the sign-in page", c.name, to)
		}
		if !c.member {
			r.checkNotNamed(c, has, got.Raw)
		}
		r.checkAudit(c, r.o.AuditSince(r.t, before, r.o.Team, has.Team))
	}
}

// checkNotNamed checks that an answer does not name the project, unless the address did.
func (r routeTest) checkNotNamed(c caller, has controlplane.Objects, answer string) {
	r.t.Helper()
	if strings.Contains(c.path, has.Project) || strings.Contains(c.path, has.ProjectName) {
		return
	}
	if strings.Contains(answer, has.Project) || strings.Contains(answer, has.ProjectName) {
		r.t.Errorf("%s learns of the project: %.200q", c.name, answer)
	}
}

// checkAudit checks what the answer to one caller added to the log of the team whose
// objects the request named.
func (r routeTest) checkAudit(c caller, added []models.AuditEntry) {
	r.t.Helper()
	if c.nested && len(added) == 0 {
		return // not found in the outsider's own project, which is not a trespass
	}
	if !r.isAudited(c) {
		if len(added) != 0 {
			r.t.Errorf("%s was answered %d, and the log of the team has %+v", c.name, c.status, added)
		}
		return
	}
	if len(added) != 1 {
		r.t.Errorf("%s was refused, and the log of the team has %d entries: %+v", c.name, len(added), added)
		return
	}
	entry := added[0]
	if entry.Outcome != models.OutcomeRefused {
		r.t.Errorf("the entry of %s has outcome %q, want %q", c.name, entry.Outcome, models.OutcomeRefused)
	}
	if entry.Actor == r.o.Principal.Account {
		r.t.Errorf("the entry of %s names the owner as the actor", c.name)
	}
	// A claim of a workspace is refused by the team that it would join.
	if r.want.contract && !c.nested && r.want.action != access.WorkspaceClaim &&
		entry.Action != string(r.want.action) {
		r.t.Errorf("the entry of %s has action %q, want %q", c.name, entry.Action, r.want.action)
	}
	if entry.RequestID == "" {
		r.t.Errorf("the entry of %s has no request id", c.name)
	}
	if entry.Detail["code"] == "" || entry.Detail["route"] == "" {
		r.t.Errorf("the entry of %s lacks the code or the route: %v", c.name, entry.Detail)
	}
}

// isAudited reports whether the refusal of c belongs into the log of the team.
func (r routeTest) isAudited(c caller) bool {
	notFound, forbidden := c.status == http.StatusNotFound, c.status == http.StatusForbidden
	switch {
	case r.want.personal():
		return notFound && r.want.action == access.WorkspaceClaim // into the team
	case c.name == "other key":
		return notFound // what is forbidden to it is in its own workspace
	}
	return c.header != nil && (notFound || forbidden)
}

// checkAllowed calls the route as an account that may, and looks for the one audit entry.
func (r routeTest) checkAllowed(has controlplane.Objects, header []string, account string) {
	r.t.Helper()
	path, body := has.Path(r.route)+r.o.FillBody(r.t, has, r.want.query), r.o.FillBody(r.t, has, r.want.body)
	before := r.o.AuditNumbers(r.t)
	got := r.o.Do(r.t, r.method, path, body, header)
	if got.Status != r.want.owner || strings.HasPrefix(got.Header.Get("Location"), "/signin") {
		r.t.Fatalf("%s got %d, want %d: %.200q", account, got.Status, r.want.owner, got.Raw)
	}
	r.o.KeepSession(got)
	added := r.o.AuditSince(r.t, before)
	if r.want.silent || r.method == http.MethodGet && !r.want.audited {
		if len(added) != 0 {
			r.t.Errorf("%d audit entries although nothing changed", len(added))
		}
		return
	}
	teams := map[string]bool{} // a change of an account's tokens is in the log of each of its teams
	for _, entry := range added {
		teams[entry.TeamID] = true
	}
	if len(added) == 0 || len(added) != len(teams) && !r.want.several {
		r.t.Fatalf(
			"the change by %s left %d audit entries for %d teams, want one each", account, len(added),
			len(teams),
		)
	}
	for _, entry := range added {
		r.checkNamed(entry)
	}
	entry := added[0]
	if at := slices.IndexFunc(added, func(one models.AuditEntry) bool {
		return one.Action == string(r.want.action)
	}); r.want.several && at >= 0 {
		entry = added[at]
	}
	if entry.Actor != account {
		r.t.Errorf("the audit entry names %q as the actor, want %q", entry.Actor, account)
	}
	if entry.RequestID == "" {
		r.t.Error("the audit entry has no request id")
	}
	if entry.Action != string(r.want.action) {
		r.t.Errorf("the audit entry has action %q, want %q", entry.Action, r.want.action)
	}
	if !r.want.audited && r.want.action != access.WorkspaceClaim && len(entry.Changes) == 0 {
		r.t.Errorf("the audit entry does not say what changed: %+v", entry)
	}
}

// unnamed are the actions on objects that need not have a name: the caller's own account, an export, an invitation of
// anyone who has its link, or a merged workspace.
var unnamed = []access.Action{
	access.AccountDelete, access.AccountSignIn, access.AccountUpdate, access.ExportCreate, access.ExportDownload,
	access.ExportSecrets, access.InvitationAccept, access.InvitationCreate, access.InvitationRevoke,
	access.WorkspaceClaim,
}

// checkNamed checks that an entry has what people call its object.
func (r routeTest) checkNamed(entry models.AuditEntry) {
	r.t.Helper()
	names := cmp.Or(
		entry.Detail["name"], entry.Detail["key"], entry.Detail["host"], entry.Detail["machine"], entry.Detail["check"],
		entry.Detail["import"],
	)
	if names == "" && !slices.Contains(unnamed, access.Action(entry.Action)) {
		r.t.Errorf("the audit entry for %s of %s doesn't name its object: %v", entry.Action, entry.Object, entry.Detail)
	}
}
