package contract

import "net/http"

// CORS says which pages of other origins a browser lets call a project, or lets call it with credentials of a tenant
// (Fetch standard, "CORS protocol"). One that is not set leaves that to the project's upstreams, and to the projects
// that serve the tenant.
type CORS struct {
	Origins        []string `json:"origins" flag:",list" doc:"Origins that may call, such as https://app.example.com or capacitor://localhost; * alone allows all"`
	AppOrigins     bool     `json:"app_origins" doc:"Allow the origins of the app clients' redirect URIs too"`
	Methods        []string `json:"methods" flag:",list" doc:"Methods that pages may use; empty: all"`
	Headers        []string `json:"headers" flag:",list" doc:"Headers that pages may set; empty: those that they ask for"`
	ExposedHeaders []string `json:"exposed_headers" flag:"exposed-headers,list" doc:"Headers of responses that pages may read"`
	Credentials    bool     `json:"credentials" doc:"Pages may send cookies; not with an origin of *"`
	MaxAge         *int     `json:"max_age" flag:"max-age,,none" doc:"Seconds for which browsers cache a preflight, at most 86400; null: not stated"`
}

// IsSet reports whether it allows any origin, as each does that is saved.
func (c CORS) IsSet() bool { return len(c.Origins) > 0 || c.AppOrigins }

// SavedCORS is a CORS as it is now.
type SavedCORS struct {
	CORS
	FromApps []string `json:"from_app_clients" doc:"Origins that app_origins allows now"`
	ETag     string   `json:"etag" doc:"Send as If-Match to replace it"`
}

// Tag returns its ETag.
func (c SavedCORS) Tag() string { return c.ETag }

// CORSUpdate is a request to replace a project's CORS.
type CORSUpdate struct {
	ProjectPath
	Condition
	Body CORS
}

// CORSRemoval is a request to remove a project's CORS.
type CORSRemoval struct {
	ProjectPath
	Condition
}

// TenantCORSUpdate is a request to replace a tenant's CORS.
type TenantCORSUpdate struct {
	TenantPath
	Condition
	Body CORS
}

// TenantCORSRemoval is a request to remove a tenant's CORS.
type TenantCORSRemoval struct {
	TenantPath
	Condition
}

// The operations on the CORS of projects and tenants.
var (
	GetCORS = Op[ProjectPath, SavedCORS]{Operation{
		ID: "get-cors", Method: http.MethodGet, Path: project + "/cors", Permission: ReadProjects,
		Summary: "Get which pages of other origins may call a project", Command: "cors show PROJECT",
		Doc: "404 means that the gateway leaves CORS to the upstreams.",
	}}
	SetCORS = Op[CORSUpdate, SavedCORS]{Operation{
		ID: "set-cors", Method: http.MethodPut, Path: project + "/cors", Permission: UpdateProjects,
		Summary: "Replace which pages of other origins may call a project", Command: "cors set PROJECT",
		Doc: "The gateway answers preflights itself, and adds the headers that let these pages read answers.",
	}}
	RemoveCORS = Op[CORSRemoval, None]{Operation{
		ID: "remove-cors", Method: http.MethodDelete, Path: project + "/cors", Status: http.StatusNoContent,
		Summary: "Leave CORS to a project's upstreams", Command: "cors remove PROJECT", Permission: UpdateProjects,
		Doc: "Preflights are forwarded again, and answers pass as upstreams send them.",
	}}
	GetTenantCORS = Op[TenantPath, SavedCORS]{Operation{
		ID: "get-tenant-cors", Method: http.MethodGet, Path: tenant + "/cors", Permission: ReadTenants,
		Summary: "Get which pages of other origins may call with a tenant's credentials",
		Command: "cors show --tenant TENANT",
		Doc:     "404 means that calls with the tenant's credentials get what their project allows.",
	}}
	SetTenantCORS = Op[TenantCORSUpdate, SavedCORS]{Operation{
		ID: "set-tenant-cors", Method: http.MethodPut, Path: tenant + "/cors", Permission: UpdateTenants,
		Summary: "Override which pages of other origins may call with a tenant's credentials",
		Command: "cors set --tenant TENANT",
		Doc:     "Applies to calls with the tenant's keys and tokens, in every project that serves the tenant.",
	}}
	RemoveTenantCORS = Op[TenantCORSRemoval, None]{Operation{
		ID: "remove-tenant-cors", Method: http.MethodDelete, Path: tenant + "/cors", Status: http.StatusNoContent,
		Summary: "Leave a tenant's CORS to the projects that serve it", Command: "cors remove --tenant TENANT",
		Permission: UpdateTenants,
		Doc:        "Calls with the tenant's credentials get what their project allows.",
	}}
)

var corsOperations = []Described{
	GetCORS, SetCORS, RemoveCORS, GetTenantCORS, SetTenantCORS, RemoveTenantCORS,
}
