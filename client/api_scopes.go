package client

import (
	"context"
	"net/http"
)

// APIScopes is what app clients can ask for at a project: the audience of its tokens, ""
// for none, and their scopes.
type APIScopes struct {
	Audience string     `json:"audience"`
	Scopes   []APIScope `json:"scopes"`
	ETag     string     `json:"etag,omitempty"` // for If-Match
}

// APIScope is a scope with the text that the consent page shows for it.
type APIScope struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// APIScopes returns what app clients can ask for at a project.
func (c *Client) APIScopes(ctx context.Context, project string) (APIScopes, error) {
	return call[APIScopes](ctx, c, http.MethodGet, nil, "api", "v1", "projects", project, "api-scopes")
}

// SetAPIScopes replaces what app clients can ask for at a project. With an ETag it is
// refused as stale unless that is still theirs.
func (c *Client) SetAPIScopes(ctx context.Context, project string, in APIScopes) (APIScopes, error) {
	c, in.ETag = c.IfMatch(in.ETag), ""
	return call[APIScopes](ctx, c, http.MethodPut, in, "api", "v1", "projects", project, "api-scopes")
}
