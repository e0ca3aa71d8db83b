package client

import (
	"context"
	"net/http"
)

// NewVersion describes a new version of a project: a copy of another one.
type NewVersion struct {
	Name         string                       `json:"version"`
	CopyFrom     string                       `json:"copy_from,omitempty"`    // name or id; "": the newest
	Environments map[string]EnvironmentTarget `json:"environments,omitempty"` // by name; empty: those of the copied version
}

// EnvironmentTarget is where an environment forwards to.
type EnvironmentTarget struct {
	Target string `json:"target"`
}

// CreateVersion adds a version to a project.
func (c *Client) CreateVersion(ctx context.Context, project string, in NewVersion) (Version, error) {
	return call[Version](ctx, c, http.MethodPost, in, "api", "v1", "projects", project, "versions")
}

// CreateEnvironment adds an environment to a version, named by name or id.
func (c *Client) CreateEnvironment(ctx context.Context, project, version, name, target string) (Environment, error) {
	in := map[string]string{"name": name, "target": target}
	return call[Environment](
		ctx, c, http.MethodPost, in, "api", "v1", "projects", project, "versions", version, "environments",
	)
}
