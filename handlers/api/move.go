package api

import (
	"context"

	"postern/handlers/web"
)

func (h *Handler) moveProject(ctx context.Context, in *struct {
	ProjectRef
	Body struct {
		Team string `json:"team" doc:"Id of the team; the caller has to be an owner of both teams"`
	}
}) (*body[projectOutput], error) {
	p, err := h.Projects.Move(ctx, web.Principal(ctx), in.Project, in.Body.Team)
	if err != nil {
		return nil, err
	}
	return &body[projectOutput]{h.showProject(p)}, nil
}
