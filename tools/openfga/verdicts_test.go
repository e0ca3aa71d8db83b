package openfga_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/bundle/openfga"
	"postern/core/policy"
	"postern/core/snapshot"
)

// question is a call, and what OpenFGA is asked about it.
type question struct {
	call   policy.Call
	asked  openfga.Tuple
	with   []openfga.Tuple
	about  string // the object whose owner the rule requires; "": none
	tenant string // of the caller
}

// question returns a random call that the version admits.
func (c *randomCase) question(realm *policy.Realm) question {
	v := &c.project.Versions[c.random.IntN(len(c.project.Versions))]
	rules, err := policy.CompileRules(&v.Rules)
	if err != nil {
		panic(err)
	}
	q := question{call: policy.Call{
		Access:      &v.Access,
		Realm:       realm,
		Environment: "prod",
		Rules:       rules,
		Relations:   c,
		Now:         time.Now(),
	}}
	q.call.Method, q.call.Path, q.asked.Object, q.about = c.route(v)
	q.asked.Relation = "can_write"
	if slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, q.call.Method) {
		q.asked.Relation = "can_read"
	}
	scopes := c.caller(&q)
	q.with = append(q.with, openfga.Tuple{User: q.asked.User, Relation: "admits", Object: openfga.Version(v.ID)})
	for _, scope := range scopes {
		q.with = append(q.with, openfga.Tuple{User: q.asked.User, Relation: "holder", Object: openfga.Scope(scope)})
	}
	if q.about != "" && q.tenant != "" {
		q.with = append(q.with, openfga.Tuple{
			User: openfga.Object(q.tenant, q.about) + "#owner", Relation: "owned", Object: q.asked.Object,
		})
	}
	if q.call.Key == nil {
		q.with = append(q.with, openfga.Tuple{User: q.asked.User, Relation: "by", Object: "call:without_key"})
	}
	return q
}

// route returns a call to the route of an enforced rule, or to one without, and what it is about.
func (c *randomCase) route(v *snapshot.Version) (method, path, object, about string) {
	n := c.random.IntN(len(v.Rules.List) + 1)
	if n == len(v.Rules.List) || v.Rules.List[n].Mode != snapshot.RulesEnforce {
		return []string{"GET", "POST"}[c.random.IntN(2)], "/none", openfga.DefaultRule(v.ID), ""
	}
	rule := &v.Rules.List[n]
	method = rule.Methods[c.random.IntN(len(rule.Methods))]
	if method == policy.AnyMethod {
		method = []string{"GET", "PATCH"}[c.random.IntN(2)]
	}
	names := slices.Sorted(maps.Keys(objectNames))
	name := names[c.random.IntN(len(names))]
	if rule.Owner != "" {
		about = "order:" + objectNames[name]
	}
	return method, strings.Replace(rule.Path, "{id}", name, 1), openfga.Rule(v.ID, rule.ID), about
}

// caller gives the call a key, a token, both or none, and returns the scopes that it has.
func (c *randomCase) caller(q *question) []string {
	tenant := &c.project.Tenants[c.random.IntN(len(c.project.Tenants))]
	users := c.users[tenant.ID]
	user := &users[c.random.IntN(len(users))]
	q.tenant = tenant.ID
	all := append([]string{"*", "orders:*", "orders:items:*", "long:*", ":*", "x:*"}, scopeNames...)
	scopes := append(c.some(all, 6), c.some(scopeNames, 6)...)
	slices.Sort(scopes)
	scopes = slices.Compact(scopes)
	kind := c.random.IntN(8)
	if kind == 0 && q.call.Access.Mode == snapshot.Passthrough {
		q.asked.User, q.tenant = openfga.User("anonymous"), ""
		return nil
	}
	if kind >= 4 {
		q.call.Token = q.call.Realm.TokenOf(&policy.TokenUser{ID: user.ID, TenantID: tenant.ID, Scopes: scopes})
	}
	owner := user.ID
	if kind == 1 {
		owner = app
	}
	q.asked.User = openfga.User(owner)
	if kind < 4 || kind == 7 {
		q.call.KeyLines = 1
		q.call.Key = &snapshot.Key{
			ID: "key_1", ProjectID: c.project.ID, Owner: owner, TenantID: tenant.ID, Tenant: tenant.Name,
			State: snapshot.KeyActive, Scopes: scopes,
		}
	}
	if q.call.Token == nil {
		q.with = append(q.with, openfga.Tuple{
			User: q.asked.User, Relation: "keys", Object: openfga.App(tenant.ID, owner),
		})
	}
	return scopes
}

// OpenFGA's verdict about a call is what the product explains about it.
func TestVerdicts_sameAsExplain(t *testing.T) {
	const calls, seeds = 1000, 8
	seen := map[string]int{}
	for seed := range uint64(seeds) {
		c := newCase(100 + seed)
		s := load(t, export(t, c.input()))
		realm := policy.NewRealm(c.project)
		for range calls / seeds {
			q := c.question(realm)
			var explained policy.Explanation
			explained.Explain(&q.call)
			want := explained.Denial == policy.Denial{}
			if explained.DecidedBy == policy.ExplainAuthenticate {
				t.Fatalf("seed %d: %+v is not admitted: %s", seed, q.asked, explained.Denial.Code)
			}
			seen[explained.Denial.Code]++
			if got := s.check(t, q.asked, q.with...); got != want {
				t.Errorf("seed %d, %s %s: %t, explained %+v: %v with %v",
					seed, q.call.Method, q.call.Path, got, explained, q.asked, q.with)
			}
		}
	}
	t.Log(fmt.Sprint(calls, " calls: ", seen))
	for _, code := range []string{"", policy.InsufficientScope.Code, policy.NotInGroup.Code, policy.NotOwner.Code,
		policy.NoRule.Code} {
		if seen[code] < 20 {
			t.Errorf("only %d calls end with %q: %v", seen[code], code, seen)
		}
	}
}
