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

// Deletion is what deleting a project takes along. Users, groups and app clients are those
// of its own tenant. ProductKeys are those of its keys that open other projects too.
type Deletion struct {
	Versions     int64      `json:"versions"`
	Environments int64      `json:"environments"`
	Keys         int64      `json:"keys"`
	ActiveKeys   int64      `json:"active_keys"`
	ProductKeys  int64      `json:"product_keys"`
	AppClients   int64      `json:"app_clients"`
	Users        int64      `json:"users"`
	Groups       int64      `json:"groups"`
	Exports      int64      `json:"exports"`
	NewestExport *time.Time `json:"newest_export"` // nil: never exported
}

// ProjectDeletion returns what deleting a project takes along.
func (c *Client) ProjectDeletion(ctx context.Context, project string) (Deletion, error) {
	return call[Deletion](ctx, c, http.MethodGet, nil, "api", "v1", "projects", project, "deletion")
}
