package openfga_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// randomCase is a random project with rules, groups and users.
type randomCase struct {
	random  *rand.Rand
	project *snapshot.Project
	users   map[string][]snapshot.User // by tenant
	owned   []snapshot.Relation
}

// Holds implements policy.Relations.
func (c *randomCase) Holds(projectID string, key policy.RelationKey) bool {
	return projectID == c.project.ID && slices.ContainsFunc(c.owned, func(r snapshot.Relation) bool {
		return policy.KeyOf(r.TenantID, r.User, r.Relation, r.Object) == key
	})
}

// objectNames are ids of orders as they are spelled in a path that has one reading, and in the canonical form of an
// object.
var objectNames = map[string]string{
	"42": "42", "43": "43", "a%2Cb": "a,b", "%41": "A", "caf%C3%A9": "caf%C3%A9", "x%20y": "x%20y", "a.b~c": "a.b~c",
	strings.Repeat("long", 60): strings.Repeat("long", 60),
}

var (
	groupNames = []string{"staff", "ops", "sales", "eu.sales", "all-hands"}
	scopeNames = []string{
		"read", "write", "orders:read", "orders:write", "orders:items:read", "a#b", "50%", "https://s.example/x y",
		"é", strings.Repeat("long:", 60), ":odd", "odd:", "~x", "a/b@c",
	}
)

func newCase(seed uint64) *randomCase {
	c := &randomCase{
		random:  rand.New(rand.NewPCG(seed, 16)), //nolint:gosec // test data
		project: sample.Project("https://up.example"),
		users:   map[string][]snapshot.User{},
	}
	p := c.project
	p.Tenants = p.Tenants[:2]
	p.Members, p.Versions = nil, nil
	defer c.own()
	for i := range p.Tenants {
		c.directory(&p.Tenants[i], i)
		p.Clients = append(p.Clients, snapshot.AppClient{
			ID:        fmt.Sprintf("cli_%d", i),
			Name:      fmt.Sprintf("app-%d", i),
			Issuer:    fmt.Sprintf("https://login.example/cli_%d", i),
			TenantID:  p.Tenants[i].ID,
			Settings:  &snapshot.ClientSettings{CreatedAt: sample.Base},
			Providers: []snapshot.Provider{c.provider(i)},
		})
	}
	for n := range 3 {
		p.Versions = append(p.Versions, snapshot.Version{
			ID:   fmt.Sprintf("ver_%d", n),
			Name: fmt.Sprintf("%d.0.0", n+1),
			Access: snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode:    []string{snapshot.Passthrough, snapshot.Authenticate}[c.random.IntN(2)],
				Methods: []string{snapshot.APIKey, snapshot.JWT},
				Keyless: snapshot.Reject,
			}},
			Rules: c.rules(),
		})
	}
	return c
}

// own makes owners of keys and users of tokens owners of orders.
func (c *randomCase) own() {
	for _, t := range c.project.Tenants {
		users := []string{app}
		for _, u := range c.users[t.ID] {
			users = append(users, u.ID)
		}
		for _, object := range objectNames {
			for _, user := range users {
				if c.random.IntN(2) == 0 {
					c.owned = append(c.owned, snapshot.Relation{
						TenantID: t.ID, Tenant: t.Name, User: user, Relation: policy.OwnerRelation,
						Object: "order:" + object,
					})
				}
			}
		}
	}
	slices.SortFunc(c.owned, func(a, b snapshot.Relation) int {
		return cmp.Or(strings.Compare(a.TenantID, b.TenantID), strings.Compare(a.Object, b.Object),
			strings.Compare(a.User, b.User))
	})
}

func (c *randomCase) provider(n int) snapshot.Provider {
	return snapshot.Provider{
		ID:            fmt.Sprintf("idp_%d", n),
		Type:          "github",
		UpstreamToken: snapshot.NoToken,
		Settings:      &snapshot.ProviderSettings{CreatedAt: sample.Base},
	}
}

// directory gives a tenant groups, in each other without a cycle, and users.
func (c *randomCase) directory(t *snapshot.Tenant, n int) {
	d := &snapshot.Directory{Users: 12}
	for i, name := range groupNames {
		g := snapshot.Group{
			ID: fmt.Sprintf("grp_%d-%d", n, i), Name: name, CreatedAt: sample.Base, UpdatedAt: sample.Base,
		}
		for parent := range i {
			if c.random.IntN(3) == 0 {
				g.Parents = append(g.Parents, fmt.Sprintf("grp_%d-%d", n, parent))
			}
		}
		d.Groups = append(d.Groups, g)
	}
	c.apps(t, d)
	slices.SortFunc(d.Groups, func(a, b snapshot.Group) int { return strings.Compare(a.Name, b.Name) })
	for i := range int(d.Users) {
		u := snapshot.User{
			ID: fmt.Sprintf("usr_%d-%02d", n, i), Name: "N", State: "active", CreatedAt: sample.Base,
			UpdatedAt: sample.Base,
		}
		for group := range groupNames {
			if c.random.IntN(4) == 0 {
				u.Memberships = append(u.Memberships, snapshot.Membership{
					GroupID:   fmt.Sprintf("grp_%d-%d", n, group),
					Role:      []string{snapshot.RoleMember, snapshot.RoleAdmin}[c.random.IntN(2)],
					CreatedAt: sample.Base,
				})
			}
		}
		c.users[t.ID] = append(c.users[t.ID], u)
		if in, admin := groupsOf(d, u.Memberships); len(in) > 0 {
			c.project.Members = append(c.project.Members, snapshot.Member{
				User: u.ID, TenantID: t.ID, In: in, Admin: admin,
			})
		}
	}
	t.Directory = d
}

// app is the name of an app of each tenant that owns keys.
const app = "billing app: 7"

// apps puts the app of a tenant into some groups.
func (c *randomCase) apps(t *snapshot.Tenant, d *snapshot.Directory) {
	var held []snapshot.Membership
	for i := range d.Groups {
		if c.random.IntN(5) == 0 {
			one := snapshot.GroupOwner{
				Owner:     app,
				Role:      []string{snapshot.RoleMember, snapshot.RoleAdmin}[c.random.IntN(2)],
				CreatedAt: sample.Base,
			}
			d.Groups[i].Owners = append(d.Groups[i].Owners, one)
			held = append(held, snapshot.Membership{GroupID: d.Groups[i].ID, Role: one.Role})
		}
	}
	if in, admin := groupsOf(d, held); len(in) > 0 {
		c.project.Members = append(c.project.Members, snapshot.Member{
			User: app, TenantID: t.ID, In: in, Admin: admin,
		})
	}
}

// groupsOf returns the names of the groups with these memberships, nested ones included, and of those with the role
// admin.
func groupsOf(d *snapshot.Directory, held []snapshot.Membership) (in, admin []string) {
	byID := map[string]*snapshot.Group{}
	for i := range d.Groups {
		byID[d.Groups[i].ID] = &d.Groups[i]
	}
	var visit func(id string)
	visit = func(id string) {
		in = append(in, byID[id].Name)
		for _, parent := range byID[id].Parents {
			visit(parent)
		}
	}
	for _, m := range held {
		visit(m.GroupID)
		if m.Role == snapshot.RoleAdmin {
			admin = append(admin, byID[m.GroupID].Name)
		}
	}
	slices.Sort(in)
	slices.Sort(admin)
	return slices.Compact(in), admin
}

func (c *randomCase) rules() snapshot.Rules {
	out := snapshot.Rules{
		Default:         []snapshot.RuleDefault{"", snapshot.RulesAllow, snapshot.RulesDeny}[c.random.IntN(3)],
		Mode:            []snapshot.RuleMode{"", snapshot.RulesEnforce, snapshot.RulesShadow}[c.random.IntN(3)],
		ReadWriteScopes: c.random.IntN(2) == 0,
	}
	for n := range 8 {
		rule := snapshot.Rule{
			ID:      fmt.Sprintf("rul_%d", n),
			Methods: [][]string{{"GET"}, {"POST", "DELETE"}, {"*"}, {"OPTIONS", "PUT"}}[c.random.IntN(4)],
			Path:    fmt.Sprintf("/r%d/{id}", n),
			Mode:    snapshot.RulesEnforce,
		}
		rule.Scopes = c.some(scopeNames, 3)
		if c.random.IntN(2) == 0 {
			rule.Groups = c.some(append([]string{"gone"}, groupNames...), 3)
			rule.Role = []string{"", snapshot.RoleMember, snapshot.RoleAdmin}[c.random.IntN(3)]
		}
		if c.random.IntN(2) == 0 {
			rule.Owner = "order:{id}"
		}
		if n == 7 {
			rule.Mode = snapshot.RulesShadow
		}
		out.List = append(out.List, rule)
	}
	return out
}

// some returns less than n of all, at times twice the same.
func (c *randomCase) some(all []string, n int) []string {
	var out []string
	for range c.random.IntN(n) {
		out = append(out, all[c.random.IntN(len(all))])
	}
	return out
}

func (c *randomCase) input() bundle.Input {
	return bundle.Input{
		Project: c.project,
		Keys: func(context.Context) iter.Seq2[snapshot.Key, error] {
			return func(func(snapshot.Key, error) bool) {}
		},
		Users: sample.Users(c.users),
		Relations: func(context.Context) iter.Seq2[snapshot.Relation, error] {
			return func(yield func(snapshot.Relation, error) bool) {
				for _, r := range c.owned {
					if !yield(r, nil) {
						return
					}
				}
			}
		},
		Options:   bundle.Options{Format: bundle.FormatData, Consumers: true},
		Target:    bundle.Data,
		AddressOf: sample.AddressOf,
		Generator: "postern test",
	}
}
