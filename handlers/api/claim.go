package api

import (
	"context"

	"postern/handlers/web"
)

type claimedOutput struct {
	Team     claimedTeam `json:"team"`
	Projects []string    `json:"projects" doc:"Names of the claimed projects"`
	Renamed  []string    `json:"renamed" doc:"Products and tenants renamed because the name was taken, as: product store → store-2"`
}

type claimedTeam struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (h *Handler) claimWorkspace(ctx context.Context, in *struct {
	Body struct {
		Code string `json:"code" doc:"Claim code from POST /proxy"`
		Team string `json:"team,omitempty" minLength:"1" doc:"Id of the team to merge the workspace into; default: a new team"`
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
