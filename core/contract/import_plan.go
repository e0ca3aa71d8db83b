package contract

import "strings"

// ImportPlan is what an import of another gateway's file would create. It has no secret and no hash of a key, since
// weak keys can be guessed from their hashes.
type ImportPlan struct {
	Source   string           `json:"source" doc:"Format of the file" example:"kong 3.0"`
	Product  string           `json:"product" doc:"Product that all projects and keys belong to"`
	Tenant   string           `json:"tenant" doc:"Tenant that is attached to all projects"`
	Projects []PlannedProject `json:"projects"`
	Owners   []PlannedOwner   `json:"owners" doc:"Owners of API keys"`
	Groups   []NewGroup       `json:"groups"`
	Keys     PlannedKeys      `json:"keys" doc:"Number of API keys in the file"`
	Closed   []ClosedEntity   `json:"closed" doc:"Routes and consumers that stay closed"`
	ByHand   ImportByHand     `json:"by_hand" doc:"What an import can't do"`
	Notes    []Warning        `json:"notes" doc:"Differences of the whole file"`
	Summary  LedgerCounts     `json:"summary" doc:"Number of entities by how exactly they move"`
	Items    []ImportItem     `json:"items" doc:"One item for each entity of the file"`
}

// PlannedProject is a project that an import would create.
type PlannedProject struct {
	Name        string           `json:"name"`
	DisplayName string           `json:"display_name"`
	From        string           `json:"from" doc:"Pointer to the service in the file"`
	Source      string           `json:"source" doc:"Identifies the project in later imports: ID or name of the service"`
	Limits      ProjectLimits    `json:"limits"`
	CORS        *CORS            `json:"cors,omitempty"`
	Versions    []PlannedVersion `json:"versions"`
}

// PlannedVersion is a version of a PlannedProject. All routes with equal plugins have one.
type PlannedVersion struct {
	Name         string             `json:"name"`
	Closed       bool               `json:"closed" doc:"True if it refuses every call"`
	RequestsAuth RequestsAuth       `json:"requests_auth"`
	IP           IPRules            `json:"ip"`
	Rules        Rules              `json:"rules"`
	Transforms   *Transforms        `json:"transforms,omitempty"`
	Environment  PlannedEnvironment `json:"environment"`
	Domains      []PlannedDomain    `json:"domains"`
	Routes       []string           `json:"routes" doc:"Pointers to the routes in the file"`
}

// PlannedEnvironment is the environment of a PlannedVersion.
type PlannedEnvironment struct {
	NewEnvironment
	UpstreamHeaders []string `json:"upstream_headers" doc:"Names of headers that are set to secret values"`
}

// PlannedDomain is a custom domain that leads to an environment.
type PlannedDomain struct {
	NewDomain
	Route string `json:"route" doc:"Pointer to the route in the file"`
}

// PlannedOwner is an owner of keys: an app with the name of the consumer.
type PlannedOwner struct {
	Name         string   `json:"name"`
	ConsumerID   string   `json:"consumer_id" doc:"Value of X-Consumer-ID"`
	Username     string   `json:"username" doc:"Value of X-Consumer-Username"`
	CustomID     string   `json:"custom_id" doc:"Value of X-Consumer-Custom-ID"`
	Groups       []string `json:"groups"`
	Limits       Limits   `json:"limits" doc:"Limits of each key. {} for those of the project"`
	AllowedCIDRs []string `json:"allowed_cidrs"`
	Frozen       bool     `json:"frozen" doc:"True if the keys are frozen"`
	Keys         int64    `json:"keys" doc:"Number of keys"`
}

// PlannedKeys are the numbers of API keys in a file.
type PlannedKeys struct {
	Imported int64 `json:"imported"`
	Frozen   int64 `json:"frozen"`
	Expired  int64 `json:"expired"`
	Weak     int64 `json:"weak" doc:"Number of keys that can be guessed"`
	Skipped  int64 `json:"skipped" doc:"Number of keys that aren't imported, including weak ones unless they are allowed"`
}

// ClosedEntity is a route or a consumer that stays closed.
type ClosedEntity struct {
	Kind    string   `json:"kind" enum:"route,consumer"`
	Name    string   `json:"name"`
	Pointer string   `json:"pointer" doc:"Pointer into the file"`
	Line    int      `json:"line" doc:"Line of the file"`
	Reasons []string `json:"reasons"`
	Open    string   `json:"open" doc:"Flag of the command line that opens it. Empty if nothing does"`
}

// ImportByHand is what an import can't do.
type ImportByHand struct {
	Hosts        []string            `json:"hosts" doc:"Host names that need DNS records and certificates"`
	EgressCIDRs  []string            `json:"egress_cidrs" doc:"Addresses of targets for POSTERN_EGRESS_ALLOW"`
	EgressNames  []string            `json:"egress_names" doc:"Host names of targets that probably have private addresses"`
	Certificates []string            `json:"certificates" doc:"Names in certificates of the file"`
	Placeholders []ImportPlaceholder `json:"placeholders" doc:"Placeholders without a value"`
}

// ImportPlaceholder is a placeholder that needs a value.
type ImportPlaceholder struct {
	Name  string `json:"name"`
	Line  int    `json:"line" doc:"Line of the first one"`
	Count int    `json:"count"`
}

// ImportItem says how exactly an entity of a file moves.
type ImportItem struct {
	Kind    string   `json:"kind" example:"route"`
	Title   string   `json:"title" doc:"What it is, for people" example:"Routes"`
	Name    string   `json:"name"`
	Pointer string   `json:"pointer" doc:"Pointer into the file" example:"/services/0/routes/1"`
	Line    int      `json:"line" doc:"Line of the file"`
	Status  string   `json:"status" enum:"exact,approximate,lossy,skipped" doc:"The worst of its codes"`
	Codes   []string `json:"codes" doc:"<kind>.<reason>" example:"[\"route.prefix\"]"`
	Note    string   `json:"note" doc:"What happens to it. If it is approximate, this is the worst case"`
	Remedy  *string  `json:"remedy" doc:"What to do about it; null if there is nothing to do"`
	Details []string `json:"details" doc:"Such as names of fields that aren't known"`
}

// mostLedgerNames is how many items a line of a ledger names.
const mostLedgerNames = 20

// Lines returns the items of a plan by their codes, as the ledger of an export has them.
func (p *ImportPlan) Lines() []LedgerLine {
	var lines []LedgerLine
	at := map[string]int{}
	for i := range p.Items {
		item := &p.Items[i]
		key := item.Kind + " " + item.Title + " " + strings.Join(item.Codes, "+")
		n, known := at[key]
		if !known {
			n = len(lines)
			at[key] = n
			lines = append(lines, LedgerLine{
				Code: "kong." + strings.Join(item.Codes, "+"), Kind: item.Kind, Title: item.Title, Status: item.Status,
				Configured: true, Note: item.Note, Remedy: item.Remedy, Area: "project", Names: []string{},
			})
		}
		lines[n].Count++
		if len(lines[n].Names) < mostLedgerNames {
			name := item.Name
			if len(item.Details) > 0 {
				name += ": " + strings.Join(item.Details, ", ")
			}
			lines[n].Names = append(lines[n].Names, name)
		}
	}
	return lines
}
