package contract

import (
	"net/http"
	"time"
)

// Project is an API behind the gateway, with its versions.
type Project struct {
	ID            string        `json:"id"`
	Team          string        `json:"team" doc:"Id of the owning team" audit:"-"`
	Name          string        `json:"name"`
	DisplayName   string        `json:"display_name"`
	FallbackOwner string        `json:"fallback_owner" doc:"Owner of calls without a key if keyless is owner_fallback"`
	Product       *string       `json:"product" doc:"Name of its product; null: none"`
	Tenants       []string      `json:"tenants" doc:"Names of its tenants"`
	Limits        ProjectLimits `json:"limits" doc:"Allowed calls by window, by what is counted"`
	Versions      []Version     `json:"versions"`
	KeyTypes      []KeyType     `json:"key_types"`
	CreatedAt     time.Time     `json:"created_at"`
	ExpiresAt     *time.Time    `json:"expires_at" doc:"When an unclaimed project is deleted; null once claimed" audit:"-"`
	Deleted       *Deleted      `json:"deleted" doc:"In the bin: calls get 410 deleted, changes are refused, exports work; null: not deleted"`
	Frozen        *Frozen       `json:"frozen" doc:"Takedown by an operator: calls get 403 project_frozen, exports work; null: none"`
	ETag          string        `json:"etag" doc:"Send as If-Match to update the project" audit:"-"`

	SettingsETag string `json:"-" audit:"-"` // without its versions, for the dashboard alone
}

// Path returns its path parameter.
func (p Project) Path() ProjectPath { return ProjectPath{Project: p.ID} }

// Tag returns the project's ETag.
func (p Project) Tag() string { return p.ETag }

// Deleted is the state of a project in the bin.
type Deleted struct {
	Since   time.Time `json:"since"`
	PurgeAt time.Time `json:"purge_at" doc:"Until then the project can be restored; then it is deleted for good"`
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
	ProjectDeleted = "deleted" // in the bin
)

// ProjectList is a request for projects.
type ProjectList struct {
	Page
	Sort  string `query:"sort" enum:"name,-name,created,-created" doc:"Order; - begins at the end; default: name"`
	Text  string `query:"q" flag:"search" maxLength:"200" doc:"Part of the name or the display name, ignoring case"`
	Team  string `query:"team" doc:"Id of a team; default: all teams of the caller"`
	State string `query:"state" enum:"served,deleted" doc:"Only projects in the bin (deleted), or the others (served); default: both"`
}

// ProjectChange changes a project; nil leaves a member as it is.
type ProjectChange struct {
	DisplayName   *string             `json:"display_name,omitempty" doc:"Name for people; empty: the name"`
	FallbackOwner *string             `json:"fallback_owner,omitempty" doc:"Owner of calls without a key if keyless is owner_fallback"`
	Product       Optional[string]    `json:"product,omitzero" doc:"Name of a product of the team; null: none. Keys of the old product are no longer valid for the project, except for those created in it"`
	Limits        ProjectLimitsChange `json:"limits,omitzero" flag:",each" doc:"New limits, by what is counted; an absent member is unchanged"`
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

// ProjectDeletion is what deleting a project deletes too. App clients, users and groups are those of the project's own
// tenant; tenants of the team stay.
type ProjectDeletion struct {
	Versions     int64      `json:"versions"`
	Environments int64      `json:"environments"`
	Keys         int64      `json:"keys"`
	ActiveKeys   int64      `json:"active_keys"`
	ProductKeys  int64      `json:"product_keys" doc:"Of the keys, those that are valid for other projects of the product too, where they stop as well"`
	AppClients   int64      `json:"app_clients" doc:"Of the project's own tenant default; tenants of the team stay"`
	Users        int64      `json:"users" doc:"Of the project's own tenant default"`
	Groups       int64      `json:"groups" doc:"Of the project's own tenant default"`
	Exports      int64      `json:"exports" doc:"With their files; downloaded zips are yours"`
	NewestExport *time.Time `json:"newest_export" doc:"When the newest finished export was requested; null: never"`
}

// ProjectRemoval is a request to delete a project.
type ProjectRemoval struct {
	ProjectPath
	Now     bool   `query:"now" doc:"Delete for good instead of to the bin; only owners, and with confirm"`
	Confirm string `query:"confirm" flag:"-" doc:"With now: the project's name"`
}

// ProjectTeam is the team that a project is moved to.
type ProjectTeam struct {
	Team string `json:"team" doc:"Id of the team; you have to be an owner of both teams"`
}

// ProjectMove is a request to move a project to another team.
type ProjectMove struct {
	ProjectPath
	Body ProjectTeam
}

// Takedown is what operators learn of a project, which may be another team's.
type Takedown struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Frozen *Frozen `json:"frozen" doc:"null if the project is served"`
}

// TakedownReason says why a project is taken down.
type TakedownReason struct {
	Reason string `json:"reason" doc:"One line, shown to the project's team"`
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
	ListProjects = Op[ProjectList, List[Project]]{Operation{
		ID: "list-projects", Method: http.MethodGet, Path: projects, Summary: "List projects",
		Command: "projects list", Permission: ReadProjects,
		Doc: "Lists the projects of your teams, also those in the bin.",
	}}
	GetProject = Op[ProjectPath, Project]{Operation{
		ID: "get-project", Method: http.MethodGet, Path: project, Summary: "Get a project", Permission: ReadProjects,
		Command: "projects show PROJECT",
		Doc:     "Has the project with its versions, their environments, and its key types.",
	}}
	UpdateProject = Op[ProjectUpdate, Project]{Operation{
		ID: "update-project", Method: http.MethodPatch, Path: project, Summary: "Update a project",
		Command: "projects update PROJECT", Permission: UpdateProjects,
		Example: "projects update shop --key-limits minute=100 --project-limits day=100000 --product store",
		Doc: "Changes only what you send. New limits for key, owner, ip or project replace all earlier ones for " +
			"it. When a project leaves its product, the product's keys are no longer valid for it, except for " +
			"those created in it.",
	}}
	DeleteProject = Op[ProjectRemoval, Project]{Operation{
		ID: "delete-project", Method: http.MethodDelete, Path: project, Permission: DeleteProjects,
		Summary: "Delete a project: to the bin for 30 days, or for good", Command: "projects delete PROJECT",
		Example: "projects delete shop",
		Doc: "Calls get 410 deleted at once, and no key is valid for the project. For 30 days it can be exported, " +
			"and restored with everything it had; then it is deleted for good. With now it is deleted for good at " +
			"once, which only owners can do.",
	}}
	GetProjectDeletion = Op[ProjectPath, ProjectDeletion]{Operation{
		ID: "get-project-deletion", Method: http.MethodGet, Path: project + "/deletion", Permission: ReadProjects,
		Summary: "Count what deleting a project deletes too",
		Doc:     "Changes nothing: it has the numbers that the page shows before it asks for confirmation.",
	}}
	RestoreProject = Op[ProjectPath, Project]{Operation{
		ID: "restore-project", Method: http.MethodPost, Path: project + "/restore", Permission: RestoreProjects,
		Summary: "Restore a deleted project with everything it had", Command: "projects restore PROJECT",
		Doc: "Takes the project out of the bin. Calls are served again, and its keys are valid again.",
	}}
	MoveProject = Op[ProjectMove, Project]{Operation{
		ID: "move-project", Method: http.MethodPost, Path: project + "/move", Summary: "Move a project to another team",
		Command: "projects move PROJECT TEAM", Example: "projects move shop team_01", Permission: MoveProjects,
		Doc: "You have to be an owner of both teams. Calls are served all the time. Keys, usage, exports and the " +
			"project's own tenant move with it. Webhooks, products and tenants of the team stay; a project that " +
			"uses them can't be moved.",
	}}
	TakeDownProject = Op[TakedownUpdate, Takedown]{Operation{
		ID: "take-down-project", Method: http.MethodPut, Path: takedown,
		Summary: "Take a project down (operators only)",
		Command: "takedown set PROJECT", Example: "takedown set shop --reason 'Phishing, reported on 3 May'",
		Permission: TakeDownProjects,
		Doc: "Calls get 403 project_frozen until the takedown is lifted. The project's team can read the reason, " +
			"and can still export the project. Operators can do this with projects of any team.",
	}}
	LiftTakedown = Op[ProjectPath, Takedown]{Operation{
		ID: "lift-takedown", Method: http.MethodDelete, Path: takedown, Summary: "Lift a takedown (operators only)",
		Command: "takedown remove PROJECT", Permission: TakeDownProjects,
		Doc: "The project is served again, as it was before.",
	}}
)

var projectOperations = []Described{
	ListProjects, GetProject, UpdateProject, DeleteProject, GetProjectDeletion, RestoreProject, MoveProject,
	TakeDownProject, LiftTakedown,
}
