// Package access decides which principal may perform which action on which object, and records the actions in the audit
// log.
//
// It owns principals, roles, actions and the one table that relates them; every service
// calls Check before it changes anything. It leaves authentication to package accounts
// and status codes to the handlers.
package access

import (
	"slices"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
)

// Role is a principal's role in a team.
type Role string

// The roles. Workspace is the role of a workspace key, which acts for one unclaimed team and nothing else.
const (
	Owner     Role = "owner"
	Member    Role = "member"
	Viewer    Role = "viewer"
	Workspace Role = "workspace"
)

// Action is something that a principal can do. An operation's contract names the actions that it requires.
type Action = contract.Permission

// The permissions of the contract.
const (
	ProjectRead     = contract.ReadProjects
	ProjectCreate   = contract.CreateProjects
	ProjectUpdate   = contract.UpdateProjects
	ProjectDelete   = contract.DeleteProjects
	ProjectRestore  = contract.RestoreProjects
	ProjectErase    = contract.EraseProjects
	ProjectMove     = contract.MoveProjects
	ProjectImport   = contract.ImportProjects
	ProjectTakedown = contract.TakeDownProjects

	KeyRead   = contract.ReadKeys
	KeyCreate = contract.CreateKeys
	KeyChange = contract.ChangeKeys

	ExportRead     = contract.ReadExports
	ExportCreate   = contract.CreateExports
	ExportDownload = contract.DownloadExports // recorded for every download

	AuditRead = contract.ReadAudit
	UsageRead = contract.ReadUsage

	ProductRead   = contract.ReadProducts
	ProductCreate = contract.CreateProducts
	ProductUpdate = contract.UpdateProducts
	ProductDelete = contract.DeleteProducts

	DomainChange  = contract.ChangeDomains
	DomainApprove = contract.ApproveDomains

	TenantRead   = contract.ReadTenants
	TenantCreate = contract.CreateTenants
	TenantUpdate = contract.UpdateTenants
	TenantDelete = contract.DeleteTenants // deletes an unused tenant

	LoginRead   = contract.ReadLogin
	LoginUpdate = contract.UpdateLogin
	UserRead    = contract.ReadUsers
	UserUpdate  = contract.UpdateUsers

	WebhookRead   = contract.ReadWebhooks
	WebhookChange = contract.ChangeWebhooks

	TeamRead         = contract.ReadTeams
	TeamUpdate       = contract.UpdateTeams
	TeamDelete       = contract.DeleteTeams
	MemberRead       = contract.ReadMembers
	MemberChange     = contract.ChangeMembers
	MemberLeave      = contract.LeaveTeams
	InvitationRead   = contract.ReadInvitations
	InvitationCreate = contract.CreateInvitations
	InvitationRevoke = contract.RevokeInvitations

	// Every account can do these for itself, whatever its roles. Claims and invitations also require a code.
	WorkspaceClaim   = contract.ClaimWorkspaces
	TeamCreate       = contract.CreateTeams
	InvitationAccept = contract.AcceptInvitations
	AccountRead      = contract.ReadAccounts
	AccountUpdate    = contract.UpdateAccounts // its password, sign-in methods and sessions
	AccountDelete    = contract.DeleteAccounts
	TokenRead        = contract.ReadTokens
	TokenCreate      = contract.CreateTokens
	TokenUpdate      = contract.UpdateTokens
	TokenRevoke      = contract.RevokeTokens
)

// The other actions.
const (
	TenantErase Action = "tenant.erase" // deletes a tenant with people, keys or projects
	// An export also requires ExportMinted if the zip contains new keys in plain text, and ExportSecrets if it contains
	// secrets. Both are recorded in the audit log.
	ExportMinted  Action = "export.minted"
	ExportSecrets Action = "export.secrets"

	// Every account can do these for itself.
	AccountCreate Action = "account.create"
	AccountSignIn Action = "account.signin"
	DeviceApprove Action = "device.approve"
	DeviceDeny    Action = "device.deny"

	// UserArrive is recorded when an end user signs in for the first time.
	UserArrive Action = "user.arrive"

	// Postern does these by itself, without a request.
	ProjectPurge   Action = "project.purge"
	WebhookDisable Action = "webhook.disable"
	DomainReport   Action = "domain.report" // a host name's record disappeared, or is back
	WorkspacePurge Action = "workspace.purge"
	AuditTrim      Action = models.AuditTrim // old entries were removed from an audit log

	// OperatorChange appoints and dismisses operators.
	OperatorChange Action = "operator.change"

	// CredentialUse is recorded when a credential is refused, RequestMake when a request is refused because of its
	// origin, and AuditGap when refusals arrive too fast to be recorded one by one.
	CredentialUse Action = "credential.use"
	RequestMake   Action = "request.make"
	AuditGap      Action = "audit.gap"
)

// Actions lists the actions that a role can grant.
func Actions() []Action {
	return []Action{
		ProjectRead,
		ProjectCreate,
		ProjectUpdate,
		ProjectDelete,
		ProjectRestore,
		ProjectErase,
		ProjectMove,
		ProjectImport,
		KeyRead,
		KeyCreate,
		KeyChange,
		ExportRead,
		ExportCreate,
		ExportDownload,
		ExportMinted,
		ExportSecrets,
		AuditRead,
		UsageRead,
		WebhookRead,
		WebhookChange,
		LoginRead,
		LoginUpdate,
		UserRead,
		UserUpdate,
		TeamRead,
		TeamUpdate,
		TeamDelete,
		MemberRead,
		MemberChange,
		MemberLeave,
		InvitationRead,
		InvitationCreate,
		InvitationRevoke,
		ProductRead,
		ProductCreate,
		ProductUpdate,
		ProductDelete,
		DomainChange,
		TenantRead,
		TenantCreate,
		TenantUpdate,
		TenantDelete,
		TenantErase,
	}
}

// Personal lists the actions that no role grants, because every account can do them for itself.
func Personal() []Action {
	return []Action{
		WorkspaceClaim,
		TeamCreate,
		InvitationAccept,
		AccountCreate,
		AccountRead,
		AccountSignIn,
		AccountUpdate,
		AccountDelete,
		TokenRead,
		TokenCreate,
		TokenUpdate,
		TokenRevoke,
		DeviceApprove,
		DeviceDeny,
	}
}

// Recorded lists the actions that the audit log can hold.
func Recorded() []Action {
	return append(
		append(Actions(), Personal()...),
		UserArrive,
		ProjectPurge,
		WorkspacePurge,
		WebhookDisable,
		ProjectTakedown,
		DomainApprove,
		DomainReport,
		OperatorChange,
		CredentialUse,
		RequestMake,
		AuditGap,
		AuditTrim,
	)
}

// granted is the whole matrix. An absent action is denied.
var granted = map[Role]map[Action]bool{
	Owner: except(),
	// The owners of a team decide who is in it.
	Member: except(
		ProjectErase,
		ProjectMove,
		TenantErase,
		TeamUpdate,
		TeamDelete,
		MemberChange,
		InvitationRead,
		InvitationCreate,
		InvitationRevoke,
	),
	// Anyone can create an unclaimed workspace, so it must not send requests to other servers or import zips. It has no
	// members, because people claim it instead of joining it.
	Workspace: except(
		ExportSecrets,
		ProjectImport,
		DomainChange,
		ProjectErase,
		ProjectMove,
		TenantErase,
		WebhookRead,
		WebhookChange,
		TeamUpdate,
		TeamDelete,
		MemberRead,
		MemberChange,
		MemberLeave,
		InvitationRead,
		InvitationCreate,
		InvitationRevoke,
	),
	// A viewer can read everything except the audit log and invitations. Only roles that can create keys see them in
	// plaintext. Pages explain the roles (page.RoleText).
	Viewer: {
		ProjectRead:    true,
		KeyRead:        true,
		ExportRead:     true,
		ExportDownload: true,
		UsageRead:      true,
		WebhookRead:    true,
		LoginRead:      true,
		UserRead:       true,
		TeamRead:       true,
		MemberRead:     true,
		MemberLeave:    true,
		ProductRead:    true,
		TenantRead:     true,
	},
}

// except grants every action but these.
func except(denied ...Action) map[Action]bool {
	set := map[Action]bool{}
	for _, action := range Actions() {
		set[action] = !slices.Contains(denied, action)
	}
	return set
}

// Can reports whether the role grants the action.
func Can(role Role, action Action) bool { return granted[role][action] }

// Principal is the verified caller. The zero Principal is anonymous and may do
// nothing in a team.
type Principal struct {
	Account     string          // acc_…, "" for anonymous callers and workspace keys
	Roles       map[string]Role // team id -> role
	Token       string          // id of the credential: of a session, a workspace key, …
	Scoped      bool            // the caller uses a token, which is limited to Scopes
	Scopes      []Scope
	HomeTeam    string // where new projects go, "" without any team
	Operator    bool   // of the installation
	CommandLine bool   // a command on the server's machine that opens the database directly
	RemoteAddr  string
	RequestID   string

	system bool   // Postern itself
	user   string // usr_…, an end user of a tenant
}

// System is Postern itself, for scheduled work. It has no role and passes no
// permission check.
func System() Principal { return Principal{system: true} }

// EndUser is a user of a tenant, authenticated by hosted login, in the audit log. It has no role and
// passes no permission check: the caller has checked what the user may do.
func EndUser(id string) Principal { return Principal{user: id} }

// Anonymous reports whether no credential was presented.
func (p Principal) Anonymous() bool { return len(p.Roles) == 0 && p.Account == "" }

// Teams lists the IDs of the teams in which the principal has a role.
func (p Principal) Teams() []string {
	ids := make([]string, 0, len(p.Roles))
	for id := range p.Roles {
		ids = append(ids, id)
	}
	return ids
}

// TeamsFor lists the IDs of the teams in which the principal may perform the action.
func (p Principal) TeamsFor(action Action) []string {
	ids := []string{}
	for id := range p.Roles {
		if p.May(id, action) {
			ids = append(ids, id)
		}
	}
	return ids
}

// May reports whether Check allows the principal action in the team.
func (p Principal) May(team string, action Action) bool { return Check(p, team, action) == nil }

// Check refuses an action on a team's objects unless the principal's role allows it. The error is NotFound if the
// principal has no role in the team, which hides other teams' objects, and Forbidden otherwise.
func Check(p Principal, team string, action Action) error {
	if p.Anonymous() {
		return fault.New(
			fault.Unauthenticated,
			"credentials_required",
			"Sign in, or send a workspace key as a bearer token.",
		)
	}
	role, ok := p.Roles[team]
	if !ok {
		return Refused(errNotFound, team, action)
	}
	if err := within(p, team, action); err != nil {
		return err
	}
	if !Can(role, action) {
		return Refused(
			fault.New(fault.Forbidden, "not_allowed", "Your role in this team, %s, doesn't include the %s permission.",
				role, action),
			team,
			action,
		)
	}
	return nil
}

// NotFound returns the fault for objects that don't exist or that the caller may not see.
func NotFound() error { return errNotFound }

var errNotFound = fault.New(fault.NotFound, "not_found", "This doesn't exist, or you don't have access to it.")

// OperatorsProject is Project for actions that only operators may perform, on projects of any team.
func OperatorsProject(tx *models.Tx, p Principal, ref string, action Action) (models.Project, error) {
	if p.Anonymous() && !p.CommandLine {
		return models.Project{}, Check(p, "", action)
	}
	project, err := findProject(tx, ref)
	if err != nil {
		return project, err
	}
	if !p.Operator && !p.CommandLine {
		return project, errNotFound.Because(&Refusal{
			Action:  action,
			Team:    project.TeamID,
			Project: project.ID,
		})
	}
	return project, nil
}

// CheckOperator returns NotFound for callers who aren't operators of the installation.
func CheckOperator(p Principal) error {
	switch {
	case p.Operator || p.CommandLine:
		return nil
	case p.Anonymous():
		return Check(p, "", AuditRead)
	}
	return NotFound()
}
