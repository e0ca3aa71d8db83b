package contract

import "net/http"

// API lists what app clients can request at a project: the audience of its tokens (RFC 8707), and their scopes. A token
// of one of our app clients is for the project if it names the app client or this audience.
type API struct {
	Audience string     `json:"audience" doc:"URI of the API. App clients send it as resource or audience in token requests, and tokens for the project contain it in aud. Empty if there is none"`
	Scopes   []APIScope `json:"scopes" doc:"All scopes that app clients can request"`
}

// APIScope is a scope with the text that the consent page shows for it.
type APIScope struct {
	Name        string `json:"name" doc:"Name of the scope, such as orders:read, or orders:* for every scope that begins with orders:"`
	Description string `json:"description" required:"false" doc:"Text on the consent page, such as: read your orders"`
}

// SavedAPI is the current API.
type SavedAPI struct {
	API
	ETag string `json:"etag" doc:"Send as If-Match to replace the scopes and the audience"`
}

// Tag returns its ETag.
func (a SavedAPI) Tag() string { return a.ETag }

// APIUpdate is a request to replace the API that app clients can request at a project.
type APIUpdate struct {
	ProjectPath
	Condition
	Body API
}

// The operations on the audience and the scopes of a project.
var (
	GetAPIScopes = &Op[ProjectPath, SavedAPI]{Operation{
		ID: "get-api-scopes", Method: http.MethodGet, Path: project + "/api-scopes", Permission: ReadProjects,
		Summary: "Get a project's API scopes", Command: "api-scopes show PROJECT",
		Doc: "Returns the scopes that app clients can request, and the audience of tokens for the project.",
	}}
	SetAPIScopes = &Op[APIUpdate, SavedAPI]{Operation{
		ID: "set-api-scopes", Method: http.MethodPut, Path: project + "/api-scopes", Permission: UpdateProjects,
		Summary: "Replace a project's API scopes", Command: "api-scopes set PROJECT",
		Doc: "Replaces all scopes and the audience. New tokens don't include removed scopes, even if an app client " +
			"still lists them.",
	}}
)

var apiScopeOperations = []Described{GetAPIScopes, SetAPIScopes}
