package api

import (
	"context"

	"postern/handlers/web"
)

type claimedOutput struct {
	Team     claimedTeam `json:"team"`
	Projects []string    `json:"projects" doc:"Names of what was claimed"`
	Renamed  []string    `json:"renamed" doc:"Products and tenants whose names the team had already, such as: product store → store-2"`
}

type claimedTeam struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (h *Handler) claimWorkspace(ctx context.Context, in *struct {
	Body struct {
		Code string `json:"code" doc:"As POST /proxy answered it"`
		Team string `json:"team,omitempty" doc:"Id of a team to merge it into; a new team when absent"`
	}
}) (*body[claimedOutput], error) {
	claimed, err := h.Accounts.Claim(ctx, web.Principal(ctx), in.Body.Code, in.Body.Team)
	if err != nil {
		return nil, err
	}
	return &body[claimedOutput]{claimedOutput{
		Team:     claimedTeam{ID: claimed.Team.ID, Name: claimed.Team.Name},
		Projects: claimed.Projects,
		Renamed:  orNone(claimed.Renamed),
	}}, nil
}
