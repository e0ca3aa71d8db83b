package contract

// IPRules are the address ranges that calls to a version may come from, in CIDR notation.
type IPRules struct {
	Allow []string `json:"allow" doc:"Allowed client address ranges; empty: any"`
	Deny  []string `json:"deny" doc:"Denied client address ranges; they override allow"`
}

// IPRulesChange replaces address ranges; nil leaves a member as it is.
type IPRulesChange struct {
	Allow *[]string `json:"allow,omitempty" flag:"ip-allow,list" doc:"Address ranges that calls may come from, in place of the earlier ones; empty: any"`
	Deny  *[]string `json:"deny,omitempty" flag:"ip-deny,list" doc:"Address ranges that no call may come from, in place of the earlier ones; they override allow"`
}
