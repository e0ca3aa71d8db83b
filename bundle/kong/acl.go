package kong

import (
	"slices"

	"postern/core/snapshot"
)

// aclConfig is the configuration of Kong's own acl plugin at a route. It stands behind postern-auth, which answers
// first, with a code, and tells acl the groups of the caller.
type aclConfig struct {
	Allow            []string `json:"allow"`
	HideGroupsHeader bool     `json:"hide_groups_header"`
	UseAuthenticated bool     `json:"always_use_authenticated_groups"`
}

// aclOf returns the acl of the routes of a version, nil for none. Acl knows neither paths nor methods, so it fits
// where every call that the rules let through is one of a member of a group: routes without a rule are refused, and
// every rule asks for groups. Routes of Kong's own for single rules would not do: Kong strips from a path what its
// route matches.
func aclOf(v *snapshot.Version) []pluginDoc {
	groups := closedTo(v)
	if len(groups) == 0 {
		return nil
	}
	return []pluginDoc{{Name: "acl", Config: aclConfig{Allow: groups, HideGroupsHeader: true, UseAuthenticated: true}}}
}

// closedTo returns the groups that a caller has to be in one of for any call to a version; none if some call needs no
// group.
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
