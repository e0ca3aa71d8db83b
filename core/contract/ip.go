package contract

// IPRules are the address ranges that calls to a version may come from, in CIDR notation.
type IPRules struct {
	Allow []string `json:"allow" doc:"Allowed IP address ranges. An empty list allows any address"`
	Deny  []string `json:"deny" doc:"Denied IP address ranges. They override allow"`
}

// IPRulesChange replaces address ranges; nil leaves a member unchanged.
type IPRulesChange struct {
	Allow *[]string `json:"allow,omitempty" flag:"ip-allow,list" doc:"Allowed IP address ranges. Replaces the existing list. An empty list allows any address" help:"Allowed IP address ranges. Replaces the existing list. Use \"\" to allow any address"`
	Deny  *[]string `json:"deny,omitempty" flag:"ip-deny,list" doc:"Denied IP address ranges, which override allowed ranges. Replaces the existing list"`
}
