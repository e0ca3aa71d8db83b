package contract

import (
	"net/http"
	"time"
)

// Project is an API behind the gateway, with its versions.
type Project struct {
	ID            string        `json:"id"`
	Team          string        `json:"team" doc:"ID of the owning team" audit:"-"`
	Name          string        `json:"name"`
	DisplayName   string        `json:"display_name"`
	FallbackOwner string        `json:"fallback_owner" doc:"Owner to assign to calls without a key if keyless is owner_fallback" help:"Owner to assign to calls without a key in versions with --keyless owner_fallback"`
	Product       *string       `json:"product" doc:"Name of its product; null if there is none"`
	Tenants       []string      `json:"tenants" doc:"Names of its tenants"`
	Limits        ProjectLimits `json:"limits" doc:"Allowed calls per window, for each kind of limit"`
	Versions      []Version     `json:"versions"`
	KeyTypes      []KeyType     `json:"key_types"`
	CreatedAt     time.Time     `json:"created_at"`
	ExpiresAt     *time.Time    `json:"expires_at" doc:"When an unclaimed project expires; null once claimed" audit:"-"`
	Deleted       *Deleted      `json:"deleted" doc:"Set if the project is in the trash. Calls get 410 and changes are refused, but exports work; null if the project isn't deleted"`
	Frozen        *Frozen       `json:"frozen" doc:"Set if an operator took the project down. Calls get 403, but exports work; null if the project isn't taken down"`
	ETag          string        `json:"etag" doc:"Send as If-Match to update the project" audit:"-"`

	SettingsETag string `json:"-" audit:"-"` // without its versions; only for the dashboard
}

// Path returns its path parameter.
func (p Project) Path() ProjectPath { return ProjectPath{Project: p.ID} }

// Tag returns the project's ETag.
func (p Project) Tag() string { return p.ETag }

// Deleted is the state of a project in the trash.
type Deleted struct {
	Since   time.Time `json:"since"`
	PurgeAt time.Time `json:"purge_at" doc:"When the project is permanently deleted. It can be restored until then"`
}

// Frozen is the state of a project that the operators have taken down. Its calls get 403. Everything else works, so
// that its team can still export it.
type Frozen struct {
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
}

// States of projects in lists.
const (
	ProjectServed  = "served"
	ProjectDeleted = "deleted" // in the trash
)

// ProjectList is a request for projects.
type ProjectList struct {
	Page
	Sort  string `query:"sort" enum:"name,-name,created,-created" doc:"Sort order. A leading - means descending. Defaults to name"`
	Text  string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the name or display name, ignoring case"`
	Team  string `query:"team" id:"team" doc:"ID of a team. Defaults to all your teams"`
	State string `query:"state" enum:"served,deleted" doc:"Only projects in this state; deleted means in the trash. Defaults to both"`
}

// ProjectChange changes a project; nil leaves a member unchanged.
type ProjectChange struct {
	DisplayName   *string             `json:"display_name,omitempty" doc:"Display name. If it's empty, the project's name is shown instead"`
	FallbackOwner *string             `json:"fallback_owner,omitempty" doc:"Owner to assign to calls without a key if keyless is owner_fallback" help:"Owner to assign to calls without a key in versions with --keyless owner_fallback"`
	Product       Optional[string]    `json:"product,omitzero" doc:"Name of one of the team's products. Use null for none. The old product's keys stop working in the project, except keys that were created there"`
	Limits        ProjectLimitsChange `json:"limits,omitzero" flag:",each" doc:"New limits, for each kind of limit. Fields that you leave out don't change"`
}

// Of returns the request to change a project in this way.
func (c ProjectChange) Of(project string) ProjectUpdate {
	return ProjectUpdate{ProjectPath: ProjectPath{Project: project}, Body: c}
}

// ProjectUpdate is a request to change a project.
type ProjectUpdate struct {
	ProjectPath
	Condition
	Body ProjectChange
}

// ProjectDeletion lists what deleting a project also deletes. App clients, users and groups are those of the project's
// own tenant; tenants of the team stay.
type ProjectDeletion struct {
	Versions     int64      `json:"versions"`
	Environments int64      `json:"environments"`
	Keys         int64      `json:"keys"`
	ActiveKeys   int64      `json:"active_keys"`
	ProductKeys  int64      `json:"product_keys" doc:"Number of keys that are also valid for other projects of the product. They stop working there too"`
	AppClients   int64      `json:"app_clients" doc:"Number of app clients of the project's own tenant. Tenants of the team aren't deleted"`
	Users        int64      `json:"users" doc:"Number in the project's own tenant"`
	Groups       int64      `json:"groups" doc:"Number in the project's own tenant"`
	Exports      int64      `json:"exports" doc:"Number of exports, deleted with their files. Downloaded zips aren't affected"`
	NewestExport *time.Time `json:"newest_export" doc:"When the newest finished export was requested; null if there is none"`
}

// ProjectRemoval is a request to delete a project.
type ProjectRemoval struct {
	ProjectPath
	Now     bool   `query:"now" doc:"Delete permanently instead of moving to the trash. Only owners of the team can do this"`
	Confirm string `query:"confirm" flag:"-" doc:"Name of the project. Required with now"`
}

// ProjectTeam is the team that a project is moved to.
type ProjectTeam struct {
	Team string `json:"team" id:"team" doc:"ID of the new team. You must be an owner of both teams"`
}

// ProjectMove is a request to move a project to another team.
type ProjectMove struct {
	ProjectPath
	Body ProjectTeam
}

// Takedown is an operator's view of a project, which may belong to another team.
type Takedown struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Frozen *Frozen `json:"frozen" doc:"null if the project isn't taken down"`
}

// TakedownReason says why a project is taken down.
type TakedownReason struct {
	Reason string `json:"reason" doc:"Reason, on one line. The project's team can read it"`
}

// TakedownUpdate is a request to take a project down.
type TakedownUpdate struct {
	ProjectPath
	Body TakedownReason
}

const (
	projects = "/api/v1/projects"
	takedown = project + "/takedown"
)

// The operations on projects. POST /proxy creates them.
var (
	ListProjects = &Op[ProjectList, List[Project]]{Operation{
		ID: "list-projects", Method: http.MethodGet, Path: projects, Summary: "List projects",
		Command: "projects list",
		Example: "projects list --search shop --state served", Permission: ReadProjects,
		Doc: "Lists your teams' projects, including those in the trash.",
	}}
	GetProject = &Op[ProjectPath, Project]{Operation{
		ID: "get-project", Method: http.MethodGet, Path: project, Summary: "Get a project", Permission: ReadProjects,
		Command: "projects show PROJECT",
		Doc:     "Returns the project with its key types, its versions and their environments.",
	}}
	UpdateProject = &Op[ProjectUpdate, Project]{Operation{
		ID: "update-project", Method: http.MethodPatch, Path: project, Summary: "Update a project",
		Command: "projects update PROJECT", Permission: UpdateProjects,
		Example: "projects update shop --key-limits minute=100 --project-limits day=100000 --product store",
		Doc: "Changes only the fields you send. Limits that you send for key, owner, ip or project replace the " +
			"existing limits of that kind. If you remove a project from its product, the product's keys stop working " +
			"in the project, except keys that were created there.",
	}}
	DeleteProject = &Op[ProjectRemoval, Project]{Operation{
		ID: "delete-project", Deletes: "project", Method: http.MethodDelete, Path: project, Permission: DeleteProjects,
		Summary: "Move a project to the trash, or delete it permanently", Command: "projects delete PROJECT",
		Example: "projects delete shop",
		Doc: "Calls immediately get 410 (deleted), and all keys stop working. You can export or restore the project " +
			"for 30 days. After that, it is permanently deleted. With now, it is deleted permanently right away. " +
			"Only owners can do this.",
	}}
	GetProjectDeletion = &Op[ProjectPath, ProjectDeletion]{Operation{
		ID: "get-project-deletion", Method: http.MethodGet, Path: project + "/deletion", Permission: ReadProjects,
		Summary: "Preview the effects of deleting a project",
		Doc:     "Changes nothing. Use it to show the consequences before you ask for confirmation.",
	}}
	RestoreProject = &Op[ProjectPath, Project]{Operation{
		ID: "restore-project", Method: http.MethodPost, Path: project + "/restore", Permission: RestoreProjects,
		Summary: "Restore a deleted project", Command: "projects restore PROJECT",
		Doc: "Moves the project, unchanged, out of the trash. Calls and keys work again.",
	}}
	MoveProject = &Op[ProjectMove, Project]{Operation{
		ID: "move-project", Method: http.MethodPost, Path: project + "/move", Summary: "Move a project to another team",
		Command: "projects move PROJECT TEAM", Example: "projects move shop team_01", Permission: MoveProjects,
		Doc: "You must be an owner of both teams. Calls aren't interrupted. Keys, usage, exports and the project's " +
			"own tenant move with it. The team's webhooks, products and tenants don't, so you can't move a project " +
			"that uses one of the team's products or tenants.",
	}}
	TakeDownProject = &Op[TakedownUpdate, Takedown]{Operation{
		ID: "take-down-project", Method: http.MethodPut, Path: takedown,
		Summary: "Take a project down (operators only)",
		Command: "takedown set PROJECT", Example: "takedown set shop --reason 'Phishing, reported on May 3'",
		Permission: TakeDownProjects,
		Doc: "Calls get 403 project_frozen until you lift the takedown. The project's team can read the reason and " +
			"can still export the project. Operators can take down any team's projects.",
	}}
	LiftTakedown = &Op[ProjectPath, Takedown]{Operation{
		ID: "lift-takedown", Method: http.MethodDelete, Path: takedown, Summary: "Lift a takedown (operators only)",
		Command: "takedown remove PROJECT", Permission: TakeDownProjects,
		Doc: "The project serves calls again. Its settings and keys aren't changed.",
	}}
)

var projectOperations = []Described{
	ListProjects, GetProject, UpdateProject, DeleteProject, GetProjectDeletion, RestoreProject, MoveProject,
	TakeDownProject, LiftTakedown,
}
