package contract

import "net/http"

// API is what app clients can ask for at a project: the audience of its tokens (RFC 8707), and their scopes. A token of
// one of our app clients is for the project if it names the app client or this audience.
type API struct {
	Audience string     `json:"audience" doc:"URI that resource or audience of a request names, and aud of its token, for example https://api.example.com; empty: none"`
	Scopes   []APIScope `json:"scopes" doc:"All scopes that app clients can ask for"`
}

// APIScope is a scope with the text that the consent page shows for it.
type APIScope struct {
	Name        string `json:"name" doc:"For example orders:read, or orders:* for a family"`
	Description string `json:"description" required:"false" doc:"Shown on the consent page, for example: read your orders"`
}

// SavedAPI is an API as it is now.
type SavedAPI struct {
	API
	ETag string `json:"etag" doc:"Send as If-Match to replace them"`
}

// Tag returns its ETag.
func (a SavedAPI) Tag() string { return a.ETag }

// APIUpdate is a request to replace what app clients can ask for at a project.
type APIUpdate struct {
	ProjectPath
	Condition
	Body API
}

// The operations on the audience and the scopes of a project.
var (
	GetAPIScopes = Op[ProjectPath, SavedAPI]{Operation{
		ID: "get-api-scopes", Method: http.MethodGet, Path: project + "/api-scopes", Permission: ReadProjects,
		Summary: "Get a project's API scopes", Command: "api-scopes show PROJECT",
		Doc: "Has the scopes that app clients can ask for, and the audience that tokens for the project have.",
	}}
	SetAPIScopes = Op[APIUpdate, SavedAPI]{Operation{
		ID: "set-api-scopes", Method: http.MethodPut, Path: project + "/api-scopes", Permission: UpdateProjects,
		Summary: "Replace a project's API scopes", Command: "api-scopes set PROJECT",
		Doc: "Replaces all of them. A scope that app clients or rules use can't be removed.",
	}}
)

var apiScopeOperations = []Described{GetAPIScopes, SetAPIScopes}
