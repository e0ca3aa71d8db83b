package contract

// Permission is the permission that an operation requires. Roles in teams grant most of them. Every account has the
// permissions on itself, and operators have those of operators. The audit log uses their names as actions.
type Permission string

// The permissions that operations need.
const (
	ReadProjects     Permission = "project.read"
	CreateProjects   Permission = "project.create"
	UpdateProjects   Permission = "project.update"
	DeleteProjects   Permission = "project.delete" // to the trash
	RestoreProjects  Permission = "project.restore"
	EraseProjects    Permission = "project.erase"    // permanently
	MoveProjects     Permission = "project.move"     // to another team; required in both teams
	ImportProjects   Permission = "project.import"   // from an exported zip
	TakeDownProjects Permission = "project.takedown" // of operators

	ReadKeys   Permission = "key.read"
	CreateKeys Permission = "key.create"
	ChangeKeys Permission = "key.change" // freeze, unfreeze, rotate, revoke, update

	ReadExports     Permission = "export.read"
	CreateExports   Permission = "export.create"
	DownloadExports Permission = "export.download"

	ReadAudit Permission = "audit.read"
	ReadUsage Permission = "usage.read" // and the live log of requests

	ReadProducts   Permission = "product.read"
	CreateProducts Permission = "product.create"
	UpdateProducts Permission = "product.update"
	DeleteProducts Permission = "product.delete"

	ChangeDomains  Permission = "domain.change"
	ApproveDomains Permission = "domain.approve" // of operators

	ReadTenants   Permission = "tenant.read"
	CreateTenants Permission = "tenant.create"
	UpdateTenants Permission = "tenant.update"
	DeleteTenants Permission = "tenant.delete"

	ReadLogin   Permission = "login.read" // app clients and their providers
	UpdateLogin Permission = "login.update"
	ReadUsers   Permission = "user.read" // with groups and the sign-up policy
	UpdateUsers Permission = "user.update"

	ReadWebhooks   Permission = "webhook.read"
	ChangeWebhooks Permission = "webhook.change"

	ReadTeams         Permission = "team.read"
	UpdateTeams       Permission = "team.update"
	DeleteTeams       Permission = "team.delete"
	ReadMembers       Permission = "member.read"
	ChangeMembers     Permission = "member.change" // change their roles, or remove them
	LeaveTeams        Permission = "member.leave"
	ReadInvitations   Permission = "invitation.read"
	CreateInvitations Permission = "invitation.create"
	RevokeInvitations Permission = "invitation.revoke"

	// Every account has these for itself.
	ClaimWorkspaces   Permission = "workspace.claim"
	CreateTeams       Permission = "team.create"
	AcceptInvitations Permission = "invitation.accept"
	ReadAccounts      Permission = "account.read"
	UpdateAccounts    Permission = "account.update"
	DeleteAccounts    Permission = "account.delete"
	ReadTokens        Permission = "token.read"
	CreateTokens      Permission = "token.create"
	UpdateTokens      Permission = "token.update"
	RevokeTokens      Permission = "token.revoke"
)
