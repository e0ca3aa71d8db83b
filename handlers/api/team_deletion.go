package api

import (
	"context"

	"postern/handlers/web"
)

type teamDeletionOutput struct {
	Projects    []string `json:"projects" doc:"At most 100 names. A team with projects cannot be deleted"`
	Members     int64    `json:"members"`
	Invitations int64    `json:"invitations"`
	Tenants     int64    `json:"tenants"`
	Users       int64    `json:"users" doc:"Of its tenants"`
	Products    int64    `json:"products"`
	Webhooks    int64    `json:"webhooks"`
}

func (h *Handler) getTeamDeletion(ctx context.Context, in *TeamRef) (*body[teamDeletionOutput], error) {
	d, err := h.Accounts.TeamDeletion(ctx, web.Principal(ctx), in.Team)
	if err != nil {
		return nil, err
	}
	return &body[teamDeletionOutput]{teamDeletionOutput{
		Projects:    orNone(d.Projects),
		Members:     d.Members,
		Invitations: d.Invitations,
		Tenants:     d.Tenants,
		Users:       d.Users,
		Products:    d.Products,
		Webhooks:    d.Webhooks,
	}}, nil
}

func (h *Handler) deleteTeam(ctx context.Context, in *struct {
	TeamRef
	Confirm string `query:"confirm" doc:"The team's name"`
}) (*struct{}, error) {
	return nil, h.Accounts.DeleteTeam(ctx, web.Principal(ctx), in.Team, in.Confirm)
}
