package api

import (
	"context"
	"time"

	"postern/handlers/web"
	"postern/service/projects"
)

// deletedOutput is the state of a project in the bin.
type deletedOutput struct {
	Since   time.Time `json:"since"`
	PurgeAt time.Time `json:"purge_at" doc:"Until then the project can be restored; then everything of it is deleted"`
}

func (h *Handler) deleteProject(ctx context.Context, in *struct {
	ProjectRef
	Now     bool   `query:"now" doc:"Delete for good instead of to the bin; only owners, and with confirm"`
	Confirm string `query:"confirm" doc:"With now: the project's name"`
}) (*body[projectOutput], error) {
	var p projects.Project
	var err error
	if in.Now {
		p, err = h.Projects.Erase(ctx, web.Principal(ctx), in.Project, in.Confirm)
	} else {
		p, err = h.Projects.Delete(ctx, web.Principal(ctx), in.Project)
	}
	if err != nil {
		return nil, err
	}
	return &body[projectOutput]{h.showProject(p)}, nil
}

func (h *Handler) restoreProject(ctx context.Context, in *ProjectRef) (*body[projectOutput], error) {
	p, err := h.Projects.RestoreDeleted(ctx, web.Principal(ctx), in.Project)
	if err != nil {
		return nil, err
	}
	return &body[projectOutput]{h.showProject(p)}, nil
}
