package contract

import "net/http"

// GroupMapping is a rule by which a claim of a provider puts the users who sign in with it into a group. Users leave
// the group when they sign in and no rule matches any more.
type GroupMapping struct {
	Claim string `json:"claim" doc:"Path to the claim, such as realm_access.roles. To escape a dot in a name, write \\. (not needed in URLs). For GitHub: organizations, organization_ids, teams or team_ids"`
	Value string `json:"value" doc:"Value of the claim, case-sensitive. If the claim is a list, at least one item must match"`
	Match string `json:"match,omitempty" enum:"exact,prefix" doc:"exact or prefix. Defaults to exact"`
	Group string `json:"group" doc:"Name or ID of a group in the app client's tenant. Responses contain the ID"`
}

// How the values of a claim are compared, with regard to case.
const (
	MatchExact  = "exact"
	MatchPrefix = "prefix"
)

// NamedGroupMapping is a rule with the name of its group.
type NamedGroupMapping struct {
	GroupMapping
	GroupName string `json:"group_name"`
}

// GroupMappings are the rules of a provider.
type GroupMappings struct {
	Mappings []NamedGroupMapping `json:"mappings"`
	ETag     string              `json:"etag" doc:"Send as If-Match to replace the mappings"`
}

// Tag returns the rules' ETag.
func (m GroupMappings) Tag() string { return m.ETag }

// Rules returns the rules in the form of a request.
func (m GroupMappings) Rules() []GroupMapping {
	out := []GroupMapping{}
	for _, one := range m.Mappings {
		out = append(out, one.GroupMapping)
	}
	return out
}

// GroupMappingRules are the rules that replace a provider's current ones.
type GroupMappingRules struct {
	Mappings []GroupMapping `json:"mappings" doc:"All mappings of the provider"`
}

// GroupMappingsUpdate is a request to replace the rules of a provider.
type GroupMappingsUpdate struct {
	ProviderPath
	Condition
	Body GroupMappingRules
}

const groupMappings = provider + "/group-mappings"

// The operations on the group mappings of providers. Commands add and remove single rules.
var (
	GetGroupMappings = &Op[ProviderPath, GroupMappings]{Operation{
		ID: "get-group-mappings", Method: http.MethodGet, Path: groupMappings, Permission: ReadLogin,
		Summary: "List a provider's group mappings", Command: "group-mappings list PROVIDER",
		Doc: "A mapping adds users to a group if their claims from the provider match.",
	}}
	SetGroupMappings = &Op[GroupMappingsUpdate, GroupMappings]{Operation{
		ID: "set-group-mappings", Method: http.MethodPut, Path: groupMappings, Permission: UpdateLogin,
		Summary: "Replace a provider's group mappings",
		Doc: "Replaces all mappings of the provider. If a group loses its last mapping, users who are in it only " +
			"because of this provider are removed immediately. Other memberships change at each user's next sign-in.",
	}}
)

var groupMappingOperations = []Described{GetGroupMappings, SetGroupMappings}
