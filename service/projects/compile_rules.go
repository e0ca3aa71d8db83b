package projects

import (
	"slices"
	"strings"

	"postern/core/snapshot"
	"postern/models"
)

// readMembers reads which owners of keys are in the groups that rules name. Users of tokens are not
// among them: their tokens name their groups.
func readMembers(r *projectRows, row models.Project, out *snapshot.Project) error {
	named := groupsInRules(out)
	if len(named) == 0 {
		return nil
	}
	held, err := r.tx.MembershipsOfOwners(row)
	if err != nil || len(held) == 0 {
		return err
	}
	var ids []string
	for _, one := range held {
		ids = append(ids, one.GroupID)
	}
	slices.Sort(ids)
	groups, nested, err := r.tx.GroupTree(slices.Compact(ids))
	if err != nil {
		return err
	}
	names, parents := map[string]string{}, map[string][]string{}
	for _, group := range groups {
		names[group.ID] = group.Name
	}
	for _, one := range nested {
		parents[one.ChildID] = append(parents[one.ChildID], one.ParentID)
	}
	for len(held) > 0 {
		end := 1
		for end < len(held) && held[end].UserID == held[0].UserID {
			end++
		}
		member := memberOf(held[:end], names, parents, named)
		member.TenantID = tenantHere(out, held[0])
		if len(member.In) > 0 {
			out.Members = append(out.Members, member)
		}
		held = held[end:]
	}
	return nil
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

// memberOf returns the named groups that a user with these memberships is in. A member of a group is
// one of the groups that it is nested in, and an admin of that group alone.
func memberOf(
	held []models.OwnedMembership, names map[string]string, parents map[string][]string, named map[string]bool,
) snapshot.Member {
	out := snapshot.Member{User: held[0].UserID}
	seen := map[string]bool{}
	var enter func(group string)
	enter = func(group string) {
		if seen[group] {
			return
		}
		seen[group] = true
		if named[names[group]] {
			out.In = append(out.In, names[group])
		}
		for _, parent := range parents[group] {
			enter(parent)
		}
	}
	for _, one := range held {
		enter(one.GroupID)
		if name := names[one.GroupID]; one.Role == snapshot.RoleAdmin && named[name] {
			out.Admin = append(out.Admin, name)
		}
	}
	slices.Sort(out.In)
	slices.SortFunc(out.Admin, strings.Compare)
	return out
}
