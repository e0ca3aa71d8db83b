package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// TeamPath is the path parameter of a team.
type TeamPath struct {
	Team string `path:"team" id:"team" doc:"ID of the team"`
}

// Team is a team of the caller.
type Team struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Role      string    `json:"role" enum:"owner,member,viewer,workspace" doc:"Your role. workspace for the key of an unclaimed workspace"`
	ETag      string    `json:"etag" doc:"Send as If-Match to update the team"`
	CreatedAt time.Time `json:"created_at"`
}

// Path returns its path parameter.
func (t Team) Path() TeamPath { return TeamPath{Team: t.ID} }

// Tag returns the team's ETag.
func (t Team) Tag() string { return t.ETag }

// OwnTeamList is a request for the caller's teams.
type OwnTeamList struct {
	Page
	Sort string `query:"sort" enum:"created,-created,name,-name" doc:"Sort order. A leading - means descending. Defaults to created"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the name, ignoring case"`
}

// NewTeam is a team to be created.
type NewTeam struct {
	Name string `json:"name" doc:"Name, 1 to 80 characters"`
}

// TeamCreation is a request for a new team.
type TeamCreation struct{ Body NewTeam }

// TeamChange changes a team; nil leaves a member unchanged.
type TeamChange struct {
	Name *string `json:"name,omitempty" doc:"Name, 1 to 80 characters"`
}

// TeamUpdate is a request to change a team.
type TeamUpdate struct {
	TeamPath
	Condition
	Body TeamChange
}

// TeamDeletion lists what deleting a team also deletes.
type TeamDeletion struct {
	Projects     []string `json:"projects" doc:"Names of up to 100 projects. You can't delete a team that has projects"`
	MoreProjects int64    `json:"more_projects" doc:"Number of additional projects"`
	Members      int64    `json:"members"`
	Invitations  int64    `json:"invitations"`
	Tenants      int64    `json:"tenants"`
	Users        int64    `json:"users" doc:"Number of users of its tenants"`
	Products     int64    `json:"products"`
	Webhooks     int64    `json:"webhooks"`
}

// TeamRemoval is a request to delete a team.
type TeamRemoval struct {
	TeamPath
	Confirm string `query:"confirm" flag:"-" doc:"Name of the team"`
}

// TeamMemberPath are the path parameters of a member of a team.
type TeamMemberPath struct {
	TeamPath
	Account string `path:"account" doc:"ID of the account"`
}

// MemberOf returns the path parameters of a member of a team.
func MemberOf(team, account string) TeamMemberPath { return TeamMemberPath{TeamPath{team}, account} }

// TeamMember is an account in a team.
type TeamMember struct {
	Account  string    `json:"account" doc:"ID of the account"`
	Name     string    `json:"name"`
	Email    string    `json:"email"`
	Role     string    `json:"role" enum:"owner,member,viewer"`
	ETag     string    `json:"etag" doc:"Send as If-Match to update the member"`
	JoinedAt time.Time `json:"joined_at"`
}

// Tag returns the member's ETag.
func (m TeamMember) Tag() string { return m.ETag }

// TeamMemberList is a request for the members of a team.
type TeamMemberList struct {
	TeamPath
	Page
	Sort string `query:"sort" enum:"joined,-joined,name,-name,role,-role" doc:"Sort order. A leading - means descending. Defaults to account ID"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the email address or name, ignoring case"`
}

// TeamMemberChange changes a member of a team; nil leaves a member unchanged.
type TeamMemberChange struct {
	Role *string `json:"role,omitempty" doc:"Role: owner, member or viewer"`
}

// TeamMemberUpdate is a request to change a member of a team.
type TeamMemberUpdate struct {
	TeamMemberPath
	Condition
	Body TeamMemberChange
}

// InvitationPath are the path parameters of an invitation to a team.
type InvitationPath struct {
	TeamPath
	Invitation string `path:"invitation" doc:"ID of the invitation"`
}

// InvitationOf returns the path parameters of an invitation to a team.
func InvitationOf(team, id string) InvitationPath { return InvitationPath{TeamPath{team}, id} }

// Invitation is a link by which a person joins a team. It is open: neither used nor expired.
type Invitation struct {
	ID        string     `json:"id"`
	Team      string     `json:"team" doc:"ID of the team"`
	Role      string     `json:"role" enum:"owner,member,viewer"`
	Email     string     `json:"email" doc:"Email address that the account must have. Empty if any account with the link can join"`
	CreatedBy string     `json:"created_by" doc:"ID of the account that created the invitation"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt time.Time  `json:"expires_at"`
	ByMail    bool       `json:"by_mail" doc:"True if the link is sent by email"`
	MailedAt  *time.Time `json:"mailed_at" doc:"When the link was emailed; null if it hasn't been emailed"`
}

// Path returns its path parameters.
func (i Invitation) Path() InvitationPath { return InvitationOf(i.Team, i.ID) }

// InvitationWithLink is an invitation whose link is new.
type InvitationWithLink struct {
	Invitation
	URL  Secret `json:"url,omitempty" doc:"Link to send to the person. Returned only once, and only if it isn't emailed"`
	Code Secret `json:"code,omitempty" doc:"Code at the end of the link. Returned only once, like url"`
}

// LogValue implements slog.LogValuer.
func (i InvitationWithLink) LogValue() slog.Value { return slog.StringValue(i.ID) }

// InvitationList is a request for the open invitations to a team.
type InvitationList struct {
	TeamPath
	Page
	Sort string `query:"sort" enum:"created,-created,email,-email,role,-role,expires,-expires" doc:"Sort order. A leading - means descending. Defaults to created"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the email address, ignoring case"`
}

// NewInvitation is an invitation to be created.
type NewInvitation struct {
	Role  string `json:"role" doc:"Role: owner, member or viewer"`
	Email string `json:"email,omitempty" minLength:"1" doc:"Email address that the account must have. If the server can send email, Postern sends the link to this address. By default, any account can join with the link"`
}

// In returns the request to create the invitation in a team.
func (n NewInvitation) In(team string) InvitationCreation {
	return InvitationCreation{TeamPath: TeamPath{Team: team}, Body: n}
}

// InvitationCreation is a request for a new invitation.
type InvitationCreation struct {
	TeamPath
	Body NewInvitation
}

// InvitationCode is the credential in an invitation's link.
type InvitationCode struct {
	Code Secret `json:"code" doc:"Code at the end of the invitation's link"`
}

// InvitationAcceptance is a request to join a team.
type InvitationAcceptance struct{ Body InvitationCode }

// AcceptanceOf returns the request to join the team of an invitation, by the code of its link.
func AcceptanceOf(code string) InvitationAcceptance {
	return InvitationAcceptance{InvitationCode{Code: Secret(code)}}
}

// LogValue implements slog.LogValuer.
func (InvitationAcceptance) LogValue() slog.Value { return slog.StringValue("accept an invitation") }

const (
	teams       = "/api/v1/teams"
	team        = teams + "/{team}"
	teamMembers = team + "/members"
	teamMember  = teamMembers + "/{account}"
	invitations = team + "/invitations"
	invitation  = invitations + "/{invitation}"
)

// The operations on teams, their members and their invitations. An invitation isn't updated: its link has been sent.
var (
	ListTeams = &Op[OwnTeamList, List[Team]]{Operation{
		ID: "list-teams", Method: http.MethodGet, Path: teams, Summary: "List your teams", Command: "teams list",
		Permission: ReadTeams,
		Doc:        "Lists the teams you are in, with your role in each.",
	}}
	CreateTeam = &Op[TeamCreation, Team]{Operation{
		ID: "create-team", Method: http.MethodPost, Path: teams, Status: http.StatusCreated, Permission: CreateTeams,
		Summary: "Create a team", Command: "teams create NAME", Example: "teams create Payments",
		Doc: "You become its owner.",
	}}
	GetTeam = &Op[TeamPath, Team]{Operation{
		ID: "get-team", Method: http.MethodGet, Path: team, Summary: "Get a team", Command: "teams show TEAM",
		Permission: ReadTeams,
		Doc:        "Returns the team and your role in it.",
	}}
	UpdateTeam = &Op[TeamUpdate, Team]{Operation{
		ID: "update-team", Method: http.MethodPatch, Path: team, Summary: "Update a team", Permission: UpdateTeams,
		Command: "teams update TEAM", Example: "teams update team_01 --name Billing",
		Doc: "Changes only the fields you send.",
	}}
	GetTeamDeletion = &Op[TeamPath, TeamDeletion]{Operation{
		ID: "get-team-deletion", Method: http.MethodGet, Path: team + "/deletion", Permission: DeleteTeams,
		Summary: "Preview the effects of deleting a team",
		Doc:     "Changes nothing. Use it to show the consequences before you ask for confirmation.",
	}}
	DeleteTeam = &Op[TeamRemoval, None]{Operation{
		ID: "delete-team", Deletes: "team", Method: http.MethodDelete, Path: team, Status: http.StatusNoContent,
		Summary: "Permanently delete a team that has no projects", Command: "teams delete TEAM",
		Permission: DeleteTeams,
		Example:    "teams delete team_01 --yes",
		Doc: "Also deletes its invitations, webhooks, products and tenants (with their users). Members keep their " +
			"accounts.",
	}}
	LeaveTeam = &Op[TeamPath, None]{Operation{
		ID: "leave-team", Method: http.MethodPost, Path: team + "/leave", Status: http.StatusNoContent,
		Summary: "Leave a team", Command: "teams leave TEAM", Permission: LeaveTeams,
		Doc: "You and your access tokens lose access to the team's projects immediately. The last owner can't leave.",
	}}

	ListTeamMembers = &Op[TeamMemberList, List[TeamMember]]{Operation{
		ID: "list-members", Method: http.MethodGet, Path: teamMembers, Summary: "List the members of a team",
		Command: "members list TEAM", Permission: ReadMembers,
		Doc: "Lists the accounts in the team with their roles.",
	}}
	GetTeamMember = &Op[TeamMemberPath, TeamMember]{Operation{
		ID: "get-member", Method: http.MethodGet, Path: teamMember, Summary: "Get a member of a team",
		Command: "members show TEAM ACCOUNT", Permission: ReadMembers,
		Doc: "Returns the member's name, email address and role.",
	}}
	UpdateTeamMember = &Op[TeamMemberUpdate, TeamMember]{Operation{
		ID: "update-member", Method: http.MethodPatch, Path: teamMember, Summary: "Change a member's role",
		Command: "members update TEAM ACCOUNT", Example: "members update team_01 acc_01 --role viewer",
		Permission: ChangeMembers,
		Doc: "The new role takes effect on the member's next request. You can't change the role of a team's last " +
			"owner.",
	}}
	RemoveTeamMember = &Op[TeamMemberPath, None]{Operation{
		ID: "remove-member", Method: http.MethodDelete, Path: teamMember, Status: http.StatusNoContent,
		Summary: "Remove a member from a team", Command: "members remove TEAM ACCOUNT", Permission: ChangeMembers,
		Doc: "The account loses access to the team's projects immediately. Pending invitations that it created are " +
			"revoked.",
	}}

	ListInvitations = &Op[InvitationList, List[Invitation]]{Operation{
		ID: "list-invitations", Method: http.MethodGet, Path: invitations, Permission: ReadInvitations,
		Summary: "List a team's pending invitations", Command: "invitations list TEAM",
		Doc: "Used and expired invitations aren't listed.",
	}}
	CreateInvitation = &Op[InvitationCreation, InvitationWithLink]{Operation{
		ID: "create-invitation", Method: http.MethodPost, Path: invitations, Status: http.StatusCreated,
		Summary: "Invite a person to a team", Permission: CreateInvitations,
		Command: "invitations create TEAM ROLE", Example: "invitations create team_01 viewer --email vic@example.com",
		Doc: "The link works only once and expires after a week. If you specify an email address and the server can " +
			"send email, Postern sends the link to that address. Otherwise, the response includes the link.",
	}}
	GetInvitation = &Op[InvitationPath, Invitation]{Operation{
		ID: "get-invitation", Method: http.MethodGet, Path: invitation, Summary: "Get a pending invitation",
		Command: "invitations show TEAM INVITATION", Permission: ReadInvitations,
		Doc: "Returns everything about the invitation except its link.",
	}}
	RevokeInvitation = &Op[InvitationPath, None]{Operation{
		ID: "revoke-invitation", Method: http.MethodDelete, Path: invitation, Status: http.StatusNoContent,
		Summary: "Revoke an invitation", Command: "invitations revoke TEAM INVITATION",
		Permission: RevokeInvitations,
		Doc:        "Its link stops working. You can't revoke a used invitation. Remove the member instead.",
	}}
	AcceptInvitation = &Op[InvitationAcceptance, Team]{Operation{
		ID: "accept-invitation", Method: http.MethodPost, Path: "/api/v1/invitations/accept",
		Summary: "Accept an invitation to a team", Command: "invitations accept CODE",
		Example:    "invitations accept https://postern.example.com/invite/…",
		Permission: AcceptInvitations,
		Doc:        "Adds your account to the team with the role in the invitation. An invitation works only once.",
	}}
)

var teamOperations = []Described{
	ListTeams, CreateTeam, GetTeam, UpdateTeam, GetTeamDeletion, DeleteTeam, LeaveTeam, ListTeamMembers, GetTeamMember,
	UpdateTeamMember, RemoveTeamMember, ListInvitations, CreateInvitation, GetInvitation, RevokeInvitation,
	AcceptInvitation,
}
