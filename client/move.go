package client

import (
	"context"
	"net/http"
)

// MoveProject gives a project to another team, of which the caller is an owner too. team is
// its id.
func (c *Client) MoveProject(ctx context.Context, project, team string) (Project, error) {
	return call[Project](
		ctx, c, http.MethodPost, map[string]string{"team": team}, "api", "v1", "projects", project, "move",
	)
}
