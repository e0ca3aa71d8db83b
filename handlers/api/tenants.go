package api

import (
	"context"
	"time"

	"postern/handlers/web"
	"postern/service/projects"
)

// TenantRef is the path of everything below a tenant.
type TenantRef struct {
	Tenant string `path:"tenant" doc:"Id, or name of a team's"`
}

type tenantOutput struct {
	ID            string    `json:"id"`
	Team          string    `json:"team" doc:"Id"`
	Project       *string   `json:"project" doc:"Id of the project that it is the own tenant of, the one named default; null for a team's"`
	Name          string    `json:"name"`
	DisplayName   string    `json:"display_name"`
	FallbackOwner *string   `json:"fallback_owner" doc:"Whom calls without a key count against when their token names this tenant; null for the project's"`
	Projects      []string  `json:"projects" doc:"Names of the projects that serve it"`
	ETag          string    `json:"etag" doc:"For If-Match when this tenant is changed"`
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
	found, next, err := h.Projects.Tenants(ctx, web.Principal(ctx), in.Team, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	var items []tenantOutput
	for _, t := range found {
		items = append(items, showTenant(t))
	}
	return &body[list[tenantOutput]]{listOf(items, next)}, nil
}

func (h *Handler) createTenant(ctx context.Context, in *struct {
	Body struct {
		Team          string `json:"team,omitempty" doc:"Id of the caller's team that it belongs to; the first one when absent"`
		Name          string `json:"name" doc:"Fixed from then on; default is taken by each project's own"`
		DisplayName   string `json:"display_name,omitempty" doc:"The name when absent"`
		FallbackOwner string `json:"fallback_owner,omitempty" doc:"The project's when absent"`
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
		FallbackOwner nullable[string] `json:"fallback_owner,omitempty" doc:"null for the project's"`
	}
}) (*tagged[tenantOutput], error) {
	change := projects.TenantChange{DisplayName: in.Body.DisplayName, FallbackOwner: in.Body.FallbackOwner.value}
	if in.Body.FallbackOwner.sent && change.FallbackOwner == nil {
		change.FallbackOwner = new(string)
	}
	return taggedTenant(h.Projects.UpdateTenant(ctx, web.Principal(ctx), in.Tenant, web.ParseIfMatch(in.IfMatch), change))
}

func (h *Handler) deleteTenant(ctx context.Context, in *TenantRef) (*struct{}, error) {
	return nil, h.Projects.DeleteTenant(ctx, web.Principal(ctx), in.Tenant)
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
