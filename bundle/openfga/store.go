package openfga

import (
	"io"
	"slices"
	"strings"

	"postern/bundle/jsonfile"
	"postern/core/policy"
	"postern/core/snapshot"
)

// ModelFile and TuplesFile are the files, in the same folder, that the store file names.
const (
	ModelFile  = "model.fga"
	TuplesFile = "tuples.json"
)

// The callers in the tests of the store file. No caller of the product has such a name; see escape.
const (
	allowed      = "user:~allowed"
	notAdmitted  = "user:~not-admitted"
	withoutScope = "user:~without-scope"
	outOfGroups  = "user:~out-of-groups"
	notOwner     = "user:~not-owner"
)

// testObject is the object that calls of the tests are about.
const testObject = "object:~object"

// WriteStore writes the store file for `fga store import` and `fga model test`: for every rule a caller who is allowed,
// and one who is refused for each requirement of the rule. The callers get their relations only from the test's tuples.
func (s Source) WriteStore(w io.Writer) error {
	out := jsonfile.NewStream(w)
	out.Raw("name: ")
	out.Value(s.StoreName())
	out.Raw("\nmodel_file: ./" + ModelFile + "\ntuple_file: ./" + TuplesFile + "\ntests:\n")
	named := s.groupsNamed()
	for v := range s.versions() {
		for i := range v.Rules.List {
			rule := &v.Rules.List[i]
			ruleTest(v, rule, groupsOf(rule, named)).write(out)
		}
		defaultTest(v).write(out)
	}
	return out.Close()
}

// storeTest is a test of the store file about one object.
type storeTest struct {
	name      string
	object    string
	relations []string
	tuples    []Tuple
	checks    []check
}

// check asserts whether a user has the relations to the object.
type check struct {
	user string
	want bool
}

func (t *storeTest) add(user, relation, object string) {
	t.tuples = append(t.tuples, Tuple{user, relation, object})
}

func ruleTest(v *snapshot.Version, rule *snapshot.Rule, groups []string) *storeTest {
	t := &storeTest{
		name:      strings.Join(rule.Methods, ",") + " " + rule.Path + " of " + v.Name + " (" + rule.ID + ")",
		object:    Rule(v.ID, rule.ID),
		relations: relationsOf(rule),
		checks:    []check{{allowed, true}, {notAdmitted, false}},
	}
	scopes := slices.Compact(slices.Sorted(slices.Values(rule.Scopes)))
	if readWriteApplies(&v.Rules, rule) {
		scopes = []string{policy.ScopeRead, policy.ScopeWrite}
	}
	users := []string{allowed, notAdmitted}
	if len(scopes) > 0 {
		users = append(users, withoutScope)
		t.checks = append(t.checks, check{withoutScope, false})
	}
	if len(rule.Groups) > 0 {
		users = append(users, outOfGroups)
		t.checks = append(t.checks, check{outOfGroups, false})
	}
	if rule.Owner != "" {
		users = append(users, notOwner)
		t.checks = append(t.checks, check{notOwner, false})
	}
	for _, user := range users {
		if user != notAdmitted {
			t.add(user, admits, Version(v.ID))
		}
		if user != withoutScope {
			for _, scope := range scopes {
				t.add(user, "holder", Scope(scope))
			}
		}
		if group, relation, set := strings.Cut(groups[0], "#"); set && user != outOfGroups {
			t.add(user, relation, group)
		}
		if rule.Owner != "" && user != notOwner {
			t.add(user, owner, testObject)
		}
	}
	if rule.Owner != "" {
		t.add(testObject+"#"+owner, owned, t.object)
	}
	return t
}

// defaultTest is about the routes of a version that have no rule.
func defaultTest(v *snapshot.Version) *storeTest {
	t := &storeTest{
		name:      "routes of " + v.Name + " without a rule",
		object:    DefaultRule(v.ID),
		relations: []string{canRead, canWrite},
		checks:    []check{{allowed, !closed(&v.Rules)}, {notAdmitted, false}},
	}
	t.add(allowed, admits, Version(v.ID))
	for _, user := range []string{allowed, notAdmitted} {
		t.add(user, "holder", Scope(policy.ScopeRead))
		t.add(user, "holder", Scope(policy.ScopeWrite))
	}
	return t
}

// write writes the test as YAML whose scalars are JSON.
func (t *storeTest) write(out *jsonfile.Stream) {
	out.Raw("  - name: ")
	out.Value(t.name)
	out.Raw("\n    tuples:\n")
	for _, one := range t.tuples {
		out.Raw("      - ")
		out.Value(one)
		out.Raw("\n")
	}
	out.Raw("    check:\n")
	for _, one := range t.checks {
		out.Raw("      - user: ")
		out.Value(one.user)
		out.Raw("\n        object: ")
		out.Value(t.object)
		out.Raw("\n        assertions:\n")
		for _, relation := range t.relations {
			out.Raw("          " + relation + ": ")
			out.Value(one.want)
			out.Raw("\n")
		}
	}
}
