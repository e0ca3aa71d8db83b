package client

import (
	"context"
	"net/http"
	"time"
)

// NewVersion describes a new version of a project: a copy of another one.
type NewVersion struct {
	Name     string `json:"version"`
	CopyFrom string `json:"copy_from,omitempty"` // name or id; "": the newest
	// Environments are by name; empty: those of the copied version.
	Environments map[string]EnvironmentTarget `json:"environments,omitempty"`
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

// RenameVersion renames a version, named by name or id. The addresses of its environments
// change at once.
func (c *Client) RenameVersion(ctx context.Context, project, version, name string) (Version, error) {
	in := map[string]string{"name": name}
	return call[Version](ctx, c, http.MethodPatch, in, "api", "v1", "projects", project, "versions", version)
}

// RenameEnvironment renames an environment, named by its id. Its address changes at once.
func (c *Client) RenameEnvironment(ctx context.Context, project, environment, name string) (Environment, error) {
	in := map[string]string{"name": name}
	return call[Environment](
		ctx, c, http.MethodPatch, in, "api", "v1", "projects", project, "environments", environment,
	)
}

// Callers says what the removal of a version or an environment would stop: the calls since
// a time, one to two hours ago, the API keys that would be revoked, and host names.
type Callers struct {
	Since  time.Time `json:"since"`
	Calls  int64     `json:"calls"`
	Owners int64     `json:"owners"` // who made the calls
	Items  []Caller  `json:"items"`  // those with the most calls
	Keys   int64     `json:"keys"`
	Hosts  []string  `json:"hosts"` // host names of customers that would end
}

// Caller is an owner with its calls. Owner is empty for calls without one.
type Caller struct {
	Owner string `json:"owner"`
	Calls int64  `json:"calls"`
}

// Callers returns what DeleteVersion and, with an environment, DeleteEnvironment would
// stop.
func (c *Client) Callers(ctx context.Context, project, version, environment string) (Callers, error) {
	path := append(placePath(project, version, environment), "callers")
	return call[Callers](ctx, c, http.MethodGet, nil, path...)
}

// DeleteVersion removes a version. It fails with the code still_called if the removal
// would stop something and confirm is false.
func (c *Client) DeleteVersion(ctx context.Context, project, version string, confirm bool) error {
	return c.removePlace(ctx, confirm, placePath(project, version, ""))
}

// DeleteEnvironment removes an environment, as DeleteVersion does.
func (c *Client) DeleteEnvironment(ctx context.Context, project, version, environment string, confirm bool) error {
	return c.removePlace(ctx, confirm, placePath(project, version, environment))
}

func placePath(project, version, environment string) []string {
	path := []string{"api", "v1", "projects", project, "versions", version}
	if environment != "" {
		path = append(path, "environments", environment)
	}
	return path
}

func (c *Client) removePlace(ctx context.Context, confirm bool, path []string) error {
	query := ""
	if confirm {
		query = "?confirm=true"
	}
	response, err := c.send(ctx, http.MethodDelete, nil, query, path)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
