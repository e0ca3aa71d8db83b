package api

import (
	"context"
	"time"

	"postern/handlers/web"
	"postern/service/projects"
)

// TenantRef is the path parameter of a tenant.
type TenantRef struct {
	Tenant string `path:"tenant" doc:"Id, or name of a tenant of a team"`
}

type tenantOutput struct {
	ID            string    `json:"id"`
	Team          string    `json:"team" doc:"Id"`
	Project       *string   `json:"project" doc:"Project of which it is the default tenant; null for a tenant of a team"`
	Name          string    `json:"name"`
	DisplayName   string    `json:"display_name"`
	FallbackOwner *string   `json:"fallback_owner" doc:"Owner of calls with a token of this tenant and no key; null: the project's"`
	Projects      []string  `json:"projects" doc:"Names of the projects it is attached to"`
	ETag          string    `json:"etag" doc:"Send as If-Match to update the tenant"`
	CreatedAt     time.Time `json:"created_at"`
}

func showTenant(t projects.Tenant) tenantOutput {
	out := tenantOutput{
		ID:          t.ID,
		Team:        t.Team,
		Name:        t.Name,
		DisplayName: t.DisplayName,
		Projects:    orNone(t.Projects),
		ETag:        web.FormatETag(t.ETag),
		CreatedAt:   t.CreatedAt.UTC(),
	}
	if t.Project != "" {
		out.Project = &t.Project
	}
	if t.FallbackOwner != "" {
		out.FallbackOwner = &t.FallbackOwner
	}
	return out
}

func taggedTenant(t projects.Tenant, err error) (*tagged[tenantOutput], error) {
	if err != nil {
		return nil, err
	}
	return &tagged[tenantOutput]{web.FormatETag(t.ETag), showTenant(t)}, nil
}

func (h *Handler) listTenants(ctx context.Context, in *inTeam) (*body[list[tenantOutput]], error) {
	found, err := h.Projects.Tenants(ctx, web.Principal(ctx), in.Team, in.page())
	return answerPage(found, err, showTenant)
}

func (h *Handler) createTenant(ctx context.Context, in *struct {
	Body struct {
		Team          string `json:"team,omitempty" minLength:"1" doc:"Id of the owning team; default: the caller's first"`
		Name          string `json:"name" doc:"Cannot be changed later; default is reserved"`
		DisplayName   string `json:"display_name,omitempty" doc:"Default: name"`
		FallbackOwner string `json:"fallback_owner,omitempty" minLength:"1" doc:"Default: the project's"`
	}
}) (*tagged[tenantOutput], error) {
	return taggedTenant(h.Projects.CreateTenant(ctx, web.Principal(ctx), projects.TenantInput(in.Body)))
}

func (h *Handler) getTenant(ctx context.Context, in *TenantRef) (*tagged[tenantOutput], error) {
	return taggedTenant(h.Projects.Tenant(ctx, web.Principal(ctx), in.Tenant))
}

func (h *Handler) updateTenant(ctx context.Context, in *struct {
	TenantRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		DisplayName   *string          `json:"display_name,omitempty"`
		FallbackOwner nullable[string] `json:"fallback_owner,omitempty" doc:"null: the project's"`
	}
}) (*tagged[tenantOutput], error) {
	change := projects.TenantChange{DisplayName: in.Body.DisplayName, FallbackOwner: in.Body.FallbackOwner.value}
	if in.Body.FallbackOwner.sent && change.FallbackOwner == nil {
		change.FallbackOwner = new(string)
	}
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedTenant(h.Projects.UpdateTenant(ctx, web.Principal(ctx), in.Tenant, etag, change))
}

func (h *Handler) attachTenant(ctx context.Context, in *struct {
	ProjectRef
	TenantRef
}) (*tagged[tenantOutput], error) {
	return taggedTenant(h.Projects.Attach(ctx, web.Principal(ctx), in.Project, in.Tenant))
}

func (h *Handler) detachTenant(ctx context.Context, in *struct {
	ProjectRef
	TenantRef
}) (*struct{}, error) {
	return nil, h.Projects.Detach(ctx, web.Principal(ctx), in.Project, in.Tenant)
}
