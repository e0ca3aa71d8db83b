package handlers

import (
	"context"
	"time"

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
	out := tenantOutput{ID: t.ID, Team: t.Team, Name: t.Name, DisplayName: t.DisplayName, Projects: orNone(t.Projects), ETag: quoteTag(t.ETag), CreatedAt: t.CreatedAt.UTC()}
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
	return &tagged[tenantOutput]{quoteTag(t.ETag), showTenant(t)}, nil
}

func (s *Server) listTenants(ctx context.Context, in *inTeam) (*body[list[tenantOutput]], error) {
	found, next, err := s.Projects.Tenants(ctx, principalOf(ctx), in.Team, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	var items []tenantOutput
	for _, t := range found {
		items = append(items, showTenant(t))
	}
	return &body[list[tenantOutput]]{listOf(items, next)}, nil
}

func (s *Server) createTenant(ctx context.Context, in *struct {
	Body struct {
		Team          string `json:"team,omitempty" doc:"Id of the caller's team that it belongs to; the first one when absent"`
		Name          string `json:"name" doc:"Fixed from then on; default is taken by each project's own"`
		DisplayName   string `json:"display_name,omitempty" doc:"The name when absent"`
		FallbackOwner string `json:"fallback_owner,omitempty" doc:"The project's when absent"`
	}
}) (*tagged[tenantOutput], error) {
	return taggedTenant(s.Projects.CreateTenant(ctx, principalOf(ctx), projects.TenantInput(in.Body)))
}

func (s *Server) getTenant(ctx context.Context, in *TenantRef) (*tagged[tenantOutput], error) {
	return taggedTenant(s.Projects.Tenant(ctx, principalOf(ctx), in.Tenant))
}

func (s *Server) updateTenant(ctx context.Context, in *struct {
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
	return taggedTenant(s.Projects.UpdateTenant(ctx, principalOf(ctx), in.Tenant, unquoteTag(in.IfMatch), change))
}

func (s *Server) deleteTenant(ctx context.Context, in *TenantRef) (*struct{}, error) {
	return nil, s.Projects.DeleteTenant(ctx, principalOf(ctx), in.Tenant)
}

func (s *Server) attachTenant(ctx context.Context, in *struct {
	ProjectRef
	TenantRef
}) (*tagged[tenantOutput], error) {
	return taggedTenant(s.Projects.Attach(ctx, principalOf(ctx), in.Project, in.Tenant))
}

func (s *Server) detachTenant(ctx context.Context, in *struct {
	ProjectRef
	TenantRef
}) (*struct{}, error) {
	return nil, s.Projects.Detach(ctx, principalOf(ctx), in.Project, in.Tenant)
}
