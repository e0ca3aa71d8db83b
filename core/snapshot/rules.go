package snapshot

import "postern/core/contract"

// Rules has the requirements of a version's routes.
type Rules = contract.Rules

// Rule has the requirements of one route.
type Rule = contract.Rule

// RuleMode says what happens to a call that a rule refuses.
type RuleMode = contract.RuleMode

// The modes of rules.
const (
	RulesOff     = contract.RulesOff
	RulesShadow  = contract.RulesShadow
	RulesEnforce = contract.RulesEnforce
)

// RuleDefault says what a route without a rule gets.
type RuleDefault = contract.RuleDefault

// The values of RuleDefault.
const (
	RulesAllow = contract.RulesAllow
	RulesDeny  = contract.RulesDeny
)

// The roles of a group's members that a rule can require.
const (
	RoleMember = "member"
	RoleAdmin  = "admin"
)

// Member is an end user, or an app that owns keys, who is in groups that rules name.
type Member struct {
	User     string   // usr_…, or the name of an app; each tenant has its own apps
	TenantID string   // keys and tokens of another tenant aren't in the groups
	In       []string // names of groups, nested ones included; sorted
	Admin    []string `json:",omitempty"` // names of groups in which they are an admin directly; sorted
}

// Relation is a fact that rules can check: the user owns the object.
type Relation struct {
	TenantID string // tnt_…
	Tenant   string // name
	User     string // usr_…, or the name of an app that owns keys, or subject and issuer of a token
	Relation string // owner
	Object   string // in its canonical form, such as order:42
}
