package client

import (
	"context"
	"net/http"
)

// Claimed lists what a claim has moved.
type Claimed struct {
	Team     ClaimedTeam `json:"team"`
	Projects []string    `json:"projects"`
	Renamed  []string    `json:"renamed"` // products and tenants whose names the team had already
}

// ClaimedTeam is the team that a claim has moved projects to.
type ClaimedTeam struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Claim moves an unclaimed workspace into the team with an id, or with "" into a new
// team.
func (c *Client) Claim(ctx context.Context, code, team string) (Claimed, error) {
	in := map[string]string{"code": code}
	if team != "" {
		in["team"] = team
	}
	return call[Claimed](ctx, c, http.MethodPost, in, "api", "v1", "claim")
}
