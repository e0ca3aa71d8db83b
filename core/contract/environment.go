package contract

import "net/http"

// EnvironmentOf returns the path parameters of an environment of a project's version.
func EnvironmentOf(project, version, environment string) EnvironmentPath {
	return EnvironmentPath{VersionOf(project, version), environment}
}

// Environment is one target of a version.
type Environment struct {
	ID     string `json:"id"`
	Name   string `json:"name" audit:"-"`
	Target string `json:"target" doc:"URL that calls are forwarded to. If there are several targets, the URL of the first one"`
	URL    string `json:"url" doc:"Base URL for callers" audit:"-"`

	Upstream Upstream `json:"upstream" audit:"each" doc:"Settings of the upstream, with their defaults"`

	ETag string `json:"etag" doc:"Send as If-Match to update the environment" audit:"-"`
}

// Tag returns the environment's ETag.
func (e Environment) Tag() string { return e.ETag }

// EnvironmentTarget is where an environment of a new version forwards to.
type EnvironmentTarget struct {
	Target   string   `json:"target,omitempty" doc:"http or https URL that calls are forwarded to"`
	Upstream Upstream `json:"upstream,omitzero" doc:"Settings of the upstream"`
}

// NewEnvironment is an environment to be created.
type NewEnvironment struct {
	Name   string `json:"name" slug:"true" doc:"Name of the environment. It is part of the gateway URL" example:"staging"`
	Target string `json:"target,omitempty" doc:"http or https URL that calls are forwarded to. Required unless you set upstream.targets" help:"http or https URL that calls are forwarded to. Required unless you use --weighted-target"`

	Upstream Upstream `json:"upstream,omitzero" flag:",each" doc:"Settings of the upstream"`
}

// In returns the request to create the environment in a version of a project.
func (n NewEnvironment) In(project, version string) EnvironmentCreation {
	return EnvironmentCreation{VersionPath: VersionOf(project, version), Body: n}
}

// EnvironmentCreation is a request for a new environment.
type EnvironmentCreation struct {
	VersionPath
	Body NewEnvironment
}

// EnvironmentChange changes an environment; nil leaves a member unchanged.
type EnvironmentChange struct {
	Name   *string `json:"name,omitempty" slug:"true" doc:"New name. The environment's gateway URL changes immediately"`
	Target *string `json:"target,omitempty" doc:"http or https URL that calls are forwarded to"`

	Upstream Upstream `json:"upstream,omitzero" flag:",each" doc:"Settings of the upstream. Fields that you leave out don't change"`
}

// Of returns the request to change an environment in this way.
func (c EnvironmentChange) Of(project, version, environment string) EnvironmentUpdate {
	return EnvironmentUpdate{EnvironmentPath: EnvironmentOf(project, version, environment), Body: c}
}

// EnvironmentUpdate is a request to change an environment.
type EnvironmentUpdate struct {
	EnvironmentPath
	Condition
	Body EnvironmentChange
}

// EnvironmentRemoval is a request to delete an environment.
type EnvironmentRemoval struct {
	EnvironmentPath
	Removal
}

const environments = version + "/environments"

// The operations on environments.
var (
	ListEnvironments = &Op[VersionPath, List[Environment]]{Operation{
		ID: "list-environments", Method: http.MethodGet, Path: environments, Permission: ReadProjects,
		Summary: "List the environments of a version", Command: "environments list PROJECT VERSION",
		Doc: "Lists the version's environments, sorted by name, with their gateway URLs and targets.",
	}}
	CreateEnvironment = &Op[EnvironmentCreation, Environment]{Operation{
		ID: "create-environment", Method: http.MethodPost, Path: environments, Status: http.StatusCreated,
		Summary: "Add an environment to a version", Command: "environments create PROJECT VERSION NAME TARGET",
		Example:    "environments create shop 1.0.0 staging https://staging.example.com",
		Permission: UpdateProjects,
		Doc: "Calls to the gateway URL are forwarded to the target. API keys that are limited to an environment with " +
			"this name work in the new environment.",
	}}
	GetEnvironment = &Op[EnvironmentPath, Environment]{Operation{
		ID: "get-environment", Method: http.MethodGet, Path: environment, Summary: "Get an environment",
		Command: "environments show PROJECT VERSION ENVIRONMENT", Permission: ReadProjects,
		Doc: "Returns the gateway URL, the target and the upstream settings.",
	}}
	UpdateEnvironment = &Op[EnvironmentUpdate, Environment]{Operation{
		ID: "update-environment", Method: http.MethodPatch, Path: environment, Permission: UpdateProjects,
		Summary: "Change an environment's name, target or upstream settings",
		Command: "environments update PROJECT VERSION ENVIRONMENT",
		Example: "environments update shop 1.0.0 prod --target https://api.example.com",
		Doc: "Changes only the fields you send. If you rename the environment, API keys that are limited to it " +
			"remain valid for it. If the environment has upstream headers or a client certificate, you can't change " +
			"the target's origin.",
	}}
	DeleteEnvironment = &Op[EnvironmentRemoval, None]{Operation{
		ID: "delete-environment", Method: http.MethodDelete, Deletes: "environment",
		Path: environment, Status: http.StatusNoContent,
		Summary: "Delete an environment", Command: "environments delete PROJECT VERSION ENVIRONMENT",
		Permission: UpdateProjects,
		Doc: "Also revokes API keys that are valid only for this environment. Requires confirm if the environment " +
			"has any of these keys or recent calls. You can't delete the last environment of a version.",
	}}
	GetEnvironmentCallers = &Op[EnvironmentPath, Callers]{Operation{
		ID: "get-environment-callers", Method: http.MethodGet, Path: environment + "/callers", Permission: ReadUsage,
		Summary: "List the callers of an environment",
		Doc: "Returns the callers, API keys and custom domains that would stop working if you deleted the " +
			"environment. Callers are from the current hour and the previous one.",
	}}
)

var environmentOperations = []Described{
	ListEnvironments, CreateEnvironment, GetEnvironment, UpdateEnvironment, DeleteEnvironment, GetEnvironmentCallers,
}
