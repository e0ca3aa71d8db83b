package projects_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/projects"
	"postern/testkit/state"
)

func firstVersion(project string) contract.VersionPath {
	return contract.VersionPath{ProjectPath: contract.ProjectPath{Project: project}, Version: "1.0.0"}
}

func rulesUpdate(project, etag string, in contract.Rules) contract.RulesUpdate {
	return contract.RulesUpdate{
		VersionPath: firstVersion(project), Condition: contract.Condition{IfMatch: etag}, Body: in,
	}
}

func (h *loginProject) setRules(t *testing.T, in contract.Rules) contract.SavedRules {
	t.Helper()
	out, err := h.SetRules(t.Context(), h.owner, rulesUpdate(h.project, "", in))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func getting(path string) snapshot.Rule {
	return snapshot.Rule{Methods: []string{"GET"}, Path: path, Scopes: []string{"s"}}
}

func TestRules(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		before, err := h.Rules(t.Context(), h.owner, firstVersion(h.project))
		if err != nil {
			t.Fatal(err)
		}
		if before.Default != "allow" || before.Mode != "enforce" || len(before.List) != 0 {
			t.Errorf("at first: %+v", before)
		}
		rule := snapshot.Rule{Methods: []string{"get"}, Path: "/orders/{id}", Groups: []string{"staff"}, Role: "admin"}
		set := h.setRules(t, snapshot.Rules{Default: "deny", ReadWriteScopes: true, List: []snapshot.Rule{rule}})
		if got := set.List[0]; !strings.HasPrefix(got.ID, "rul_") || got.Methods[0] != "GET" ||
			set.ETag == before.ETag {
			t.Errorf("set: %+v", set)
		}
		served := h.world.project(t, h.project).Versions[0].Rules
		if diff := cmp.Diff(set.Rules, served); diff != "" {
			t.Errorf("served (-set +served):\n%s", diff)
		}
		t.Run("ids are kept", func(t *testing.T) {
			again := set.Rules
			again.List = append(slices.Clone(again.List), getting("/new"))
			got := h.setRules(t, again)
			if got.List[0].ID != set.List[0].ID || got.List[1].ID == set.List[0].ID {
				t.Errorf("%+v", got.List)
			}
		})
		t.Run("stale", func(t *testing.T) {
			_, err := h.SetRules(t.Context(), h.owner, rulesUpdate(h.project, set.ETag, set.Rules))
			if err == nil || fault.KindOf(err) != fault.KindOf(access.Stale()) {
				t.Errorf("%v", err)
			}
		})
		t.Run("copied with the version", func(t *testing.T) {
			in := contract.NewVersion{Name: "2.0.0"}.In(h.project)
			if _, err := h.CreateVersion(t.Context(), h.owner, in); err != nil {
				t.Fatal(err)
			}
			second := firstVersion(h.project)
			second.Version = "2.0.0"
			copied, err := h.Rules(t.Context(), h.owner, second)
			if err != nil || len(copied.List) != 2 || copied.Default != "deny" {
				t.Errorf("%+v, %v", copied, err)
			}
		})
		t.Run("not allowed", func(t *testing.T) {
			stranger := access.Principal{
				Roles: map[string]access.Role{"team_other": access.Owner}, HomeTeam: "team_other",
			}
			_, err := h.SetRules(t.Context(), stranger, rulesUpdate(h.project, "", contract.Rules{}))
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("%v", err)
			}
		})
	})
}

func TestCheckRules(t *testing.T) {
	get, long := []string{"GET"}, make([]snapshot.Rule, 2001)
	var deep []snapshot.Rule
	for i := range 1000 {
		deep = append(deep, snapshot.Rule{Methods: get, Path: fmt.Sprintf("/%d", i) + strings.Repeat("/a", 16)})
	}
	for name, tc := range map[string]struct {
		rules snapshot.Rules
		want  string
	}{
		"default":   {snapshot.Rules{Default: "ask"}, "/default invalid_default"},
		"mode":      {snapshot.Rules{Mode: "audit"}, "/mode invalid_mode"},
		"too many":  {snapshot.Rules{List: long}, "/rules too_many"},
		"too long":  {snapshot.Rules{List: deep}, "/rules too_many"},
		"id":        {one(snapshot.Rule{ID: "x", Methods: get, Path: "/"}), "/rules/0/id invalid_id"},
		"path":      {one(snapshot.Rule{Methods: get, Path: "/a//b"}), "/rules/0/path invalid_path"},
		"wildcard":  {one(snapshot.Rule{Methods: get, Path: "/admin/*"}), "/rules/0/path invalid_path"},
		"rest":      {one(snapshot.Rule{Methods: get, Path: "/{path...}/a"}), "/rules/0/path invalid_path"},
		"no method": {one(snapshot.Rule{Path: "/"}), "/rules/0/methods required"},
		"method":    {one(snapshot.Rule{Methods: []string{"G ET"}, Path: "/"}), "/rules/0/methods/0 invalid_method"},
		"TRACE": {
			one(snapshot.Rule{Methods: []string{"TRACE"}, Path: "/"}), "/rules/0/methods/0 invalid_method",
		},
		"all and one": {
			one(snapshot.Rule{Methods: []string{"*", "GET"}, Path: "/"}), "/rules/0/methods invalid_method",
		},
		"method twice": {
			one(snapshot.Rule{Methods: []string{"GET", "get"}, Path: "/"}), "/rules/0/methods/1 duplicate",
		},
		"scope": {
			one(snapshot.Rule{Methods: get, Path: "/", Scopes: []string{"a:*"}}), "/rules/0/scopes/0 invalid_scope",
		},
		"scope twice": {
			one(snapshot.Rule{Methods: get, Path: "/", Scopes: []string{"a", "a"}}), "/rules/0/scopes/1 duplicate",
		},
		"group": {
			one(snapshot.Rule{Methods: get, Path: "/", Groups: []string{"A,b"}}), "/rules/0/groups/0 invalid_group",
		},
		"group twice": {
			one(snapshot.Rule{Methods: get, Path: "/", Groups: []string{"a", "a"}}), "/rules/0/groups/1 duplicate",
		},
		"role": {
			one(snapshot.Rule{Methods: get, Path: "/", Groups: []string{"a"}, Role: "king"}),
			"/rules/0/role invalid_role",
		},
		"role alone":  {one(snapshot.Rule{Methods: get, Path: "/", Role: "admin"}), "/rules/0/role needs_groups"},
		"rule's mode": {one(snapshot.Rule{Methods: get, Path: "/", Mode: "audit"}), "/rules/0/mode invalid_mode"},
		"lists":       {one(snapshot.Rule{Methods: make([]string, 51), Path: "/"}), "/rules/0 too_many"},
		"owner's parameter": {
			one(snapshot.Rule{Methods: get, Path: "/a/{id}", Owner: "a:{x}"}), "/rules/0/owner invalid_object",
		},
		"owner's type": {
			one(snapshot.Rule{Methods: get, Path: "/a/{id}", Owner: "{id}"}), "/rules/0/owner invalid_object",
		},
		"owner by an answer": {
			one(snapshot.Rule{Methods: get, Path: "/a", Owner: "a:{response.id}"}), "/rules/0/owner invalid_object",
		},
		"remember of GET": {
			one(snapshot.Rule{Methods: []string{"POST", "GET"}, Path: "/a", Remember: "a:{response.id}"}),
			"/rules/0/remember wrong_method",
		},
		"remember of all": {
			one(snapshot.Rule{Methods: []string{"*"}, Path: "/a", Remember: "a:{response.id}"}),
			"/rules/0/remember wrong_method",
		},
		"remember without a name": {
			one(snapshot.Rule{Methods: []string{"POST"}, Path: "/a", Remember: "a:{response}"}),
			"/rules/0/remember invalid_object",
		},
		"forget of PUT": {
			one(snapshot.Rule{Methods: []string{"PUT"}, Path: "/a/{id}", Forget: "a:{id}"}),
			"/rules/0/forget wrong_method",
		},
		"both": {
			one(snapshot.Rule{
				Methods:  []string{"POST"},
				Path:     "/a/{id}",
				Forget:   "a:{id}",
				Remember: "a:{response.id}",
			}),
			"/rules/0/forget remember_and_forget",
		},
		"the same path": {snapshot.Rules{List: []snapshot.Rule{getting("/a/{x}"), getting("/b"), getting("/a/{y}")}},
			"/rules/2/path ambiguous_rule"},
		"the same text": {
			snapshot.Rules{List: []snapshot.Rule{getting("/%61"), getting("/a")}}, "/rules/1/path ambiguous_rule",
		},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := projects.CheckRules("", &tc.rules)
			if len(wrong) != 1 || wrong[0].Pointer+" "+wrong[0].Code != tc.want {
				t.Errorf("%+v, want %s", wrong, tc.want)
			}
		})
	}
	two := snapshot.Rules{
		List: []snapshot.Rule{getting("/a/{x}"), {Methods: []string{"POST"}, Path: "/a/{y}"}, getting("/a/b")},
	}
	if wrong := projects.CheckRules("", &two); len(wrong) != 0 {
		t.Errorf("%+v", wrong)
	}
	tied := snapshot.Rules{List: []snapshot.Rule{getting("/a/{x}"), getting("/a/{y}")}}
	detail := projects.CheckRules("", &tied)[0].Detail
	if !strings.Contains(detail, "rule 1 (GET /a/{x})") || !strings.Contains(detail, "rule 2 (GET /a/{y})") {
		t.Errorf("the error does not name both: %s", detail)
	}
}

func one(rule snapshot.Rule) snapshot.Rules { return snapshot.Rules{List: []snapshot.Rule{rule}} }

// Gateways have the groups of owners of keys: those in rules, with nested ones and roles, at once.
func TestRules_groupsOfOwners(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		ana, bob := h.person(t, "ana@example.com"), h.person(t, "bob@example.com")
		group := func(name string) string {
			t.Helper()
			made, err := h.people.CreateGroup(t.Context(), h.owner, contract.NewGroup{Name: name}.In(h.tenant))
			if err != nil {
				t.Fatal(err)
			}
			return made.ID
		}
		staff, ops, other := group("staff"), group("ops"), group("other")
		put := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		is := func(when string, want ...snapshot.Member) {
			t.Helper()
			if diff := cmp.Diff(want, h.world.project(t, h.project).Members); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		member := func(group, user, role string) {
			t.Helper()
			_, err := h.people.SetMember(t.Context(), h.owner, contract.InGroup(group, user).As(role))
			put(err)
		}
		member(ops, ana, "admin")
		member(other, ana, "admin")
		member(staff, bob, "member")
		h.mint(t, h.owner, h.project, contract.NewKey{Owner: ana})
		is("without rules")
		h.setRules(t, one(snapshot.Rule{Methods: []string{"GET"}, Path: "/", Groups: []string{"staff", "ops"}}))
		is("with rules", snapshot.Member{User: ana, TenantID: h.tenant, In: []string{"ops"}, Admin: []string{"ops"}})
		_, err := h.people.Nest(t.Context(), h.owner, contract.Nested(staff, ops))
		put(err)
		is("nested", snapshot.Member{
			User: ana, TenantID: h.tenant, In: []string{"ops", "staff"}, Admin: []string{"ops"},
		})
		member(ops, ana, "member")
		is("no admin", snapshot.Member{User: ana, TenantID: h.tenant, In: []string{"ops", "staff"}})
		h.mint(t, h.owner, h.project, contract.NewKey{Owner: bob})
		both := []snapshot.Member{
			{User: ana, TenantID: h.tenant, In: []string{"ops", "staff"}},
			{User: bob, TenantID: h.tenant, In: []string{"staff"}},
		}
		slices.SortFunc(both, func(a, b snapshot.Member) int { return strings.Compare(a.User, b.User) })
		is("a second key", both...)
		_, err = h.people.RemoveMember(t.Context(), h.owner, contract.InGroup(staff, bob))
		put(err)
		is("bob has left", snapshot.Member{User: ana, TenantID: h.tenant, In: []string{"ops", "staff"}})
		_, err = h.people.DeleteGroup(t.Context(), h.owner, contract.GroupPath{Group: ops})
		put(err)
		is("ops is gone")
	})
}

// Gateways have the groups of apps that own keys, of each tenant apart, and refuse other keys.
func TestRules_groupsOfApps(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		acme, err := h.CreateTenant(t.Context(), h.owner, newTenant("acme"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Attach(t.Context(), h.owner, contract.Attachment(h.project, "acme")); err != nil {
			t.Fatal(err)
		}
		group := func(tenant, name string) string {
			t.Helper()
			made, err := h.people.CreateGroup(t.Context(), h.owner, contract.NewGroup{Name: name}.In(tenant))
			if err != nil {
				t.Fatal(err)
			}
			return made.ID
		}
		put := func(group, owner, role string) {
			t.Helper()
			_, err := h.people.SetOwner(t.Context(), h.owner, contract.GroupOwnership{
				GroupPath: contract.GroupPath{Group: group}, Body: contract.NewGroupOwner{Owner: owner, Role: role},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		is := func(when string, want ...snapshot.Member) {
			t.Helper()
			if diff := cmp.Diff(want, h.world.project(t, h.project).Members); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		staff, inner, other := group(h.tenant, "staff"), group(h.tenant, "inner"), group(acme.ID, "other")
		if _, err := h.people.Nest(t.Context(), h.owner, contract.Nested(staff, inner)); err != nil {
			t.Fatal(err)
		}
		put(inner, "billing-service", "member")
		put(other, "billing-service", "member")
		is("without rules")
		h.setRules(t, snapshot.Rules{List: []snapshot.Rule{
			{Methods: []string{"*"}, Path: "/", Groups: []string{"staff"}},
			{Methods: []string{"*"}, Path: "/x", Groups: []string{"other"}, Role: "admin"},
		}})
		both := []snapshot.Member{
			{User: "billing-service", TenantID: h.tenant, In: []string{"staff"}},
			{User: "billing-service", TenantID: acme.ID, In: []string{"other"}},
		}
		slices.SortFunc(both, func(a, b snapshot.Member) int { return strings.Compare(a.TenantID, b.TenantID) })
		is("in two tenants", both...)
		ours := h.mint(t, h.owner, h.project, contract.NewKey{Owner: "billing-service"})
		theirs := h.mint(t, h.owner, h.project, contract.NewKey{Owner: "billing-service", Tenant: "acme"})
		reports := h.mint(t, h.owner, h.project, contract.NewKey{Owner: "reports"})
		h.answers(t, "an app in an inner group", h.project, ours.Secret.Reveal(), "")
		h.answers(t, "an app of another tenant", h.project, theirs.Secret.Reveal(), "not_in_group")
		h.answers(t, "an app in no group", h.project, reports.Secret.Reveal(), "not_in_group")
		put(staff, "reports", "admin")
		h.answers(t, "an app that joined", h.project, reports.Secret.Reveal(), "")
		_, err = h.people.RemoveOwner(t.Context(), h.owner, contract.GroupOwnerRemoval{
			GroupPath: contract.GroupPath{Group: staff}, Owner: "reports",
		})
		if err != nil {
			t.Fatal(err)
		}
		h.answers(t, "an app that left", h.project, reports.Secret.Reveal(), "not_in_group")
		if _, err := h.people.DeleteGroup(t.Context(), h.owner, contract.GroupPath{Group: inner}); err != nil {
			t.Fatal(err)
		}
		h.answers(t, "its group is deleted", h.project, ours.Secret.Reveal(), "not_in_group")
	})
}

// A key that counts for a tenant has the groups of this tenant's owner, even if it is of another project of the
// product.
func TestRules_appsOfProduct(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		books := h.sibling(t)
		group, err := h.people.CreateGroup(t.Context(), h.owner, contract.NewGroup{Name: "staff"}.In(h.tenant))
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.people.SetOwner(t.Context(), h.owner, contract.GroupOwnership{
			GroupPath: group.Path(), Body: contract.NewGroupOwner{Owner: "billing-service", Role: "member"},
		})
		if err != nil {
			t.Fatal(err)
		}
		rules := one(snapshot.Rule{Methods: []string{"*"}, Path: "/", Groups: []string{"staff"}})
		h.setRules(t, rules)
		original := h.project
		h.project = books
		h.setRules(t, rules)
		theirs := h.mint(t, h.owner, books, contract.NewKey{Owner: "billing-service", Product: "store"})
		ours := h.mint(t, h.owner, original, contract.NewKey{Owner: "billing-service", Product: "store"})
		h.answers(t, "a key of the other project", original, theirs.Secret.Reveal(), "")
		h.answers(t, "there, where the tenant has no such group", books, ours.Secret.Reveal(), "not_in_group")
	})
}

// The owner of a key can be a text like any other, also the id of another team's user.
func TestRules_groupsOfOtherTeams(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h, theirs := newLoginProject(t, db), newLoginProject(t, db)
		eve, name := theirs.person(t, "eve@example.com"), "staff"
		group, err := theirs.people.CreateGroup(
			t.Context(), theirs.owner, contract.NewGroup{Name: name}.In(theirs.tenant),
		)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := theirs.people.SetMember(
			t.Context(), theirs.owner, contract.InGroup(group.ID, eve).As("member"),
		); err != nil {
			t.Fatal(err)
		}
		h.setRules(t, one(snapshot.Rule{Methods: []string{"GET"}, Path: "/", Groups: []string{"staff"}}))
		h.handOver(t, db, h.owner, h.mint(t, h.owner, h.project, contract.NewKey{Owner: "app"}), eve)
		if got := h.world.project(t, h.project).Members; len(got) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// Users have their groups with keys of their own tenant alone, even if a key of another one had their id.
func TestRules_groupsOfOtherTenants(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		if _, err := h.CreateTenant(t.Context(), h.owner, newTenant("acme")); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Attach(t.Context(), h.owner, contract.Attachment(h.project, "acme")); err != nil {
			t.Fatal(err)
		}
		ana, name := h.person(t, "ana@example.com"), "staff"
		group, err := h.people.CreateGroup(t.Context(), h.owner, contract.NewGroup{Name: name}.In(h.tenant))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.people.SetMember(
			t.Context(), h.owner, contract.InGroup(group.ID, ana).As("member"),
		); err != nil {
			t.Fatal(err)
		}
		h.setRules(t, one(snapshot.Rule{Methods: []string{"*"}, Path: "/", Groups: []string{"staff"}}))
		for owner, want := range map[string]string{ana: "wrong_tenant", "usr_mistyped": "unknown_user"} {
			_, err := h.keys.Create(t.Context(), h.owner, contract.NewKey{Owner: owner, Tenant: "acme"}.In(h.project))
			var found *fault.Error
			if !errors.As(err, &found) || len(found.Fields) != 1 || found.Fields[0].Pointer != "/owner" ||
				found.Fields[0].Code != want {
				t.Errorf("a key of %s: %+v, want %s", owner, err, want)
			}
		}
		old := h.mint(t, h.owner, h.project, contract.NewKey{Owner: "app", Tenant: "acme"})
		h.handOver(t, db, h.owner, old, ana)
		if got := h.world.project(t, h.project).Members; len(got) != 0 {
			t.Errorf("with a key of acme: %+v", got)
		}
		h.answers(t, "without a key of her own", h.project, old.Secret.Reveal(), "not_in_group")
		own := h.mint(t, h.owner, h.project, contract.NewKey{Owner: ana})
		h.answers(t, "a key of her own", h.project, own.Secret.Reveal(), "")
		h.answers(t, "next to a key of her own", h.project, old.Secret.Reveal(), "not_in_group")
	})
}

// A key of the product has the groups of its owner in the other projects too.
func TestRules_keysOfProduct(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		books, ana, name := h.sibling(t), h.person(t, "ana@example.com"), "staff"
		group, err := h.people.CreateGroup(t.Context(), h.owner, contract.NewGroup{Name: name}.In(h.tenant))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.people.SetMember(
			t.Context(), h.owner, contract.InGroup(group.ID, ana).As("member"),
		); err != nil {
			t.Fatal(err)
		}
		original := h.project
		h.project = books
		h.setRules(t, one(snapshot.Rule{Methods: []string{"*"}, Path: "/", Groups: []string{"staff"}}))
		h.project = original
		key := h.mint(t, h.owner, original, contract.NewKey{Owner: ana, Product: "store"})
		h.answers(t, "next door", books, key.Secret.Reveal(), "")
	})
}

// New projects that need a key ask for the scopes read and write, unless a key type has neither.
func TestCreate_readAndWriteScopes(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		typed := func(scopes ...string) projects.CreateInput {
			in := authenticated
			in.Auth.KeyTypes = []contract.NewKeyType{{Name: "partner", Scopes: scopes}}
			return in
		}
		auth := func(auth contract.NewRequestsAuth) projects.CreateInput {
			return projects.CreateInput{Target: "https://api.example.com", Auth: auth}
		}
		for name, tc := range map[string]struct {
			in   projects.CreateInput
			want bool
		}{
			"keys":                   {authenticated, true},
			"a type that reads":      {typed("read", "orders:*"), true},
			"a type of other scopes": {typed("orders:read"), false},
			"passthrough":            {auth(contract.NewRequestsAuth{Mode: "passthrough"}), false},
			"keys are optional": {
				auth(contract.NewRequestsAuth{Mode: "passthrough", Methods: []string{"api_key"}}), false,
			},
			"a fallback owner": {
				auth(contract.NewRequestsAuth{Mode: "authenticate", Keyless: "owner_fallback"}), false,
			},
		} {
			created, _ := w.create(t, tc.in)
			if got := w.project(t, created.Project.ID).Versions[0].Rules; got.ReadWriteScopes != tc.want {
				t.Errorf("%s: %+v", name, got)
			}
		}
	})
}
