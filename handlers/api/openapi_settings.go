package api

import (
	"cmp"
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/service/projects"
)

// off is what the API calls the empty value of a switch.
const off = "off"

type openAPISettingsOutput struct {
	Validation  string            `json:"validation" enum:"off,report,enforce"`
	Publication string            `json:"publication" enum:"off,callers,public"`
	Unchecked   []uncheckedOutput `json:"unchecked" doc:"What of the document requests are not checked against"`
	ETag        string            `json:"etag" doc:"Send as If-Match to change them"`
}

type uncheckedOutput struct {
	At     string `json:"at" doc:"Place in the document" example:"PUT /orders: body/schema/properties/price"`
	Reason string `json:"reason"`
}

type invalidRequestOutput struct {
	Operation string    `json:"operation" doc:"Of the document" example:"GET /orders/{id}"`
	Calls     int64     `json:"calls"`
	Problem   string    `json:"problem" doc:"Of the last one, without a value of the request" example:"query limit must be an integer"`
	LastAt    time.Time `json:"last_at"`
}

// openAPISettingsRoutes adds what the gateway does with the OpenAPI document of a version, at a path.
func (h *Handler) openAPISettingsRoutes(api huma.API, at string) {
	route(h, api, "get-openapi-settings", "GET", at+"/settings", 200,
		"Get what the gateway does with the OpenAPI document of a version", h.getOpenAPISettings)
	route(h, api, "set-openapi-settings", "PUT", at+"/settings", 200,
		"Validate requests against the OpenAPI document of a version, and publish it", h.setOpenAPISettings)
	route(h, api, "list-invalid-requests", "GET", at+"/invalid-requests", 200,
		"List the calls that did not match the OpenAPI document and were forwarded", h.listInvalidRequests)
}

func taggedOpenAPISettings(found projects.OpenAPISettings, err error) (*tagged[openAPISettingsOutput], error) {
	if err != nil {
		return nil, err
	}
	out := openAPISettingsOutput{
		Validation:  cmp.Or(string(found.Validation), off),
		Publication: cmp.Or(string(found.Publication), off),
		Unchecked:   []uncheckedOutput{},
		ETag:        web.FormatETag(found.ETag),
	}
	for _, one := range found.Unchecked {
		out.Unchecked = append(out.Unchecked, uncheckedOutput(one))
	}
	return &tagged[openAPISettingsOutput]{out.ETag, out}, nil
}

func (h *Handler) getOpenAPISettings(ctx context.Context, in *VersionRef) (*tagged[openAPISettingsOutput], error) {
	return taggedOpenAPISettings(h.Projects.OpenAPISettings(ctx, web.Principal(ctx), in.Project, in.Version))
}

// switchOf returns the value of a switch, whose off is the empty one.
func switchOf(value string) string {
	if value == off {
		return ""
	}
	return value
}

func (h *Handler) setOpenAPISettings(ctx context.Context, in *struct {
	VersionRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		Validation  string `json:"validation" enum:"off,report,enforce" doc:"report: requests that do not match are counted and forwarded; enforce: they are answered 422"`
		Publication string `json:"publication" enum:"off,callers,public" doc:"callers: openapi.json below each environment for who may call it; public: without a credential"`
	}
}) (*tagged[openAPISettingsOutput], error) {
	change := projects.OpenAPISettings{
		Validation:  snapshot.Validation(switchOf(in.Body.Validation)),
		Publication: snapshot.Publication(switchOf(in.Body.Publication)),
	}
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedOpenAPISettings(h.Projects.SetOpenAPISettings(ctx, web.Principal(ctx), in.Project, in.Version,
		etag, change))
}

func (h *Handler) listInvalidRequests(ctx context.Context, in *VersionRef) (*body[list[invalidRequestOutput]], error) {
	found, err := h.Usage.InvalidRequests(ctx, web.Principal(ctx), in.Project, in.Version)
	if err != nil {
		return nil, err
	}
	out := list[invalidRequestOutput]{Items: []invalidRequestOutput{}}
	for _, one := range found {
		out.Items = append(out.Items, invalidRequestOutput(one))
	}
	return &body[list[invalidRequestOutput]]{out}, nil
}
