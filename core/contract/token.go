package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// TokenPath is the path parameter of an access token.
type TokenPath struct {
	Token string `path:"token" id:"token" doc:"ID of the token"`
}

// Token is a credential of the control plane: an access token of an account, or the key of an unclaimed workspace.
type Token struct {
	ID           string     `json:"id"`
	Kind         string     `json:"kind" enum:"personal,cli,workspace"`
	Name         string     `json:"name"`
	Scopes       []string   `json:"scopes" doc:"Scopes of the token. Empty for a workspace key, which has all scopes in its workspace"`
	Last4        string     `json:"last4"`
	CreatedAt    time.Time  `json:"created_at"`
	ExpiresAt    *time.Time `json:"expires_at"`
	LastUsedAt   *time.Time `json:"last_used_at" doc:"Last use, accurate to the minute; null if never used or for a workspace key"`
	LastUsedFrom string     `json:"last_used_from" doc:"IP address of the last use. Empty if unknown"`
	Current      bool       `json:"current" doc:"True for the token of this request"`
	ETag         string     `json:"etag" doc:"Send as If-Match to update the token"`
}

// Tag returns the token's ETag.
func (t Token) Tag() string { return t.ETag }

// TokenWithSecret is a token whose secret is new.
type TokenWithSecret struct {
	Token
	Secret Secret `json:"token" doc:"Plaintext; returned only once"`
}

// LogValue implements slog.LogValuer.
func (t TokenWithSecret) LogValue() slog.Value { return slog.StringValue(t.ID) }

// Kinds of tokens.
const (
	PersonalToken = "personal"  // created by hand
	CLIToken      = "cli"       // created by the device flow (RFC 8628)
	WorkspaceKey  = "workspace" // the key of an unclaimed workspace
)

// TokenList is a request for access tokens.
type TokenList struct {
	Page
	Sort string `query:"sort" enum:"created,-created,name,-name,expires,-expires,last_used,-last_used" doc:"Sort order. A leading - means descending. Defaults to -created"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the name, ignoring case"`
}

// NewToken is an access token to be created.
type NewToken struct {
	Name      string     `json:"name" doc:"Name that describes the token's purpose, 1 to 80 characters"`
	Scopes    []string   `json:"scopes" flag:",list" doc:"Scopes of the token: read, write, keys, export, users or admin. You can't grant scopes that your own token doesn't have"`
	ExpiresAt *time.Time `json:"expires_at,omitempty" flag:"expires,time" doc:"When the token expires (RFC 3339), at most a year from now. Defaults to 90 days from now"`
}

// TokenCreation is a request for a new access token.
type TokenCreation struct{ Body NewToken }

// TokenChange changes an access token; nil leaves a member unchanged.
type TokenChange struct {
	Name *string `json:"name,omitempty" doc:"Name that describes the token's purpose, 1 to 80 characters"`
}

// TokenUpdate is a request to change an access token.
type TokenUpdate struct {
	TokenPath
	Condition
	Body TokenChange
}

// Whoami describes the caller of a request.
type Whoami struct {
	Account *Account     `json:"account" doc:"null for a workspace key"`
	Teams   []Membership `json:"teams" doc:"Teams that the credential has access to. New projects are created in the first one"`
	Token   *Token       `json:"token" doc:"null for a session"`
}

// Account is a person who signs in to the dashboard.
type Account struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Membership is a team, and the caller's role in it.
type Membership struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role string `json:"role" enum:"owner,member,viewer,workspace"`
}

const (
	tokens = "/api/v1/tokens"
	token  = tokens + "/{token}"
)

// The operations on access tokens.
var (
	ListTokens = &Op[TokenList, List[Token]]{Operation{
		ID: "list-tokens", Method: http.MethodGet, Path: tokens, Summary: "List access tokens",
		Command: "tokens list", Permission: ReadTokens,
		Doc: "Lists your access tokens and your teams' workspace keys, newest first. Secrets are never included.",
	}}
	CreateToken = &Op[TokenCreation, TokenWithSecret]{Operation{
		ID: "create-token", Method: http.MethodPost, Path: tokens, Status: http.StatusCreated,
		Summary: "Create an access token", Command: "tokens create NAME", Permission: CreateTokens,
		Example: "tokens create nightly-export --scopes read,export --expires 30d",
		Doc:     "The response includes the token, which is shown only once.",
	}}
	GetToken = &Op[TokenPath, Token]{Operation{
		ID: "get-token", Method: http.MethodGet, Path: token, Summary: "Get an access token", Permission: ReadTokens,
		Command: "tokens show TOKEN",
		Doc:     "Returns everything about the token except its secret.",
	}}
	UpdateToken = &Op[TokenUpdate, Token]{Operation{
		ID: "update-token", Method: http.MethodPatch, Path: token, Summary: "Update an access token",
		Command: "tokens update TOKEN", Example: "tokens update tok_01 --name nightly-backup",
		Permission: UpdateTokens,
		Doc:        "Changes only the fields you send.",
	}}
	RevokeToken = &Op[TokenPath, None]{Operation{
		ID: "revoke-token", Method: http.MethodDelete, Path: token, Status: http.StatusNoContent,
		Summary: "Revoke an access token", Command: "tokens revoke TOKEN", Permission: RevokeTokens,
		Doc: "Requests with the token immediately start getting 401.",
	}}
	GetWhoami = &Op[None, Whoami]{Operation{
		ID: "whoami", Method: http.MethodGet, Path: "/api/v1/whoami", Summary: "Show your account and teams",
		Command:    "whoami",
		Permission: ReadAccounts,
		Doc:        "Returns the account or workspace that the credential belongs to, and its role in each team.",
	}}
)

var tokenOperations = []Described{ListTokens, CreateToken, GetToken, UpdateToken, RevokeToken, GetWhoami}
