package contract

import (
	"net/http"
	"time"
)

// Relation is a fact that rules can check: the user owns the object.
type Relation struct {
	Tenant    string    `json:"tenant" doc:"Name of the tenant, or its ID if it was detached from the project"`
	User      string    `json:"user" doc:"ID of a user, name of an app that owns keys, or subject and issuer of a token, as in ana (https://id.example.com)" example:"usr_01"`
	Relation  string    `json:"relation" enum:"owner"`
	Object    string    `json:"object" example:"order:42"`
	CreatedAt time.Time `json:"created_at"`
}

// NewRelation is a relation to be added.
type NewRelation struct {
	Tenant   string `json:"tenant,omitempty"` // name; "" is the project's own
	User     string `json:"user"`
	Relation string `json:"relation,omitempty"` // "" is owner
	Object   string `json:"object"`
}

// RelationFilter selects relations. Empty members select all.
type RelationFilter struct {
	Tenant   string `query:"tenant" doc:"Name of a tenant"`
	User     string `query:"user" doc:"ID of a user, name of an app that owns keys, or subject and issuer of a token, as in ana (https://id.example.com)"`
	Relation string `query:"relation" flag:"-" enum:"owner"`
	Object   string `query:"object" doc:"Object, such as order:42"`
}

// RelationList is a request for the relations of a project.
type RelationList struct {
	ProjectPath
	Page
	RelationFilter
	Sort string `query:"sort" enum:"object,-object,user,-user,created,-created" doc:"Sort order. A leading - means descending. Defaults to tenant, then object"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the object or user, ignoring case"`
}

// RelationAddition is a request to add relations.
type RelationAddition struct {
	ProjectPath
	RawBody []byte `contentType:"application/json" doc:"{\"user\": …, \"object\": …}, a list of these, or one per line. Add tenant if it isn't the project's own tenant"`
}

// RelationsOf returns the request to add relations to a project.
func RelationsOf(project string, list ...NewRelation) RelationAddition {
	return RelationAddition{
		ProjectPath: ProjectPath{Project: project}, RawBody: rawJSON(append([]NewRelation{}, list...)),
	}
}

// AddedRelations counts what was added.
type AddedRelations struct {
	Added    int64 `json:"added" doc:"Number of new relations"`
	Existing int64 `json:"existing" doc:"Number of relations that already existed"`
}

// RelationRemoval is a request to remove the relations of a user, an object or both.
type RelationRemoval struct {
	ProjectPath
	RelationFilter
}

// RemovedRelations counts what was removed.
type RemovedRelations struct {
	Removed int `json:"removed"`
}

const relations = project + "/relations"

// The operations on relations. A relation has no ID: list relations by user and object to find one. It has no members
// to update.
var (
	ListRelations = &Op[RelationList, List[Relation]]{Operation{
		ID: "list-relations", Method: http.MethodGet, Path: relations, Permission: ReadProjects,
		Summary: "List object owners",
		Command: "relations list PROJECT", Example: "relations list shop --search invoice: --sort -created",
		Doc: "Lists the object owners that rules check: those that rules recorded and those that you added.",
	}}
	AddRelations = &Op[RelationAddition, AddedRelations]{Operation{
		ID: "add-relations", Method: http.MethodPost, Path: relations, Permission: UpdateProjects,
		Summary: "Add relations",
		Doc: "Adds up to 10,000 relations, or none if one is invalid. Send one relation, a list or JSON lines. " +
			"Existing relations don't change, so you can safely send the same list again.",
	}}
	RemoveRelations = &Op[RelationRemoval, RemovedRelations]{Operation{
		ID: "remove-relations", Method: http.MethodDelete, Path: relations, Permission: UpdateProjects,
		Summary: "Remove relations by user, object or both", Command: "relations remove PROJECT",
		Example: "relations remove shop --object order:42",
		Doc:     "Subsequent calls that require a removed relation are refused.",
	}}
)

var relationOperations = []Described{ListRelations, AddRelations, RemoveRelations}
