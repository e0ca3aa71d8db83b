package api

import (
	"context"
	"time"

	"postern/handlers/web"
	"postern/platform/secrets"
	"postern/service/projects"
)

// EnvironmentRef is the path parameters of an environment.
type EnvironmentRef struct {
	ProjectRef
	Environment string `path:"environment" doc:"Id of the environment"`
}

type upstreamHeaderOutput struct {
	Name      string    `json:"name"`
	UpdatedAt time.Time `json:"updated_at" doc:"When its value was set; the value is never shown"`
}

func showUpstreamHeader(h projects.UpstreamHeader) upstreamHeaderOutput {
	return upstreamHeaderOutput{Name: h.Name, UpdatedAt: h.UpdatedAt.UTC()}
}

func (h *Handler) listUpstreamHeaders(
	ctx context.Context, in *EnvironmentRef,
) (*body[list[upstreamHeaderOutput]], error) {
	headers, err := h.Projects.UpstreamHeaders(ctx, web.Principal(ctx), in.Project, in.Environment)
	if err != nil {
		return nil, err
	}
	out := list[upstreamHeaderOutput]{Items: []upstreamHeaderOutput{}}
	for _, one := range headers {
		out.Items = append(out.Items, showUpstreamHeader(one))
	}
	return &body[list[upstreamHeaderOutput]]{out}, nil
}

func (h *Handler) setUpstreamHeader(ctx context.Context, in *struct {
	EnvironmentRef
	Name string `path:"name" doc:"Name of the header" example:"X-Upstream-Token"`
	Body struct {
		Value string `json:"value" doc:"Write-only. Printable ASCII, at most 4096 bytes"`
	}
}) (*body[upstreamHeaderOutput], error) {
	set, err := h.Projects.SetUpstreamHeader(
		ctx, web.Principal(ctx), in.Project, in.Environment, in.Name, secrets.Given(in.Body.Value),
	)
	if err != nil {
		return nil, err
	}
	return &body[upstreamHeaderOutput]{showUpstreamHeader(set)}, nil
}

func (h *Handler) removeUpstreamHeader(ctx context.Context, in *struct {
	EnvironmentRef
	Name string `path:"name" doc:"Name of the header"`
}) (*struct{}, error) {
	return nil, h.Projects.RemoveUpstreamHeader(ctx, web.Principal(ctx), in.Project, in.Environment, in.Name)
}
