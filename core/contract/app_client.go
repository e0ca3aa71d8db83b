package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// AppClientPath is the path parameter of an app client.
type AppClientPath struct {
	Client string `path:"client" id:"client" doc:"ID of the app client"`
}

// AppClient is an application that a tenant's users sign in to, and an OpenID Connect issuer itself.
type AppClient struct {
	AppClientRecord
	Tenant       string    `json:"tenant" doc:"ID of the tenant"`
	Issuer       string    `json:"issuer" doc:"OpenID Connect issuer of this app client" audit:"-"`
	AuthorizeURL string    `json:"authorize_url" audit:"-"`
	Frozen       bool      `json:"frozen" doc:"True if the app client can't get tokens and its existing tokens are refused"`
	Confidential bool      `json:"confidential"`
	ETag         string    `json:"etag" doc:"Send as If-Match to update the app client" audit:"-"`
	UpdatedAt    time.Time `json:"updated_at"`
}

// AppClientRecord has the members of an app client that exports include too.
type AppClientRecord struct {
	ID                   string    `json:"id"`
	Name                 string    `json:"name"`
	RedirectURIs         []string  `json:"redirect_uris"`
	LogoutURIs           []string  `json:"logout_uris"`
	BackchannelLogoutURI string    `json:"backchannel_logout_uri" doc:"Empty if there is none"`
	APIScopes            []string  `json:"api_scopes" doc:"API scopes that the app client can request"`
	GrantTypes           []string  `json:"grant_types"`
	PKCE                 string    `json:"pkce" doc:"required or when_sent"`
	AccessTokenSeconds   int64     `json:"access_token_seconds"`
	RefreshTokenSeconds  int64     `json:"refresh_token_seconds" doc:"Lifetime of a login, in seconds. 0 if logins can't be refreshed"`
	Algorithm            string    `json:"algorithm"`
	Branding             Branding  `json:"branding"`
	CreatedAt            time.Time `json:"created_at"`
}

// Path returns its path parameter.
func (c AppClient) Path() AppClientPath { return AppClientPath{Client: c.ID} }

// Tag returns the app client's ETag.
func (c AppClient) Tag() string { return c.ETag }

// Branding is the look of the hosted pages.
type Branding struct {
	Title   string `json:"title" doc:"Name on the sign-in page. Empty for the project's name"`
	Welcome string `json:"welcome"`
	LogoURL string `json:"logo_url"`
	Color   string `json:"color" doc:"#rrggbb"`
}

// SavedAppClient is the answer to a change of an app client.
type SavedAppClient struct {
	AppClient
	ClientSecret Secret    `json:"client_secret,omitempty" doc:"Client secret, present only if it is new. Returned only once"`
	Warnings     []Warning `json:"warnings,omitempty" doc:"Settings that are allowed but may surprise you"`
}

// LogValue implements slog.LogValuer.
func (c SavedAppClient) LogValue() slog.Value { return slog.StringValue(c.ID) }

// Algorithms that tokens are signed with (RFC 7518, 3.1; RFC 8037, 3.1).
const (
	RS256 = "RS256"
	ES256 = "ES256"
	EdDSA = "EdDSA"
)

// Values of PKCE.
const (
	PKCERequired = "required"
	PKCEWhenSent = "when_sent"
)

// AppClientSettings are the members of an app client that can be set. nil leaves a member unchanged, or at its default
// in a new app client.
type AppClientSettings struct {
	RedirectURIs         *[]string      `json:"redirect_uris,omitempty" flag:"redirect-uri" doc:"Allowed redirect URIs: https, http on a loopback address, or a private-use scheme such as com.example.app:/callback. Redirect URIs must match exactly, except for the port of loopback addresses"`
	LogoutURIs           *[]string      `json:"logout_uris,omitempty" flag:"logout-uri" doc:"Redirect URIs that are allowed after sign-out"`
	BackchannelLogoutURI *string        `json:"backchannel_logout_uri,omitempty" doc:"URL on your server that receives a logout token when a session ends (OpenID Connect Back-Channel Logout). Leave empty for none"`
	APIScopes            *[]string      `json:"api_scopes,omitempty" flag:"api-scope" doc:"API scopes that the app client can request. A project that serves the tenant must declare them. orders:* covers every scope that begins with orders:"`
	GrantTypes           *[]string      `json:"grant_types,omitempty" flag:"grant-type" doc:"Grant types. Use client_credentials for calls that the application makes on its own behalf. Defaults to authorization_code and refresh_token"`
	Confidential         *bool          `json:"confidential,omitempty" doc:"True for a client that can keep a secret. Setting it to true creates a client secret, which is shown only once. Defaults to false"`
	PKCE                 *string        `json:"pkce,omitempty" doc:"PKCE (Proof Key for Code Exchange) mode: required, or when_sent for a confidential client whose library can't send a code challenge. Defaults to required"`
	AccessTokenSeconds   *int64         `json:"access_token_seconds,omitempty" flag:"access-token,duration" doc:"Lifetime of access and ID tokens, in seconds. Defaults to 10 minutes"`
	RefreshTokenSeconds  *int64         `json:"refresh_token_seconds,omitempty" flag:"refresh-token,duration" doc:"How long a login can be refreshed, in seconds. 0 turns refreshing off. Defaults to 30 days"`
	Algorithm            *string        `json:"algorithm,omitempty" doc:"Signing algorithm: RS256, ES256 or EdDSA. Defaults to RS256"`
	Branding             BrandingChange `json:"branding,omitzero" flag:",each"`
}

// Of returns the request to change these settings of an app client.
func (s AppClientSettings) Of(client string) AppClientUpdate {
	return AppClientUpdate{
		AppClientPath: AppClientPath{Client: client}, Body: AppClientChange{AppClientSettings: s},
	}
}

// BrandingChange changes the branding; nil leaves a member unchanged.
type BrandingChange struct {
	Title   *string `json:"title,omitempty" doc:"Name of the application on the sign-in page. Defaults to the name of the project"`
	Welcome *string `json:"welcome,omitempty" doc:"Text below the title"`
	LogoURL *string `json:"logo_url,omitempty" doc:"https URL of the logo"`
	Color   *string `json:"color,omitempty" doc:"Accent color, such as #0f766e"`
}

// AppClientList is a request for the app clients of a tenant.
type AppClientList struct {
	TenantPath
	Page
	Sort string `query:"sort" enum:"name,-name,created,-created" doc:"Sort order. A leading - means descending. Defaults to name"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the name or title, ignoring case"`
}

// NewAppClient is an app client to be created.
type NewAppClient struct {
	Name string `json:"name" slug:"true" doc:"Name of the app client, unique in the tenant, such as web"`
	AppClientSettings
}

// In returns the request to create the app client in a tenant.
func (n NewAppClient) In(tenant string) AppClientCreation {
	return AppClientCreation{TenantPath: TenantPath{Tenant: tenant}, Body: n}
}

// AppClientCreation is a request for a new app client.
type AppClientCreation struct {
	TenantPath
	Body NewAppClient
}

// AppClientChange changes an app client; nil leaves a member unchanged.
type AppClientChange struct {
	Name *string `json:"name,omitempty" slug:"true" doc:"New name, unique in the tenant"`
	AppClientSettings
}

// AppClientUpdate is a request to change an app client.
type AppClientUpdate struct {
	AppClientPath
	Condition
	Body AppClientChange
}

// AppClientKeys are the published signing keys of an app client.
type AppClientKeys struct {
	Keys []AppClientKey `json:"keys" doc:"Signing keys, ordered by when they start signing"`
}

// AppClientKey is a signing key of an app client.
type AppClientKey struct {
	ID             string     `json:"id" doc:"Key ID (kid) in the tokens that it signs"`
	Algorithm      string     `json:"algorithm"`
	SignsFrom      time.Time  `json:"signs_from"`
	PublishedUntil *time.Time `json:"published_until" doc:"null until a newer key replaces it"`
}

const (
	appClients = tenant + "/app-clients"
	appClient  = "/api/v1/app-clients/{client}"
)

// The operations on app clients.
var (
	ListAppClients = &Op[AppClientList, List[AppClient]]{Operation{
		ID: "list-app-clients", Method: http.MethodGet, Path: appClients, Summary: "List a tenant's app clients",
		Command: "app-clients list TENANT", Permission: ReadLogin,
		Doc: "Lists the tenant's app clients, sorted by name. Secrets are never included.",
	}}
	CreateAppClient = &Op[AppClientCreation, SavedAppClient]{Operation{
		ID: "create-app-client", Method: http.MethodPost, Path: appClients, Status: http.StatusCreated,
		Summary: "Create an app client", Command: "app-clients create TENANT NAME", Permission: UpdateLogin,
		Example: "app-clients create tnt_01 web --redirect-uri https://app.example.com/callback",
		Doc: "Each app client is an OpenID Connect issuer. For a confidential app client, the response includes the " +
			"client secret, which is shown only once.",
	}}
	GetAppClient = &Op[AppClientPath, AppClient]{Operation{
		ID: "get-app-client", Method: http.MethodGet, Path: appClient, Summary: "Get an app client",
		Command: "app-clients show CLIENT", Permission: ReadLogin,
		Doc: "Returns the issuer and all settings except the secret.",
	}}
	UpdateAppClient = &Op[AppClientUpdate, SavedAppClient]{Operation{
		ID: "update-app-client", Method: http.MethodPatch, Path: appClient, Summary: "Update an app client",
		Command:    "app-clients update CLIENT",
		Example:    "app-clients update cli_01 --redirect-uri https://app.example.com/callback --access-token 5m",
		Permission: UpdateLogin,
		Doc: "Changes only the fields you send. A list replaces the existing one. Setting confidential to true " +
			"always creates a new client secret, and the old one stops working immediately.",
	}}
	FreezeAppClient = &Op[AppClientPath, AppClient]{Operation{
		ID: "freeze-app-client", Method: http.MethodPost, Path: appClient + "/freeze", Summary: "Freeze an app client",
		Command: "app-clients freeze CLIENT", Permission: UpdateLogin,
		Doc: "While frozen, the app client can't get tokens, and its existing tokens are refused. You can unfreeze it.",
	}}
	UnfreezeAppClient = &Op[AppClientPath, AppClient]{Operation{
		ID: "unfreeze-app-client", Method: http.MethodPost, Path: appClient + "/unfreeze", Permission: UpdateLogin,
		Summary: "Unfreeze an app client", Command: "app-clients unfreeze CLIENT",
		Doc: "Its unexpired tokens are accepted again.",
	}}
	RotateAppClientKey = &Op[AppClientPath, AppClientKeys]{Operation{
		ID: "rotate-app-client-key", Method: http.MethodPost, Path: appClient + "/signing-keys/rotate",
		Summary: "Rotate an app client's signing key", Command: "app-clients signing-keys rotate CLIENT",
		Permission: UpdateLogin,
		Doc: "The new key is published in the JWKS immediately and starts signing an hour later, so applications can " +
			"fetch it first. The old key stays published until the last token it signed has expired.",
	}}
	DeleteAppClient = &Op[AppClientPath, None]{Operation{
		ID: "delete-app-client", Method: http.MethodDelete, Deletes: "app client",
		Path: appClient, Status: http.StatusNoContent,
		Summary: "Delete an app client and its logins", Command: "app-clients delete CLIENT",
		Permission: UpdateLogin,
		Doc:        "Also deletes its providers and signing keys. The tenant keeps its users.",
	}}
)

var appClientOperations = []Described{
	ListAppClients, CreateAppClient, GetAppClient, UpdateAppClient, FreezeAppClient, UnfreezeAppClient,
	RotateAppClientKey, DeleteAppClient,
}
