package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Tenant is a customer workspace: one of a team, or a project's own, which is named
// default.
type Tenant struct {
	ID            string    `json:"id"`
	Team          string    `json:"team"`    // id
	Project       *string   `json:"project"` // id of the project that owns it; nil for a team's
	Name          string    `json:"name"`
	DisplayName   string    `json:"display_name"`
	FallbackOwner *string   `json:"fallback_owner"` // nil for the project's
	Projects      []string  `json:"projects"`       // names of the projects that serve it
	ETag          string    `json:"etag"`           // for If-Match
	CreatedAt     time.Time `json:"created_at"`
}

// NewTenant is a request for a tenant of the caller's team.
type NewTenant struct {
	Team          string `json:"team,omitempty"` // id; the caller's first when empty
	Name          string `json:"name"`
	DisplayName   string `json:"display_name,omitempty"`
	FallbackOwner string `json:"fallback_owner,omitempty"`
}

// TenantChange changes a tenant; nil leaves a field as it is.
type TenantChange struct {
	DisplayName   *string   `json:"display_name,omitempty"`
	FallbackOwner *Nullable `json:"fallback_owner,omitempty"`
}

// Tenants iterates over the tenants of the caller's teams and their projects.
func (c *Client) Tenants(ctx context.Context, options ...ListOptions) iter.Seq2[Tenant, error] {
	return pagesOf[Tenant](ctx, c, queryOf(options), "api", "v1", "tenants")
}

// Tenant returns a tenant by its id, or a team's tenant by its name.
func (c *Client) Tenant(ctx context.Context, tenant string) (Tenant, error) {
	return call[Tenant](ctx, c, http.MethodGet, nil, "api", "v1", "tenants", tenant)
}

// CreateTenant creates a tenant.
func (c *Client) CreateTenant(ctx context.Context, in NewTenant) (Tenant, error) {
	return call[Tenant](ctx, c, http.MethodPost, in, "api", "v1", "tenants")
}

// UpdateTenant changes a tenant.
func (c *Client) UpdateTenant(ctx context.Context, tenant string, change TenantChange) (Tenant, error) {
	return call[Tenant](ctx, c, http.MethodPatch, change, "api", "v1", "tenants", tenant)
}

// AttachTenant attaches a tenant to a project, which then serves it.
func (c *Client) AttachTenant(ctx context.Context, project, tenant string) (Tenant, error) {
	return call[Tenant](ctx, c, http.MethodPut, nil, "api", "v1", "projects", project, "tenants", tenant)
}

// DetachTenant detaches a tenant from a project, which then no longer serves it.
func (c *Client) DetachTenant(ctx context.Context, project, tenant string) error {
	return c.remove(ctx, "api", "v1", "projects", project, "tenants", tenant)
}
