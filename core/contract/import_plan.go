package contract

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ImportPlan is what an import of another gateway's files would create. It contains no secrets, and no hashes of keys
// because weak keys can be guessed from their hashes.
type ImportPlan struct {
	Source     string           `json:"source" doc:"Gateway and format of the files" example:"kong 3.0"`
	Product    string           `json:"product" doc:"Product that all projects and keys belong to"`
	Tenant     string           `json:"tenant" doc:"Tenant that is attached to all projects"`
	Projects   []PlannedProject `json:"projects"`
	Owners     []PlannedOwner   `json:"owners" doc:"Owners of API keys"`
	OwnerCount int64            `json:"owner_count" doc:"Number of owners"`
	Groups     []NewGroup       `json:"groups"`
	Keys       PlannedKeys      `json:"keys" doc:"Number of API keys in the files"`
	Closed     []ClosedEntity   `json:"closed" doc:"Routes and consumers that stay closed"`
	ByHand     ImportByHand     `json:"by_hand" doc:"Tasks that an import can't do for you"`
	Notes      []Warning        `json:"notes" doc:"Differences that affect the entire import"`
	Summary    LedgerCounts     `json:"summary" doc:"Number of entities by status (how exactly they are imported)"`
	Items      []ImportItem     `json:"items" doc:"One item for each entity in the files"`
}

// PlannedProject is a project that an import would create.
type PlannedProject struct {
	Name        string           `json:"name"`
	DisplayName string           `json:"display_name"`
	From        string           `json:"from" doc:"Pointer to the service or API in the file"`
	Source      string           `json:"source" doc:"Identifies the project in later imports: ID or name of the service or API"`
	Limits      ProjectLimits    `json:"limits"`
	CORS        *CORS            `json:"cors,omitempty"`
	Versions    []PlannedVersion `json:"versions"`
}

// PlannedVersion is a version of a PlannedProject. All routes with equal plugins share one.
type PlannedVersion struct {
	Name         string             `json:"name"`
	Closed       bool               `json:"closed" doc:"True if the version refuses every call"`
	RequestsAuth RequestsAuth       `json:"requests_auth"`
	IP           IPRules            `json:"ip"`
	Rules        Rules              `json:"rules"`
	Transforms   *Transforms        `json:"transforms,omitempty"`
	Environment  PlannedEnvironment `json:"environment"`
	Domains      []PlannedDomain    `json:"domains"`
	Routes       []string           `json:"routes" doc:"Pointers to the routes or operations in the file"`
}

// PlannedEnvironment is the environment of a PlannedVersion.
type PlannedEnvironment struct {
	NewEnvironment
	UpstreamHeaders []string `json:"upstream_headers" doc:"Names of headers that are set to secret values"`
}

// PlannedDomain is a custom domain that leads to an environment.
type PlannedDomain struct {
	NewDomain
	Route string `json:"route" doc:"Pointer to the route or operation in the file"`
}

// PlannedOwner is an owner of keys: an app that has the consumer's name.
type PlannedOwner struct {
	Name         string   `json:"name"`
	ConsumerID   string   `json:"consumer_id" doc:"Value of X-Consumer-ID"`
	Username     string   `json:"username" doc:"Value of X-Consumer-Username"`
	CustomID     string   `json:"custom_id" doc:"Value of X-Consumer-Custom-ID"`
	Groups       []string `json:"groups"`
	Limits       Limits   `json:"limits" doc:"Limits for each key. {} if the project's limits apply"`
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
	Kind    string   `json:"kind" enum:"route,operation,consumer"`
	Name    string   `json:"name"`
	Pointer string   `json:"pointer" doc:"JSON Pointer to it in the file"`
	Line    int      `json:"line" doc:"Line in the file"`
	Reasons []string `json:"reasons"`
	Open    string   `json:"open" doc:"Command-line flag that opens it. Empty if it can't be opened"`
}

// Place returns where the entity is, for people.
func (c ClosedEntity) Place() string { return placeIn(fileOf(c.Pointer), c.Line) }

// fileOf returns the name of the file that a pointer begins with if there are several.
func fileOf(pointer string) string {
	if strings.HasPrefix(pointer, "/") {
		return ""
	}
	file, _, _ := strings.Cut(pointer, "#")
	return file
}

func placeIn(file string, line int) string {
	if file == "" {
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("line %d of %s", line, file)
}

// ImportByHand is a change that an import can't make, so a person has to.
type ImportByHand struct {
	Hosts        []string            `json:"hosts" doc:"Host names that need DNS records and certificates"`
	EgressCIDRs  []string            `json:"egress_cidrs" doc:"Addresses of targets that POSTERN_EGRESS_ALLOW must allow but doesn't yet"`
	EgressNames  []string            `json:"egress_names" doc:"Host names of targets that probably have private addresses"`
	Certificates []string            `json:"certificates" doc:"Host names in the files' certificates"`
	Placeholders []ImportPlaceholder `json:"placeholders" doc:"Placeholders without a value"`
}

// ImportPlaceholder is a placeholder that needs a value.
type ImportPlaceholder struct {
	Name  string `json:"name"`
	File  string `json:"file,omitempty" doc:"File that contains its first occurrence, if there are several files"`
	Line  int    `json:"line" doc:"Line of its first occurrence"`
	Count int    `json:"count"`
}

// Place returns where the first one is, for people.
func (p ImportPlaceholder) Place() string { return placeIn(p.File, p.Line) }

// ImportItem says how exactly an entity of a file moves.
type ImportItem struct {
	Kind    string   `json:"kind" example:"route"`
	Title   string   `json:"title" doc:"Readable name of the entities" example:"Routes"`
	Name    string   `json:"name"`
	Pointer string   `json:"pointer" doc:"JSON Pointer to it in the file. With several files, the name of the file comes first: orders.yaml#/services/0" example:"/services/0/routes/1"`
	Line    int      `json:"line" doc:"Line in the file"`
	Status  string   `json:"status" enum:"exact,approximate,lossy,skipped" doc:"Worst status of its codes"`
	Codes   []string `json:"codes" doc:"<kind>.<reason>" example:"[\"route.prefix\"]"`
	Note    string   `json:"note" doc:"How the entity is imported. If the status is approximate, the note includes the worst case"`
	Remedy  *string  `json:"remedy" doc:"Action that you need to take; null if there is none"`
	Details []string `json:"details" doc:"Details, such as the names of unknown fields"`
}

// Place returns where the entity is, for people.
func (i *ImportItem) Place() string { return placeIn(fileOf(i.Pointer), i.Line) }

// ImportChoices are the choices for a plan that aren't secret.
type ImportChoices struct {
	Name           string   `json:"name" doc:"Name of the import, its product and its tenant. An import updates objects that earlier imports with the same name created" example:"kong"`
	Open           []string `json:"open" doc:"Names, IDs or pointers of routes and consumers that are opened without the plugins that can't be imported"`
	Hosts          []string `json:"hosts" doc:"Host names for routes that don't have one"`
	Trust          []string `json:"trust" doc:"Hosts of https targets whose certificates are accepted, even though they aren't from an authority that the gateway trusts"`
	Theirs         bool     `json:"theirs" doc:"Overwrite changes made in Postern since an earlier import"`
	AllowWeak      bool     `json:"allow_weak" doc:"Also import keys that can be guessed"`
	RetryOnTimeout bool     `json:"retry_on_timeout" doc:"Retry calls after a timeout, as Kong does"`
}

// DefaultImportName is the name of an import for which the caller chose none.
const DefaultImportName = "kong"

// States of PlannedImport.
const (
	ImportPlanned  = "planned"
	ImportApplying = "applying" // it is being applied
	ImportApplied  = "applied"
)

// MostPlannedItems is how many items and owners an answer of the API lists.
const MostPlannedItems = 1000

// PlannedImport is a plan that the server keeps until it is applied.
type PlannedImport struct {
	ID    string `json:"id"`
	Team  string `json:"team" doc:"ID of the team"`
	State string `json:"state" enum:"planned,applying" doc:"applying: the import is being written"`
	ImportChoices
	Filled []string `json:"filled" doc:"Names of placeholders that you gave a value"`
	ImportPlan
	Targets     []ImportTarget `json:"targets" doc:"Results of test connections to the first 1,000 targets. No requests are sent"`
	TargetCount int64          `json:"target_count" doc:"Number of targets"`

	Ledger    []LedgerLine `json:"ledger" doc:"All items, grouped by code. items and owners list only the first 1,000. To get all of them, download the plan"`
	CreatedAt time.Time    `json:"created_at"`
	ExpiresAt time.Time    `json:"expires_at" doc:"When the plan is deleted"`
	ETag      string       `json:"etag" doc:"Send as If-Match to change the plan"`
}

// TargetState is the result of connecting to a target of a plan.
type TargetState string

// The states of targets.
const (
	TargetOK          TargetState = "ok"
	TargetUnverified  TargetState = "unverified"
	TargetUnreachable TargetState = "unreachable"
	TargetNotAllowed  TargetState = "not_allowed"
	TargetNotTested   TargetState = "not_tested"
)

// ImportTarget is a target of a plan.
type ImportTarget struct {
	Address string      `json:"address" doc:"Scheme, host and port" example:"https://orders.internal:8443"`
	State   TargetState `json:"state" enum:"ok,unverified,unreachable,not_allowed,not_tested" doc:"unverified: its certificate isn't accepted. not_allowed: its address isn't public, and the operator hasn't allowed its range with POSTERN_EGRESS_ALLOW"`
	Detail  string      `json:"detail" doc:"Reason that the state isn't ok. Calls to the target get 502"`
	Trusted bool        `json:"trusted" doc:"True if its certificate is accepted because trust contains its host"`
	CA      *OfferedCA  `json:"ca,omitempty" doc:"If the target is unverified, the certificate that is accepted once trust contains its host. If it is trusted, the certificate that the import sets as ca. Compare its fingerprint with the one that you get from the target's operator"`
}

// TrustHost returns the host that trust must contain for the target's certificate to be accepted, "" if no host would
// help.
func (t ImportTarget) TrustHost() string {
	u, err := url.Parse(t.Address)
	if err != nil || t.State != TargetUnverified || t.CA == nil {
		return ""
	}
	return u.Hostname()
}

// Tag returns the plan's ETag.
func (p PlannedImport) Tag() string { return p.ETag }

// ImportPlanChange changes the choices for a plan; nil leaves a member unchanged.
type ImportPlanChange struct {
	Name           *string           `json:"name,omitempty" slug:"true" doc:"Name of the import, its product and its tenant. If you import from several gateways, use a different name for each. Defaults to kong or aws"`
	Open           *[]string         `json:"open,omitempty" doc:"Names, IDs or pointers of routes and consumers to open. Replaces the existing list"`
	Set            map[string]Secret `json:"set,omitempty" doc:"Values of placeholders, by name. Placeholders that you leave out keep their values. An empty value removes the current value"`
	Hosts          *[]string         `json:"hosts,omitempty" doc:"Host names for routes that don't have one. Replaces the existing list"`
	Trust          *[]string         `json:"trust,omitempty" doc:"Hosts of https targets whose certificates are accepted, even though they aren't from an authority that the gateway trusts. The certificates that these targets currently present become the ca of their environments. Replaces the existing list"`
	Theirs         *bool             `json:"theirs,omitempty" doc:"Overwrite changes made in Postern since an earlier import"`
	AllowWeak      *bool             `json:"allow_weak,omitempty" doc:"Also import keys that can be guessed"`
	RetryOnTimeout *bool             `json:"retry_on_timeout,omitempty" doc:"Retry calls after a timeout, as Kong does"`
}

// ImportPath is the path parameter of an import.
type ImportPath struct {
	Import string `path:"import" doc:"ID"`
}

// IsAppliedImport reports whether an ID belongs to an applied import rather than to a plan.
func IsAppliedImport(id string) bool { return strings.HasPrefix(id, "imp_") }

// ImportPlanUpdate is a request to change a plan.
type ImportPlanUpdate struct {
	ImportPath
	Condition
	Body ImportPlanChange
}

// LogValue implements slog.LogValuer.
func (u ImportPlanUpdate) LogValue() slog.Value { return slog.StringValue(u.Import) }

// ImportApplication is a request to write what a plan plans.
type ImportApplication struct {
	ImportPath
	Condition
}

// ImportSummary is a plan that hasn't been applied yet, or an applied import.
type ImportSummary struct {
	ID        string    `json:"id"`
	Team      string    `json:"team" doc:"ID of the team"`
	State     string    `json:"state" enum:"planned,applying,applied"`
	Name      string    `json:"name" doc:"Name of the import, its product and its tenant"`
	CreatedAt time.Time `json:"created_at"`

	ExpiresAt *time.Time `json:"expires_at" doc:"When the plan is deleted. Null for applied imports"`
}

// ImportList is a request for imports of other gateways' files.
type ImportList struct {
	Team string `query:"team" id:"team" doc:"ID of a team. Defaults to all your teams"`
}

const oneImport = "/api/v1/imports/{import}"

// PlanImport is ImportProject for a file from another gateway.
var PlanImport = &Op[NewImport, PlannedImport]{Operation{
	ID: ImportProject.ID, Method: ImportProject.Method, Path: ImportProject.Path, Body: "application/yaml",
	Status: http.StatusAccepted, Permission: ImportProjects,
}}

// The operations on plans of imports.
var (
	ListImports = &Op[ImportList, List[ImportSummary]]{Operation{
		ID: "list-imports", Method: http.MethodGet, Path: "/api/v1/imports",
		Summary: "List imports from other gateways", Permission: ImportProjects, Command: "imports list",
		Doc: "Lists plans that haven't been applied yet, and each team's last 200 imports, newest first. You " +
			"can undo an import if it only created objects, none of them have changed since, and there is no later " +
			"import with the same name.",
	}}
	GetImportPlan = &Op[ImportPath, PlannedImport]{Operation{
		ID: "get-import-plan", Method: http.MethodGet, Path: oneImport, Summary: "Get the plan of an import",
		Permission: ImportProjects, Command: "imports show IMPORT",
		Doc: "Returns the objects that the import would create, how exactly each entity is imported, the routes and " +
			"consumers that stay closed, and the tasks that you need to do yourself.",
	}}
	GetImportResult = &Op[ImportPath, MovedIn]{Operation{
		ID: "get-import-result", Method: http.MethodGet, Path: oneImport + "/result",
		Summary: "Get the result of an import", Permission: ImportProjects,
		Doc: "Returns what an applied import created, updated and left unchanged, and whether you can undo it.",
	}}
	UpdateImportPlan = &Op[ImportPlanUpdate, PlannedImport]{Operation{
		ID: "update-import-plan", Method: http.MethodPatch, Path: oneImport,
		Summary: "Change the settings of an import", Permission: ImportProjects,
		Doc: "Returns the new plan. Values of placeholders are stored encrypted and never returned.",
	}}
	DownloadImportPlan = &Op[ImportPath, File]{Operation{
		ID: "download-import-plan", Method: http.MethodGet, Path: oneImport + "/download",
		Summary: "Download the full plan of an import", Permission: ImportProjects, Answer: "application/json",
		Doc: "Returns the plan with all items and owners.",
	}}
	DeleteImportPlan = &Op[ImportPath, None]{Operation{
		ID: "delete-import-plan", Method: http.MethodDelete, Path: oneImport, Status: http.StatusNoContent,
		Summary: "Delete an import plan", Permission: ImportProjects, Command: "imports delete IMPORT",
		Doc: "Also deletes the files that you sent. Plans are deleted automatically after 24 hours.",
	}}
	ApplyImport = &Op[ImportApplication, MovedIn]{Operation{
		ID: "apply-import", Method: http.MethodPost, Path: oneImport + "/apply", Summary: "Apply the plan of an import",
		Permission: ImportProjects,
		Doc: "Requires the plan's ETag as If-Match, so that only the plan that you reviewed is applied. The import " +
			"is all or nothing. Deletes the plan and returns the import, which has a different ID.",
	}}
	UndoImport = &Op[ImportPath, None]{Operation{
		ID: "undo-import", Method: http.MethodPost, Path: oneImport + "/undo", Status: http.StatusNoContent,
		Summary: "Undo an import", Permission: EraseProjects, Command: "imports undo IMPORT",
		Doc: "Deletes everything that the import created. Fails if any of it was changed after the import, if the " +
			"import changed objects from an earlier import, or if a later import with the same name exists.",
	}}
)

// mostLedgerNames is how many items a line of a ledger names.
const mostLedgerNames = 20

// mostPlanLines is how many lines a plan has before its other items share one line for each status: a file can have any
// number of plugin names.
const mostPlanLines = 500

// otherItems is the kind of lines whose items have different codes.
const otherItems = "others"

// Lines returns the items of a plan grouped by code, in the form of an export's ledger.
func (p *ImportPlan) Lines() []LedgerLine {
	var lines []LedgerLine
	source, _, _ := strings.Cut(p.Source, " ")
	at := map[string]int{}
	for i := range p.Items {
		item := &p.Items[i]
		key := item.Kind + " " + item.Title + " " + strings.Join(item.Codes, "+")
		n, known := at[key]
		if !known && len(lines) >= mostPlanLines {
			key = otherItems + " " + item.Status
			n, known = at[key]
		}
		if !known {
			n = len(lines)
			at[key] = n
			line := LedgerLine{
				Code: source + "." + strings.Join(item.Codes, "+"), Kind: item.Kind, Title: item.Title,
				Status: item.Status, Configured: true, Note: item.Note, Remedy: item.Remedy, Area: "project",
				Names: []string{},
			}
			if n >= mostPlanLines {
				line.Code, line.Kind, line.Title = source+"."+otherItems, otherItems, "Others"
				line.Note, line.Remedy = "The plan has too many kinds of items to list all of them here. The items "+
					"have their own codes, notes and remedies.", nil
			}
			lines = append(lines, line)
		}
		lines[n].Count++
		if len(lines[n].Names) < mostLedgerNames {
			name := item.Name
			if item.Line > 0 {
				name += " (" + item.Place() + ")"
			}
			if len(item.Details) > 0 {
				name += ": " + strings.Join(item.Details, ", ")
			}
			lines[n].Names = append(lines[n].Names, name)
		}
	}
	return lines
}
