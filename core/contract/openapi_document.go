package contract

import (
	"encoding/json"
	"net/http"
)

// OpenAPI is what the OpenAPI document of a version says of its operations.
type OpenAPI struct {
	OpenAPI    string             `json:"openapi" doc:"Version of the document" example:"3.1.0"`
	Title      string             `json:"title"`
	Version    string             `json:"version" doc:"Of the API, as the document has it"`
	Servers    []OpenAPIServer    `json:"servers"`
	Operations []OpenAPIOperation `json:"operations"`
	ETag       string             `json:"etag" doc:"Send as If-Match to replace the document"`
	Changes    *OpenAPIChanges    `json:"changes,omitempty" doc:"From the document before"`
	Saved      bool               `json:"saved"`
	Warnings   []Warning          `json:"warnings" doc:"What of the document is wrong or has no effect, and was accepted, and the servers of its operations"`

	Of string `json:"-"` // name of the version, for the dashboard alone
}

// Tag returns the document's ETag.
func (o OpenAPI) Tag() string { return o.ETag }

// OpenAPIServer is an address of an API.
type OpenAPIServer struct {
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
}

// OpenAPIOperation is one method of one path of an OpenAPI document.
type OpenAPIOperation struct {
	Method     string   `json:"method"`
	Path       string   `json:"path" example:"/orders/{id}"`
	ID         string   `json:"operation_id,omitempty"`
	Summary    string   `json:"summary,omitempty"`
	Tag        string   `json:"tag,omitempty" doc:"The first one"`
	Deprecated bool     `json:"deprecated,omitempty"`
	Scopes     []string `json:"scopes,omitempty" doc:"That the document requires"`
}

// OpenAPIChanges are the operations in which a document differs from the one before, each as method and path.
type OpenAPIChanges struct {
	Added   []string `json:"added" example:"[\"GET /orders/{id}\"]"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed" doc:"Operations that differ themselves; what they refer to is not compared"`
}

// OpenAPIUpdate is a request to give a version a document.
type OpenAPIUpdate struct {
	VersionPath
	Condition
	DryRun  bool   `query:"dry_run" doc:"Only show what would change"`
	RawBody []byte `contentType:"application/json" doc:"The document, JSON or YAML, at most 16 MB, also as a JSON string; or {\"url\": …}"`
}

// SetText has the update set a document that is JSON or YAML.
func (u *OpenAPIUpdate) SetText(document string) {
	u.RawBody = rawJSON(document)
}

// SetURL has the update set the document that the server fetches from an address.
func (u *OpenAPIUpdate) SetURL(url string) {
	u.RawBody = rawJSON(map[string]string{"url": url})
}

// OpenAPIRemoval is a request to remove the document of a version.
type OpenAPIRemoval struct {
	VersionPath
	Condition
}

// RuleProposal are the rules that follow from an OpenAPI document.
type RuleProposal struct {
	Rules    []Rule                 `json:"rules" doc:"In shadow and without ids; send them to the rules of the version"`
	Derived  bool                   `json:"derived" doc:"The document names no scopes: these are made of the first segment of the path"`
	LeftOut  []OperationWithoutRule `json:"left_out" doc:"Operations that no rule can be made for"`
	Warnings []Warning              `json:"warnings" doc:"Which key types the rules would refuse"`
}

// OperationWithoutRule is an operation that no rule can be made for.
type OperationWithoutRule struct {
	Operation string `json:"operation"`
	Reason    string `json:"reason"`
}

const openAPI = version + "/openapi"

// The operations on the OpenAPI document of a version.
var (
	GetOpenAPIDocument = Op[VersionPath, json.RawMessage]{Operation{
		ID: "get-openapi-document", Method: http.MethodGet, Path: openAPI, Permission: ReadProjects,
		Summary: "Get the OpenAPI document of a version",
		Doc:     "Returns the document as JSON, with an ETag. A document that was sent as YAML is converted.",
	}}
	SetOpenAPIDocument = Op[OpenAPIUpdate, OpenAPI]{Operation{
		ID: "set-openapi-document", Method: http.MethodPut, Path: openAPI, Permission: UpdateProjects,
		Summary: "Import an OpenAPI document for a version",
		Doc: "Replaces the document of the version. Its paths become the routes that usage counts by. The answer has " +
			"the operations that change, and warnings about what the gateway doesn't use.",
	}}
	RemoveOpenAPIDocument = Op[OpenAPIRemoval, None]{Operation{
		ID: "remove-openapi-document", Method: http.MethodDelete, Path: openAPI, Status: http.StatusNoContent,
		Permission: UpdateProjects,
		Summary:    "Remove the OpenAPI document of a version", Command: "openapi remove PROJECT VERSION",
		Doc: "Requests are no longer validated, and the gateway no longer publishes the document. Exports have a " +
			"generated one again.",
	}}
	ListOpenAPIOperations = Op[VersionPath, OpenAPI]{Operation{
		ID: "list-openapi-operations", Method: http.MethodGet, Path: openAPI + "/operations", Permission: ReadProjects,
		Summary: "List the operations of a version's OpenAPI document", Command: "openapi show PROJECT VERSION",
		Doc: "Has the title and the servers of the document, and each operation with the scopes that it requires.",
	}}
	ProposeRules = Op[VersionPath, RuleProposal]{Operation{
		ID: "propose-rules", Method: http.MethodGet, Path: openAPI + "/rules", Permission: ReadProjects,
		Summary: "Propose rules that follow from the OpenAPI document of a version",
		Command: "openapi rules PROJECT VERSION",
		Doc: "Proposes rules for operations that no rule of the version is for, in shadow. Nothing is saved: add the " +
			"rules to those of the version.",
	}}
)

var openAPIDocumentOperations = []Described{
	GetOpenAPIDocument, SetOpenAPIDocument, RemoveOpenAPIDocument, ListOpenAPIOperations, ProposeRules,
}
