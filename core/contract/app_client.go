package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// AppClientPath is the path parameter of an app client.
type AppClientPath struct {
	Client string `path:"client" doc:"Id of the app client"`
}

// AppClient is an application that a tenant's users sign in to, and an OpenID Connect issuer of its own.
type AppClient struct {
	ID                   string    `json:"id"`
	Tenant               string    `json:"tenant" doc:"Id of the tenant"`
	Name                 string    `json:"name"`
	Issuer               string    `json:"issuer" doc:"Issuer of this client; its discovery document is below it" audit:"-"`
	AuthorizeURL         string    `json:"authorize_url" audit:"-"`
	RedirectURIs         []string  `json:"redirect_uris"`
	LogoutURIs           []string  `json:"logout_uris"`
	BackchannelLogoutURI string    `json:"backchannel_logout_uri" doc:"Empty: none"`
	APIScopes            []string  `json:"api_scopes" doc:"API scopes that it may ask for"`
	GrantTypes           []string  `json:"grant_types"`
	Frozen               bool      `json:"frozen" doc:"It gets no tokens, and those that it has are refused"`
	Confidential         bool      `json:"confidential"`
	PKCE                 string    `json:"pkce" doc:"required or when_sent"`
	AccessTokenSeconds   int64     `json:"access_token_seconds"`
	RefreshTokenSeconds  int64     `json:"refresh_token_seconds" doc:"0: a login cannot be refreshed"`
	Algorithm            string    `json:"algorithm"`
	Branding             Branding  `json:"branding"`
	ETag                 string    `json:"etag" doc:"Send as If-Match to update the app client" audit:"-"`
	CreatedAt            time.Time `json:"created_at"`
	UpdatedAt            time.Time `json:"updated_at"`
}

// Path returns its path parameter.
func (c AppClient) Path() AppClientPath { return AppClientPath{Client: c.ID} }

// Tag returns the app client's ETag.
func (c AppClient) Tag() string { return c.ETag }

// Branding is the look of the hosted pages.
type Branding struct {
	Title   string `json:"title" doc:"Empty: the name of the project"`
	Welcome string `json:"welcome"`
	LogoURL string `json:"logo_url"`
	Color   string `json:"color" doc:"#rrggbb"`
}

// SavedAppClient is an app client as the answer to a change.
type SavedAppClient struct {
	AppClient
	ClientSecret Secret    `json:"client_secret,omitempty" doc:"Set if it is new; returned only once"`
	Warnings     []Warning `json:"warnings,omitempty" doc:"What is allowed but may surprise"`
}

// LogValue implements slog.LogValuer.
func (c SavedAppClient) LogValue() slog.Value { return slog.StringValue(c.ID) }

// Values of PKCE.
const (
	PKCERequired = "required"
	PKCEWhenSent = "when_sent"
)

// AppClientSettings are the members of an app client that can be set. nil leaves a member as it is, or at its default
// in a new app client.
type AppClientSettings struct {
	RedirectURIs         *[]string      `json:"redirect_uris,omitempty" flag:"redirect-uri" doc:"Allowed redirect URIs: https, http on loopback, or a private-use scheme such as com.example.app:/callback; compared exactly, but for the port of 127.0.0.1 and [::1]"`
	LogoutURIs           *[]string      `json:"logout_uris,omitempty" flag:"logout-uri" doc:"Allowed redirect URIs after signing out"`
	BackchannelLogoutURI *string        `json:"backchannel_logout_uri,omitempty" doc:"URL of your server that gets a logout token when a session ends (OpenID Connect Back-Channel Logout); empty: none"`
	APIScopes            *[]string      `json:"api_scopes,omitempty" flag:"api-scope" doc:"API scopes that it may ask for, declared by a project that serves the tenant; orders:* covers a family"`
	GrantTypes           *[]string      `json:"grant_types,omitempty" flag:"grant-type" doc:"authorization_code and refresh_token (default), client_credentials for calls of the application itself"`
	Confidential         *bool          `json:"confidential,omitempty" doc:"true returns a new client secret once; false (default) is for clients that cannot keep a secret"`
	PKCE                 *string        `json:"pkce,omitempty" doc:"required (default), or when_sent for a confidential client whose library cannot send a code challenge"`
	AccessTokenSeconds   *int64         `json:"access_token_seconds,omitempty" flag:"access-token,duration" doc:"Lifetime of access and ID tokens, in seconds; default: 10 minutes"`
	RefreshTokenSeconds  *int64         `json:"refresh_token_seconds,omitempty" flag:"refresh-token,duration" doc:"How long a login can be refreshed, in seconds; default: 30 days; 0: not at all"`
	Algorithm            *string        `json:"algorithm,omitempty" doc:"RS256 (default), ES256 or EdDSA"`
	Branding             BrandingChange `json:"branding,omitzero" flag:",each"`
}

// Of returns the request to change these settings of an app client.
func (s AppClientSettings) Of(client string) AppClientUpdate {
	return AppClientUpdate{
		AppClientPath: AppClientPath{Client: client}, Body: AppClientChange{AppClientSettings: s},
	}
}

// BrandingChange changes the branding; nil leaves a member as it is.
type BrandingChange struct {
	Title   *string `json:"title,omitempty" doc:"Name of the application on the login page; default: that of the project"`
	Welcome *string `json:"welcome,omitempty" doc:"Sentence below the title"`
	LogoURL *string `json:"logo_url,omitempty" doc:"https URL of an image"`
	Color   *string `json:"color,omitempty" doc:"Color as #rrggbb"`
}

// AppClientList is a request for the app clients of a tenant.
type AppClientList struct {
	TenantPath
	Page
	Sort string `query:"sort" enum:"name,-name,created,-created" doc:"Order; - begins at the end; default: name"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Part of the name or the title, ignoring case"`
}

// NewAppClient is an app client to be created.
type NewAppClient struct {
	Name string `json:"name" doc:"Unique in the tenant, for example web"`
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

// AppClientChange changes an app client; nil leaves a member as it is.
type AppClientChange struct {
	Name *string `json:"name,omitempty" doc:"Unique in the tenant"`
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
	Keys []AppClientKey `json:"keys" doc:"In the order in which they sign"`
}

// AppClientKey is a signing key of an app client.
type AppClientKey struct {
	ID             string     `json:"id" doc:"kid of its tokens"`
	Algorithm      string     `json:"algorithm"`
	SignsFrom      time.Time  `json:"signs_from"`
	PublishedUntil *time.Time `json:"published_until" doc:"null until a later key follows"`
}

const (
	appClients = tenant + "/app-clients"
	appClient  = "/api/v1/app-clients/{client}"
)

// The operations on app clients.
var (
	ListAppClients = Op[AppClientList, List[AppClient]]{Operation{
		ID: "list-app-clients", Method: http.MethodGet, Path: appClients, Summary: "List a tenant's app clients",
		Command: "app-clients list TENANT", Permission: ReadLogin,
		Doc: "Lists the app clients of a tenant by name. No list has their secrets.",
	}}
	CreateAppClient = Op[AppClientCreation, SavedAppClient]{Operation{
		ID: "create-app-client", Method: http.MethodPost, Path: appClients, Status: http.StatusCreated,
		Summary: "Create an app client", Command: "app-clients create TENANT NAME", Permission: UpdateLogin,
		Example: "app-clients create tnt_01 web --redirect-uri https://app.example.com/callback",
		Doc: "Each app client is an OpenID Connect issuer. With confidential the answer has the client secret, " +
			"which is shown only once.",
	}}
	GetAppClient = Op[AppClientPath, AppClient]{Operation{
		ID: "get-app-client", Method: http.MethodGet, Path: appClient, Summary: "Get an app client",
		Command: "app-clients show CLIENT", Permission: ReadLogin,
		Doc: "Has the issuer and everything else about the app client but its secret.",
	}}
	UpdateAppClient = Op[AppClientUpdate, SavedAppClient]{Operation{
		ID: "update-app-client", Method: http.MethodPatch, Path: appClient, Summary: "Update an app client",
		Command:    "app-clients update CLIENT",
		Example:    "app-clients update cli_01 --redirect-uri https://app.example.com/callback --access-token 5m",
		Permission: UpdateLogin,
		Doc: "Changes only what you send; a list replaces the earlier one. confidential: true always creates a new " +
			"client secret, and the old one stops working at once.",
	}}
	FreezeAppClient = Op[AppClientPath, AppClient]{Operation{
		ID: "freeze-app-client", Method: http.MethodPost, Path: appClient + "/freeze", Summary: "Freeze an app client",
		Command: "app-clients freeze CLIENT", Permission: UpdateLogin,
		Doc: "While frozen, the app client gets no tokens, and all of its tokens are refused.",
	}}
	UnfreezeAppClient = Op[AppClientPath, AppClient]{Operation{
		ID: "unfreeze-app-client", Method: http.MethodPost, Path: appClient + "/unfreeze", Permission: UpdateLogin,
		Summary: "Unfreeze an app client", Command: "app-clients unfreeze CLIENT",
		Doc: "Its tokens that have not expired are accepted again.",
	}}
	RotateAppClientKey = Op[AppClientPath, AppClientKeys]{Operation{
		ID: "rotate-app-client-key", Method: http.MethodPost, Path: appClient + "/signing-keys/rotate",
		Summary: "Rotate an app client's signing key", Command: "app-clients signing-keys rotate CLIENT",
		Permission: UpdateLogin,
		Doc: "The new key is published in the JWKS at once and signs an hour later, so that applications read it " +
			"before they need it. The old key stays published until the last token that it signed has expired.",
	}}
	DeleteAppClient = Op[AppClientPath, None]{Operation{
		ID: "delete-app-client", Method: http.MethodDelete, Path: appClient, Status: http.StatusNoContent,
		Summary: "Delete an app client and end its logins", Command: "app-clients delete CLIENT",
		Permission: UpdateLogin,
		Doc:        "Its providers and signing keys are deleted with it. The users of the tenant stay.",
	}}
)

var appClientOperations = []Described{
	ListAppClients, CreateAppClient, GetAppClient, UpdateAppClient, FreezeAppClient, UnfreezeAppClient,
	RotateAppClientKey, DeleteAppClient,
}
