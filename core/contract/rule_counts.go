package contract

import (
	"net/http"
	"time"
)

// ShadowRefusal counts the calls of the last 30 days that a rule in shadow would have refused with a code.
type ShadowRefusal struct {
	Rule   string    `json:"rule" doc:"ID of the rule, default for a route without a rule, or read_write_scopes"`
	Code   string    `json:"code" enum:"insufficient_scope,not_in_group,not_owner,no_rule"`
	Calls  int64     `json:"calls"`
	LastAt time.Time `json:"last_at"`
}

// RelationMiss counts the responses of the last 30 days in which a rule found no object to remember or forget.
type RelationMiss struct {
	Rule   string    `json:"rule" doc:"ID of the rule with remember or forget"`
	Reason string    `json:"reason" enum:"not_json,encoded,too_large,no_body,incomplete,no_value,unusable,too_many_wait"`
	Calls  int64     `json:"calls"`
	LastAt time.Time `json:"last_at"`
}

// The operations on the counts of a version's rules.
var (
	ListShadowRefusals = &Op[VersionPath, List[ShadowRefusal]]{Operation{
		ID: "list-shadow-refusals", Method: http.MethodGet, Path: version + "/rules/shadow", Permission: ReadUsage,
		Summary: "List calls that shadow rules would have refused", Command: "rules shadow PROJECT VERSION",
		Doc: "Counts the calls from the last 30 days, by rule and code. These calls were forwarded.",
	}}
	ListRelationMisses = &Op[VersionPath, List[RelationMiss]]{Operation{
		ID: "list-relation-misses", Method: http.MethodGet, Path: version + "/rules/missed", Permission: ReadUsage,
		Summary: "List responses in which rules found no object",
		Command: "rules missed PROJECT VERSION",
		Doc: "Each item counts, for one rule and reason, the responses from the last 30 days in which the rule found " +
			"no object to remember or forget. Callers received these responses unchanged.",
	}}
)

var ruleCountOperations = []Described{ListShadowRefusals, ListRelationMisses}
