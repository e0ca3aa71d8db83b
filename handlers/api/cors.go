package api

import (
	"context"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/projects"
)

// TenantRef is the path parameter of a tenant.
type TenantRef = contract.TenantPath

type corsInput struct {
	Origins        []string `json:"origins" doc:"Such as https://app.example.com or capacitor://localhost; * alone allows all"`
	AppOrigins     bool     `json:"app_origins" doc:"Allow the origins of the app clients' redirect URIs too"`
	Methods        []string `json:"methods" doc:"Methods that pages may use; empty: all"`
	Headers        []string `json:"headers" doc:"Headers that pages may set; empty: those that they ask for"`
	ExposedHeaders []string `json:"exposed_headers" doc:"Headers of responses that pages may read"`
	Credentials    bool     `json:"credentials" doc:"Pages may send cookies; not with an origin of *"`
	MaxAge         *int     `json:"max_age" doc:"Seconds for which browsers cache a preflight, at most 86400; null: not stated"`
}

func (in corsInput) read() projects.CORS {
	return projects.CORS{
		Origins:        in.Origins,
		AppOrigins:     in.AppOrigins,
		Methods:        in.Methods,
		Headers:        in.Headers,
		ExposedHeaders: in.ExposedHeaders,
		Credentials:    in.Credentials,
		MaxAge:         in.MaxAge,
	}
}

type corsOutput struct {
	Origins        []string `json:"origins"`
	AppOrigins     bool     `json:"app_origins"`
	FromApps       []string `json:"from_app_clients" doc:"Origins that app_origins allows now"`
	Methods        []string `json:"methods"`
	Headers        []string `json:"headers"`
	ExposedHeaders []string `json:"exposed_headers"`
	Credentials    bool     `json:"credentials"`
	MaxAge         *int     `json:"max_age"`
	ETag           string   `json:"etag" doc:"Send as If-Match to replace it"`
}

func taggedCORS(found projects.CORS, err error) (*tagged[corsOutput], error) {
	if err != nil {
		return nil, err
	}
	out := corsOutput{
		Origins:        texts(found.Origins),
		AppOrigins:     found.AppOrigins,
		FromApps:       texts(found.FromApps),
		Methods:        texts(found.Methods),
		Headers:        texts(found.Headers),
		ExposedHeaders: texts(found.ExposedHeaders),
		Credentials:    found.Credentials,
		MaxAge:         found.MaxAge,
		ETag:           web.FormatETag(found.ETag),
	}
	return &tagged[corsOutput]{out.ETag, out}, nil
}

// texts returns a list that is [] in JSON if it is empty.
func texts(list []string) []string { return append([]string{}, list...) }

func (h *Handler) getCORS(ctx context.Context, in *ProjectRef) (*tagged[corsOutput], error) {
	return taggedCORS(h.Projects.CORS(ctx, web.Principal(ctx), in.Project))
}

func (h *Handler) setCORS(ctx context.Context, in *struct {
	ProjectRef
	IfMatch string `header:"If-Match"`
	Body    corsInput
}) (*tagged[corsOutput], error) {
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedCORS(h.Projects.SetCORS(ctx, web.Principal(ctx), in.Project, etag, in.Body.read()))
}

func (h *Handler) removeCORS(ctx context.Context, in *struct {
	ProjectRef
	IfMatch string `header:"If-Match"`
}) (*struct{}, error) {
	_, err := h.Projects.SetCORS(ctx, web.Principal(ctx), in.Project, web.ParseIfMatch(in.IfMatch), projects.CORS{})
	return nil, err
}

func (h *Handler) getTenantCORS(ctx context.Context, in *TenantRef) (*tagged[corsOutput], error) {
	return taggedCORS(h.Projects.TenantCORS(ctx, web.Principal(ctx), in.Tenant))
}

func (h *Handler) setTenantCORS(ctx context.Context, in *struct {
	TenantRef
	IfMatch string `header:"If-Match"`
	Body    corsInput
}) (*tagged[corsOutput], error) {
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedCORS(h.Projects.SetTenantCORS(ctx, web.Principal(ctx), in.Tenant, etag, in.Body.read()))
}

func (h *Handler) removeTenantCORS(ctx context.Context, in *struct {
	TenantRef
	IfMatch string `header:"If-Match"`
}) (*struct{}, error) {
	_, err := h.Projects.SetTenantCORS(ctx, web.Principal(ctx), in.Tenant, web.ParseIfMatch(in.IfMatch),
		projects.CORS{})
	return nil, err
}
