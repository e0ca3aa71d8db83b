package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// AccountProfile is an account with its new address.
type AccountProfile struct {
	Account
	UnconfirmedEmail string `json:"unconfirmed_email,omitempty" doc:"New address whose link has not been opened yet"`
}

// AccountChange changes the caller's account; nil leaves a member as it is.
type AccountChange struct {
	Name     *string `json:"name,omitempty" doc:"Name, 1 to 80 characters"`
	Email    *string `json:"email,omitempty" doc:"E-mail address. Where mail is sent, a new one counts once its link was opened"`
	Password Secret  `json:"password,omitempty" flag:"-" doc:"The account's password; needed for a new address"`
}

// AccountUpdate is a request to change the caller's account.
type AccountUpdate struct{ Body AccountChange }

// LogValue implements slog.LogValuer.
func (AccountUpdate) LogValue() slog.Value { return slog.StringValue("update the account") }

// AccountDeletion is what deleting the caller's account ends, and what keeps it from being deleted.
type AccountDeletion struct {
	Email        string   `json:"email"`
	Teams        []string `json:"teams" doc:"Names of the teams that the account leaves"`
	OnlyOwner    []string `json:"only_owner" doc:"Names of the teams that would have no owner left; while there are any, the account cannot be deleted"`
	LastOperator bool     `json:"last_operator" doc:"It is the only operator of the installation, and cannot be deleted"`
	Password     bool     `json:"password" doc:"The password is needed; otherwise a session that began within five minutes"`
	Fresh        bool     `json:"fresh" doc:"The session of this request began within five minutes"`
}

// AccountProof shows that the caller is the account's person, and means it.
type AccountProof struct {
	Confirm  string `json:"confirm" flag:"-" doc:"The account's e-mail address"`
	Password Secret `json:"password,omitempty" flag:"-" doc:"The account's password, if it has one"`
}

// AccountRemoval is a request to delete the caller's account.
type AccountRemoval struct{ Body AccountProof }

// LogValue implements slog.LogValuer.
func (AccountRemoval) LogValue() slog.Value { return slog.StringValue("delete the account") }

// SessionPath is the path parameter of a session of the caller's account.
type SessionPath struct {
	Session string `path:"session" doc:"Id of the session"`
}

// Session is a browser in which the caller's account is signed in.
type Session struct {
	ID         string    `json:"id"`
	UserAgent  string    `json:"user_agent" doc:"User agent of the browser"`
	RemoteAddr string    `json:"remote_addr" doc:"IP address of the sign-in"`
	CreatedAt  time.Time `json:"created_at"`
	LastSeenAt time.Time `json:"last_seen_at" doc:"Accurate to five minutes"`
	Current    bool      `json:"current" doc:"True for the credential of this request"`
}

// SessionList is a request for the sessions of the caller's account.
type SessionList struct {
	Sort string `query:"sort" enum:"created,-created,last_seen,-last_seen" doc:"Order; - begins at the end; default: -created"`
}

// ClaimCode names an unclaimed workspace, and the team that it becomes part of.
type ClaimCode struct {
	Code Secret `json:"code" doc:"Claim code from POST /proxy"`
	Team string `json:"team,omitempty" minLength:"1" doc:"Id of the team to merge the workspace into; default: a new team"`
}

// Claim is a request to claim a workspace.
type Claim struct{ Body ClaimCode }

// ClaimOf returns the request to claim the workspace of a code for a team, "" for a new one.
func ClaimOf(code, team string) Claim { return Claim{ClaimCode{Code: Secret(code), Team: team}} }

// LogValue implements slog.LogValuer.
func (c Claim) LogValue() slog.Value { return slog.StringValue(c.Body.Team) }

// Claimed is what a claim has moved.
type Claimed struct {
	Team     ClaimedTeam `json:"team"`
	Projects []string    `json:"projects" doc:"Names of the claimed projects"`
	Renamed  []string    `json:"renamed" doc:"Products and tenants renamed because the name was taken, as: product store → store-2"`
}

// ClaimedTeam is the team that has what was claimed.
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
	UpdateAccount = Op[AccountUpdate, AccountProfile]{Operation{
		ID: "update-account", Method: http.MethodPatch, Path: account, Permission: UpdateAccounts,
		Summary: "Change the name or the e-mail address of your account", Command: "account update",
		Example: "account update --name 'Ana Lopes'",
		Doc: "Changes only what you send. A new address needs the password. Where the server sends mail, it counts " +
			"once the link in the mail to it has been opened.",
	}}
	GetAccountDeletion = Op[None, AccountDeletion]{Operation{
		ID: "get-account-deletion", Method: http.MethodGet, Path: account + "/deletion", Permission: DeleteAccounts,
		Summary: "Show what deleting your account ends",
		Doc:     "Changes nothing: it has what the page shows before it asks for confirmation.",
	}}
	DeleteAccount = Op[AccountRemoval, None]{Operation{
		ID: "delete-account", Method: http.MethodPost, Path: account + "/delete", Status: http.StatusNoContent,
		Summary: "Delete your account for good", Command: "account delete", Permission: DeleteAccounts,
		Example: "account delete --confirm ana@example.com --password-file -",
		Doc: "Deletes its sessions, access tokens, ways to sign in and memberships too. It is refused while you are " +
			"the only owner of a team.",
	}}

	ListSessions = Op[SessionList, List[Session]]{Operation{
		ID: "list-sessions", Method: http.MethodGet, Path: sessions, Summary: "List the sessions of your account",
		Permission: ReadAccounts,
		Doc:        "Lists the browsers that you are signed in with. Access tokens cannot see them.",
	}}
	EndSession = Op[SessionPath, None]{Operation{
		ID: "end-session", Method: http.MethodDelete, Path: sessions + "/{session}", Status: http.StatusNoContent,
		Summary: "End a session", Permission: UpdateAccounts,
		Doc: "The next page that is opened in that browser asks to sign in.",
	}}
	EndOtherSessions = Op[None, EndedSessions]{Operation{
		ID: "end-other-sessions", Method: http.MethodPost, Path: sessions + "/end-others", Permission: UpdateAccounts,
		Summary: "End all other sessions",
		Doc:     "Only the session of this request stays. Access tokens keep working.",
	}}

	ClaimWorkspace = Op[Claim, Claimed]{Operation{
		ID: "claim", Method: http.MethodPost, Path: "/api/v1/claim", Summary: "Claim a workspace",
		Command: "claim", Permission: ClaimWorkspaces,
		Doc: "Moves the projects of a workspace that was created without an account to your team. Names, addresses " +
			"and API keys stay; the workspace key stops working.",
	}}
)

var accountOperations = []Described{
	UpdateAccount, GetAccountDeletion, DeleteAccount, ListSessions, EndSession, EndOtherSessions, ClaimWorkspace,
}
