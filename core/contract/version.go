package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// VersionOf returns the path parameters of a version of a project.
func VersionOf(project, version string) VersionPath {
	return VersionPath{ProjectPath{project}, version}
}

// Version is one version of a project.
type Version struct {
	ID           string        `json:"id"`
	Name         string        `json:"name" audit:"-"`
	RequestsAuth RequestsAuth  `json:"requests_auth" audit:"each"`
	IP           IPRules       `json:"ip" audit:"each"`
	ETag         string        `json:"etag" doc:"Send as If-Match to update the version" audit:"-"`
	Environments []Environment `json:"environments"`
	Warnings     []Warning     `json:"warnings,omitempty" doc:"Settings that are allowed but may surprise you. Only in responses to updates" audit:"-"`
}

// Tag returns the version's ETag.
func (v Version) Tag() string { return v.ETag }

// NewVersion is a version to be created, as a copy of another one.
type NewVersion struct {
	Name         string                       `json:"name" doc:"Name of the new version. It is part of the gateway URLs" example:"2.0.0"`
	CopyFrom     string                       `json:"copy_from,omitempty" minLength:"1" doc:"Name or ID of the version to copy. Defaults to the newest"`
	Environments map[string]EnvironmentTarget `json:"environments,omitempty" flag:"-" doc:"Environments by name. Defaults to the environments of the copied version"`
}

// VersionCreation is a request for a new version.
type VersionCreation struct {
	ProjectPath
	Body NewVersion
}

// In returns the request to create the version in a project.
func (n NewVersion) In(project string) VersionCreation {
	return VersionCreation{ProjectPath: ProjectPath{Project: project}, Body: n}
}

// VersionChange changes a version; nil leaves a member unchanged.
type VersionChange struct {
	Name         *string            `json:"name,omitempty" doc:"New name. Immediately changes the gateway URLs of the version's environments" example:"1.1.0"`
	RequestsAuth RequestsAuthChange `json:"requests_auth,omitzero" flag:",each"`
	IP           IPRulesChange      `json:"ip,omitzero" flag:",each"`
}

// Of returns the request to change a version of a project in this way.
func (c VersionChange) Of(project, version string) VersionUpdate {
	return VersionUpdate{VersionPath: VersionOf(project, version), Body: c}
}

// LogValue implements slog.LogValuer.
func (VersionChange) LogValue() slog.Value { return slog.StringValue("change a version") }

// VersionUpdate is a request to change a version.
type VersionUpdate struct {
	VersionPath
	Condition
	Body VersionChange
}

// LogValue implements slog.LogValuer.
func (u VersionUpdate) LogValue() slog.Value { return slog.StringValue("change version " + u.Version) }

// Removal says how a version or an environment is deleted.
type Removal struct {
	Condition
	Confirm bool `query:"confirm" flag:"-" doc:"Delete it even if it has callers or if API keys are revoked with it"`
}

// VersionRemoval is a request to delete a version.
type VersionRemoval struct {
	VersionPath
	Removal
}

// Callers lists what deleting a version or an environment stops: calls, API keys and host names.
type Callers struct {
	Since  time.Time `json:"since" doc:"Start of the counted period, one to two hours ago"`
	Calls  int64     `json:"calls"`
	Owners int64     `json:"owners" doc:"Number of owners with calls"`
	Items  []Caller  `json:"items" doc:"The 20 owners with the most calls"`
	Keys   int64     `json:"keys" doc:"Number of API keys that are valid only for it. Deleting it revokes them"`
	Hosts  []string  `json:"hosts" doc:"Custom domains that are deleted with it"`
}

// Idle reports whether it stops nothing.
func (c Callers) Idle() bool { return c.Calls == 0 && c.Keys == 0 && len(c.Hosts) == 0 }

// Caller is an owner with the number of its calls.
type Caller struct {
	Owner string `json:"owner" doc:"Owner of the calls. Empty for calls without an owner"`
	Calls int64  `json:"calls"`
}

const versions = project + "/versions"

// The operations on versions.
var (
	ListVersions = &Op[ProjectPath, List[Version]]{Operation{
		ID: "list-versions", Method: http.MethodGet, Path: versions, Summary: "List the versions of a project",
		Command: "versions list PROJECT", Permission: ReadProjects,
		Doc: "Lists the project's versions with their environments, oldest first.",
	}}
	CreateVersion = &Op[VersionCreation, Version]{Operation{
		ID: "create-version", Method: http.MethodPost, Path: versions, Status: http.StatusCreated,
		Summary: "Create a version as a copy of another one", Command: "versions create PROJECT NAME",
		Example:    "versions create shop 2.0.0 --copy-from 1.0.0 --environment prod=https://v2.example.com",
		Permission: UpdateProjects,
		Doc: "Copies the access settings, IP ranges, rules, transforms, OpenAPI settings and environments, but not " +
			"the OpenAPI document. Later changes to one version don't affect the other.",
	}}
	GetVersion = &Op[VersionPath, Version]{Operation{
		ID: "get-version", Method: http.MethodGet, Path: version, Summary: "Get a version", Permission: ReadProjects,
		Command: "versions show PROJECT VERSION",
		Doc:     "Returns the access settings, IP ranges and environments.",
	}}
	UpdateVersion = &Op[VersionUpdate, Version]{Operation{
		ID: "update-version", Method: http.MethodPatch, Path: version, Permission: UpdateProjects,
		Summary: "Change a version's name or access settings", Command: "versions update PROJECT VERSION",
		Example: "versions update shop 1.0.0 --mode authenticate --methods api_key,jwt " +
			"--token-issuer 'https://accounts.example.com https://api.example.com'",
		Doc: "Changes only the fields you send. A list replaces the existing one. The response warns about settings " +
			"that are allowed but may surprise you.",
	}}
	DeleteVersion = &Op[VersionRemoval, None]{Operation{
		ID: "delete-version", Deletes: "version",
		Method: http.MethodDelete, Path: version, Status: http.StatusNoContent,
		Summary: "Delete a version and its environments", Command: "versions delete PROJECT VERSION",
		Permission: UpdateProjects,
		Doc: "Also revokes API keys that are valid only for this version. Requires confirm if the version has any of " +
			"these keys or recent calls. You can't delete the last version of a project.",
	}}
	GetVersionCallers = &Op[VersionPath, Callers]{Operation{
		ID: "get-version-callers", Method: http.MethodGet, Path: version + "/callers", Permission: ReadUsage,
		Summary: "List the callers of a version",
		Doc: "Returns the callers, API keys and custom domains that would stop working if you deleted the version. " +
			"Callers are from the current hour and the previous one.",
	}}
)

var versionOperations = []Described{
	ListVersions, CreateVersion, GetVersion, UpdateVersion, DeleteVersion, GetVersionCallers,
}
