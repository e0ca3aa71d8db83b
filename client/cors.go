package client

import (
	"context"
	"net/http"
)

// CORS says which pages of other origins may call a project, or call with credentials of a tenant.
// Without origins, a project leaves it to its upstreams, and a tenant to its projects.
type CORS struct {
	Origins        []string `json:"origins"`
	AppOrigins     bool     `json:"app_origins"`
	FromApps       []string `json:"from_app_clients,omitempty"` // that AppOrigins allows now; not sent
	Methods        []string `json:"methods"`                    // empty: all
	Headers        []string `json:"headers"`                    // empty: those that pages ask for
	ExposedHeaders []string `json:"exposed_headers"`
	Credentials    bool     `json:"credentials"`
	MaxAge         *int     `json:"max_age"`        // seconds; nil: not stated
	ETag           string   `json:"etag,omitempty"` // for If-Match
}

// CORS returns which pages of other origins may call a project.
func (c *Client) CORS(ctx context.Context, project string) (CORS, error) {
	return call[CORS](ctx, c, http.MethodGet, nil, "api", "v1", "projects", project, "cors")
}

// SetCORS replaces which pages of other origins may call a project. With an ETag it is refused
// as stale unless that is still its ETag.
func (c *Client) SetCORS(ctx context.Context, project string, in CORS) (CORS, error) {
	c, in.ETag, in.FromApps = c.IfMatch(in.ETag), "", nil
	return call[CORS](ctx, c, http.MethodPut, in, "api", "v1", "projects", project, "cors")
}

// RemoveCORS leaves CORS to a project's upstreams.
func (c *Client) RemoveCORS(ctx context.Context, project string) error {
	return c.remove(ctx, "api", "v1", "projects", project, "cors")
}

// TenantCORS returns which pages of other origins may call with credentials of a tenant.
func (c *Client) TenantCORS(ctx context.Context, tenant string) (CORS, error) {
	return call[CORS](ctx, c, http.MethodGet, nil, "api", "v1", "tenants", tenant, "cors")
}

// SetTenantCORS is SetCORS for a tenant.
func (c *Client) SetTenantCORS(ctx context.Context, tenant string, in CORS) (CORS, error) {
	c, in.ETag, in.FromApps = c.IfMatch(in.ETag), "", nil
	return call[CORS](ctx, c, http.MethodPut, in, "api", "v1", "tenants", tenant, "cors")
}

// RemoveTenantCORS leaves a tenant's CORS to the projects that serve it.
func (c *Client) RemoveTenantCORS(ctx context.Context, tenant string) error {
	return c.remove(ctx, "api", "v1", "tenants", tenant, "cors")
}
