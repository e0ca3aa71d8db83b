package client

import (
	"context"
	"net/http"
	"net/url"
)

// TeamDeletion is what deleting a team takes along. While there are projects, it cannot be
// deleted.
type TeamDeletion struct {
	Projects    []string `json:"projects"`
	Members     int64    `json:"members"`
	Invitations int64    `json:"invitations"`
	Tenants     int64    `json:"tenants"`
	Users       int64    `json:"users"`
	Products    int64    `json:"products"`
	Webhooks    int64    `json:"webhooks"`
}

// TeamDeletion returns what deleting a team takes along.
func (c *Client) TeamDeletion(ctx context.Context, team string) (TeamDeletion, error) {
	return call[TeamDeletion](ctx, c, http.MethodGet, nil, "api", "v1", "teams", team, "deletion")
}

// DeleteTeam removes a team without projects for good. confirm is its name.
func (c *Client) DeleteTeam(ctx context.Context, team, confirm string) error {
	return c.removeConfirmed(ctx, confirm, "api", "v1", "teams", team)
}

func (c *Client) removeConfirmed(ctx context.Context, confirm string, segments ...string) error {
	response, err := c.send(ctx, http.MethodDelete, nil, "?"+url.Values{"confirm": {confirm}}.Encode(), segments)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
