package client

import (
	"context"
	"net/http"
	"time"
)

// OpenAPISettings are what the gateway does with the OpenAPI document of a version.
type OpenAPISettings struct {
	Validation  string             `json:"validation"`  // off, report or enforce
	Publication string             `json:"publication"` // off, callers or public
	Unchecked   []UncheckedOpenAPI `json:"unchecked,omitempty"`
	ETag        string             `json:"etag,omitempty"`
}

// UncheckedOpenAPI is something of a document that requests are not checked against.
type UncheckedOpenAPI struct {
	At     string `json:"at"`
	Reason string `json:"reason"`
}

// InvalidRequest counts the calls of the last 30 days to an operation that did not match the OpenAPI
// document and were forwarded all the same.
type InvalidRequest struct {
	Operation string    `json:"operation"`
	Calls     int64     `json:"calls"`
	Problem   string    `json:"problem"` // of the last one
	LastAt    time.Time `json:"last_at"`
}

// OpenAPISettings returns what the gateway does with the OpenAPI document of a version.
func (c *Client) OpenAPISettings(ctx context.Context, project, version string) (OpenAPISettings, error) {
	return call[OpenAPISettings](ctx, c, http.MethodGet, nil, openAPIAt(project, version, "settings")...)
}

// SetOpenAPISettings changes what the gateway does with the OpenAPI document of a version. With an ETag it
// is refused as stale unless that is still theirs.
func (c *Client) SetOpenAPISettings(
	ctx context.Context, project, version string, in OpenAPISettings,
) (OpenAPISettings, error) {
	c = c.IfMatch(in.ETag)
	send := map[string]string{"validation": in.Validation, "publication": in.Publication}
	return call[OpenAPISettings](ctx, c, http.MethodPut, send, openAPIAt(project, version, "settings")...)
}

// InvalidRequests lists the calls that did not match the OpenAPI document of a version.
func (c *Client) InvalidRequests(ctx context.Context, project, version string) ([]InvalidRequest, error) {
	found, err := call[struct {
		Items []InvalidRequest `json:"items"`
	}](ctx, c, http.MethodGet, nil, openAPIAt(project, version, "invalid-requests")...)
	return found.Items, err
}
