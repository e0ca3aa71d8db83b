package api

import (
	"context"
	"time"

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
		CopyFrom     string                      `json:"copy_from,omitempty" minLength:"1" doc:"Name or id of the version to copy; default: the newest"`
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

// RemovalQuery is how to remove a version or an environment. It is exported because huma
// ignores embedded types that are not.
type RemovalQuery struct {
	Confirm bool   `query:"confirm" doc:"Remove it although it is called, or although API keys are revoked"`
	IfMatch string `header:"If-Match"`
}

func (h *Handler) deleteVersion(ctx context.Context, in *struct {
	VersionRef
	RemovalQuery
}) (*struct{}, error) {
	return nil, h.remove(ctx, in.VersionRef, "", in.RemovalQuery)
}

func (h *Handler) deleteEnvironment(ctx context.Context, in *struct {
	VersionRef
	Environment string `path:"environment" doc:"Name or id"`
	RemovalQuery
}) (*struct{}, error) {
	return nil, h.remove(ctx, in.VersionRef, in.Environment, in.RemovalQuery)
}

func (h *Handler) remove(ctx context.Context, at VersionRef, environment string, how RemovalQuery) error {
	return h.Projects.Remove(ctx, web.Principal(ctx), at.Project, projects.RemovalInput{
		Version:     at.Version,
		Environment: environment,
		Confirmed:   how.Confirm,
		IfMatch:     web.ParseIfMatch(how.IfMatch),
	})
}

// callersOutput says what a removal would stop.
type callersOutput struct {
	Since  time.Time      `json:"since" doc:"The calls are from this time on: one to two hours ago"`
	Calls  int64          `json:"calls"`
	Owners int64          `json:"owners" doc:"Number of owners who called"`
	Items  []callerOutput `json:"items" doc:"The 20 owners with the most calls"`
	Keys   int64          `json:"keys" doc:"API keys that open nothing else; a removal revokes them"`
	Hosts  []string       `json:"hosts" doc:"Host names of customers that end with a removal"`
}

type callerOutput struct {
	Owner string `json:"owner" doc:"Empty for calls without an owner"`
	Calls int64  `json:"calls"`
}

func (h *Handler) getVersionCallers(ctx context.Context, in *VersionRef) (*body[callersOutput], error) {
	return h.callers(ctx, *in, "")
}

func (h *Handler) getEnvironmentCallers(ctx context.Context, in *struct {
	VersionRef
	Environment string `path:"environment" doc:"Name or id"`
}) (*body[callersOutput], error) {
	return h.callers(ctx, in.VersionRef, in.Environment)
}

func (h *Handler) callers(ctx context.Context, at VersionRef, environment string) (*body[callersOutput], error) {
	found, err := h.Projects.Removal(ctx, web.Principal(ctx), at.Project, projects.RemovalInput{
		Version:     at.Version,
		Environment: environment,
	})
	if err != nil {
		return nil, err
	}
	out := callersOutput{
		Since:  found.Since,
		Calls:  found.Calls,
		Owners: found.Owners,
		Items:  []callerOutput{},
		Keys:   found.Keys,
		Hosts:  append([]string{}, found.Hosts...),
	}
	for _, caller := range found.Callers {
		out.Items = append(out.Items, callerOutput(caller))
	}
	return &body[callersOutput]{out}, nil
}
