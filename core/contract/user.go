package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// UserPath is the path parameter of a user.
type UserPath struct {
	User string `path:"user" id:"user" doc:"ID of the user"`
}

// User is a user of a tenant.
type User struct {
	UserRecord
	Tenant      string         `json:"tenant" doc:"ID of the tenant"`
	Profile     *Profile       `json:"profile,omitempty" doc:"Claims from the provider at the last sign-in"`
	LastLoginAt *time.Time     `json:"last_login_at" doc:"Last sign-in; null if there was none"`
	Identities  []UserIdentity `json:"identities,omitempty" doc:"Identities at providers. Omitted in lists"`
	Groups      []UserGroup    `json:"groups,omitempty" doc:"Direct and nested group memberships. Omitted in lists"`
	ETag        string         `json:"etag" doc:"Send as If-Match to update the user"`
}

// UserRecord has the members of a user that exports include too.
type UserRecord struct {
	ID            string    `json:"id"`
	Email         string    `json:"email" doc:"Email address. Empty if the provider doesn't return one"`
	EmailVerified bool      `json:"email_verified" doc:"True if a provider has verified the email address"`
	Name          string    `json:"name"`
	UserName      string    `json:"user_name,omitempty" doc:"userName in the provisioning system (SCIM)"`
	ExternalID    string    `json:"external_id,omitempty" doc:"ID in the provisioning system"`
	State         string    `json:"state" enum:"active,frozen,invited" doc:"invited means that the user hasn't signed in yet"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// Path returns their path parameter.
func (u User) Path() UserPath { return UserPath{User: u.ID} }

// Tag returns the user's ETag.
func (u User) Tag() string { return u.ETag }

// Profile has the claims of the scope profile (OpenID Connect Core, 5.1 and 5.4) except name. federation.Profile, which
// reads them, has the same fields, so that one converts to the other.
type Profile struct {
	PreferredUsername string `json:"preferred_username,omitempty"`
	GivenName         string `json:"given_name,omitempty"`
	FamilyName        string `json:"family_name,omitempty"`
	MiddleName        string `json:"middle_name,omitempty"`
	Nickname          string `json:"nickname,omitempty"`
	Locale            string `json:"locale,omitempty"`
	ZoneInfo          string `json:"zoneinfo,omitempty"`
	Gender            string `json:"gender,omitempty"`
	Birthdate         string `json:"birthdate,omitempty"`
	Picture           string `json:"picture,omitempty"`
	ProfilePage       string `json:"profile,omitempty"`
	Website           string `json:"website,omitempty"`
	UpdatedAt         int64  `json:"updated_at,omitempty"`
}

// UserIdentity is a user's account at an identity provider.
type UserIdentity struct {
	Issuer  string    `json:"issuer"`
	Subject string    `json:"subject"`
	Since   time.Time `json:"since"`
}

// UserGroup is a group that a user is in.
type UserGroup struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	DisplayName string  `json:"display_name"`
	Role        *string `json:"role" doc:"member or admin; null for a nested membership"`
}

// IsDirect reports whether the user is in the group itself, rather than only in a group that is nested in it.
func (g UserGroup) IsDirect() bool { return g.Role != nil }

// UserList is a request for the users of a tenant.
type UserList struct {
	TenantPath
	Page
	State string `query:"state" enum:"active,frozen,invited" doc:"Only users in this state"`
	Email string `query:"email" doc:"Only users with exactly this email address"`
	Text  string `query:"q" flag:"search" doc:"Text to find in the email address, name or username, ignoring case"`
	Group string `query:"group" id:"group" doc:"Only direct members of the group with this ID"`
	Sort  string `query:"sort" enum:"name,-name,state,-state,last_login,-last_login,created,-created" doc:"Sort order. A leading - means descending. Defaults to -created"`
}

// ProjectUserList is a request for the users of the tenants that a project serves.
type ProjectUserList struct {
	ProjectPath
	Page
	Tenant string `query:"tenant" doc:"Only users of this tenant. Specify its ID, or its name if the tenant belongs to a team"`
	State  string `query:"state" enum:"active,frozen,invited" doc:"Only users in this state"`
	Text   string `query:"q" flag:"search" doc:"Text to find in the email address, name or username, ignoring case"`
	Sort   string `query:"sort" enum:"name,-name,state,-state,last_login,-last_login,created,-created" doc:"Sort order. A leading - means descending. Defaults to -created"`
}

// NewUser is a user to be invited.
type NewUser struct {
	Email  string   `json:"email" doc:"Email address. Anyone who signs in with this address is signed in as this user if the provider is authoritative for the address's domain. Other providers require an invitation link"`
	Name   string   `json:"name,omitempty" doc:"Display name"`
	Groups []string `json:"groups,omitempty" doc:"IDs or names of groups to add the user to"`
}

// In returns the request to create the user in a tenant.
func (u NewUser) In(tenant string) UserCreation {
	return UserCreation{TenantPath: TenantPath{Tenant: tenant}, Body: u}
}

// UserCreation is a request for a new user.
type UserCreation struct {
	TenantPath
	Body NewUser
}

// UserChange changes a user; nil leaves a member unchanged.
type UserChange struct {
	Email *string `json:"email,omitempty" doc:"Email address. A new address is unverified until a provider verifies it"`
	Name  *string `json:"name,omitempty" doc:"Display name"`
}

// UserUpdate is a request to change a user.
type UserUpdate struct {
	UserPath
	Condition
	Body UserChange
}

// UserInvitation is a link by which a user signs in for the first time.
type UserInvitation struct {
	URL       Secret    `json:"url" doc:"Link to send to the user. Returned only once"`
	ExpiresAt time.Time `json:"expires_at"`
}

// LogValue implements slog.LogValuer.
func (i UserInvitation) LogValue() slog.Value { return slog.TimeValue(i.ExpiresAt) }

// InvitationPage says where an invitation link leads to.
type InvitationPage struct {
	AppClient string `json:"app_client,omitempty" minLength:"1" id:"client" doc:"ID of the app client that the user signs in to. Defaults to the tenant's only app client"`
}

// UserInvitationCreation is a request for an invitation link.
type UserInvitationCreation struct {
	UserPath
	Body InvitationPage
}

// UserSession is a sign-in of a user at an app client.
type UserSession struct {
	ID         string     `json:"id" doc:"sid claim of its tokens"`
	Client     string     `json:"client" doc:"ID of the app client"`
	ClientName string     `json:"client_name"`
	Provider   string     `json:"provider" doc:"Name of the provider. Empty if it was removed"`
	Scopes     []string   `json:"scopes"`
	UserAgent  string     `json:"user_agent" doc:"User agent of the browser. Empty if unknown"`
	LastSeenAt *time.Time `json:"last_seen_at" doc:"Last use on the hosted pages; null if there was none"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  time.Time  `json:"expires_at"`
}

// UserSessionList is a request for a user's sessions.
type UserSessionList struct {
	UserPath
	Page
	Sort string `query:"sort" enum:"created,-created,last_seen,-last_seen,expires,-expires" doc:"Sort order. A leading - means descending. Defaults to -created"`
}

// UserSessionPath are the path parameters of a user's session.
type UserSessionPath struct {
	UserPath
	Session string `path:"session" doc:"ID of the session"`
}

// EndedSessions is the answer to ending several sessions.
type EndedSessions struct {
	Ended int64 `json:"ended" doc:"Number of ended sessions"`
}

// Consent is a user's consent to an app client.
type Consent struct {
	Client     string    `json:"client" doc:"ID of the app client"`
	ClientName string    `json:"client_name"`
	Scopes     []string  `json:"scopes"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// ConsentPath are the path parameters of a consent.
type ConsentPath struct {
	UserPath
	Client string `path:"client" id:"client" doc:"ID of the app client"`
}

const (
	tenantUsers  = "/api/v1/tenants/{tenant}/users"
	user         = "/api/v1/users/{user}"
	userSessions = user + "/sessions"
)

// The operations on users, their sessions and their consents.
var (
	ListUsers = &Op[UserList, List[User]]{Operation{
		ID: "list-users", Method: http.MethodGet, Path: tenantUsers, Summary: "List a tenant's users",
		Command: "users list TENANT",
		Example: "users list acme --state invited --search example.com", Permission: ReadUsers,
		Doc: "Lists the tenant's users, without their identities and groups.",
	}}
	ListProjectUsers = &Op[ProjectUserList, List[User]]{Operation{
		ID: "list-project-users", Method: http.MethodGet, Path: project + "/users", Permission: ReadUsers,
		Summary: "List the users of a project's tenants", Command: "projects users list PROJECT",
		Doc: "Lists the users of all tenants that the project serves, or of one tenant.",
	}}
	CreateUser = &Op[UserCreation, User]{Operation{
		ID: "create-user", Method: http.MethodPost, Path: tenantUsers, Status: http.StatusCreated,
		Summary: "Invite a user", Permission: UpdateUsers,
		Command: "users create TENANT EMAIL",
		Example: "users create acme ana@example.com --name Ana --groups staff",
		Doc: "Creates the user in the invited state and adds them to the groups that you choose. To sign in, they " +
			"need an invitation link or a provider that is authoritative for their email domain.",
	}}
	GetUser = &Op[UserPath, User]{Operation{
		ID: "get-user", Method: http.MethodGet, Path: user, Permission: ReadUsers,
		Summary: "Get a user", Command: "users show USER",
		Doc: "Returns the user with their groups and linked identities.",
	}}
	UpdateUser = &Op[UserUpdate, User]{Operation{
		ID: "update-user", Method: http.MethodPatch, Path: user, Summary: "Update a user", Command: "users update USER",
		Example:    "users update ana@example.com --name 'Ana Lopes'",
		Permission: UpdateUsers,
		Doc:        "Changes only the fields you send.",
	}}
	FreezeUser = &Op[UserPath, User]{Operation{
		ID: "freeze-user", Method: http.MethodPost, Path: user + "/freeze", Permission: UpdateUsers,
		Summary: "Freeze a user", Command: "users freeze USER",
		Doc: "While frozen, the user can't sign in, and calls with their tokens and keys get 403. Freezing ends " +
			"the user's sessions. You can unfreeze the user later.",
	}}
	UnfreezeUser = &Op[UserPath, User]{Operation{
		ID: "unfreeze-user", Method: http.MethodPost, Path: user + "/unfreeze", Summary: "Unfreeze a user",
		Command: "users unfreeze USER", Permission: UpdateUsers,
		Doc: "The user can sign in again, and their keys work again. Sessions that ended when the user was frozen " +
			"aren't restored.",
	}}
	CreateUserInvitation = &Op[UserInvitationCreation, UserInvitation]{Operation{
		ID: "create-user-invitation", Method: http.MethodPost, Path: user + "/invitation", Status: http.StatusCreated,
		Summary: "Create an invitation link for a user", Permission: UpdateUsers,
		Command: "users invite USER",
		Doc: "The response includes a link, shown only once, that the user opens to sign in for the first time. " +
			"Earlier links stop working.",
	}}
	DeleteUser = &Op[UserPath, None]{Operation{
		ID: "delete-user", Deletes: "user", Method: http.MethodDelete, Path: user, Status: http.StatusNoContent,
		Summary: "Delete a user", Command: "users delete USER", Permission: UpdateUsers,
		Doc: "Also deletes their identities, sessions and group memberships. Keys that they own are revoked.",
	}}
	ListUserSessions = &Op[UserSessionList, List[UserSession]]{Operation{
		ID: "list-user-sessions", Method: http.MethodGet, Path: userSessions, Summary: "List a user's sessions",
		Command: "users sessions list USER", Permission: ReadUsers,
		Doc: "Lists the app clients and browsers where the user is signed in.",
	}}
	EndUserSession = &Op[UserSessionPath, None]{Operation{
		ID: "end-user-session", Method: http.MethodDelete, Path: userSessions + "/{session}", Permission: UpdateUsers,
		Status: http.StatusNoContent, Summary: "End a user's session",
		Command: "users sessions end USER SESSION",
		Doc:     "The session's tokens are refused from then on.",
	}}
	EndUserSessions = &Op[UserPath, EndedSessions]{Operation{
		ID: "end-user-sessions", Method: http.MethodPost, Path: userSessions + "/end-all", Permission: UpdateUsers,
		Summary: "End all of a user's sessions",
		Command: "users sessions end-all USER",
		Doc:     "The tokens of these sessions are refused from then on.",
	}}
	ListConsents = &Op[UserPath, List[Consent]]{Operation{
		ID: "list-consents", Method: http.MethodGet, Path: user + "/consents", Summary: "List a user's consents",
		Command: "users consents list USER", Permission: ReadUsers,
		Doc: "Lists the app clients that the user has allowed to act on their behalf.",
	}}
	WithdrawConsent = &Op[ConsentPath, None]{Operation{
		ID: "withdraw-consent", Method: http.MethodDelete, Path: user + "/consents/{client}", Permission: UpdateUsers,
		Status: http.StatusNoContent, Command: "users consents withdraw USER CLIENT",
		Summary: "Withdraw a user's consent for an app client",
		Doc: "Ends the user's sessions with the app client. The user is asked for consent again at the next " +
			"sign-in.",
	}}
)

var userOperations = []Described{
	ListUsers, ListProjectUsers, CreateUser, GetUser, UpdateUser, FreezeUser, UnfreezeUser, CreateUserInvitation,
	DeleteUser,
	ListUserSessions, EndUserSession, EndUserSessions, ListConsents, WithdrawConsent,
}
