package api

import (
	"context"

	"postern/handlers/web"
	"postern/service/projects"
)

// VersionRef is the path parameters of a version.
type VersionRef struct {
	ProjectRef
	Version string `path:"version" doc:"Name or id"`
}

func (h *Handler) createVersion(ctx context.Context, in *struct {
	ProjectRef
	Body struct {
		Version      string                      `json:"version" doc:"Name of the new version" example:"2.0.0"`
		CopyFrom     string                      `json:"copy_from,omitempty" doc:"Name or id of the version to copy; default: the newest"`
		Environments map[string]environmentInput `json:"environments,omitempty" doc:"Its environments by name; default: those of the copied version"`
	}
}) (*tagged[versionOutput], error) {
	targets := map[string]string{}
	for name, environment := range in.Body.Environments {
		targets[name] = environment.Target
	}
	v, err := h.Projects.CreateVersion(ctx, web.Principal(ctx), in.Project, projects.VersionInput{
		Name:         in.Body.Version,
		CopyFrom:     in.Body.CopyFrom,
		Environments: targets,
	})
	if err != nil {
		return nil, err
	}
	return &tagged[versionOutput]{web.FormatETag(v.ETag), h.showVersion(v)}, nil
}

func (h *Handler) createEnvironment(ctx context.Context, in *struct {
	VersionRef
	Body struct {
		Name   string `json:"name" example:"staging"`
		Target string `json:"target" doc:"http or https URL that calls are forwarded to"`
	}
}) (*tagged[environmentOutput], error) {
	input := projects.EnvironmentInput{Name: in.Body.Name, Target: in.Body.Target}
	e, err := h.Projects.CreateEnvironment(ctx, web.Principal(ctx), in.Project, in.Version, input)
	if err != nil {
		return nil, err
	}
	return &tagged[environmentOutput]{web.FormatETag(e.ETag), h.showEnvironment(e)}, nil
}
