package contract

import (
	"net/http"
	"time"
)

// Tenant is a customer's workspace: one of a team, which projects can serve, or a project's own, which is named
// default.
type Tenant struct {
	ID            string    `json:"id"`
	Team          string    `json:"team" doc:"Id"`
	Project       *string   `json:"project" doc:"Id of the project whose default tenant it is; null for a tenant of a team"`
	Name          string    `json:"name"`
	DisplayName   string    `json:"display_name"`
	FallbackOwner *string   `json:"fallback_owner" doc:"Owner of calls with a token of this tenant and no key; null: the project's"`
	Projects      []string  `json:"projects" doc:"Names of the projects it is attached to"`
	ETag          string    `json:"etag" doc:"Send as If-Match to update the tenant"`
	CreatedAt     time.Time `json:"created_at"`
}

// Path returns its path parameter.
func (t Tenant) Path() TenantPath { return TenantPath{Tenant: t.ID} }

// Tag returns the tenant's ETag.
func (t Tenant) Tag() string { return t.ETag }

// NewTenant is a tenant to be created.
type NewTenant struct {
	Team          string `json:"team,omitempty" minLength:"1" doc:"Id of the owning team; default: the caller's first"`
	Name          string `json:"name" doc:"Cannot be changed later; default is reserved"`
	DisplayName   string `json:"display_name,omitempty" doc:"Name for people; default: name"`
	FallbackOwner string `json:"fallback_owner,omitempty" minLength:"1" doc:"Owner of calls with a token of this tenant and no key; default: the project's"`
}

// TenantCreation is a request for a new tenant.
type TenantCreation struct{ Body NewTenant }

// TenantChange changes a tenant; nil leaves a member as it is.
type TenantChange struct {
	DisplayName   *string          `json:"display_name,omitempty" doc:"Name for people"`
	FallbackOwner Optional[string] `json:"fallback_owner,omitzero" doc:"Owner of calls with a token of this tenant and no key; null: the project's"`
}

// TenantUpdate is a request to change a tenant.
type TenantUpdate struct {
	TenantPath
	Condition
	Body TenantChange
}

// TenantDeletion is what deleting a tenant deletes too.
type TenantDeletion struct {
	Projects   []string `json:"projects" doc:"Names of the projects that serve it; they stay"`
	Users      int64    `json:"users"`
	Groups     int64    `json:"groups"`
	Approvals  int64    `json:"approvals"`
	AppClients int64    `json:"app_clients"`
	Providers  int64    `json:"providers"`
	Sessions   int64    `json:"sessions" doc:"Of users who are signed in"`
	Keys       int64    `json:"keys" doc:"In all projects, including revoked ones"`
	ActiveKeys int64    `json:"active_keys"`
	InUse      bool     `json:"in_use" doc:"It can only be deleted by an owner, with its name as confirm"`
}

// TenantRemoval is a request to delete a tenant.
type TenantRemoval struct {
	TenantPath
	Confirm string `query:"confirm" flag:"-" doc:"The tenant's name: delete it with its people, keys and app clients; only owners"`
}

// AttachmentPath are the path parameters of a tenant that a project serves.
type AttachmentPath struct {
	ProjectPath
	TenantPath
}

// Attachment returns the path parameters of a tenant that a project serves.
func Attachment(project, tenant string) AttachmentPath {
	return AttachmentPath{ProjectPath{project}, TenantPath{tenant}}
}

const (
	tenants    = "/api/v1/tenants"
	attachment = project + "/tenants/{tenant}"
)

// The operations on tenants.
var (
	ListTenants = Op[TeamList, List[Tenant]]{Operation{
		ID: "list-tenants", Method: http.MethodGet, Path: tenants, Summary: "List tenants", Permission: ReadTenants,
		Command: "tenants list",
		Doc:     "Lists the tenants of your teams. The default tenant of a project is not among them.",
	}}
	CreateTenant = Op[TenantCreation, Tenant]{Operation{
		ID: "create-tenant", Method: http.MethodPost, Path: tenants, Status: http.StatusCreated,
		Summary: "Create a tenant", Command: "tenants create NAME", Permission: CreateTenants,
		Example: "tenants create acme --display-name 'Acme Ltd' --fallback-owner acme-app",
		Doc: "A tenant has users, groups and app clients of its own. Attach it to the projects that shall serve " +
			"it.",
	}}
	GetTenant = Op[TenantPath, Tenant]{Operation{
		ID: "get-tenant", Method: http.MethodGet, Path: tenant, Summary: "Get a tenant", Permission: ReadTenants,
		Command: "tenants show TENANT",
		Doc:     "Has the tenant with the projects that serve it.",
	}}
	UpdateTenant = Op[TenantUpdate, Tenant]{Operation{
		ID: "update-tenant", Method: http.MethodPatch, Path: tenant, Permission: UpdateTenants,
		Summary: "Update a tenant for every project that serves it", Command: "tenants update TENANT",
		Example: "tenants update acme --fallback-owner acme-app",
		Doc:     "Changes only what you send.",
	}}
	DeleteTenant = Op[TenantRemoval, None]{Operation{
		ID: "delete-tenant", Method: http.MethodDelete, Path: tenant, Status: http.StatusNoContent,
		Summary: "Delete a tenant; with confirm, with its people, app clients and keys", Permission: DeleteTenants,
		Command: "tenants delete TENANT", Example: "tenants delete acme --yes",
		Doc: "Without confirm, a tenant with users, app clients or keys is not deleted. With confirm they are " +
			"deleted with it, for good.",
	}}
	GetTenantDeletion = Op[TenantPath, TenantDeletion]{Operation{
		ID: "get-tenant-deletion", Method: http.MethodGet, Path: tenant + "/deletion", Permission: ReadTenants,
		Summary: "Count what deleting a tenant deletes too",
		Doc:     "Changes nothing: it has the numbers that the page shows before it asks for confirmation.",
	}}
	AttachTenant = Op[AttachmentPath, Tenant]{Operation{
		ID: "attach-tenant", Method: http.MethodPut, Path: attachment, Summary: "Attach a tenant to a project",
		Command: "tenants attach PROJECT TENANT", Permission: UpdateProjects,
		Doc: "The project accepts the tenant's keys and its users' tokens from then on.",
	}}
	DetachTenant = Op[AttachmentPath, None]{Operation{
		ID: "detach-tenant", Method: http.MethodDelete, Path: attachment, Status: http.StatusNoContent,
		Summary: "Detach a tenant from a project, which then answers its keys with 403", Permission: UpdateProjects,
		Command: "tenants detach PROJECT TENANT",
		Doc:     "Calls with the tenant's keys and tokens get 403. The tenant keeps its users, groups and keys.",
	}}
)

var tenantOperations = []Described{
	ListTenants, CreateTenant, GetTenant, UpdateTenant, DeleteTenant, GetTenantDeletion, AttachTenant, DetachTenant,
}
