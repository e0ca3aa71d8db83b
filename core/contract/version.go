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
	Warnings     []Warning     `json:"warnings,omitempty" doc:"In the answer to an update: what is allowed but may surprise" audit:"-"`
}

// Tag returns the version's ETag.
func (v Version) Tag() string { return v.ETag }

// RequestsAuth says which calls to a version are served.
type RequestsAuth struct {
	Mode    string              `json:"mode" doc:"passthrough or authenticate"`
	Methods []string            `json:"methods" doc:"How calls authenticate: api_key, jwt, opaque"`
	Keyless string              `json:"keyless" doc:"What becomes of calls without a key: reject or owner_fallback"`
	JWT     *JWT                `json:"jwt,omitempty"`
	Opaque  *SavedIntrospection `json:"opaque,omitempty" doc:"Introspection endpoint of the method opaque, without its secret"`
}

// NewVersion is a version to be created, as a copy of another one.
type NewVersion struct {
	Name         string                       `json:"name" doc:"Name of the new version, which is part of the addresses of its environments" example:"2.0.0"`
	CopyFrom     string                       `json:"copy_from,omitempty" minLength:"1" doc:"Name or id of the version to copy; default: the newest"`
	Environments map[string]EnvironmentTarget `json:"environments,omitempty" flag:"-" doc:"Its environments by name; default: those of the copied version"`
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

// VersionChange changes a version; nil leaves a member as it is.
type VersionChange struct {
	Name         *string            `json:"name,omitempty" doc:"New name, which changes the addresses of its environments at once" example:"1.1.0"`
	RequestsAuth RequestsAuthChange `json:"requests_auth,omitzero" flag:",each"`
	IP           IPRulesChange      `json:"ip,omitzero" flag:",each"`
}

// Of returns the request to change a version of a project in this way.
func (c VersionChange) Of(project, version string) VersionUpdate {
	return VersionUpdate{VersionPath: VersionOf(project, version), Body: c}
}

// RequestsAuthChange changes which calls to a version are served; nil leaves a member as it is.
type RequestsAuthChange struct {
	Mode    *string           `json:"mode,omitempty" minLength:"1" doc:"passthrough or authenticate"`
	Methods *[]string         `json:"methods,omitempty" flag:",list" doc:"How calls authenticate: api_key, jwt, opaque"`
	Keyless *string           `json:"keyless,omitempty" minLength:"1" doc:"What becomes of calls without a key: reject or owner_fallback"`
	JWT     *JWT              `json:"jwt,omitempty" flag:"-" doc:"Replaces the token issuers"`
	Opaque  *NewIntrospection `json:"opaque,omitempty" flag:"-" doc:"Replaces the introspection endpoint"`
}

// LogValue implements slog.LogValuer.
func (RequestsAuthChange) LogValue() slog.Value { return slog.StringValue("change requests_auth") }

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
	Confirm bool `query:"confirm" flag:"-" doc:"Delete it although it is called, or although API keys are revoked"`
}

// VersionRemoval is a request to delete a version.
type VersionRemoval struct {
	VersionPath
	Removal
}

// Callers is what deleting a version or an environment stops: calls, API keys and host names.
type Callers struct {
	Since  time.Time `json:"since" doc:"The calls are from this time on: one to two hours ago"`
	Calls  int64     `json:"calls"`
	Owners int64     `json:"owners" doc:"Number of owners who called"`
	Items  []Caller  `json:"items" doc:"The 20 owners with the most calls"`
	Keys   int64     `json:"keys" doc:"API keys that are valid for nothing else; deleting it revokes them"`
	Hosts  []string  `json:"hosts" doc:"Custom domains that end with it"`
}

// Idle reports whether it stops nothing.
func (c Callers) Idle() bool { return c.Calls == 0 && c.Keys == 0 && len(c.Hosts) == 0 }

// Caller is an owner with its calls.
type Caller struct {
	Owner string `json:"owner" doc:"Empty for calls without an owner"`
	Calls int64  `json:"calls"`
}

const versions = project + "/versions"

// The operations on versions.
var (
	ListVersions = Op[ProjectPath, List[Version]]{Operation{
		ID: "list-versions", Method: http.MethodGet, Path: versions, Summary: "List the versions of a project",
		Command: "versions list PROJECT", Permission: ReadProjects,
		Doc: "Lists all versions with their environments, oldest first.",
	}}
	CreateVersion = Op[VersionCreation, Version]{Operation{
		ID: "create-version", Method: http.MethodPost, Path: versions, Status: http.StatusCreated,
		Summary: "Add a version as a copy of another one", Command: "versions create PROJECT NAME",
		Example:    "versions create shop 2.0.0 --copy-from 1.0.0 --environment prod=https://v2.example.com",
		Permission: UpdateProjects,
		Doc: "Copies access, address ranges, rules, transforms and environments. From then on each version has its " +
			"own.",
	}}
	GetVersion = Op[VersionPath, Version]{Operation{
		ID: "get-version", Method: http.MethodGet, Path: version, Summary: "Get a version", Permission: ReadProjects,
		Command: "versions show PROJECT VERSION",
		Doc:     "Says which calls are served, and has the environments.",
	}}
	UpdateVersion = Op[VersionUpdate, Version]{Operation{
		ID: "update-version", Method: http.MethodPatch, Path: version, Permission: UpdateProjects,
		Summary: "Update a version: its name, and which calls are served", Command: "versions update PROJECT VERSION",
		Example: "versions update shop 1.0.0 --mode authenticate --methods api_key,jwt " +
			"--token-issuer 'https://accounts.example.com https://api.example.com'",
		Doc: "Changes only what you send; a list replaces the earlier one. The answer warns of what is allowed but " +
			"may surprise.",
	}}
	DeleteVersion = Op[VersionRemoval, None]{Operation{
		ID: "delete-version", Method: http.MethodDelete, Path: version, Status: http.StatusNoContent,
		Summary: "Delete a version with its environments", Command: "versions delete PROJECT VERSION",
		Permission: UpdateProjects,
		Doc: "Revokes API keys that are valid for nothing else. Without confirm, a version that is called or has " +
			"such keys is not deleted. The last version of a project can't be deleted.",
	}}
	GetVersionCallers = Op[VersionPath, Callers]{Operation{
		ID: "get-version-callers", Method: http.MethodGet, Path: version + "/callers", Permission: ReadUsage,
		Summary: "List who calls a version",
		Doc:     "Has what deleting the version stops: the callers of the last hour, API keys and custom domains.",
	}}
)

var versionOperations = []Described{
	ListVersions, CreateVersion, GetVersion, UpdateVersion, DeleteVersion, GetVersionCallers,
}
