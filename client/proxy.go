package client

import (
	"context"
	"net/http"
	"time"

	"postern/core/contract"
)

// NewProxy is a request for a proxy. Empty fields get the server's defaults.
type NewProxy struct {
	Target       string                    `json:"target,omitempty"`
	Name         string                    `json:"name,omitempty"`
	DisplayName  string                    `json:"display_name,omitempty"`
	Team         string                    `json:"team,omitempty"` // id; the account's first team when empty
	Product      string                    `json:"product,omitempty"`
	Tenant       string                    `json:"tenant,omitempty"`
	Version      string                    `json:"version,omitempty"`
	Environments map[string]NewEnvironment `json:"environments,omitempty"`
	RequestsAuth *NewAuth                  `json:"requests_auth,omitempty"`
	Login        *NewLogin                 `json:"login,omitempty"`
	OpenAPI      string                    `json:"openapi,omitempty"` // document, JSON or YAML, or its address
}

// NewLogin is the hosted login of a new project.
type NewLogin struct {
	Providers    []contract.NewProvider `json:"providers"`
	RedirectURIs []string               `json:"redirect_uris,omitempty"` // required before the first sign-in
}

// NewEnvironment is the target of an environment.
type NewEnvironment struct {
	Target string `json:"target"`
}

// NewAuth says which callers may use the proxy.
type NewAuth struct {
	Mode     string                     `json:"mode,omitempty"` // passthrough or authenticate
	Methods  []string                   `json:"methods,omitempty"`
	Keyless  string                     `json:"keyless,omitempty"` // reject or owner_fallback
	KeyTypes []contract.NewKeyType      `json:"key_types,omitempty"`
	JWT      *contract.JWT              `json:"jwt,omitempty"`
	Opaque   *contract.NewIntrospection `json:"opaque,omitempty"`
}

// Proxy is a created proxy, with the secrets that are shown only then.
type Proxy struct {
	Project      ProxyProject        `json:"project"`
	APIKeys      map[string]ProxyKey `json:"api_keys,omitempty"` // by environment
	Login        *ProxyLogin         `json:"login,omitempty"`
	WorkspaceKey string              `json:"workspace_key,omitempty"`
	Claim        *Claim              `json:"claim,omitempty"`
	ExpiresAt    *time.Time          `json:"expires_at,omitempty"`
	Warnings     []Warning           `json:"warnings"`
}

// Warning is what the server allows but may surprise.
type Warning = contract.Warning

// ProxyProject is the new project.
type ProxyProject struct {
	ID           string             `json:"id"`
	Name         string             `json:"name"`
	Version      string             `json:"version"`
	Environments []ProxyEnvironment `json:"environments"`
}

// ProxyEnvironment is a new environment and its address.
type ProxyEnvironment struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	URL    string `json:"url"`
}

// ProxyKey is an environment's first API key in plaintext.
type ProxyKey struct {
	ID  string `json:"id"`
	Key string `json:"key"`
}

// ProxyLogin is the OpenID Connect issuer of a new project.
type ProxyLogin struct {
	Issuer       string            `json:"issuer"`
	ClientID     string            `json:"client_id"`
	AuthorizeURL string            `json:"authorize_url"`
	RedirectURIs []string          `json:"redirect_uris"`
	Callbacks    map[string]string `json:"callbacks"` // provider -> URL to register with it
}

// Claim is the way an account takes over the workspace.
type Claim struct {
	Code string `json:"code"`
	URL  string `json:"url"`
}

// CreateProxy puts a proxy in front of an API: in the workspace of the client's token,
// or in a new workspace if the client has no token.
func (c *Client) CreateProxy(ctx context.Context, in NewProxy) (Proxy, error) {
	return call[Proxy](ctx, c, http.MethodPost, in, "proxy")
}
