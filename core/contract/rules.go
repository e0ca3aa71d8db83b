package contract

import "net/http"

// RuleMode says what becomes of a call that a rule refuses.
type RuleMode string

// The modes of rules.
const (
	RulesOff     RuleMode = "off"     // the rule is ignored
	RulesShadow  RuleMode = "shadow"  // the call goes on, and is counted as one that would have been refused
	RulesEnforce RuleMode = "enforce" // the call is refused
)

// RuleDefault says what a route without a rule gets.
type RuleDefault string

// The values of RuleDefault.
const (
	RulesAllow RuleDefault = "allow"
	RulesDeny  RuleDefault = "deny"
)

// Rules are what the routes of a version require of callers. The zero value requires nothing: without a Default it is
// allow, without a Mode enforce. ReadWriteScopes is about keys, since the scopes of tokens are the issuer's own, and
// calls without a credential have none.
type Rules struct {
	Default         RuleDefault `json:"default" enum:"allow,deny" doc:"What routes without a rule get"`
	Mode            RuleMode    `json:"mode" enum:"off,shadow,enforce" doc:"Of default, read_write_scopes and rules without a mode"`
	ReadWriteScopes bool        `json:"read_write_scopes" doc:"Keys need the scope read for GET, HEAD and OPTIONS, write for other methods, where no rule names scopes"`
	List            []Rule      `json:"rules" doc:"All rules; the most specific path decides"`
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

// NamesGroups reports whether a rule asks for groups and is not off.
func (r *Rules) NamesGroups() bool {
	for i := range r.List {
		if len(r.List[i].Groups) > 0 && r.ModeOf(&r.List[i]) != RulesOff {
			return true
		}
	}
	return false
}

// NamesObjects reports whether a rule asks for, remembers or forgets owners of objects, and is not off.
func (r *Rules) NamesObjects() bool {
	for i := range r.List {
		rule := &r.List[i]
		if (rule.Owner != "" || rule.Remember != "" || rule.Forget != "") && r.ModeOf(rule) != RulesOff {
			return true
		}
	}
	return false
}

// Rule is what one route requires.
type Rule struct {
	ID      string   `json:"id,omitempty" minLength:"1" doc:"Of a rule that exists; without it the rule gets one" example:"rul_01"`
	Methods []string `json:"methods" doc:"GET includes HEAD; * is all" example:"[\"GET\"]"`
	Path    string   `json:"path" doc:"Below the environment's address; a name in braces is any one segment or a part of one, and a last ** is everything below" example:"/orders/{id}"`
	Scopes  []string `json:"scopes,omitempty" flag:"scope" doc:"The caller has all of them; * and orders:* of callers count"`
	Groups  []string `json:"groups,omitempty" flag:"group" doc:"Names; the caller is in one of them, nested groups count"`
	Role    string   `json:"role,omitempty" enum:"member,admin" doc:"admin: as an admin of that group; without it any member"`
	Mode    RuleMode `json:"mode,omitempty" enum:"off,shadow,enforce" doc:"Default: the mode of the list"`

	// Objects, whose names in braces are parameters of Path; see policy.CheckObject.
	Owner    string `json:"owner,omitempty" minLength:"1" doc:"The caller owns this object; names in braces are parameters of the path" example:"order:{id}"`
	Remember string `json:"remember,omitempty" minLength:"1" doc:"With POST or PUT: after a 2xx answer the caller owns this object; response. begins a path into the answer's JSON" example:"order:{response.id}"`
	Forget   string `json:"forget,omitempty" minLength:"1" doc:"With DELETE or POST: after a 2xx answer the object no longer has an owner" example:"order:{id}"`
}

// SavedRules are the current Rules.
type SavedRules struct {
	Rules
	ETag     string    `json:"etag" doc:"Send as If-Match to replace them"`
	Warnings []Warning `json:"warnings,omitempty" doc:"Groups in rules that do not exist; in responses to changes also which key types the rules refuse"`
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
	GetRules = Op[VersionPath, SavedRules]{Operation{
		ID: "get-rules", Method: http.MethodGet, Path: version + "/rules", Permission: ReadProjects,
		Summary: "Get what a version's routes require", Command: "rules show PROJECT VERSION",
		Doc: "Has the rules in the order in which they were sent, and what routes without a rule get.",
	}}
	SetRules = Op[RulesUpdate, SavedRules]{Operation{
		ID: "set-rules", Method: http.MethodPut, Path: version + "/rules", Permission: UpdateProjects,
		Summary: "Replace what a version's routes require", Command: "rules set PROJECT VERSION",
		Doc: "Replaces all rules of the version. In the mode shadow calls pass, and those that would be refused " +
			"are counted.",
	}}
)

var ruleOperations = []Described{GetRules, SetRules}
