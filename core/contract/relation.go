package contract

import (
	"net/http"
	"time"
)

// Relation is a fact that rules decide by: the user owns the object.
type Relation struct {
	Tenant    string    `json:"tenant" doc:"Name; the id of one that was detached from the project"`
	User      string    `json:"user" doc:"Id of a user, an app that owns keys, or subject and issuer of a token" example:"usr_01"`
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
	User     string `query:"user" doc:"Id of a user, an app that owns keys, or subject and issuer of a token"`
	Relation string `query:"relation" flag:"-" enum:"owner"`
	Object   string `query:"object" doc:"Object, such as order:42"`
}

// RelationList is a request for the relations of a project.
type RelationList struct {
	ProjectPath
	Page
	RelationFilter
	Sort string `query:"sort" enum:"object,-object,user,-user,created,-created" doc:"Order; - begins at the end; default: by tenant and object"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Part of the object or the user, ignoring case"`
}

// RelationAddition is a request to add relations.
type RelationAddition struct {
	ProjectPath
	RawBody []byte `contentType:"application/json" doc:"{\"user\": …, \"object\": …}, a list of that, or one on each line; each with tenant unless it is the project's own"`
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
	Existing int64 `json:"existing" doc:"Number of relations that existed already"`
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

// The operations on relations. One has no id: the list with its user and its object shows it, and it has nothing to
// update.
var (
	ListRelations = Op[RelationList, List[Relation]]{Operation{
		ID: "list-relations", Method: http.MethodGet, Path: relations, Permission: ReadProjects,
		Summary: "List who owns which object",
		Command: "relations list PROJECT", Example: "relations list shop --search invoice: --sort -created",
		Doc: "Lists the facts that rules with an owner decide by: those that rules remembered, and those that were " +
			"added.",
	}}
	AddRelations = Op[RelationAddition, AddedRelations]{Operation{
		ID: "add-relations", Method: http.MethodPost, Path: relations, Permission: UpdateProjects,
		Summary: "Add relations: one, a list, or JSON lines",
		Doc: "Adds up to 10,000 relations, all or none. Those that exist stay as they are, so that you can send the " +
			"same list again.",
	}}
	RemoveRelations = Op[RelationRemoval, RemovedRelations]{Operation{
		ID: "remove-relations", Method: http.MethodDelete, Path: relations, Permission: UpdateProjects,
		Summary: "Remove the relations of a user, an object or both", Command: "relations remove PROJECT",
		Example: "relations remove shop --object order:42",
		Doc: "The query has to name a user or an object. Calls that need the relation are refused from the next one " +
			"on.",
	}}
)

var relationOperations = []Described{ListRelations, AddRelations, RemoveRelations}
