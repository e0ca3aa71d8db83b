package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// AccountProfile is an account with its new address.
type AccountProfile struct {
	Account
	UnconfirmedEmail string `json:"unconfirmed_email,omitempty" doc:"New email address that isn't confirmed yet"`
}

// AccountChange changes the caller's account; nil leaves a member unchanged.
type AccountChange struct {
	Name     *string `json:"name,omitempty" doc:"Name, 1 to 80 characters"`
	Email    *string `json:"email,omitempty" doc:"Email address. If the server sends email, a new address takes effect once you open the confirmation link"`
	Password Secret  `json:"password,omitempty" flag:"-" doc:"Your account's password. Required to change the email address"`
}

// AccountUpdate is a request to change the caller's account.
type AccountUpdate struct{ Body AccountChange }

// LogValue implements slog.LogValuer.
func (AccountUpdate) LogValue() slog.Value { return slog.StringValue("update the account") }

// AccountDeletion lists what deleting the caller's account ends, and what prevents the deletion.
type AccountDeletion struct {
	Email        string   `json:"email"`
	Teams        []string `json:"teams" doc:"Names of the teams that the account will leave"`
	OnlyOwner    []string `json:"only_owner" doc:"Names of the teams whose only owner is this account. The account can't be deleted until this list is empty"`
	LastOperator bool     `json:"last_operator" doc:"True if this account is the only operator, so it can't be deleted"`
	Password     bool     `json:"password" doc:"True if the password is required. If false, a sign-in within the last five minutes is required"`
	Fresh        bool     `json:"fresh" doc:"True if this session began within the last five minutes"`
}

// AccountProof proves that the caller is the account's holder and confirms the request.
type AccountProof struct {
	Confirm  string `json:"confirm" flag:"-" doc:"Email address of the account"`
	Password Secret `json:"password,omitempty" flag:"-" doc:"Account password, if the account has one"`
}

// AccountRemoval is a request to delete the caller's account.
type AccountRemoval struct{ Body AccountProof }

// LogValue implements slog.LogValuer.
func (AccountRemoval) LogValue() slog.Value { return slog.StringValue("delete the account") }

// SessionPath is the path parameter of a session of the caller's account.
type SessionPath struct {
	Session string `path:"session" doc:"ID of the session"`
}

// Session is a browser in which the caller's account is signed in.
type Session struct {
	ID         string    `json:"id"`
	UserAgent  string    `json:"user_agent" doc:"User agent of the browser"`
	RemoteAddr string    `json:"remote_addr" doc:"IP address of the sign-in"`
	CreatedAt  time.Time `json:"created_at"`
	LastSeenAt time.Time `json:"last_seen_at" doc:"Accurate to five minutes"`
	Current    bool      `json:"current" doc:"True for the session of this request"`
}

// SessionList is a request for the sessions of the caller's account.
type SessionList struct {
	Sort string `query:"sort" enum:"created,-created,last_seen,-last_seen" doc:"Sort order. A leading - means descending. Defaults to -created"`
}

// ClaimCode names an unclaimed workspace, and the team that it becomes part of.
type ClaimCode struct {
	Code Secret `json:"code" doc:"Claim code from POST /proxy"`
	Team string `json:"team,omitempty" minLength:"1" doc:"ID of the team to merge the workspace into. Defaults to a new team"`
}

// Claim is a request to claim a workspace.
type Claim struct{ Body ClaimCode }

// ClaimOf returns the request to claim the workspace of a code for a team, "" for a new one.
func ClaimOf(code, team string) Claim { return Claim{ClaimCode{Code: Secret(code), Team: team}} }

// LogValue implements slog.LogValuer.
func (c Claim) LogValue() slog.Value { return slog.StringValue(c.Body.Team) }

// Claimed lists the objects that a claim moved.
type Claimed struct {
	Team     ClaimedTeam `json:"team"`
	Projects []string    `json:"projects" doc:"Names of the claimed projects"`
	Renamed  []string    `json:"renamed" doc:"Products and tenants that were renamed because their names were taken, such as: product store → store-2"`
}

// ClaimedTeam is the team that the workspace became part of.
type ClaimedTeam struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

const (
	account  = "/api/v1/account"
	sessions = "/api/v1/sessions"
)

// The operations on the caller's account and its sessions.
var (
	UpdateAccount = &Op[AccountUpdate, AccountProfile]{Operation{
		ID: "update-account", Method: http.MethodPatch, Path: account, Permission: UpdateAccounts,
		Summary: "Change the name or email address of your account", Command: "account update",
		Example: "account update --name 'Ana Lopes'",
		Doc: "Changes only the fields you send. Changing the email requires your password. If the server sends " +
			"email, the new address takes effect once you open the confirmation link.",
	}}
	GetAccountDeletion = &Op[None, AccountDeletion]{Operation{
		ID: "get-account-deletion", Method: http.MethodGet, Path: account + "/deletion", Permission: DeleteAccounts,
		Summary: "Preview the effects of deleting your account",
		Doc:     "Changes nothing. Use it to show the consequences before you ask for confirmation.",
	}}
	DeleteAccount = &Op[AccountRemoval, None]{Operation{
		ID: "delete-account", Method: http.MethodPost, Path: account + "/delete", Status: http.StatusNoContent,
		Summary: "Permanently delete your account", Command: "account delete", Permission: DeleteAccounts,
		Example: "account delete --confirm ana@example.com --password-file -",
		Doc: "Also deletes your sessions, access tokens, sign-in methods and memberships. You can't delete an " +
			"account that is the only owner of a team.",
	}}

	ListSessions = &Op[SessionList, List[Session]]{Operation{
		ID: "list-sessions", Method: http.MethodGet, Path: sessions, Summary: "List the sessions of your account",
		Permission: ReadAccounts,
		Doc:        "Lists the browsers where you are signed in. Access tokens can't list sessions.",
	}}
	EndSession = &Op[SessionPath, None]{Operation{
		ID: "end-session", Method: http.MethodDelete, Path: sessions + "/{session}", Status: http.StatusNoContent,
		Summary: "End a session", Permission: UpdateAccounts,
		Doc: "You must sign in again to open another page in that browser.",
	}}
	EndOtherSessions = &Op[None, EndedSessions]{Operation{
		ID: "end-other-sessions", Method: http.MethodPost, Path: sessions + "/end-others", Permission: UpdateAccounts,
		Summary: "End all other sessions",
		Doc:     "Only the session of this request remains. Access tokens keep working.",
	}}

	ClaimWorkspace = &Op[Claim, Claimed]{Operation{
		ID: "claim", Method: http.MethodPost, Path: "/api/v1/claim", Summary: "Claim a workspace",
		Command: "claim", Permission: ClaimWorkspaces,
		Doc: "Moves the projects of a workspace created without an account to your team. Names, URLs and API keys " +
			"stay the same. The workspace key stops working.",
	}}
)

var accountOperations = []Described{
	UpdateAccount, GetAccountDeletion, DeleteAccount, ListSessions, EndSession, EndOtherSessions, ClaimWorkspace,
}
