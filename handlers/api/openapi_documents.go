package api

import (
	"context"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
	"postern/core/openapi"
	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/service/projects"
)

type operationOutput struct {
	Method     string   `json:"method"`
	Path       string   `json:"path" example:"/orders/{id}"`
	ID         string   `json:"operation_id,omitempty"`
	Summary    string   `json:"summary,omitempty"`
	Deprecated bool     `json:"deprecated,omitempty"`
	Scopes     []string `json:"scopes,omitempty" doc:"That the document asks for"`
}

type openAPIServer struct {
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
}

type openAPIChanges struct {
	Added   []string `json:"added" example:"[\"GET /orders/{id}\"]"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed" doc:"Operations that differ themselves; what they refer to is not compared"`
}

type openAPIOutput struct {
	OpenAPI    string            `json:"openapi" doc:"Version of the document" example:"3.1.0"`
	Title      string            `json:"title"`
	Version    string            `json:"version" doc:"Of the API, as the document has it"`
	Servers    []openAPIServer   `json:"servers"`
	Operations []operationOutput `json:"operations"`
	ETag       string            `json:"etag" doc:"Send as If-Match to replace the document"`
	Changes    *openAPIChanges   `json:"changes,omitempty" doc:"From the document before"`
	Saved      bool              `json:"saved"`
	Warnings   []warningOutput   `json:"warnings" doc:"What of the document is wrong or has no effect, and was accepted, and the servers of its operations"`
}

type openAPIFile struct {
	ETag        string `header:"ETag"`
	ContentType string `header:"Content-Type"`
	Body        []byte
}

type openAPIInput struct {
	VersionRef
	IfMatch string `header:"If-Match"`
	DryRun  bool   `query:"dry_run" doc:"Save nothing, and answer what would change"`
	RawBody []byte `contentType:"application/json" doc:"The document, JSON or YAML, at most 16 MB, also as a JSON string; or {\"url\": …}"`
}

type proposedRules struct {
	Rules   []contract.Rule `json:"rules" doc:"In shadow and without ids; send them to the rules of the version"`
	Derived bool            `json:"derived" doc:"The document names no scopes: these are made of the first segment of the path"`
	LeftOut []leftOutRoute  `json:"left_out" doc:"Operations that no rule can be made for"`

	Warnings []warningOutput `json:"warnings" doc:"Which key types the rules would refuse"`
}

type leftOutRoute struct {
	Operation string `json:"operation"`
	Reason    string `json:"reason"`
}

// openAPIRoutes adds the OpenAPI document of a version at a path.
func (h *Handler) openAPIRoutes(api huma.API, at string) {
	route(h, api, "get-openapi-document", "GET", at, 200, "Get the OpenAPI document of a version", h.getOpenAPI)
	route(h, api, "set-openapi-document", "PUT", at, 200, "Import an OpenAPI document for a version", h.setOpenAPI)
	route(h, api, "remove-openapi-document", "DELETE", at, 204, "Remove the OpenAPI document of a version",
		h.removeOpenAPI)
	route(h, api, "list-openapi-operations", "GET", at+"/operations", 200,
		"List the operations of a version's OpenAPI document", h.listOperations)
	route(h, api, "propose-rules", "GET", at+"/rules", 200,
		"Propose rules that follow from the OpenAPI document of a version", h.proposeRules)
	serve(h, api, contract.GetOpenAPISettings, h.Projects.OpenAPISettings)
	serve(h, api, contract.SetOpenAPISettings, h.Projects.SetOpenAPISettings)
	serve(h, api, contract.ListInvalidRequests, h.Usage.InvalidRequests)
}

func openAPIOf(found projects.OpenAPI) openAPIOutput {
	out := openAPIOutput{
		OpenAPI:    found.Spec,
		Title:      found.Title,
		Version:    found.Version,
		Servers:    []openAPIServer{},
		Operations: []operationOutput{},
		ETag:       web.FormatETag(found.ETag),
		Warnings:   showWarnings(found.Warnings),
	}
	for _, server := range found.Servers {
		out.Servers = append(out.Servers, openAPIServer(server))
	}
	for _, op := range found.Operations {
		out.Operations = append(out.Operations, operationOutput{
			Method:     op.Method,
			Path:       op.Path,
			ID:         op.ID,
			Summary:    op.Summary,
			Deprecated: op.Deprecated,
			Scopes:     op.Scopes,
		})
	}
	return out
}

func (h *Handler) getOpenAPI(ctx context.Context, in *VersionRef) (*openAPIFile, error) {
	document, etag, err := h.Projects.OpenAPIDocument(ctx, web.Principal(ctx), in.Project, in.Version)
	if err != nil {
		return nil, err
	}
	return &openAPIFile{web.FormatETag(etag), "application/json", document}, nil
}

func (h *Handler) listOperations(ctx context.Context, in *VersionRef) (*tagged[openAPIOutput], error) {
	found, err := h.Projects.OpenAPI(ctx, web.Principal(ctx), in.Project, in.Version)
	if err != nil {
		return nil, err
	}
	out := openAPIOf(found)
	out.Saved = true
	return &tagged[openAPIOutput]{out.ETag, out}, nil
}

func (h *Handler) setOpenAPI(ctx context.Context, in *openAPIInput) (*tagged[openAPIOutput], error) {
	document, url := in.RawBody, addressIn(in.RawBody)
	var text string // a document within a JSON string, as POST /proxy takes it too
	if json.Unmarshal(document, &text) == nil {
		document = []byte(text)
	}
	found, change, err := h.Projects.SetOpenAPI(ctx, web.Principal(ctx), in.Project, in.Version, projects.OpenAPIInput{
		Document: document,
		URL:      url,
		IfMatch:  web.ParseIfMatch(in.IfMatch),
		DryRun:   in.DryRun,
	})
	if err != nil {
		return nil, err
	}
	out := openAPIOf(found)
	out.Changes, out.Saved = changesOf(change), !in.DryRun
	return &tagged[openAPIOutput]{out.ETag, out}, nil
}

func changesOf(change openapi.Change) *openAPIChanges {
	list := func(names []string) []string { return append([]string{}, names...) }
	return &openAPIChanges{list(change.Added), list(change.Removed), list(change.Changed)}
}

// addressIn returns the address of a body that has nothing else: {"url": …}.
func addressIn(body []byte) string {
	var only map[string]json.RawMessage
	var url string
	if len(body) > 4096 || json.Unmarshal(body, &only) != nil || len(only) != 1 {
		return ""
	}
	if json.Unmarshal(only["url"], &url) != nil {
		return ""
	}
	return url
}

func (h *Handler) removeOpenAPI(ctx context.Context, in *struct {
	VersionRef
	IfMatch string `header:"If-Match"`
}) (*struct{}, error) {
	return nil, h.Projects.RemoveOpenAPI(ctx, web.Principal(ctx), in.Project, in.Version, web.ParseIfMatch(in.IfMatch))
}

func (h *Handler) proposeRules(ctx context.Context, in *VersionRef) (*body[proposedRules], error) {
	found, err := h.Projects.ProposedRules(ctx, web.Principal(ctx), in.Project, in.Version)
	if err != nil {
		return nil, err
	}
	out := proposedRules{Rules: []contract.Rule{}, Derived: found.Derived, LeftOut: []leftOutRoute{}}
	out.Warnings = showWarnings(found.Warnings)
	for _, rule := range found.Rules {
		rule.Mode = snapshot.RulesShadow
		out.Rules = append(out.Rules, rule)
	}
	for _, one := range found.LeftOut {
		out.LeftOut = append(out.LeftOut, leftOutRoute(one))
	}
	return &body[proposedRules]{out}, nil
}
