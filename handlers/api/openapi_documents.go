package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
	"postern/handlers/web"
)

// openAPIRoutes adds the OpenAPI document of a version.
func (h *Handler) openAPIRoutes(api huma.API) {
	add(h, api, &contract.GetOpenAPIDocument.Operation, h.getOpenAPI)
	serveTagged(h, api, contract.SetOpenAPIDocument, h.Projects.SetOpenAPI)
	serveNone(h, api, contract.RemoveOpenAPIDocument, h.Projects.RemoveOpenAPI)
	serveTagged(h, api, contract.ListOpenAPIOperations, h.Projects.OpenAPI)
	serve(h, api, contract.ProposeRules, h.Projects.ProposedRules)
	serveTagged(h, api, contract.GetOpenAPISettings, h.Projects.OpenAPISettings)
	serveTagged(h, api, contract.SetOpenAPISettings, h.Projects.SetOpenAPISettings)
	serve(h, api, contract.ListInvalidRequests, h.Usage.InvalidRequests)
}

// openAPIFile is a document, whose bytes are sent unchanged.
type openAPIFile struct {
	ETag        string `header:"ETag"`
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (h *Handler) getOpenAPI(ctx context.Context, in *contract.VersionPath) (*openAPIFile, error) {
	document, etag, err := h.Projects.OpenAPIDocument(ctx, web.Principal(ctx), *in)
	if err != nil {
		return nil, err
	}
	return &openAPIFile{web.FormatETag(etag), "application/json", document}, nil
}
