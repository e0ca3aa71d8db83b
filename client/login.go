package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

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
