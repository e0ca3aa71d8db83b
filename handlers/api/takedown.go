package api

import (
	"context"

	"postern/handlers/web"
	"postern/service/projects"
)

// takedownOutput is the state of a project that may be another team's, so it has only
// what an operator needs.
type takedownOutput struct {
	ID     string        `json:"id"`
	Name   string        `json:"name"`
	Frozen *frozenOutput `json:"frozen" doc:"null if it was restored"`
}

func showTakedown(p projects.Project) *body[takedownOutput] {
	out := takedownOutput{ID: p.ID, Name: p.Name}
	if p.Frozen != nil {
		out.Frozen = &frozenOutput{Reason: p.Frozen.Reason, Since: p.Frozen.Since.UTC()}
	}
	return &body[takedownOutput]{out}
}

func (h *Handler) takeDownProject(ctx context.Context, in *struct {
	ProjectRef
	Body struct {
		Reason string `json:"reason" doc:"One line, shown to the project's team"`
	}
}) (*body[takedownOutput], error) {
	p, err := h.Projects.TakeDown(ctx, web.Principal(ctx), in.Project, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	return showTakedown(p), nil
}

func (h *Handler) liftTakedown(ctx context.Context, in *ProjectRef) (*body[takedownOutput], error) {
	p, err := h.Projects.LiftTakedown(ctx, web.Principal(ctx), in.Project)
	if err != nil {
		return nil, err
	}
	return showTakedown(p), nil
}
