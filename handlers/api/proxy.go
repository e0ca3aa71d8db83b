package api

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/service/login"
	"postern/service/projects"
)

// createProxyInput is a request of the contract with what only this server reads.
type createProxyInput struct {
	Site   string `header:"Sec-Fetch-Site" hidden:"true"`
	Cookie string `header:"Cookie" hidden:"true"`

	AnonymousToken string `header:"Postern-Anonymous-Token" doc:"Token that the installation may require of callers without an account"`
	Body           contract.NewProxy
}

type createProxyOutput struct {
	SetCookie string `header:"Set-Cookie" hidden:"true"`
	Body      contract.Proxy
}

func (h *Handler) createProxy(ctx context.Context, in *createProxyInput) (*createProxyOutput, error) {
	if err := h.mayCreate(ctx, in.AnonymousToken); err != nil {
		return nil, err
	}
	input := createInput(in.Body)
	var setup *login.Setup
	if l := in.Body.Login; l != nil {
		setup = &login.Setup{Service: h.Login, RedirectURIs: l.RedirectURIs, Providers: l.Providers}
		input.Login = setup // a nil *Setup in the interface would not be nil
	}
	created, err := h.Projects.Create(ctx, web.Principal(ctx), input)
	if err != nil {
		return nil, err
	}
	out := &createProxyOutput{Body: h.showCreated(created)}
	if setup != nil {
		issuer := h.Login.Issuer(setup.Client.ID)
		out.Body.Login = &contract.ProxyLogin{
			Issuer:       issuer,
			ClientID:     setup.Client.ID,
			AuthorizeURL: issuer + "/authorize",
			RedirectURIs: setup.Client.RedirectURIs,
			Callbacks:    setup.Callbacks(),
		}
	}
	if claim := out.Body.Claim; claim != nil && in.Site == "same-origin" { // sent by our own page
		codes := h.Web.ClaimCodes(&http.Request{Header: http.Header{"Cookie": {in.Cookie}}})
		out.SetCookie = h.Web.ClaimCodeCookie(codes, claim.Code.Reveal()).String()
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

// openAPISource has the schema of a contract.OpenAPISource, which has a schema of its own.
type openAPISource struct{}

// Schema implements huma.SchemaProvider.
func (openAPISource) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "OpenAPI document 3.0 or 3.1: an object, or a string with a document or with its address. It " +
			"fills in version, display_name and, from its servers, environments where they are left out",
		OneOf: []*huma.Schema{{Type: huma.TypeObject, AdditionalProperties: true}, {Type: huma.TypeString}},
	}
}

func createInput(in contract.NewProxy) projects.CreateInput {
	out := projects.CreateInput{
		Target:       in.Target,
		Team:         in.Team,
		Name:         in.Name,
		DisplayName:  in.DisplayName,
		Product:      in.Product,
		Tenant:       in.Tenant,
		Version:      in.Version,
		Environments: map[string]string{},
		OpenAPI:      json.RawMessage(in.OpenAPI),
	}
	for name, environment := range in.Environments {
		out.Environments[name] = environment.Target
	}
	if auth := in.RequestsAuth; auth != nil {
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

func (h *Handler) showCreated(created projects.Created) contract.Proxy {
	version := created.Project.Versions[0]
	out := contract.Proxy{
		Warnings: showWarnings(created.Warnings),
		Project: contract.ProxyProject{
			ID:           created.Project.ID,
			Name:         created.Project.Name,
			Version:      version.Name,
			Environments: []contract.ProxyEnvironment{},
		},
	}
	for _, e := range version.Environments {
		out.Project.Environments = append(out.Project.Environments, contract.ProxyEnvironment{
			Name: e.Name, Target: e.Target, URL: e.URL,
		})
	}
	if len(created.Keys) > 0 {
		out.APIKeys = map[string]contract.ProxyKey{}
		for environment, key := range created.Keys {
			out.APIKeys[environment] = contract.ProxyKey{ID: key.ID, Key: key.Secret}
		}
	}
	if w := created.Workspace; w != nil {
		out.WorkspaceKey, out.ExpiresAt = contract.Secret(w.Key), contract.UTC(&w.ExpiresAt)
		out.Claim = &contract.ProxyClaim{
			Code: contract.Secret(w.ClaimCode), URL: h.Web.Config.PublicURL + "/claim/" + w.ClaimCode,
		}
	}
	return out
}
