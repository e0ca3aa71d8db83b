package contract

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// NewProxy is a project to be created in front of an API. Members that are left out get their defaults.
type NewProxy struct {
	Target       string                       `json:"target,omitempty" doc:"http or https URL that calls are forwarded to; optional if every environment has one" example:"https://api.example.com"`
	Name         string                       `json:"name,omitempty" minLength:"1" doc:"Name in the proxy's URL; default: from the target's host"`
	DisplayName  string                       `json:"display_name,omitempty" doc:"Name for people"`
	Version      string                       `json:"version,omitempty" minLength:"1" doc:"Name of its version; default: 1.0.0"`
	Environments map[string]EnvironmentTarget `json:"environments,omitempty" doc:"Environments by name; default: prod with the target above"`
	RequestsAuth *NewRequestsAuth             `json:"requests_auth,omitempty"`
	Team         string                       `json:"team,omitempty" minLength:"1" doc:"Id of the owning team; default: the caller's first"`
	Product      string                       `json:"product,omitempty" minLength:"1" doc:"Name of a product of the team; created if missing"`
	Tenant       string                       `json:"tenant,omitempty" minLength:"1" doc:"Name of a tenant to attach; created if missing"`
	OpenAPI      OpenAPISource                `json:"openapi,omitempty"`
	Login        *NewLogin                    `json:"login,omitempty"`
}

// OpenAPISource is an OpenAPI document as JSON, or a JSON string with a document or with its address.
type OpenAPISource json.RawMessage

// SourceOf returns the source of a text, which is a document or its address.
func SourceOf(text string) OpenAPISource {
	raw, _ := json.Marshal(text) // of a string
	return raw
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *OpenAPISource) UnmarshalJSON(raw []byte) error {
	*s = append(OpenAPISource{}, raw...)
	return nil
}

// MarshalJSON implements json.Marshaler.
func (s OpenAPISource) MarshalJSON() ([]byte, error) { return s, nil }

// NewRequestsAuth says which calls to a new project are served.
type NewRequestsAuth struct {
	Mode     string            `json:"mode,omitempty" minLength:"1" doc:"passthrough or authenticate; default: authenticate with login, else passthrough"`
	Methods  []string          `json:"methods,omitempty" doc:"Default: [api_key]; with login [api_key, jwt], or [jwt] without requests_auth"`
	Keyless  string            `json:"keyless,omitempty" minLength:"1" doc:"reject (default) or owner_fallback"`
	KeyTypes []NewKeyType      `json:"key_types,omitempty" doc:"In addition to the built-in full and read-only"`
	JWT      *JWT              `json:"jwt,omitempty"`
	Opaque   *NewIntrospection `json:"opaque,omitempty" doc:"Introspection endpoint of the method opaque"`
}

// NewLogin is the hosted login of a new project.
type NewLogin struct {
	Providers    []NewProvider `json:"providers,omitempty" doc:"Providers in the order of their buttons"`
	RedirectURIs []string      `json:"redirect_uris,omitempty" doc:"https, or http on loopback; compared exactly. Sign-in needs at least one"`
}

// LogValue implements slog.LogValuer.
func (p NewProxy) LogValue() slog.Value { return slog.StringValue(p.Name) }

// ProxyCreation is a request for a new project.
type ProxyCreation struct{ Body NewProxy }

// Request returns the request to create the project.
func (p NewProxy) Request() ProxyCreation { return ProxyCreation{p} }

// LogValue implements slog.LogValuer.
func (c ProxyCreation) LogValue() slog.Value { return slog.StringValue(c.Body.Name) }

// Proxy is a new project, with the secrets that are shown only once.
type Proxy struct {
	Project      ProxyProject        `json:"project"`
	APIKeys      map[string]ProxyKey `json:"api_keys,omitempty" doc:"First key of each environment, in plaintext; returned only once"`
	Login        *ProxyLogin         `json:"login,omitempty" doc:"The project's OpenID Connect issuer, if login was set"`
	WorkspaceKey Secret              `json:"workspace_key,omitempty" doc:"Bearer token of the unclaimed workspace; returned only once"`
	Claim        *ProxyClaim         `json:"claim,omitempty"`
	ExpiresAt    *time.Time          `json:"expires_at,omitempty" doc:"When the proxy is deleted unless it is claimed"`
	Warnings     []Warning           `json:"warnings" doc:"What is allowed but may surprise; the proxy was created anyway"`
}

// LogValue implements slog.LogValuer.
func (p Proxy) LogValue() slog.Value { return slog.StringValue(p.Project.ID) }

// ProxyProject is a new project with its addresses.
type ProxyProject struct {
	ID           string             `json:"id"`
	Name         string             `json:"name"`
	Version      string             `json:"version"`
	Environments []ProxyEnvironment `json:"environments"`
}

// ProxyEnvironment is an environment of a new project.
type ProxyEnvironment struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	URL    string `json:"url" doc:"Base URL for callers"`
}

// ProxyKey is the first API key of an environment.
type ProxyKey struct {
	ID  string `json:"id"`
	Key Secret `json:"key"`
}

// ProxyLogin is the OpenID Connect issuer of a new project.
type ProxyLogin struct {
	Issuer       string            `json:"issuer"`
	ClientID     string            `json:"client_id" doc:"Id of the app client, a public client without a secret"`
	AuthorizeURL string            `json:"authorize_url"`
	RedirectURIs []string          `json:"redirect_uris"`
	Callbacks    map[string]string `json:"callbacks" doc:"Callback URL to register, by provider; the second of a type is type_2"`
}

// ProxyClaim is how an account claims the workspace of a new project.
type ProxyClaim struct {
	Code Secret `json:"code"`
	URL  string `json:"url"`
}

// CreateProxy is the operation that creates projects. It needs no account.
var CreateProxy = Op[ProxyCreation, Proxy]{Operation{
	ID: "create-proxy", Method: http.MethodPost, Path: "/proxy", Status: http.StatusCreated,
	Summary: "Create a proxy", Command: "create", Permission: CreateProjects,
	Doc: "Creates a project in front of an API. Without an account, it is created in a workspace of its own, which " +
		"ends " +
		"after a few days unless an account claims it; the answer has the workspace's key and the claim link.",
}}

var proxyOperations = []Described{CreateProxy}
