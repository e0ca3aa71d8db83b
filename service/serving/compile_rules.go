package serving

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
)

// readMembers reads which owners of keys, users and apps, and which users of app clients, are in the groups that rules
// name.
func readMembers(r *projectRows, row models.Project, out *snapshot.Project) error {
	named := groupsInRules(out)
	if len(named) == 0 {
		return nil
	}
	owners, err := r.tx.MembershipsOfOwners(row)
	if err != nil {
		return err
	}
	apps, err := r.tx.MembershipsOfApps(out.ID, slices.Sorted(maps.Keys(named)))
	if err != nil {
		return err
	}
	var users []models.OwnedMembership
	if len(r.clientsServed(out.ID)) > 0 {
		if users, err = r.tx.MembershipsOfUsers(out.ID, slices.Sorted(maps.Keys(named))); err != nil {
			return err
		}
	}
	if len(owners)+len(apps)+len(users) == 0 {
		return nil
	}
	tree, err := readGroupTree(r.tx, owners, apps, users)
	if err != nil {
		return err
	}
	out.Members = append(tree.members(out, owners, named), tree.members(out, apps, named)...)
	slices.SortFunc(out.Members, func(a, b snapshot.Member) int {
		return cmp.Or(strings.Compare(a.User, b.User), strings.Compare(a.TenantID, b.TenantID))
	})
	out.Users = tree.members(out, users, named)
	return nil
}

// groupTree has the names of groups, and those that they are nested in, by id.
type groupTree struct {
	names   map[string]string
	parents map[string][]string
}

func readGroupTree(tx *models.Tx, of ...[]models.OwnedMembership) (groupTree, error) {
	tenants := map[string]bool{}
	for _, list := range of {
		for _, one := range list {
			tenants[one.TenantID] = true
		}
	}
	groups, nested, err := tx.GroupTree(slices.Sorted(maps.Keys(tenants)))
	out := groupTree{map[string]string{}, map[string][]string{}}
	for _, group := range groups {
		out.names[group.ID] = group.Name
	}
	for _, one := range nested {
		out.parents[one.ChildID] = append(out.parents[one.ChildID], one.ParentID)
	}
	return out, err
}

// members returns the users or apps of memberships, which are sorted by user and tenant, who are in named groups.
func (t groupTree) members(
	p *snapshot.Project, held []models.OwnedMembership, named map[string]bool,
) []snapshot.Member {
	var out []snapshot.Member
	for len(held) > 0 {
		end := 1
		for end < len(held) && held[end].UserID == held[0].UserID && held[end].TenantID == held[0].TenantID {
			end++
		}
		member := t.member(held[:end], named)
		member.TenantID = tenantHere(p, held[0])
		if len(member.In) > 0 {
			out = append(out, member)
		}
		held = held[end:]
	}
	return out
}

// tenantHere returns the tenant that the keys of a user count for in a project. As policy.Realm.Grant
// has it, those of the default tenant of another project of the product count for the project's own.
func tenantHere(p *snapshot.Project, of models.OwnedMembership) string {
	if of.Tenant == snapshot.DefaultTenant {
		for _, own := range p.Tenants {
			if own.Name == snapshot.DefaultTenant {
				return own.ID
			}
		}
	}
	return of.TenantID
}

// groupsInRules returns the names of groups in rules that are not off.
func groupsInRules(p *snapshot.Project) map[string]bool {
	named := map[string]bool{}
	for i := range p.Versions {
		rules := &p.Versions[i].Rules
		for j := range rules.List {
			if rules.ModeOf(&rules.List[j]) == snapshot.RulesOff {
				continue
			}
			for _, group := range rules.List[j].Groups {
				named[group] = true
			}
		}
	}
	return named
}

// member returns the named groups that a user or app with these memberships is in. A member of a group is
// one of the groups that it is nested in, and an admin of that group alone.
func (t groupTree) member(held []models.OwnedMembership, named map[string]bool) snapshot.Member {
	out := snapshot.Member{User: held[0].UserID}
	seen := map[string]bool{}
	var enter func(group string)
	enter = func(group string) {
		if seen[group] {
			return
		}
		seen[group] = true
		if named[t.names[group]] {
			out.In = append(out.In, t.names[group])
		}
		for _, parent := range t.parents[group] {
			enter(parent)
		}
	}
	for _, one := range held {
		enter(one.GroupID)
		if name := t.names[one.GroupID]; one.Role == snapshot.RoleAdmin && named[name] {
			out.Admin = append(out.Admin, name)
		}
	}
	slices.Sort(out.In)
	slices.SortFunc(out.Admin, strings.Compare)
	return out
}

// Rules returns the rules of a row with their defaults filled in.
func Rules(row contract.Rules) contract.Rules {
	row.Default, row.Mode = cmp.Or(row.Default, contract.RulesAllow), cmp.Or(row.Mode, contract.RulesEnforce)
	return row
}
