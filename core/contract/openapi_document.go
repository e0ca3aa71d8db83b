package contract

import (
	"encoding/json"
	"net/http"
)

// OpenAPI summarizes the operations in the OpenAPI document of a version.
type OpenAPI struct {
	OpenAPI    string             `json:"openapi" doc:"OpenAPI version of the document" example:"3.1.0"`
	Title      string             `json:"title"`
	Version    string             `json:"version" doc:"Version of the API, from the document"`
	Servers    []OpenAPIServer    `json:"servers"`
	Operations []OpenAPIOperation `json:"operations"`
	ETag       string             `json:"etag" doc:"Send as If-Match to replace the document"`
	Changes    *OpenAPIChanges    `json:"changes,omitempty" doc:"Changes from the previous document"`
	Saved      bool               `json:"saved"`
	Warnings   []Warning          `json:"warnings" doc:"Warnings about invalid parts of the document, parts that have no effect, and operations with their own servers"`

	Of string `json:"-"` // name of the version, for the dashboard alone
}

// Tag returns the document's ETag.
func (o OpenAPI) Tag() string { return o.ETag }

// OpenAPIServer is a server URL of an API.
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
	Tag        string   `json:"tag,omitempty" doc:"First tag of the operation"`
	Deprecated bool     `json:"deprecated,omitempty"`
	Scopes     []string `json:"scopes,omitempty" doc:"Scopes that the document requires"`
}

// OpenAPIChanges lists the operations, as method and path, in which a document differs from the previous one.
type OpenAPIChanges struct {
	Added   []string `json:"added" example:"[\"GET /orders/{id}\"]"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed" doc:"Changed operations. Referenced components aren't compared"`
}

// OpenAPIUpdate is a request to give a version a document.
type OpenAPIUpdate struct {
	VersionPath
	Condition
	DryRun  bool   `query:"dry_run" doc:"Return the changes without saving the document"`
	RawBody []byte `contentType:"application/json" doc:"The document as JSON, YAML or a JSON string, up to 16 MB, or its URL as {\"url\": …}"`
}

// SetText sets the document to a text in JSON or YAML.
func (u *OpenAPIUpdate) SetText(document string) {
	u.RawBody = rawJSON(document)
}

// SetURL sets the address that the server fetches the document from.
func (u *OpenAPIUpdate) SetURL(url string) {
	u.RawBody = rawJSON(map[string]string{"url": url})
}

// OpenAPIRemoval is a request to remove the document of a version.
type OpenAPIRemoval struct {
	VersionPath
	Condition
}

// RuleProposal has the rules that are derived from an OpenAPI document.
type RuleProposal struct {
	Rules    []Rule                 `json:"rules" doc:"Rules in shadow mode, without IDs. Add them to the rules of the version"`
	Derived  bool                   `json:"derived" doc:"True if the document doesn't contain scopes, so the scopes are derived from the first segment of each path"`
	LeftOut  []OperationWithoutRule `json:"left_out" doc:"Operations that no rule can be created for"`
	Warnings []Warning              `json:"warnings" doc:"Key types that the rules would refuse"`
}

// OperationWithoutRule is an operation that no rule can be derived for.
type OperationWithoutRule struct {
	Operation string `json:"operation"`
	Reason    string `json:"reason"`
}

const openAPI = version + "/openapi"

// The operations on the OpenAPI document of a version.
var (
	GetOpenAPIDocument = &Op[VersionPath, json.RawMessage]{Operation{
		ID: "get-openapi-document", Method: http.MethodGet, Path: openAPI, Permission: ReadProjects,
		Summary: "Get a version's OpenAPI document",
		Doc:     "Returns the document as JSON, with an ETag. A YAML document is converted.",
	}}
	SetOpenAPIDocument = &Op[OpenAPIUpdate, OpenAPI]{Operation{
		ID: "set-openapi-document", Method: http.MethodPut, Path: openAPI, Permission: UpdateProjects,
		Summary: "Import an OpenAPI document for a version",
		Doc: "Replaces the document of the version. From then on, usage is counted by the document's paths. The " +
			"response includes the changed operations and warnings about parts that the gateway doesn't use.",
	}}
	RemoveOpenAPIDocument = &Op[OpenAPIRemoval, None]{Operation{
		ID: "remove-openapi-document", Method: http.MethodDelete, Path: openAPI, Status: http.StatusNoContent,
		Permission: UpdateProjects,
		Summary:    "Remove a version's OpenAPI document", Command: "openapi remove PROJECT VERSION",
		Doc: "The gateway stops validating requests and publishing the document. Exports contain a generated " +
			"document again.",
	}}
	ListOpenAPIOperations = &Op[VersionPath, OpenAPI]{Operation{
		ID: "list-openapi-operations", Method: http.MethodGet, Path: openAPI + "/operations", Permission: ReadProjects,
		Summary: "List the operations in a version's OpenAPI document", Command: "openapi show PROJECT VERSION",
		Doc: "Returns the document's title and servers, and each operation with the scopes it requires.",
	}}
	ProposeRules = &Op[VersionPath, RuleProposal]{Operation{
		ID: "propose-rules", Method: http.MethodGet, Path: openAPI + "/rules", Permission: ReadProjects,
		Summary: "Propose rules based on a version's OpenAPI document",
		Command: "openapi rules PROJECT VERSION",
		Doc: "Proposes shadow rules for operations that have no rule yet. Nothing is saved until you add the rules " +
			"to the version.",
	}}
)

var openAPIDocumentOperations = []Described{
	GetOpenAPIDocument, SetOpenAPIDocument, RemoveOpenAPIDocument, ListOpenAPIOperations, ProposeRules,
}
