package snapshot

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

// The roles of a group's members that a rule can ask for.
const (
	RoleMember = "member"
	RoleAdmin  = "admin"
)

// Rules are what the routes of a version require of callers. The zero value requires nothing.
type Rules struct {
	Default RuleDefault `json:",omitempty"` // "": allow
	Mode    RuleMode    `json:",omitempty"` // of Default, ReadWriteScopes and rules without a mode; "": enforce

	// ReadWriteScopes requires of calls with a key the scope read for GET, HEAD and OPTIONS, and write for
	// other methods, on routes whose rule names no scopes. Scopes of tokens are the issuer's own, and
	// calls without a credential have none.
	ReadWriteScopes bool `json:",omitempty"`

	List []Rule `json:",omitempty"`
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
	ID      string   // rul_…
	Methods []string // upper case; GET includes HEAD
	Path    string   // such as /orders/{id}, below the environment's prefix
	Scopes  []string `json:",omitempty"` // the caller has all of them
	Groups  []string `json:",omitempty"` // names; the caller is in one of them
	Role    string   `json:",omitempty"` // in that group; "": any
	Mode    RuleMode `json:",omitempty"` // "": that of the list

	// Objects, whose names in braces are parameters of Path; see policy.CheckObject.
	Owner    string `json:",omitempty"` // such as order:{id}: the caller owns it
	Remember string `json:",omitempty"` // such as order:{response.id}: after a 2xx answer the caller owns it
	Forget   string `json:",omitempty"` // such as order:{id}: it has no owner after a 2xx answer
}

// Member is an end user who is in groups that rules name.
type Member struct {
	User     string   // usr_…
	TenantID string   // keys and tokens that count for another tenant do not have the groups
	In       []string // names of groups, nested ones included; sorted
	Admin    []string `json:",omitempty"` // names of groups that they are an admin of themselves; sorted
}

// Relation is a fact that rules decide by: the user owns the object.
type Relation struct {
	TenantID string // tnt_…
	Tenant   string // name
	User     string // usr_…, or the name of an app that owns keys, or subject and issuer of a token
	Relation string // owner
	Object   string // in its canonical form, such as order:42
}
