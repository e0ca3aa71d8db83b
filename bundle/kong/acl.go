package kong

import (
	"slices"

	"postern/core/snapshot"
)

// aclConfig is the configuration of Kong's plugin acl. It runs after postern-auth, which answers refused
// calls with a code first and passes the caller's groups to acl.
type aclConfig struct {
	Allow            []string `json:"allow"`
	HideGroupsHeader bool     `json:"hide_groups_header"`
	UseAuthenticated bool     `json:"always_use_authenticated_groups"`
}

// aclOf returns the plugin acl for the routes of a version, or nil. acl sees neither paths nor methods, so it is used
// only if the rules admit no caller without a group: routes without a rule are refused, and every rule requires groups.
// One Kong route per rule isn't possible, because Kong strips from the path what a route matches.
func aclOf(v *snapshot.Version) []pluginDoc {
	groups := closedTo(v)
	if len(groups) == 0 {
		return nil
	}
	return []pluginDoc{{Name: "acl", Config: aclConfig{Allow: groups, HideGroupsHeader: true, UseAuthenticated: true}}}
}

// closedTo returns the groups of which every call to a version requires at least one; none if some call doesn't require
// a group.
func closedTo(v *snapshot.Version) []string {
	doc, _ := enforcedRules(v)
	if !doc.Deny {
		return nil
	}
	var out []string
	for _, rule := range doc.List {
		if len(rule.Groups) == 0 {
			return nil
		}
		out = append(out, rule.Groups...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
