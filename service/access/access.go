// Package access decides which principal may do which action on what, and records the
// actions in the audit log.
//
// It owns principals, roles, actions and the one table that relates them; every service
// calls Check before it changes anything. It leaves authentication to package accounts
// and status codes to the handlers.
package access

import (
	"slices"

	"postern/models"
	"postern/platform/fault"
)

// Role is what a principal may be in a team.
type Role string

// The roles. Workspace is that of a workspace key: it acts for one unclaimed
// team and nothing else.
const (
	Owner     Role = "owner"
	Member    Role = "member"
	Viewer    Role = "viewer"
	Workspace Role = "workspace"
)

// Action is something a principal can ask for.
type Action string

// Every action there is.
const (
	ProjectRead   Action = "project.read"
	ProjectCreate Action = "project.create"
	ProjectUpdate Action = "project.update"
	// ProjectDelete moves a project to the bin, ProjectErase deletes it for good.
	ProjectDelete  Action = "project.delete"
	ProjectRestore Action = "project.restore"
	ProjectErase   Action = "project.erase"
	ProjectMove    Action = "project.move"   // to another team; needed in both
	ProjectImport  Action = "project.import" // of an exported zip
	KeyRead        Action = "key.read"
	KeyCreate      Action = "key.create"
	KeyChange      Action = "key.change" // freeze, unfreeze, rotate, revoke, update
	ExportRead     Action = "export.read"
	ExportCreate   Action = "export.create"
	// ExportDownload is recorded of every download. ExportMinted is asked for
	// besides where the zip holds new keys in plain text.
	ExportDownload Action = "export.download"
	ExportMinted   Action = "export.minted"
	// ExportSecrets is asked for by exports with secrets, and recorded of each.
	ExportSecrets Action = "export.secrets"
	AuditRead     Action = "audit.read"
	UsageRead     Action = "usage.read" // what was counted, and the live log of requests
	ProductRead   Action = "product.read"
	ProductCreate Action = "product.create"
	ProductUpdate Action = "product.update"
	ProductDelete Action = "product.delete"
	DomainChange  Action = "domain.change" // the host names of environments
	TenantRead    Action = "tenant.read"
	TenantCreate  Action = "tenant.create"
	TenantUpdate  Action = "tenant.update"
	// TenantDelete deletes an unused tenant, TenantErase one with people, keys or projects.
	TenantDelete  Action = "tenant.delete"
	TenantErase   Action = "tenant.erase"
	LoginRead     Action = "login.read" // app clients and their providers
	LoginUpdate   Action = "login.update"
	UserRead      Action = "user.read" // end users, groups and who may come in
	UserUpdate    Action = "user.update"
	WebhookRead   Action = "webhook.read"
	WebhookChange Action = "webhook.change"

	TeamRead         Action = "team.read"
	TeamUpdate       Action = "team.update"
	TeamDelete       Action = "team.delete"
	MemberRead       Action = "member.read"
	MemberChange     Action = "member.change" // another's role, or that they leave
	MemberLeave      Action = "member.leave"
	InvitationRead   Action = "invitation.read"
	InvitationCreate Action = "invitation.create"
	InvitationRevoke Action = "invitation.revoke"

	// The rest is recorded, not granted to a role: it needs an account that acts
	// for itself, with a code where it takes something over.
	WorkspaceClaim   Action = "workspace.claim"
	TeamCreate       Action = "team.create"
	InvitationAccept Action = "invitation.accept"
	AccountCreate    Action = "account.create"
	AccountRead      Action = "account.read"
	AccountSignIn    Action = "account.signin"
	AccountDelete    Action = "account.delete"
	AccountUpdate    Action = "account.update" // its password, the ways it signs in, the sessions that end

	// UserArrive is recorded of end users who sign in for the first time.
	UserArrive Action = "user.arrive"

	// An account's own, whatever its roles.
	TokenRead     Action = "token.read"
	TokenCreate   Action = "token.create"
	TokenUpdate   Action = "token.update"
	TokenRevoke   Action = "token.revoke"
	DeviceApprove Action = "device.approve"
	DeviceDeny    Action = "device.deny"

	// Postern does these itself, without a request.
	ProjectPurge   Action = "project.purge"
	WebhookDisable Action = "webhook.disable"
	DomainReport   Action = "domain.report" // the record of a host name is gone, or is back
	WorkspacePurge Action = "workspace.purge"
	AuditTrim      Action = models.AuditTrim // old entries were removed from an audit log

	// Operators may do ProjectTakedown and DomainApprove, independently of their roles in
	// teams. OperatorChange appoints and dismisses operators.
	ProjectTakedown Action = "project.takedown"
	DomainApprove   Action = "domain.approve"
	OperatorChange  Action = "operator.change"

	// CredentialUse is recorded where a credential is refused, RequestMake where a
	// request is refused for where it comes from, AuditGap where refusals came too
	// fast to be recorded one by one.
	CredentialUse Action = "credential.use"
	RequestMake   Action = "request.make"
	AuditGap      Action = "audit.gap"
)

// Actions lists what a role can grant.
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

// Personal lists the actions that no role grants: an account does them for
// itself.
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

// granted is the whole matrix; what is absent is denied.
var granted = map[Role]map[Action]bool{
	Owner: except(),
	// Who is in a team is for its owners to say.
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
	// Anybody can make an unclaimed workspace: it must not send calls anywhere, nor take in
	// zips. It has no members; who wants it claims it.
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
	// A viewer reads everything, but new keys in plain text are for those who may make them.
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
	Scoped      bool            // a token speaks, for what Scopes cover and nothing else
	Scopes      []Scope
	HomeTeam    string // where new projects go, "" without any team
	Operator    bool   // of the installation
	CommandLine bool   // a command on the server's own machine, which opens the database itself
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

// Teams lists the ids of the teams in which the principal has a role.
func (p Principal) Teams() []string {
	ids := make([]string, 0, len(p.Roles))
	for id := range p.Roles {
		ids = append(ids, id)
	}
	return ids
}

// TeamsFor lists the ids of the teams in which the principal may do action.
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

// Check refuses an action on a team's objects: as not found if the principal has no
// role in the team, which hides what exists in other teams; as forbidden if the role
// does not allow it.
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
			fault.New(fault.Forbidden, "not_allowed", "Your role in this team, %s, does not allow %s.", role, action),
			team,
			action,
		)
	}
	return nil
}

// NotFound returns the fault for objects that do not exist or that the caller may
// not see.
func NotFound() error { return errNotFound }

var errNotFound = fault.New(fault.NotFound, "not_found", "There is nothing here, or nothing that you may see.")

// OperatorsProject is Project for what only operators may do with a project, of
// whichever team.
func OperatorsProject(tx *models.Tx, p Principal, ref string) (models.Project, error) {
	if p.Anonymous() && !p.CommandLine {
		return models.Project{}, Check(p, "", ProjectTakedown)
	}
	project, err := findProject(tx, ref)
	if err != nil {
		return project, err
	}
	if !p.Operator && !p.CommandLine {
		return project, errNotFound.Because(&Refusal{
			Action:  ProjectTakedown,
			Team:    project.TeamID,
			Project: project.ID,
		})
	}
	return project, nil
}

// CheckOperator refuses callers who are not operators of the installation. It
// answers them as if there were nothing to see.
func CheckOperator(p Principal) error {
	switch {
	case p.Operator || p.CommandLine:
		return nil
	case p.Anonymous():
		return Check(p, "", AuditRead)
	}
	return NotFound()
}
