package contract

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"time"
)

// ProviderPath is the path parameter of a provider.
type ProviderPath struct {
	Provider string `path:"provider" doc:"ID of the provider"`
}

// Provider is an identity provider of an app client. Its client secret is never returned.
type Provider struct {
	ProviderRecord
	CallbackURL string    `json:"callback_url" doc:"URL to register with the provider"`
	ETag        string    `json:"etag" doc:"Send as If-Match to update the provider" audit:"-"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// ProviderRecord has the members of a provider that exports include too.
type ProviderRecord struct {
	ID                   string    `json:"id"`
	AppClient            string    `json:"app_client" doc:"ID of the app client"`
	Type                 string    `json:"type" doc:"github, google, microsoft, facebook, auth0 or oidc"`
	Managed              bool      `json:"managed" doc:"True if it uses the installation's shared GitHub app"`
	ClientID             string    `json:"client_id" doc:"Client ID that the provider assigned to your app"`
	HasClientSecret      bool      `json:"has_client_secret"`
	Issuer               string    `json:"issuer,omitempty"`
	Scopes               []string  `json:"scopes" doc:"Scopes that are requested from the provider"`
	TokenType            TokenType `json:"token_type"`
	Label                string    `json:"label,omitempty" doc:"Name on the button, after \"Continue with\". Absent if it is the name of the type"`
	Audience             string    `json:"audience,omitempty" doc:"Identifier of your API in Auth0. Only for auth0"`
	AuthoritativeDomains []string  `json:"authoritative_domains" doc:"Email domains that you trust the provider to vouch for"`
	ResponseMode         string    `json:"response_mode,omitempty" doc:"How the provider sends its response to the callback URL: query or form_post. Only for oidc"`
	SignInDomains        []string  `json:"sign_in_domains" doc:"Email domains whose users the sign-in page sends to this provider"`
	Enabled              bool      `json:"enabled" doc:"True if the sign-in page offers this provider"`
	CreatedAt            time.Time `json:"created_at"`
}

// providerTypeLabels are the names of the types of provider on buttons.
var providerTypeLabels = map[string]string{
	"auth0":     "Auth0",
	"facebook":  "Facebook",
	"github":    "GitHub",
	"google":    "Google",
	"microsoft": "Microsoft",
	"oidc":      "OpenID Connect",
}

// ProviderTypeLabel returns the name of a type of provider on buttons, or the type itself if it isn't known.
func ProviderTypeLabel(of string) string { return cmp.Or(providerTypeLabels[of], of) }

// ShownLabel returns the name of the provider on its button, after "Continue with": the label that the team gave it, or
// else the name of the type, with the host where several of a type are likely.
func (p ProviderRecord) ShownLabel() string {
	if p.Label != "" {
		return p.Label
	}
	u, err := url.Parse(p.Issuer)
	switch {
	case err != nil || u.Host == "":
		return ProviderTypeLabel(p.Type)
	case p.Type == "oidc":
		return u.Host
	}
	return ProviderTypeLabel(p.Type) + " (" + u.Host + ")"
}

// Path returns its path parameter.
func (p Provider) Path() ProviderPath { return ProviderPath{Provider: p.ID} }

// Tag returns the provider's ETag.
func (p Provider) Tag() string { return p.ETag }

// TokenType says which token the application gets, and which one the upstream gets in Authorization when the
// application presents it.
type TokenType struct {
	Client   string `json:"client" doc:"service or provider"`
	Upstream string `json:"upstream" doc:"service, provider_access_token, provider_id_token or none"`
}

// Tokens that applications and upstreams get.
const (
	ServiceToken        = "service"  // Postern's own
	ProviderToken       = "provider" // the provider's; only applications get it
	ProviderAccessToken = "provider_access_token"
	ProviderIDToken     = "provider_id_token"
	NoToken             = "none"
)

// BothTokens returns the token types that one word stands for.
func BothTokens(word string) TokenType {
	switch word {
	case ProviderToken:
		return TokenType{Client: ProviderToken, Upstream: ProviderAccessToken}
	case NoToken:
		return TokenType{Client: ServiceToken, Upstream: NoToken}
	}
	return TokenType{Client: word, Upstream: word}
}

// NewTokenType is a TokenType to be set. In JSON it is an object, or a string that sets both members. An empty member
// gets its default.
type NewTokenType struct {
	Client   string `json:"client,omitempty" flag:"client-token" doc:"Token that the application gets: service (Postern's own) or provider (the provider's own). Defaults to service"`
	Upstream string `json:"upstream,omitempty" flag:"upstream-token" doc:"Token that the upstream gets: service (Postern's own), provider_access_token, provider_id_token or none"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *NewTokenType) UnmarshalJSON(raw []byte) error {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		*t = NewTokenType(BothTokens(word))
		return nil
	}
	type object NewTokenType // without this method
	var each object
	err := json.Unmarshal(raw, &each)
	*t = NewTokenType(each)
	return err
}

// ProviderSettings are the members of a provider that can be changed. nil leaves a member unchanged, or at its default
// in a new provider.
type ProviderSettings struct {
	ClientID             *string      `json:"client_id,omitempty" doc:"Client ID that the provider assigned to your app"`
	ClientSecret         *Secret      `json:"client_secret,omitempty" flag:"client-secret-file,file" doc:"Client secret that the provider assigned to your app"`
	Scopes               *[]string    `json:"scopes,omitempty" flag:"scope" doc:"Scopes to request from the provider. Defaults to the type's scopes"`
	TokenType            NewTokenType `json:"token_type,omitzero" flag:",each" doc:"Tokens for the application and the upstream. A string sets both: service, provider or none. The gateway checks the provider's own tokens with the provider on every call"`
	Label                *string      `json:"label,omitempty" doc:"Name on the sign-in button, after \"Continue with\". Defaults to the name of the type"`
	Audience             *string      `json:"audience,omitempty" doc:"Identifier of your API in Auth0. Required if applications get Auth0's access tokens. Only for auth0"`
	AuthoritativeDomains *[]string    `json:"authoritative_domains,omitempty" flag:"authoritative-domain" doc:"Email domains that you trust the provider to vouch for. Sign-up approvals by domain require this. Only for oidc, auth0, and microsoft with a single-tenant issuer"`
	ResponseMode         *string      `json:"response_mode,omitempty" doc:"How the provider sends its response to the callback URL: query or form_post. Only for oidc. Defaults to query, or form_post for Apple"`
	SignInDomains        *[]string    `json:"sign_in_domains,omitempty" flag:"sign-in-domain" doc:"Email domains whose users the sign-in page sends to this provider"`
	Enabled              *bool        `json:"enabled,omitempty" doc:"Offer this provider on the sign-in page. Defaults to true"`
}

// LogValue implements slog.LogValuer.
func (ProviderSettings) LogValue() slog.Value { return slog.StringValue("settings of a provider") }

// Of returns the request to change these settings of a provider.
func (s ProviderSettings) Of(provider string) ProviderUpdate {
	return ProviderUpdate{ProviderPath: ProviderPath{Provider: provider}, Body: s}
}

// NewProvider is a provider to be created. Users are identified by the provider's type, its issuer and whether it is
// managed, so these can't change.
type NewProvider struct {
	Type    string `json:"type" doc:"github, google, microsoft, facebook, auth0 or oidc"`
	Managed bool   `json:"managed,omitempty" doc:"Use the installation's shared app. Only for github"`
	Issuer  string `json:"issuer,omitempty" minLength:"1" doc:"Issuer URL. Required for oidc. For github, the URL of a GitHub Enterprise server. For microsoft, the issuer of a single tenant"`
	Domain  string `json:"domain,omitempty" minLength:"1" doc:"Auth0 domain, such as example.eu.auth0.com. Required for auth0"`
	ProviderSettings
}

// In returns the request to create the provider for an app client.
func (p NewProvider) In(client string) ProviderCreation {
	return ProviderCreation{AppClientPath: AppClientPath{Client: client}, Body: p}
}

// LogValue implements slog.LogValuer.
func (p NewProvider) LogValue() slog.Value { return slog.StringValue(p.Type) }

// ProviderCreation is a request for a new provider.
type ProviderCreation struct {
	AppClientPath
	Body NewProvider
}

// LogValue implements slog.LogValuer.
func (c ProviderCreation) LogValue() slog.Value { return slog.StringValue(c.Client) }

// ProviderUpdate is a request to change a provider.
type ProviderUpdate struct {
	ProviderPath
	Condition
	Body ProviderSettings
}

// LogValue implements slog.LogValuer.
func (u ProviderUpdate) LogValue() slog.Value { return slog.StringValue(u.Provider) }

const (
	providers = appClient + "/providers"
	provider  = "/api/v1/providers/{provider}"
)

// The operations on providers.
var (
	ListProviders = &Op[AppClientPath, List[Provider]]{Operation{
		ID: "list-providers", Method: http.MethodGet, Path: providers, Summary: "List an app client's providers",
		Command: "providers list CLIENT", Permission: ReadLogin,
		Doc: "Lists the app client's providers in the order of their buttons on the sign-in page.",
	}}
	CreateProvider = &Op[ProviderCreation, Provider]{Operation{
		ID: "create-provider", Method: http.MethodPost, Path: providers, Status: http.StatusCreated,
		Summary: "Create a provider", Command: "providers create CLIENT TYPE", Permission: UpdateLogin,
		Example: "providers create cli_01 github --client-id Iv1.0123 --client-secret-file github.secret",
		Doc: "Register the callback URL from the response with the provider. To get that URL before you have a " +
			"client ID, create the provider with enabled set to false.",
	}}
	GetProvider = &Op[ProviderPath, Provider]{Operation{
		ID: "get-provider", Method: http.MethodGet, Path: provider, Summary: "Get a provider", Permission: ReadLogin,
		Command: "providers show PROVIDER",
		Doc:     "Returns the callback URL and all settings except the client secret.",
	}}
	UpdateProvider = &Op[ProviderUpdate, Provider]{Operation{
		ID: "update-provider", Method: http.MethodPatch, Path: provider, Summary: "Update a provider",
		Command: "providers update PROVIDER", Permission: UpdateLogin,
		Example: "providers update idp_01 --sign-in-domain example.com --enabled",
		Doc: "Changes only the fields you send. A list replaces the existing one. You can't change the type, the " +
			"issuer or the managed setting, because they identify users. Create another provider instead.",
	}}
	DeleteProvider = &Op[ProviderPath, None]{Operation{
		ID: "delete-provider", Deletes: "provider",
		Method: http.MethodDelete, Path: provider, Status: http.StatusNoContent,
		Summary: "Delete a provider", Command: "providers delete PROVIDER", Permission: UpdateLogin,
		Doc: "Its users aren't deleted and can sign in with another provider of the same type and issuer. They are " +
			"removed from groups that they are in only because of this provider's claims.",
	}}
)

var providerOperations = []Described{ListProviders, CreateProvider, GetProvider, UpdateProvider, DeleteProvider}
