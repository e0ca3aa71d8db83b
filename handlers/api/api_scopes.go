package api

import (
	"context"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/service/projects"
)

type apiScope struct {
	Name        string `json:"name" doc:"For example orders:read, or orders:* for a family"`
	Description string `json:"description,omitempty" doc:"Shown on the consent page, for example: read your orders"`
}

type apiScopesOutput struct {
	Audience string     `json:"audience" doc:"What resource or audience of a request names, and aud of its token; empty: none"`
	Scopes   []apiScope `json:"scopes"`
	ETag     string     `json:"etag" doc:"Send as If-Match to replace them"`
}

func taggedAPIScopes(found projects.API, err error) (*tagged[apiScopesOutput], error) {
	if err != nil {
		return nil, err
	}
	out := apiScopesOutput{Audience: found.Audience, Scopes: []apiScope{}, ETag: web.FormatETag(found.ETag)}
	for _, scope := range found.Scopes {
		out.Scopes = append(out.Scopes, apiScope(scope))
	}
	return &tagged[apiScopesOutput]{out.ETag, out}, nil
}

func (h *Handler) getAPIScopes(ctx context.Context, in *ProjectRef) (*tagged[apiScopesOutput], error) {
	return taggedAPIScopes(h.Projects.APIScopes(ctx, web.Principal(ctx), in.Project))
}

func (h *Handler) setAPIScopes(ctx context.Context, in *struct {
	ProjectRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Audience string     `json:"audience" doc:"URI, for example https://api.example.com; empty: none"`
		Scopes   []apiScope `json:"scopes" doc:"All scopes that app clients can ask for"`
	}
}) (*tagged[apiScopesOutput], error) {
	change := projects.API{Audience: in.Body.Audience}
	for _, scope := range in.Body.Scopes {
		change.Scopes = append(change.Scopes, snapshot.APIScope(scope))
	}
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedAPIScopes(h.Projects.SetAPIScopes(ctx, web.Principal(ctx), in.Project, etag, change))
}
