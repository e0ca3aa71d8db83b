package access

import (
	"slices"
	"strings"

	"postern/platform/fault"
)

// Scope is a part of an account's permissions that a token can be given.
type Scope string

// The scopes. None includes another.
const (
	ScopeRead   Scope = "read"   // read projects, keys, logins, products, tenants, usage, teams
	ScopeWrite  Scope = "write"  // create, change and claim projects and their logins, products, tenants
	ScopeKeys   Scope = "keys"   // create, change and revoke API keys
	ScopeExport Scope = "export" // export projects
	ScopeUsers  Scope = "users"  // read and change the end users and groups of tenants; required by SCIM
	ScopeAdmin  Scope = "admin"  // teams, members, audit log, access tokens, webhooks
)

// Scopes returns all scopes.
func Scopes() []Scope {
	return []Scope{ScopeRead, ScopeWrite, ScopeKeys, ScopeExport, ScopeUsers, ScopeAdmin}
}

// needed maps each action to the scope that a token needs. Actions that are absent
// are denied to every token.
var needed = map[Action]Scope{
	ProjectRead:      ScopeRead,
	KeyRead:          ScopeRead,
	UsageRead:        ScopeRead,
	TeamRead:         ScopeRead,
	MemberRead:       ScopeRead,
	LoginRead:        ScopeRead,
	ProductRead:      ScopeRead,
	TenantRead:       ScopeRead,
	ProjectCreate:    ScopeWrite,
	ProjectUpdate:    ScopeWrite,
	ProjectDelete:    ScopeWrite,
	ProjectRestore:   ScopeWrite,
	ProjectErase:     ScopeAdmin,
	ProjectMove:      ScopeAdmin,
	ProjectImport:    ScopeWrite,
	WorkspaceClaim:   ScopeWrite,
	LoginUpdate:      ScopeWrite,
	ProductCreate:    ScopeWrite,
	ProductUpdate:    ScopeWrite,
	ProductDelete:    ScopeWrite,
	DomainChange:     ScopeWrite,
	TenantCreate:     ScopeWrite,
	TenantUpdate:     ScopeWrite,
	TenantDelete:     ScopeWrite,
	TenantErase:      ScopeAdmin,
	KeyCreate:        ScopeKeys,
	KeyChange:        ScopeKeys,
	ExportRead:       ScopeExport,
	ExportCreate:     ScopeExport,
	ExportDownload:   ScopeExport,
	ExportMinted:     ScopeExport,
	ExportSecrets:    ScopeExport,
	UserRead:         ScopeUsers,
	UserUpdate:       ScopeUsers,
	TeamCreate:       ScopeAdmin,
	TeamUpdate:       ScopeAdmin,
	TeamDelete:       ScopeAdmin,
	MemberChange:     ScopeAdmin,
	MemberLeave:      ScopeAdmin,
	InvitationRead:   ScopeAdmin,
	InvitationCreate: ScopeAdmin,
	InvitationRevoke: ScopeAdmin,
	InvitationAccept: ScopeAdmin,
	WebhookRead:      ScopeAdmin,
	WebhookChange:    ScopeAdmin,
	AuditRead:        ScopeAdmin,
	AccountDelete:    ScopeAdmin, // the password is required too
	TokenRead:        ScopeAdmin,
	TokenCreate:      ScopeAdmin,
	TokenUpdate:      ScopeAdmin,
	TokenRevoke:      ScopeAdmin,
}

// Covers reports whether a token with these scopes may be used for an action that its account may perform.
func Covers(scopes []Scope, action Action) bool {
	scope, ok := needed[action]
	return ok && slices.Contains(scopes, scope)
}

// Within refuses an action that the scopes of the principal's token don't cover. It doesn't check roles: it is for
// lists over all teams, which show what each role may see.
func Within(p Principal, action Action) error { return within(p, "", action) }

func within(p Principal, team string, action Action) error {
	if !p.Scoped || Covers(p.Scopes, action) {
		return nil
	}
	scope, ok := needed[action]
	if !ok {
		return Refused(fault.New(fault.Forbidden, "insufficient_scope", "Tokens can't be used for %s. Use the "+
			"dashboard instead.", action), team, action)
	}
	return Refused(fault.New(fault.Forbidden, "insufficient_scope", "This token doesn't have the scope %s, which %s "+
		"requires. Its scopes: %s.", scope, action, joined(p.Scopes)), team, action)
}

func joined(scopes []Scope) string {
	if len(scopes) == 0 {
		return "none"
	}
	var names []string
	for _, scope := range scopes {
		names = append(names, string(scope))
	}
	return strings.Join(names, ", ")
}

// CheckSelf refuses an action on the caller's own account if the caller isn't an account, or uses a token without the
// scope.
func CheckSelf(p Principal, action Action) error {
	switch {
	case p.Anonymous():
		return fault.New(fault.Unauthenticated, "credentials_required", "Sign in first.")
	case p.Account == "":
		return Refused(
			fault.New(fault.Forbidden, "not_allowed", "You can't do this with a workspace key. Sign in with an "+
				"account."),
			p.HomeTeam, action,
		)
	}
	return within(p, p.HomeTeam, action)
}
