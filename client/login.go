package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// AppClient is an application that a tenant's users sign in to, and an OpenID Connect issuer
// of its own. Secret is set only in the response to its creation.
type AppClient struct {
	ID             string    `json:"id"`
	Tenant         string    `json:"tenant"` // id
	Name           string    `json:"name"`
	Issuer         string    `json:"issuer"`
	AuthorizeURL   string    `json:"authorize_url"`
	RedirectURIs   []string  `json:"redirect_uris"`
	LogoutURIs     []string  `json:"logout_uris"`
	Backchannel    string    `json:"backchannel_logout_uri"` // "" for none
	APIScopes      []string  `json:"api_scopes"`
	GrantTypes     []string  `json:"grant_types"`
	Frozen         bool      `json:"frozen"`
	Confidential   bool      `json:"confidential"`
	PKCE           string    `json:"pkce"` // required or when_sent
	AccessSeconds  int64     `json:"access_token_seconds"`
	RefreshSeconds int64     `json:"refresh_token_seconds"` // 0: a login cannot be refreshed
	Algorithm      string    `json:"algorithm"`             // RS256, ES256 or EdDSA
	Branding       Branding  `json:"branding"`
	ETag           string    `json:"etag"` // for If-Match
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
	Secret         string    `json:"client_secret,omitempty"`
	Warnings       []Warning `json:"warnings,omitempty"` // in responses to changes
}

// Branding has the title, the welcome text, the logo and the color of the hosted pages.
type Branding struct {
	Title   string `json:"title"`
	Welcome string `json:"welcome"`
	LogoURL string `json:"logo_url"`
	Color   string `json:"color"` // #rrggbb
}

// AppClientChange creates or changes an app client. Nil leaves a field as it is, or at its
// default in a new app client, which needs a name.
type AppClientChange struct {
	Name           *string         `json:"name,omitempty"`
	RedirectURIs   *[]string       `json:"redirect_uris,omitempty"`
	LogoutURIs     *[]string       `json:"logout_uris,omitempty"`
	Backchannel    *string         `json:"backchannel_logout_uri,omitempty"`
	APIScopes      *[]string       `json:"api_scopes,omitempty"`
	GrantTypes     *[]string       `json:"grant_types,omitempty"`
	Confidential   *bool           `json:"confidential,omitempty"` // true: a new secret
	PKCE           *string         `json:"pkce,omitempty"`
	AccessSeconds  *int64          `json:"access_token_seconds,omitempty"`
	RefreshSeconds *int64          `json:"refresh_token_seconds,omitempty"`
	Algorithm      *string         `json:"algorithm,omitempty"`
	Branding       *BrandingChange `json:"branding,omitempty"`
}

// BrandingChange changes the branding; nil leaves a field as it is.
type BrandingChange struct {
	Title   *string `json:"title,omitempty"`
	Welcome *string `json:"welcome,omitempty"`
	LogoURL *string `json:"logo_url,omitempty"`
	Color   *string `json:"color,omitempty"`
}

// Provider is an identity provider of an app client. Its secret can be set and is never
// returned.
type Provider struct {
	ID        string    `json:"id"`
	AppClient string    `json:"app_client"` // id
	Type      string    `json:"type"`
	Managed   bool      `json:"managed"`
	ClientID  string    `json:"client_id"` // at the provider
	HasSecret bool      `json:"has_client_secret"`
	Issuer    string    `json:"issuer,omitempty"`
	Scopes    []string  `json:"scopes"`
	TokenType TokenType `json:"token_type"`
	Label     string    `json:"label,omitempty"`    // on its button, "" for the type's name
	Audience  string    `json:"audience,omitempty"` // of auth0
	Domains   []string  `json:"authoritative_domains"`

	ResponseMode string `json:"response_mode,omitempty"` // of oidc: query or form_post

	SignInDomains []string `json:"sign_in_domains"`

	Enabled   bool      `json:"enabled"`
	Callback  string    `json:"callback_url"` // to register with the provider
	ETag      string    `json:"etag"`         // for If-Match
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// TokenType says which token the client and the upstream get.
type TokenType struct {
	Client   string `json:"client,omitempty"`   // service or provider
	Upstream string `json:"upstream,omitempty"` // service, provider_access_token, provider_id_token or none
}

// NewProvider asks for a provider. Nil and empty fields take the kind's defaults.
type NewProvider struct {
	Type    string `json:"type"` // github, google, microsoft, facebook, auth0 or oidc
	Managed bool   `json:"managed,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	Domain  string `json:"domain,omitempty"` // for auth0, in place of the issuer
	ProviderChange
}

// ProviderChange changes a provider; nil leaves a field as it is.
type ProviderChange struct {
	ClientID     *string    `json:"client_id,omitempty"`
	ClientSecret *string    `json:"client_secret,omitempty"`
	Scopes       *[]string  `json:"scopes,omitempty"`
	TokenType    *TokenType `json:"token_type,omitempty"`
	Label        *string    `json:"label,omitempty"`
	Audience     *string    `json:"audience,omitempty"` // of auth0
	Domains      *[]string  `json:"authoritative_domains,omitempty"`
	ResponseMode *string    `json:"response_mode,omitempty"` // of oidc: query or form_post
	Enabled      *bool      `json:"enabled,omitempty"`

	SignInDomains *[]string `json:"sign_in_domains,omitempty"`
}

// AppClients iterates over a tenant's app clients by name. It ends after the first
// error.
func (c *Client) AppClients(ctx context.Context, tenant string, options ...ListOptions) iter.Seq2[AppClient, error] {
	return pagesOf[AppClient](ctx, c, queryOf(options), "api", "v1", "tenants", tenant, "app-clients")
}

// AppClient returns an app client.
func (c *Client) AppClient(ctx context.Context, id string) (AppClient, error) {
	return call[AppClient](ctx, c, http.MethodGet, nil, "api", "v1", "app-clients", id)
}

// CreateAppClient creates an app client of a tenant.
func (c *Client) CreateAppClient(ctx context.Context, tenant string, in AppClientChange) (AppClient, error) {
	return call[AppClient](ctx, c, http.MethodPost, in, "api", "v1", "tenants", tenant, "app-clients")
}

// UpdateAppClient changes an app client.
func (c *Client) UpdateAppClient(ctx context.Context, id string, change AppClientChange) (AppClient, error) {
	return call[AppClient](ctx, c, http.MethodPatch, change, "api", "v1", "app-clients", id)
}

// FreezeAppClient refuses an app client and its tokens until UnfreezeAppClient.
func (c *Client) FreezeAppClient(ctx context.Context, id string) (AppClient, error) {
	return call[AppClient](ctx, c, http.MethodPost, nil, "api", "v1", "app-clients", id, "freeze")
}

// UnfreezeAppClient ends FreezeAppClient.
func (c *Client) UnfreezeAppClient(ctx context.Context, id string) (AppClient, error) {
	return call[AppClient](ctx, c, http.MethodPost, nil, "api", "v1", "app-clients", id, "unfreeze")
}

// AppClientKeys are the published signing keys of an app client, in the order in which they
// sign.
type AppClientKeys struct {
	Keys []AppClientKey `json:"keys"`
}

// AppClientKey is a signing key. ID is the kid of its tokens.
type AppClientKey struct {
	ID             string     `json:"id"`
	Algorithm      string     `json:"algorithm"`
	SignsFrom      time.Time  `json:"signs_from"`
	PublishedUntil *time.Time `json:"published_until"` // nil until a later key follows
}

// RotateAppClientKey adds a signing key, which is published at once and signs later.
func (c *Client) RotateAppClientKey(ctx context.Context, id string) (AppClientKeys, error) {
	return call[AppClientKeys](ctx, c, http.MethodPost, nil, "api", "v1", "app-clients", id, "signing-keys", "rotate")
}

// DeleteAppClient deletes an app client and every login with it.
func (c *Client) DeleteAppClient(ctx context.Context, id string) error {
	return c.remove(ctx, "api", "v1", "app-clients", id)
}

// Providers iterates over an app client's providers in the order of their buttons.
// It ends after the first error.
func (c *Client) Providers(ctx context.Context, appClient string) iter.Seq2[Provider, error] {
	return pages[Provider](ctx, c, "api", "v1", "app-clients", appClient, "providers")
}

// CreateProvider adds a provider to an app client.
func (c *Client) CreateProvider(ctx context.Context, appClient string, in NewProvider) (Provider, error) {
	return call[Provider](ctx, c, http.MethodPost, in, "api", "v1", "app-clients", appClient, "providers")
}

// UpdateProvider changes a provider.
func (c *Client) UpdateProvider(ctx context.Context, id string, change ProviderChange) (Provider, error) {
	return call[Provider](ctx, c, http.MethodPatch, change, "api", "v1", "providers", id)
}

// DeleteProvider removes a provider from its app client.
func (c *Client) DeleteProvider(ctx context.Context, id string) error {
	return c.remove(ctx, "api", "v1", "providers", id)
}
