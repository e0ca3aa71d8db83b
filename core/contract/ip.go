package contract

// IPRules are the address ranges that calls to a version may come from, in CIDR notation.
type IPRules struct {
	Allow []string `json:"allow" doc:"Allowed client address ranges; empty: any"`
	Deny  []string `json:"deny" doc:"Denied client address ranges; they override allow"`
}
