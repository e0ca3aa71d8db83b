package projects

import (
	"time"

	"postern/views/ui"
)

// Relations lists who owns which object of a project.
type Relations struct {
	Page     ui.Page
	List     ui.List
	Wrong    string // what is wrong with the filters
	Rows     []RelationRow
	ByTenant bool // the project serves several tenants
	Add      *RelationAdd
	Import   *RelationImport // nil for viewers, as Add
	Missed   []RelationMiss
	Curl     string // adds a relation; "" for viewers
	BackURL  string // of the project
}

// RelationRow is a relation in the list.
type RelationRow struct {
	Object    string
	User      string
	UserURL   string // of the user's page; "": the owner is not a user of a tenant
	AllURL    string // of what an owner without a page has; "" if the list is of that
	Tenant    string
	Since     time.Time
	ForgetURL string // "" for viewers
}

// RelationAdd posts object, user and tenant to Action.
type RelationAdd struct {
	Open    bool
	Action  string
	Object  ui.Value
	User    ui.Value
	Tenants []ui.Option // nil: the project serves one
	Error   string
}

// RelationImport posts a file to Action.
type RelationImport struct {
	Open   bool
	Action string
	Error  string
}

// RelationMiss says how often a rule found no object in responses, and why.
type RelationMiss struct {
	Route    string // such as POST /orders; "": the rule was removed
	Version  string
	RulesURL string
	Answers  string // such as 12 responses
	Reason   string
	Last     time.Time
}

// Relation is a relation that can be forgotten.
type Relation struct {
	Page    ui.Page
	Object  string
	Facts   []ui.Fact // nil: it does not exist
	Forget  *ui.Confirmation
	BackURL string // of the list
}
