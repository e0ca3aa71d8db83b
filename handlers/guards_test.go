package handlers_test

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/pages/ascode"
	"postern/service/access"
	"postern/testkit/controlplane"
)

// guard declares what a route requires of its caller: an action, from which follows
// what a viewer, a member and an owner get, or nothing (open). Operations of the contract have their own action. A
// status of zero is the usual one, which withDefaults fills in.
type guard struct {
	open     bool // needs no credential; anonymous (routes_test.go) has its status
	action   access.Action
	contract bool   // action is the permission of the contract's operation
	query    string // behind the path, with the placeholders of body
	body     string // JSON for the API, a form for pages; placeholders as in Fixture.FillBody
	needs    string // state that the route's object must be in, one of those that Fixture.NewObjects knows
	operator bool   // for operators of the installation only; all others get 404, in their own team too
	audited  bool   // adds to the audit log although it is a GET or has no list of changes
	silent   bool   // changes nothing that is audited
	several  bool   // has an audit entry for each of several objects

	anonymous int // status without a credential
	outsider  int // status for an account with its own team
	otherKey  int // status for another workspace's key, where it differs from outsider
	owner     int
}

// personal reports whether the action concerns the account itself, whatever its teams.
func (g guard) personal() bool { return slices.Contains(access.Personal(), g.action) }

// withDefaults returns g with the usual statuses where it declares none: 404 for an
// outsider; 200 for the owner, or 303 after a form.
func (g guard) withDefaults(method, route string) guard {
	anonymous, owner := http.StatusUnauthorized, http.StatusOK
	if !controlplane.IsAPI(route) {
		anonymous = http.StatusSeeOther // to the sign-in page
		if method != http.MethodGet {
			owner = http.StatusSeeOther
		}
	}
	g.anonymous, g.owner = cmp.Or(g.anonymous, anonymous), cmp.Or(g.owner, owner)
	if !g.personal() {
		g.outsider = cmp.Or(g.outsider, http.StatusNotFound)
	}
	g.otherKey = cmp.Or(g.otherKey, g.outsider)
	return g
}

// guards declares every route of the control plane, a table per subject. Routes of operations, and pages and forms with
// lines as code, have the permissions of their operations, unless a table says otherwise.
var guards = withOperations(merge(
	publicGuards,
	accountGuards,
	projectGuards,
	usageGuards,
	domainGuards,
	ruleGuards,
	transformGuards,
	keyGuards,
	groupingGuards,
	openAPIGuards,
	directoryGuards,
	scimGuards,
	loginGuards,
	oidcGuards,
	webhookGuards,
))

// withOperations adds the permissions of operations to their routes, pages and forms, and the statuses of their success
// to their routes.
func withOperations(all map[string]guard) map[string]guard {
	permissions := map[string]contract.Permission{} // by the operation's id
	for _, described := range contract.Operations() {
		op := described.Describe()
		permissions[op.ID] = op.Permission
		name := op.Method + " " + strings.NewReplacer("{", ":", "}", "").Replace(op.Path)
		g := all[name]
		g.action, g.contract, g.owner = op.Permission, true, cmp.Or(g.owner, op.Status)
		all[name] = g
	}
	add := func(name string, calls []ascode.Call) {
		g := all[name]
		if len(calls) == 0 || g.open || g.action != "" || permissions[calls[0].Operation] == "" {
			return
		}
		g.action = permissions[calls[0].Operation]
		all[name] = g
	}
	table := ascode.NewTable(ascode.Readers{})
	for route, page := range table.Pages {
		add("GET "+route, page.Reads)
	}
	for route, calls := range table.Forms {
		add("POST "+route, calls)
	}
	return all
}

// merge joins tables of guards. It panics on a route that is declared twice.
func merge[V any](tables ...map[string]V) map[string]V {
	all := map[string]V{}
	for _, table := range tables {
		for route, g := range table {
			if _, ok := all[route]; ok {
				panic(route + " is declared twice")
			}
			all[route] = g
		}
	}
	return all
}
