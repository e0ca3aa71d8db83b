package contract

import "net/http"

// RuleMode says what happens to a call that a rule refuses.
type RuleMode string

// The modes of rules.
const (
	RulesOff     RuleMode = "off"     // the rule is ignored
	RulesShadow  RuleMode = "shadow"  // the call passes, and is counted as one that would have been refused
	RulesEnforce RuleMode = "enforce" // the call is refused
)

// RuleDefault says what a route without a rule gets.
type RuleDefault string

// The values of RuleDefault.
const (
	RulesAllow RuleDefault = "allow"
	RulesDeny  RuleDefault = "deny"
)

// Rules have the requirements of a version's routes. The zero value requires nothing: without a Default it is allow,
// without a Mode enforce. ReadWriteScopes applies to keys only, because issuers define the scopes of tokens, and calls
// without a credential don't have any.
type Rules struct {
	Default         RuleDefault `json:"default" enum:"allow,deny" doc:"Decision for routes without a rule"`
	Mode            RuleMode    `json:"mode" enum:"off,shadow,enforce" doc:"Mode for default, read_write_scopes and rules without their own mode" help:"Mode for --default, --read-write-scopes and rules without their own mode"`
	ReadWriteScopes bool        `json:"read_write_scopes" doc:"On routes without a rule that names scopes, require keys to have the read scope (for GET, HEAD and OPTIONS) or the write scope (for other methods)"`
	List            []Rule      `json:"rules" flag:"-" doc:"All rules. If several match a call, the rule with the most specific path applies"`
}

// None reports whether nothing is required.
func (r *Rules) None() bool {
	return (r.Default == "" || r.Default == RulesAllow) && !r.ReadWriteScopes && len(r.List) == 0
}

// ModeOf returns the mode of a rule of r.
func (r *Rules) ModeOf(rule *Rule) RuleMode {
	switch {
	case rule.Mode != "":
		return rule.Mode
	case r.Mode != "":
		return r.Mode
	}
	return RulesEnforce
}

// NamesGroups reports whether a rule requires groups and is not off.
func (r *Rules) NamesGroups() bool {
	for i := range r.List {
		if len(r.List[i].Groups) > 0 && r.ModeOf(&r.List[i]) != RulesOff {
			return true
		}
	}
	return false
}

// NamesObjects reports whether a rule requires, remembers or forgets owners of objects, and is not off.
func (r *Rules) NamesObjects() bool {
	for i := range r.List {
		rule := &r.List[i]
		if (rule.Owner != "" || rule.Remember != "" || rule.Forget != "") && r.ModeOf(rule) != RulesOff {
			return true
		}
	}
	return false
}

// Rule has the requirements of one route.
type Rule struct {
	ID      string   `json:"id,omitempty" minLength:"1" flag:"-" doc:"ID of an existing rule. Leave out for a new rule" example:"rul_01"`
	Methods []string `json:"methods" flag:"-" doc:"HTTP methods. GET includes HEAD, and * means all" example:"[\"GET\"]"`
	Path    string   `json:"path" flag:"-" doc:"Path under the environment's URL. A name in braces matches a segment or part of one. ** at the end matches the path before it and everything under it" example:"/orders/{id}"`
	Scopes  []string `json:"scopes,omitempty" flag:"scope" doc:"Scopes that the caller must have. All of them are required. The caller's own scopes can contain *, as in orders:*"`
	Groups  []string `json:"groups,omitempty" flag:"group" doc:"Names of groups. The caller must be in one of them, directly or through a nested group"`
	Role    string   `json:"role,omitempty" enum:"member,admin" doc:"Role that the caller must have in the group. Defaults to any"`
	Mode    RuleMode `json:"mode,omitempty" enum:"off,shadow,enforce" doc:"Mode of the rule. Defaults to the mode of the version's rules"`

	// Objects, whose names in braces are parameters of Path; see policy.CheckObject.
	Owner    string `json:"owner,omitempty" minLength:"1" doc:"Object that the caller must own. Names in braces are path parameters" example:"order:{id}"`
	Remember string `json:"remember,omitempty" minLength:"1" doc:"Object that the caller owns after a 2xx response to POST or PUT. A path into the JSON response begins with the word response and a dot, as in {response.id}" example:"order:{response.id}"`
	Forget   string `json:"forget,omitempty" minLength:"1" doc:"Object that no longer has an owner after a 2xx response to DELETE or POST" example:"order:{id}"`
}

// SavedRules are the current Rules.
type SavedRules struct {
	Rules
	ETag     string    `json:"etag" doc:"Send as If-Match to replace the rules"`
	Warnings []Warning `json:"warnings,omitempty" doc:"Groups that the rules require but that don't exist. Responses to changes also list key types that the rules refuse"`
}

// Tag returns their ETag.
func (r SavedRules) Tag() string { return r.ETag }

// RulesUpdate is a request to replace the rules of a version.
type RulesUpdate struct {
	VersionPath
	Condition
	Body Rules
}

// The operations on rules.
var (
	GetRules = &Op[VersionPath, SavedRules]{Operation{
		ID: "get-rules", Method: http.MethodGet, Path: version + "/rules", Permission: ReadProjects,
		Summary: "Get a version's rules", Command: "rules show PROJECT VERSION",
		Doc: "Returns the rules in the order they were saved, and the decision for routes without a rule.",
	}}
	SetRules = &Op[RulesUpdate, SavedRules]{Operation{
		ID: "set-rules", Method: http.MethodPut, Path: version + "/rules", Permission: UpdateProjects,
		Summary: "Replace a version's rules", Command: "rules set PROJECT VERSION",
		Doc: "Replaces all rules of the version. In shadow mode, calls that a rule would refuse are forwarded and " +
			"counted.",
	}}
)

var ruleOperations = []Described{GetRules, SetRules}
