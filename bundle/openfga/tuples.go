package openfga

import (
	"context"
	"io"

	"postern/bundle/jsonfile"
	"postern/core/policy"
	"postern/core/snapshot"
)

// WriteTuples writes the tuples as a list, one per line: rules, then groups, then users, then owners of objects. Its
// memory doesn't grow with the number of users or objects.
func (s Source) WriteTuples(ctx context.Context, w io.Writer) error {
	out := jsonfile.NewStream(w)
	out.Open("[")
	add := func(user, relation, object string) {
		out.Next("  ")
		out.Value(Tuple{user, relation, object})
	}
	s.ruleTuples(add)
	for _, scope := range s.scopes() {
		for _, one := range wider(scope) {
			add(Scope(one)+"#holder", "holder", Scope(scope))
		}
	}
	for _, t := range s.Tenants {
		for _, g := range t.Directory.Groups {
			for _, parent := range g.Parents {
				add(Group(g.ID)+"#member", "member", Group(parent))
			}
			for _, o := range g.Owners {
				add(App(t.ID, o.Owner)+"#"+keys, o.Role, Group(g.ID))
			}
		}
		for u, err := range s.Users(ctx, t) {
			if err != nil {
				return err
			}
			for _, m := range u.Memberships {
				add(User(u.ID), m.Role, Group(m.GroupID))
			}
		}
	}
	if s.Relations != nil {
		for r, err := range s.Relations(ctx) {
			if err != nil {
				return err
			}
			add(User(r.User), r.Relation, Object(r.TenantID, r.Object))
		}
	}
	out.Raw("\n]\n")
	return out.Close()
}

// ruleTuples adds the requirements of rules and of routes without one. If a rule doesn't require a relation, everyone
// has that relation.
func (s Source) ruleTuples(add func(user, relation, object string)) {
	named, slots := s.groupsNamed(), s.slots()
	for v := range s.versions() {
		one := func(object string, rule *snapshot.Rule, groups []string) {
			add(Version(v.ID), "version", object)
			for _, group := range groups {
				add(group, "group", object)
			}
			if rule == nil || rule.Owner == "" {
				add(anyUser, owned, object)
			}
			if readWriteApplies(&v.Rules, rule) {
				add(Scope(policy.ScopeRead)+"#holder", readScope, object)
				add(withoutKey, readScope, object)
				add(Scope(policy.ScopeWrite)+"#holder", writeScope, object)
				add(withoutKey, writeScope, object)
			} else {
				add(anyUser, readScope, object)
				add(anyUser, writeScope, object)
			}
			for n := range slots {
				if rule != nil && n < len(rule.Scopes) {
					add(Scope(rule.Scopes[n])+"#holder", slot(n), object)
				} else {
					add(anyUser, slot(n), object)
				}
			}
		}
		for i := range v.Rules.List {
			rule := &v.Rules.List[i]
			one(Rule(v.ID, rule.ID), rule, groupsOf(rule, named))
		}
		open := []string{anyUser}
		if closed(&v.Rules) {
			open = nil
		}
		one(DefaultRule(v.ID), nil, open)
	}
}
