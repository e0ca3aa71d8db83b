package client

import (
	"context"
	"encoding/json"
	"net/http"

	"postern/core/contract"
)

// OpenAPI is what the OpenAPI document of a version says of its operations.
type OpenAPI struct {
	OpenAPI    string             `json:"openapi"` // version of the document, such as 3.1.0
	Title      string             `json:"title"`
	Version    string             `json:"version"` // of the API, as the document has it
	Servers    []OpenAPIServer    `json:"servers"`
	Operations []Operation        `json:"operations"`
	Changes    *OpenAPIChanges    `json:"changes,omitempty"` // set by SetOpenAPI
	Saved      bool               `json:"saved"`
	ETag       string             `json:"etag"`
	Warnings   []contract.Warning `json:"warnings"` // about what was accepted and is wrong or has no effect
}

// OpenAPIServer is an address of an API.
type OpenAPIServer struct {
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
}

// Operation is one method of one path of an OpenAPI document.
type Operation struct {
	Method     string   `json:"method"`
	Path       string   `json:"path"`
	ID         string   `json:"operation_id,omitempty"`
	Summary    string   `json:"summary,omitempty"`
	Deprecated bool     `json:"deprecated,omitempty"`
	Scopes     []string `json:"scopes,omitempty"`
}

// OpenAPIChanges are the operations in which a document differs from the one before, each as method
// and path.
type OpenAPIChanges struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
}

// ProposedRules are rules that follow from an OpenAPI document.
type ProposedRules struct {
	Rules   []contract.Rule  `json:"rules"`
	Derived bool             `json:"derived"` // the document names no scopes: they are made of its paths
	LeftOut []LeftOutByRules `json:"left_out"`

	Warnings []contract.Warning `json:"warnings"` // which key types they would refuse
}

// LeftOutByRules is an operation that no rule can be made for.
type LeftOutByRules struct {
	Operation string `json:"operation"`
	Reason    string `json:"reason"`
}

func openAPIAt(project, version string, more ...string) []string {
	return append([]string{"api", "v1", "projects", project, "versions", version, "openapi"}, more...)
}

// OpenAPI returns what the document of a version says.
func (c *Client) OpenAPI(ctx context.Context, project, version string) (OpenAPI, error) {
	return call[OpenAPI](ctx, c, http.MethodGet, nil, openAPIAt(project, version, "operations")...)
}

// OpenAPIDocument returns the document of a version.
func (c *Client) OpenAPIDocument(ctx context.Context, project, version string) (json.RawMessage, error) {
	return call[json.RawMessage](ctx, c, http.MethodGet, nil, openAPIAt(project, version)...)
}

// SetOpenAPI gives a version a document, JSON or YAML. With dryRun it only returns what would change.
func (c *Client) SetOpenAPI(ctx context.Context, project, version, document string, dryRun bool) (OpenAPI, error) {
	return setOpenAPI(ctx, c, project, version, document, dryRun)
}

// FetchOpenAPI is SetOpenAPI with a document that the server fetches from an address.
func (c *Client) FetchOpenAPI(ctx context.Context, project, version, url string, dryRun bool) (OpenAPI, error) {
	return setOpenAPI(ctx, c, project, version, map[string]string{"url": url}, dryRun)
}

func setOpenAPI(ctx context.Context, c *Client, project, version string, in any, dryRun bool) (OpenAPI, error) {
	query := ""
	if dryRun {
		query = "?dry_run=true"
	}
	return exchange[OpenAPI](ctx, c, http.MethodPut, in, query, openAPIAt(project, version))
}

// RemoveOpenAPI removes the document of a version.
func (c *Client) RemoveOpenAPI(ctx context.Context, project, version string) error {
	return c.remove(ctx, openAPIAt(project, version)...)
}

// ProposedRules returns the rules that follow from the document of a version.
func (c *Client) ProposedRules(ctx context.Context, project, version string) (ProposedRules, error) {
	return call[ProposedRules](ctx, c, http.MethodGet, nil, openAPIAt(project, version, "rules")...)
}
