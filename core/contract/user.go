package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// UserPath is the path parameter of a user.
type UserPath struct {
	User string `path:"user" doc:"Id of the user"`
}

// User is a user of a tenant.
type User struct {
	ID            string         `json:"id"`
	Tenant        string         `json:"tenant" doc:"Id of the tenant"`
	Email         string         `json:"email" doc:"Empty if the provider returns none"`
	EmailVerified bool           `json:"email_verified" doc:"A provider has verified it"`
	Name          string         `json:"name"`
	Profile       *Profile       `json:"profile,omitempty" doc:"Claims that a provider stated at the last sign-in"`
	UserName      string         `json:"user_name,omitempty" doc:"userName in the provisioning system (SCIM)"`
	ExternalID    string         `json:"external_id,omitempty" doc:"Id in the provisioning system"`
	State         string         `json:"state" enum:"active,frozen,invited" doc:"invited: has not signed in yet"`
	LastLoginAt   *time.Time     `json:"last_login_at" doc:"null: never"`
	CreatedAt     time.Time      `json:"created_at"`
	UpdatedAt     time.Time      `json:"updated_at"`
	Identities    []UserIdentity `json:"identities,omitempty" doc:"Identities at providers; not in lists"`
	Groups        []UserGroup    `json:"groups,omitempty" doc:"Direct and nested memberships; not in lists"`
	ETag          string         `json:"etag" doc:"Send as If-Match to update the user"`
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

// IsDirect reports whether the user is in the group itself, and not only in one that is nested in it.
func (g UserGroup) IsDirect() bool { return g.Role != nil }

// UserList is a request for the users of a tenant.
type UserList struct {
	TenantPath
	Page
	State string `query:"state" enum:"active,frozen,invited" doc:"Only users in this state"`
	Email string `query:"email" doc:"Complete e-mail address"`
	Text  string `query:"q" flag:"search" doc:"Part of the e-mail address, name or user name"`
	Group string `query:"group" doc:"Id of a group with the user as direct member"`
	Sort  string `query:"sort" enum:"name,-name,state,-state,last_login,-last_login,created,-created" doc:"Order; - begins at the end; default: -created"`
}

// NewUser is a user to be invited.
type NewUser struct {
	Email  string   `json:"email" doc:"A sign-in with this address at a provider that is authoritative for its domain becomes this user; at any other, the user needs an invitation link"`
	Name   string   `json:"name,omitempty" doc:"Display name"`
	Groups []string `json:"groups,omitempty" doc:"Ids of groups to add the user to"`
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

// UserChange changes a user; nil leaves a member as it is.
type UserChange struct {
	Email *string `json:"email,omitempty" doc:"E-mail address. A new one is not verified until a provider verifies it"`
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
	URL       Secret    `json:"url" doc:"Link to send; returned only once"`
	ExpiresAt time.Time `json:"expires_at"`
}

// LogValue implements slog.LogValuer.
func (i UserInvitation) LogValue() slog.Value { return slog.TimeValue(i.ExpiresAt) }

// InvitationPage says where an invitation link leads to.
type InvitationPage struct {
	AppClient string `json:"app_client,omitempty" minLength:"1" doc:"Id of the app client at which the user signs in; default: the tenant's only one"`
}

// UserInvitationCreation is a request for an invitation link.
type UserInvitationCreation struct {
	UserPath
	Body InvitationPage
}

// UserSession is a sign-in of a user at an app client.
type UserSession struct {
	ID         string     `json:"id" doc:"sid of its tokens"`
	Client     string     `json:"client" doc:"Id of the app client"`
	ClientName string     `json:"client_name"`
	Provider   string     `json:"provider" doc:"Name of the provider; empty if it was removed"`
	Scopes     []string   `json:"scopes"`
	UserAgent  string     `json:"user_agent" doc:"User agent of the browser; empty if not known"`
	LastSeenAt *time.Time `json:"last_seen_at" doc:"Last use at the hosted pages; null: never"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  time.Time  `json:"expires_at"`
}

// UserSessionList is a request for a user's sessions.
type UserSessionList struct {
	UserPath
	Page
	Sort string `query:"sort" enum:"created,-created,last_seen,-last_seen,expires,-expires" doc:"Order; - begins at the end; default: -created"`
}

// UserSessionPath are the path parameters of a user's session.
type UserSessionPath struct {
	UserPath
	Session string `path:"session" doc:"Id of the session"`
}

// EndedSessions is the answer to ending several sessions.
type EndedSessions struct {
	Ended int64 `json:"ended" doc:"Number of sessions that were ended"`
}

// Consent is what a user agreed that an app client learns.
type Consent struct {
	Client     string    `json:"client" doc:"Id of the app client"`
	ClientName string    `json:"client_name"`
	Scopes     []string  `json:"scopes"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// ConsentPath are the path parameters of a consent.
type ConsentPath struct {
	UserPath
	Client string `path:"client" doc:"Id of the app client"`
}

const (
	tenantUsers  = "/api/v1/tenants/{tenant}/users"
	user         = "/api/v1/users/{user}"
	userSessions = user + "/sessions"
)

// The operations on users, their sessions and their consents.
var (
	ListUsers = Op[UserList, List[User]]{Operation{
		ID: "list-users", Method: http.MethodGet, Path: tenantUsers, Summary: "List a tenant's users",
		Command: "users list TENANT", Permission: ReadUsers,
		Doc: "Lists the users of the tenant.",
	}}
	CreateUser = Op[UserCreation, User]{Operation{
		ID: "create-user", Method: http.MethodPost, Path: tenantUsers, Status: http.StatusCreated,
		Summary: "Create an invited user, who signs in with an invitation link or a provider authoritative for " +
			"the domain", Permission: UpdateUsers,
		Command: "users create TENANT EMAIL",
		Doc:     "Invites the user: they have a seat, and their groups, before they sign in for the first time.",
	}}
	GetUser = Op[UserPath, User]{Operation{
		ID: "get-user", Method: http.MethodGet, Path: user, Permission: ReadUsers,
		Summary: "Get a user with their provider identities and groups", Command: "users show USER",
		Doc: "Has the user with their groups and linked sign-ins.",
	}}
	UpdateUser = Op[UserUpdate, User]{Operation{
		ID: "update-user", Method: http.MethodPatch, Path: user, Summary: "Update a user", Command: "users update USER",
		Permission: UpdateUsers,
		Doc:        "Changes only what you send.",
	}}
	FreezeUser = Op[UserPath, User]{Operation{
		ID: "freeze-user", Method: http.MethodPost, Path: user + "/freeze", Permission: UpdateUsers,
		Summary: "Freeze a user: refuse sign-in and calls until unfrozen", Command: "users freeze USER",
		Doc: "The user can't sign in, and calls with their tokens and keys get 403.",
	}}
	UnfreezeUser = Op[UserPath, User]{Operation{
		ID: "unfreeze-user", Method: http.MethodPost, Path: user + "/unfreeze", Summary: "Unfreeze a user",
		Command: "users unfreeze USER", Permission: UpdateUsers,
		Doc: "The user can sign in again, and their keys work.",
	}}
	CreateUserInvitation = Op[UserInvitationCreation, UserInvitation]{Operation{
		ID: "create-user-invitation", Method: http.MethodPost, Path: user + "/invitation", Status: http.StatusCreated,
		Summary: "Create an invitation link, by which the user signs in for the first time", Permission: UpdateUsers,
		Command: "users invite USER",
		Doc:     "The answer has a link that takes the user's seat. It is shown only once, and ends earlier links.",
	}}
	DeleteUser = Op[UserPath, None]{Operation{
		ID: "delete-user", Method: http.MethodDelete, Path: user, Status: http.StatusNoContent,
		Summary: "Delete a user with their identities", Command: "users delete USER", Permission: UpdateUsers,
		Doc: "Deletes the user with their sessions and group memberships. Keys that they own stay, and get 403.",
	}}
	ListUserSessions = Op[UserSessionList, List[UserSession]]{Operation{
		ID: "list-user-sessions", Method: http.MethodGet, Path: userSessions, Summary: "List a user's sessions",
		Command: "users sessions list USER", Permission: ReadUsers,
		Doc: "Lists where the user is signed in.",
	}}
	EndUserSession = Op[UserSessionPath, None]{Operation{
		ID: "end-user-session", Method: http.MethodDelete, Path: userSessions + "/{session}", Permission: UpdateUsers,
		Status: http.StatusNoContent, Summary: "End a user's session: its tokens are refused at once",
		Command: "users sessions end USER SESSION",
		Doc:     "Refresh tokens of the session end at once, access tokens when they expire.",
	}}
	EndUserSessions = Op[UserPath, EndedSessions]{Operation{
		ID: "end-user-sessions", Method: http.MethodPost, Path: userSessions + "/end-all", Permission: UpdateUsers,
		Summary: "End all of a user's sessions: their tokens are refused at once",
		Command: "users sessions end-all USER",
		Doc:     "Refresh tokens end at once, access tokens when they expire.",
	}}
	ListConsents = Op[UserPath, List[Consent]]{Operation{
		ID: "list-consents", Method: http.MethodGet, Path: user + "/consents", Summary: "List a user's consents",
		Command: "users consents list USER", Permission: ReadUsers,
		Doc: "Lists the app clients that the user has allowed to act for them.",
	}}
	WithdrawConsent = Op[ConsentPath, None]{Operation{
		ID: "withdraw-consent", Method: http.MethodDelete, Path: user + "/consents/{client}", Permission: UpdateUsers,
		Status: http.StatusNoContent, Command: "users consents withdraw USER CLIENT",
		Summary: "Withdraw a user's consent to an app client, and end their sessions there",
		Doc:     "The app client has to ask again at the next sign-in.",
	}}
)

var userOperations = []Described{
	ListUsers, CreateUser, GetUser, UpdateUser, FreezeUser, UnfreezeUser, CreateUserInvitation, DeleteUser,
	ListUserSessions, EndUserSession, EndUserSessions, ListConsents, WithdrawConsent,
}
