package bundle

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"postern/bundle/scim"
	"postern/core/snapshot"
)

// SCIMFolder returns the folder of a tenant's files for SCIM receivers.
func SCIMFolder(tenant string) string { return tenantFolder(tenant) + "users/scim/" }

// bulkFile returns the name of a bulk request, counted from 0.
func bulkFile(tenant string, n int) string {
	return fmt.Sprintf("%sbulk-%04d.json", SCIMFolder(tenant), n+1)
}

// scim returns the files for SCIM receivers with the users and groups of a tenant. required are the groups of rules.
func (b *Build) scim(t snapshot.Tenant, required map[string]bool) []Part {
	folder := SCIMFolder(t.Name)
	t.Directory = byRuleNames(t.Directory, required)
	source := func(part string) scim.Source {
		return scim.Source{Tenant: t, Users: func(ctx context.Context) iter.Seq2[*snapshot.User, error] {
			return b.UsersOf(ctx, t, part)
		}}
	}
	users, groups := folder+"users.json", folder+"groups.json"
	parts := []Part{
		{Name: users, Doc: scimUsersDoc, Write: func(ctx context.Context, w io.Writer) error {
			return source(users).WriteUsers(ctx, w)
		}},
		{Name: groups, Doc: scimGroupsDoc, Write: func(ctx context.Context, w io.Writer) error {
			return source(groups).WriteGroups(ctx, w)
		}},
	}
	bulk := &scim.Bulk{Source: source(bulkFile(t.Name, 0))}
	b.closers = append(b.closers, bulk.Close)
	for n := range bulk.Pieces() {
		part := Part{
			Name: bulkFile(t.Name, n),
			Doc:  scimBulkDoc,
			Write: func(ctx context.Context, w io.Writer) error {
				return bulk.Write(ctx, w, n)
			},
		}
		if n > 0 {
			part.Doc, part.describedBy = "", bulkFile(t.Name, 0)
		}
		parts = append(parts, part)
	}
	return append(parts, Part{Name: folder + "push.sh", Doc: scimScriptDoc,
		Write: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, scim.Script)
			return err
		}})
}

// byRuleNames returns the directory without the display names of groups that a rule requires. A SCIM group has a single
// name: a receiver such as another Postern would derive the name of such a group from its display name, and the rule
// would let no one in.
func byRuleNames(d *snapshot.Directory, required map[string]bool) *snapshot.Directory {
	named := *d
	named.Groups = slices.Clone(d.Groups)
	for i, g := range named.Groups {
		if required[g.Name] {
			named.Groups[i].DisplayName = ""
		}
	}
	return &named
}

// groupsOfRules returns the names of the groups that rules require.
func (b *Build) groupsOfRules() map[string]bool {
	required := map[string]bool{}
	for _, v := range b.Project.Versions {
		for _, rule := range v.Rules.List {
			for _, name := range rule.Groups {
				required[name] = true
			}
		}
	}
	return required
}
