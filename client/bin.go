package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Deleted describes a project in the bin, which can be restored until PurgeAt.
type Deleted struct {
	Since   time.Time `json:"since"`
	PurgeAt time.Time `json:"purge_at"`
}

// DeleteProject moves a project to the bin.
func (c *Client) DeleteProject(ctx context.Context, project string) (Project, error) {
	return call[Project](ctx, c, http.MethodDelete, nil, "api", "v1", "projects", project)
}

// EraseProject deletes a project for good. confirm is the project's name.
func (c *Client) EraseProject(ctx context.Context, project, confirm string) (Project, error) {
	query := "?" + url.Values{"now": {"true"}, "confirm": {confirm}}.Encode()
	return exchange[Project](ctx, c, http.MethodDelete, nil, query, []string{"api", "v1", "projects", project})
}

// RestoreProject takes a project out of the bin.
func (c *Client) RestoreProject(ctx context.Context, project string) (Project, error) {
	return call[Project](ctx, c, http.MethodPost, nil, "api", "v1", "projects", project, "restore")
}
