package contract

import "net/http"

// CORS says from which origins browsers may call a project, or call it with credentials of a tenant (Fetch standard,
// "CORS protocol"). If a project has no CORS, its upstreams decide. If a tenant doesn't have one, the projects that
// serve it decide.
type CORS struct {
	Origins        []string `json:"origins" flag:",list" doc:"Allowed origins, such as https://app.example.com or capacitor://localhost. Use * alone to allow every origin"`
	AppOrigins     bool     `json:"app_origins" doc:"Also allow the origins of your app clients' redirect URIs"`
	Methods        []string `json:"methods" flag:",list" doc:"Methods that pages can use. Leave empty for all"`
	Headers        []string `json:"headers" flag:",list" doc:"Headers that pages can set. Leave empty for any"`
	ExposedHeaders []string `json:"exposed_headers" flag:"exposed-headers,list" doc:"Response headers that pages can read"`
	Credentials    bool     `json:"credentials" doc:"Allow pages to send cookies. Can't be combined with the origin *"`
	MaxAge         *int     `json:"max_age" flag:"max-age,,none" doc:"How long browsers cache preflight responses, in seconds, up to 86,400. Use null for the browser's default"`
}

// IsSet reports whether it allows any origin. Every saved CORS does.
func (c CORS) IsSet() bool { return len(c.Origins) > 0 || c.AppOrigins }

// SavedCORS is the current CORS.
type SavedCORS struct {
	CORS
	FromApps []string `json:"from_app_clients" doc:"Origins that app_origins currently allows"`
	ETag     string   `json:"etag" doc:"Send as If-Match to replace the settings"`
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
	GetCORS = &Op[ProjectPath, SavedCORS]{Operation{
		ID: "get-cors", Method: http.MethodGet, Path: project + "/cors", Permission: ReadProjects,
		Summary: "Get a project's CORS settings", Command: "cors show PROJECT",
		Doc: "Returns 404 if the gateway leaves CORS to the upstreams.",
	}}
	SetCORS = &Op[CORSUpdate, SavedCORS]{Operation{
		ID: "set-cors", Method: http.MethodPut, Path: project + "/cors", Permission: UpdateProjects,
		Summary: "Set a project's CORS settings", Command: "cors set PROJECT",
		Doc: "Replaces all settings. The gateway answers preflights itself and adds the headers that let pages read " +
			"responses.",
	}}
	RemoveCORS = &Op[CORSRemoval, None]{Operation{
		ID: "remove-cors", Method: http.MethodDelete, Path: project + "/cors", Status: http.StatusNoContent,
		Summary: "Remove a project's CORS settings", Command: "cors remove PROJECT", Permission: UpdateProjects,
		Doc: "The gateway leaves CORS to the upstreams again. It forwards preflights and doesn't change responses.",
	}}
	GetTenantCORS = &Op[TenantPath, SavedCORS]{Operation{
		ID: "get-tenant-cors", Method: http.MethodGet, Path: tenant + "/cors", Permission: ReadTenants,
		Summary: "Get a tenant's CORS settings",
		Command: "cors show --tenant TENANT",
		Doc:     "Returns 404 if the tenant doesn't have its own settings, so each project's settings apply.",
	}}
	SetTenantCORS = &Op[TenantCORSUpdate, SavedCORS]{Operation{
		ID: "set-tenant-cors", Method: http.MethodPut, Path: tenant + "/cors", Permission: UpdateTenants,
		Summary: "Set a tenant's CORS settings",
		Command: "cors set --tenant TENANT",
		Doc: "Overrides the settings of every project that serves the tenant, for calls with the tenant's keys " +
			"and tokens.",
	}}
	RemoveTenantCORS = &Op[TenantCORSRemoval, None]{Operation{
		ID: "remove-tenant-cors", Method: http.MethodDelete, Path: tenant + "/cors", Status: http.StatusNoContent,
		Summary: "Remove a tenant's CORS settings", Command: "cors remove --tenant TENANT",
		Permission: UpdateTenants,
		Doc:        "The settings of each project apply to the tenant's calls again.",
	}}
)

var corsOperations = []Described{
	GetCORS, SetCORS, RemoveCORS, GetTenantCORS, SetTenantCORS, RemoveTenantCORS,
}
