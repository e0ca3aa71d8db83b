package login

import (
	"encoding/json"
	"slices"

	"postern/core/policy"
	"postern/models"
	"postern/service/directory"
)

// The limits on a user's groups in tokens, userinfo and introspection, so that every gateway accepts the tokens.
const (
	maxGroups     = 200
	maxGroupsJSON = 9 << 10  // bytes, of the groups
	maxAccessJSON = 11 << 10 // bytes, of all claims of an access token: as a token it is 3.7 KB longer
)

// userGroups are the groups of a user. In whole they are sorted, by name unless some are left out of a token or of
// policy.GroupsHeader: then those that rules name are first.
type userGroups struct {
	names     []string
	adminOf   []string // those of names that they are an admin of; sorted
	truncated bool     // the user is in more groups than these
}

func groupsOf(tx *models.Tx, user models.EndUser) (userGroups, error) {
	names, err := directory.GroupsOf(tx, user.ID)
	if err != nil {
		return userGroups{}, err
	}
	if len(names) > maxGroups || len(policy.FirstGroups(names)) < len(names) {
		named, err := groupsInRules(tx, user.TenantID)
		if err != nil {
			return userGroups{}, err
		}
		slices.SortStableFunc(names, func(a, b string) int { return rank(named[a]) - rank(named[b]) })
	}
	adminOf, err := directory.AdminOf(tx, user.ID)
	return userGroups{names: names, adminOf: adminOf}, err
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// groupsInRules returns the groups that rules name of a project that serves the tenant.
func groupsInRules(tx *models.Tx, tenantID string) (map[string]bool, error) {
	tenant, err := tx.TenantByID(tenantID)
	if err != nil {
		return nil, err
	}
	projects, err := tx.ProjectsOfTenant(tenant)
	if err != nil {
		return nil, err
	}
	versions, err := tx.VersionsOf(projects...)
	named := map[string]bool{}
	for _, version := range versions {
		for _, rule := range version.Rules.List {
			for _, group := range rule.Groups {
				named[group] = true
			}
		}
	}
	return named, err
}

// within returns the first groups, as many as an answer names in that many bytes of JSON. The names of adminOf come
// after the groups.
func (g userGroups) within(room int) userGroups {
	names, left := firstOf(g.names[:min(len(g.names), maxGroups)], min(room, maxGroupsJSON))
	out := userGroups{names: names, truncated: g.truncated || len(names) < len(g.names)}
	kept := make(map[string]bool, len(names))
	for _, name := range names {
		kept[name] = true
	}
	adminOf := slices.DeleteFunc(slices.Clone(g.adminOf), func(name string) bool { return !kept[name] })
	out.adminOf, _ = firstOf(adminOf, left+max(0, room-maxGroupsJSON))
	out.truncated = out.truncated || len(out.adminOf) < len(g.adminOf)
	return out
}

// firstOf returns the first names, as many as have room in bytes of JSON, and the room that is left.
func firstOf(names []string, room int) (first []string, left int) {
	for i, name := range names {
		text, _ := json.Marshal(name) // strings always encode
		if len(text)+len(",") > room {
			return names[:i], room
		}
		room -= len(text) + len(",")
	}
	return names, room
}
