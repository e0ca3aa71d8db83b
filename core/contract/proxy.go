package contract

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// NewProxy is a project to be created in front of an API. Absent members have their defaults.
type NewProxy struct {
	Target       string                       `json:"target,omitempty" doc:"http or https URL that calls are forwarded to. Optional if every environment has one" example:"https://api.example.com"`
	Name         string                       `json:"name,omitempty" slug:"true" minLength:"1" doc:"Name in the gateway URL. Defaults to a name based on the target's host"`
	DisplayName  string                       `json:"display_name,omitempty" doc:"Display name"`
	Version      string                       `json:"version,omitempty" minLength:"1" doc:"Name of the version. Defaults to 1.0.0"`
	Environments map[string]EnvironmentTarget `json:"environments,omitempty" doc:"Environments by name. Defaults to prod with the target"`
	RequestsAuth *NewRequestsAuth             `json:"requests_auth,omitempty"`
	Team         string                       `json:"team,omitempty" minLength:"1" id:"team" doc:"ID of the owning team. Defaults to your first team"`
	Product      string                       `json:"product,omitempty" minLength:"1" doc:"Name of one of the team's products. It is created if it doesn't exist"`
	Tenant       string                       `json:"tenant,omitempty" minLength:"1" doc:"Name of a tenant to attach. It is created if it doesn't exist"`
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

// NewLogin is the hosted login of a new project.
type NewLogin struct {
	Providers    []NewProvider `json:"providers,omitempty" doc:"Providers, in the order of their buttons"`
	RedirectURIs []string      `json:"redirect_uris,omitempty" doc:"Redirect URIs: https, or http on loopback. They must match exactly. Sign-in requires at least one"`
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
	APIKeys      map[string]ProxyKey `json:"api_keys,omitempty" doc:"First key of each environment, in plaintext. Returned only once"`
	Login        *ProxyLogin         `json:"login,omitempty" doc:"The project's OpenID Connect issuer, if login was set"`
	WorkspaceKey Secret              `json:"workspace_key,omitempty" doc:"Bearer token of the unclaimed workspace. Returned only once"`
	Claim        *ProxyClaim         `json:"claim,omitempty"`
	ExpiresAt    *time.Time          `json:"expires_at,omitempty" doc:"When the proxy expires, unless you claim it"`
	Warnings     []Warning           `json:"warnings" doc:"Settings that are allowed but may surprise you"`
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
	ClientID     string            `json:"client_id" doc:"ID of the app client, which is public and has no secret"`
	AuthorizeURL string            `json:"authorize_url"`
	RedirectURIs []string          `json:"redirect_uris"`
	Callbacks    map[string]string `json:"callbacks" doc:"Callback URLs to register, by provider. A second provider of the same type is named type_2"`
}

// ProxyClaim is how an account claims the workspace of a new project.
type ProxyClaim struct {
	Code Secret `json:"code"`
	URL  string `json:"url"`
}

// CreateProxy is the operation that creates projects. It needs no account.
var CreateProxy = &Op[ProxyCreation, Proxy]{Operation{
	ID: "create-proxy", Method: http.MethodPost, Path: "/proxy", Status: http.StatusCreated,
	Summary: "Create a proxy", Command: "create", Permission: CreateProjects,
	Doc: "Creates a project in front of an API. Without an account, the project is created in its own workspace, and " +
		"the response includes the workspace key and a claim link. Unless an account claims it, the workspace " +
		"expires after 30 days by default, and is deleted a week later.",
}}

var proxyOperations = []Described{CreateProxy}
