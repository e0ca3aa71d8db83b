package contract

import (
	"net/http"
	"time"
)

// Tenant is a customer's workspace. It belongs to a team, whose projects can serve it, or is a project's own tenant,
// which is named default.
type Tenant struct {
	ID            string    `json:"id"`
	Team          string    `json:"team" doc:"ID of the owning team"`
	Project       *string   `json:"project" doc:"ID of the project whose default tenant it is; null if the tenant belongs to a team"`
	Name          string    `json:"name"`
	DisplayName   string    `json:"display_name"`
	FallbackOwner *string   `json:"fallback_owner" doc:"Owner to assign to calls that have a token from this tenant but no key. Null means the project's fallback owner"`
	Projects      []string  `json:"projects" doc:"Names of the projects that serve it"`
	ETag          string    `json:"etag" doc:"Send as If-Match to update the tenant"`
	CreatedAt     time.Time `json:"created_at"`
}

// Path returns its path parameter.
func (t Tenant) Path() TenantPath { return TenantPath{Tenant: t.ID} }

// Tag returns the tenant's ETag.
func (t Tenant) Tag() string { return t.ETag }

// NewTenant is a tenant to be created.
type NewTenant struct {
	Team          string `json:"team,omitempty" minLength:"1" id:"team" doc:"ID of the owning team. Defaults to your first team"`
	Name          string `json:"name" slug:"true" doc:"Name of the tenant. Can't be changed later. \"default\" is reserved"`
	DisplayName   string `json:"display_name,omitempty" doc:"Display name. Defaults to the name"`
	FallbackOwner string `json:"fallback_owner,omitempty" minLength:"1" doc:"Owner to assign to calls that have a token from this tenant but no key. Defaults to the project's fallback owner"`
}

// TenantCreation is a request for a new tenant.
type TenantCreation struct{ Body NewTenant }

// TenantChange changes a tenant; nil leaves a member unchanged.
type TenantChange struct {
	DisplayName   *string          `json:"display_name,omitempty" doc:"Display name"`
	FallbackOwner Optional[string] `json:"fallback_owner,omitzero" doc:"Owner to assign to calls that have a token from this tenant but no key. Use null for the project's fallback owner"`
}

// TenantUpdate is a request to change a tenant.
type TenantUpdate struct {
	TenantPath
	Condition
	Body TenantChange
}

// TenantDeletion lists what deleting a tenant also deletes.
type TenantDeletion struct {
	Projects   []string `json:"projects" doc:"Names of the projects that serve it. They aren't deleted"`
	Users      int64    `json:"users"`
	Groups     int64    `json:"groups"`
	Approvals  int64    `json:"approvals"`
	AppClients int64    `json:"app_clients"`
	Providers  int64    `json:"providers"`
	Sessions   int64    `json:"sessions" doc:"Number of sessions of signed-in users"`
	Keys       int64    `json:"keys" doc:"Number of keys in all projects, including revoked keys"`
	ActiveKeys int64    `json:"active_keys"`
	InUse      bool     `json:"in_use" doc:"True if only an owner can delete it, with its name as confirm"`
}

// TenantRemoval is a request to delete a tenant.
type TenantRemoval struct {
	TenantPath
	Confirm string `query:"confirm" flag:"-" doc:"Name of the tenant. Required if it has users, keys or app clients, or if a project serves it. In these cases, only owners can delete it"`
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
	ListTenants = &Op[TeamList, List[Tenant]]{Operation{
		ID: "list-tenants", Method: http.MethodGet, Path: tenants, Summary: "List tenants", Permission: ReadTenants,
		Command: "tenants list",
		Doc:     "Lists your teams' tenants. Projects' default tenants aren't listed.",
	}}
	CreateTenant = &Op[TenantCreation, Tenant]{Operation{
		ID: "create-tenant", Method: http.MethodPost, Path: tenants, Status: http.StatusCreated,
		Summary: "Create a tenant", Command: "tenants create NAME", Permission: CreateTenants,
		Example: "tenants create acme --display-name 'Acme Ltd' --fallback-owner acme-app",
		Doc:     "A tenant has its own users, groups and app clients. Attach it to the projects that should serve it.",
	}}
	GetTenant = &Op[TenantPath, Tenant]{Operation{
		ID: "get-tenant", Method: http.MethodGet, Path: tenant, Summary: "Get a tenant", Permission: ReadTenants,
		Command: "tenants show TENANT",
		Doc:     "Returns the tenant with the projects that serve it.",
	}}
	UpdateTenant = &Op[TenantUpdate, Tenant]{Operation{
		ID: "update-tenant", Method: http.MethodPatch, Path: tenant, Permission: UpdateTenants,
		Summary: "Update a tenant", Command: "tenants update TENANT",
		Example: "tenants update acme --fallback-owner acme-app",
		Doc:     "Changes only the fields you send. The change applies to every project that serves the tenant.",
	}}
	DeleteTenant = &Op[TenantRemoval, None]{Operation{
		ID: "delete-tenant", Deletes: "tenant", Method: http.MethodDelete, Path: tenant, Status: http.StatusNoContent,
		Summary: "Delete a tenant", Permission: DeleteTenants,
		Command: "tenants delete TENANT", Example: "tenants delete acme --yes",
		Doc: "Also deletes its users, app clients and keys. Requires confirm if the tenant is in use. You can't undo " +
			"this.",
	}}
	GetTenantDeletion = &Op[TenantPath, TenantDeletion]{Operation{
		ID: "get-tenant-deletion", Method: http.MethodGet, Path: tenant + "/deletion", Permission: ReadTenants,
		Summary: "Preview the effects of deleting a tenant",
		Doc:     "Changes nothing. Use it to show the consequences before you ask for confirmation.",
	}}
	AttachTenant = &Op[AttachmentPath, Tenant]{Operation{
		ID: "attach-tenant", Method: http.MethodPut, Path: attachment, Summary: "Attach a tenant to a project",
		Command: "tenants attach PROJECT TENANT",
		Example: "tenants attach shop acme", Permission: UpdateProjects,
		Doc: "The project starts accepting the tenant's keys and its users' tokens.",
	}}
	DetachTenant = &Op[AttachmentPath, None]{Operation{
		ID: "detach-tenant", Method: http.MethodDelete, Path: attachment, Status: http.StatusNoContent,
		Summary: "Detach a tenant from a project", Permission: UpdateProjects,
		Command: "tenants detach PROJECT TENANT",
		Doc:     "Calls with the tenant's keys or tokens get 403. The tenant keeps its users, groups and keys.",
	}}
)

var tenantOperations = []Described{
	ListTenants, CreateTenant, GetTenant, UpdateTenant, DeleteTenant, GetTenantDeletion, AttachTenant, DetachTenant,
}
