package api

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/service/login"
	"postern/service/projects"
)

type createProxyInput struct {
	Site   string `header:"Sec-Fetch-Site" hidden:"true"`
	Cookie string `header:"Cookie" hidden:"true"`

	AnonymousToken string `header:"Postern-Anonymous-Token" doc:"Token that the installation may require of callers without an account"`
	Body           struct {
		Target       string                      `json:"target,omitempty" doc:"http or https URL that calls are forwarded to; optional if every environment has one" example:"https://api.example.com"`
		Name         string                      `json:"name,omitempty" minLength:"1" doc:"Name in the proxy's URL; default: from the target's host"`
		DisplayName  string                      `json:"display_name,omitempty"`
		Version      string                      `json:"version,omitempty" minLength:"1" doc:"Default 1.0.0"`
		Environments map[string]environmentInput `json:"environments,omitempty" doc:"Environments by name; default: prod with the target above"`
		RequestsAuth *requestsAuthInput          `json:"requests_auth,omitempty"`
		Team         string                      `json:"team,omitempty" minLength:"1" doc:"Id of the owning team; default: the caller's first"`
		Product      string                      `json:"product,omitempty" minLength:"1" doc:"Name of a product of the team; created if missing"`
		Tenant       string                      `json:"tenant,omitempty" minLength:"1" doc:"Name of a tenant to attach; created if missing"`
		OpenAPI      openAPIField                `json:"openapi,omitempty"`
		Login        *loginInput                 `json:"login,omitempty"`
	}
}

type environmentInput struct {
	Target string `json:"target,omitempty"`
}

type requestsAuthInput struct {
	Mode     string                     `json:"mode,omitempty" minLength:"1" doc:"passthrough or authenticate; default: authenticate with login, else passthrough"`
	Methods  []string                   `json:"methods,omitempty" doc:"Default: [api_key]; with login [api_key, jwt], or [jwt] without requests_auth"`
	Keyless  string                     `json:"keyless,omitempty" minLength:"1" doc:"reject (default) or owner_fallback"`
	KeyTypes []contract.NewKeyType      `json:"key_types,omitempty" doc:"In addition to the built-in full and read-only"`
	JWT      *contract.JWT              `json:"jwt,omitempty"`
	Opaque   *contract.NewIntrospection `json:"opaque,omitempty" doc:"Introspection endpoint of the method opaque"`
}

type loginInput struct {
	Providers    []contract.NewProvider `json:"providers,omitempty" doc:"Providers in the order of their buttons"`
	RedirectURIs []string               `json:"redirect_uris,omitempty" doc:"https, or http on loopback; compared exactly. Sign-in needs at least one"`
}

// rule returns the setup of a login, or nil if none is requested.
func (in *loginInput) rule(service *login.Service) *login.Setup {
	if in == nil {
		return nil
	}
	return &login.Setup{Service: service, RedirectURIs: in.RedirectURIs, Providers: in.Providers}
}

type createProxyOutput struct {
	SetCookie string `header:"Set-Cookie" hidden:"true"`
	Body      createdProxy
}

type createdProxy struct {
	Project      createdProject        `json:"project"`
	APIKeys      map[string]createdKey `json:"api_keys,omitempty" doc:"First key of each environment, in plaintext; returned only once"`
	Login        *createdLogin         `json:"login,omitempty" doc:"The project's OpenID Connect issuer, if login was set"`
	WorkspaceKey string                `json:"workspace_key,omitempty" doc:"Bearer token of the unclaimed workspace; returned only once"`
	Claim        *claimOutput          `json:"claim,omitempty"`
	ExpiresAt    *time.Time            `json:"expires_at,omitempty" doc:"When the proxy is deleted unless it is claimed"`
	Warnings     []warningOutput       `json:"warnings" doc:"What is allowed but may surprise; it was created all the same"`
}

type createdProject struct {
	ID           string           `json:"id"`
	Name         string           `json:"name"`
	Version      string           `json:"version"`
	Environments []environmentURL `json:"environments"`
}

type environmentURL struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	URL    string `json:"url" doc:"Base URL for callers"`
}

type createdKey struct {
	ID  string `json:"id"`
	Key string `json:"key"`
}

type createdLogin struct {
	Issuer       string            `json:"issuer"`
	ClientID     string            `json:"client_id" doc:"Id of the app client, a public client without a secret"`
	AuthorizeURL string            `json:"authorize_url"`
	RedirectURIs []string          `json:"redirect_uris"`
	Callbacks    map[string]string `json:"callbacks" doc:"Callback URL to register, by provider; the second of a type is type_2"`
}

type claimOutput struct {
	Code string `json:"code"`
	URL  string `json:"url"`
}

func (h *Handler) createProxy(ctx context.Context, in *createProxyInput) (*createProxyOutput, error) {
	if err := h.mayCreate(ctx, in.AnonymousToken); err != nil {
		return nil, err
	}
	setup := in.Body.Login.rule(h.Login)
	input := in.rule()
	if setup != nil { // a nil *Setup in the interface would not be nil
		input.Login = setup
	}
	created, err := h.Projects.Create(ctx, web.Principal(ctx), input)
	if err != nil {
		return nil, err
	}
	out := &createProxyOutput{Body: h.showCreated(created)}
	if setup != nil {
		issuer := h.Login.Issuer(setup.Client.ID)
		out.Body.Login = &createdLogin{
			Issuer:       issuer,
			ClientID:     setup.Client.ID,
			AuthorizeURL: issuer + "/authorize",
			RedirectURIs: setup.Client.RedirectURIs,
			Callbacks:    setup.Callbacks(),
		}
	}
	if claim := out.Body.Claim; claim != nil && in.Site == "same-origin" { // sent by our own page
		codes := h.Web.ClaimCodes(&http.Request{Header: http.Header{"Cookie": {in.Cookie}}})
		out.SetCookie = h.Web.ClaimCodeCookie(codes, claim.Code).String()
	}
	return out, nil
}

// mayCreate applies the installation's policy for callers without an account. A workspace
// key replaces the token, which its workspace was created with.
func (h *Handler) mayCreate(ctx context.Context, token string) error {
	p := web.Principal(ctx)
	if p.Account != "" {
		return nil
	}
	signIn := "sign in at " + h.Web.Config.PublicURL + "/signin and create it there."
	switch h.Web.Config.Anonymous {
	case config.AnonymousOpen:
		return nil
	case config.AnonymousToken:
		if !p.Anonymous() || sameSecret(token, h.Web.Config.AnonymousToken.Reveal()) {
			return nil
		}
		return fault.New(fault.Unauthenticated, "anonymous_token_required",
			"This installation asks for its token to create a proxy without an account. Send it as "+
				"Postern-Anonymous-Token, or %s", signIn)
	}
	if !p.Anonymous() {
		return fault.New(fault.Forbidden, "not_allowed", "This installation creates proxies for accounts only, not "+
			"for workspace keys: %s", signIn)
	}
	return fault.New(fault.Unauthenticated, "credentials_required",
		"This installation creates proxies for accounts only: %s", signIn)
}

// sameSecret compares in constant time for guesses of one length. No guess equals an
// empty secret.
func sameSecret(guess, secret string) bool {
	return secret != "" && subtle.ConstantTimeCompare([]byte(guess), []byte(secret)) == 1
}

// openAPIField is an OpenAPI document, or a text with one or with its address.
type openAPIField json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (f *openAPIField) UnmarshalJSON(raw []byte) error {
	*f = bytes.Clone(raw)
	return nil
}

// Schema implements huma.SchemaProvider: the document has a schema of its own.
func (f openAPIField) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "OpenAPI document 3.0 or 3.1: an object, or a string with a document or with its address. It " +
			"fills in version, display_name and, from its servers, environments where they are left out",
		OneOf: []*huma.Schema{{Type: huma.TypeObject, AdditionalProperties: true}, {Type: huma.TypeString}},
	}
}

func (in *createProxyInput) rule() projects.CreateInput {
	b := in.Body
	out := projects.CreateInput{
		Target:       b.Target,
		Team:         b.Team,
		Name:         b.Name,
		DisplayName:  b.DisplayName,
		Product:      b.Product,
		Tenant:       b.Tenant,
		Version:      b.Version,
		Environments: map[string]string{},
		OpenAPI:      json.RawMessage(b.OpenAPI),
	}
	for name, environment := range b.Environments {
		out.Environments[name] = environment.Target
	}
	if auth := b.RequestsAuth; auth != nil {
		out.Auth = projects.AuthInput{
			Mode:    auth.Mode,
			Methods: auth.Methods,
			Keyless: auth.Keyless,
			Opaque:  readIntrospection(auth.Opaque),
		}
		if auth.JWT != nil {
			out.Auth.Issuers = readIssuers(*auth.JWT)
		}
		out.KeyTypes = auth.KeyTypes
	}
	return out
}

func (h *Handler) showCreated(created projects.Created) createdProxy {
	version := created.Project.Versions[0]
	out := createdProxy{
		Warnings: showWarnings(created.Warnings),
		Project: createdProject{
			ID:           created.Project.ID,
			Name:         created.Project.Name,
			Version:      version.Name,
			Environments: h.environmentURLs(created.Project.Name, version),
		},
	}
	if len(created.Keys) > 0 {
		out.APIKeys = map[string]createdKey{}
		for environment, key := range created.Keys {
			out.APIKeys[environment] = createdKey{ID: key.ID, Key: key.Secret.Reveal()}
		}
	}
	if w := created.Workspace; w != nil {
		out.WorkspaceKey, out.ExpiresAt = w.Key, contract.UTC(&w.ExpiresAt)
		out.Claim = &claimOutput{Code: w.ClaimCode, URL: h.Web.Config.PublicURL + "/claim/" + w.ClaimCode}
	}
	return out
}

func (h *Handler) environmentURLs(project string, version projects.Version) []environmentURL {
	out := []environmentURL{}
	for _, e := range version.Environments {
		out = append(out, environmentURL{
			Name:   e.Name,
			Target: e.Target,
			URL:    h.Web.Config.Address(project, version.Name, e.Name),
		})
	}
	return out
}
