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
	"postern/service/appclients"
	"postern/service/projects"
)

// createProxyInput is a request of the contract with what only this server reads.
type createProxyInput struct {
	Site   string `header:"Sec-Fetch-Site" hidden:"true"`
	Cookie string `header:"Cookie" hidden:"true"`

	AnonymousToken string `header:"Postern-Anonymous-Token" doc:"Token that the installation can require from callers without an account"`
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
	var setup *appclients.Setup
	if l := in.Body.Login; l != nil {
		setup = &appclients.Setup{Service: h.AppClients, RedirectURIs: l.RedirectURIs, Providers: l.Providers}
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
	signIn := "sign in at " + h.Web.Config.PublicURL + "/signin and create the proxy there."
	switch h.Web.Config.Anonymous {
	case config.AnonymousOpen:
		return nil
	case config.AnonymousToken:
		if !p.Anonymous() || sameSecret(token, h.Web.Config.AnonymousToken.Reveal()) {
			return nil
		}
		return fault.New(fault.Unauthenticated, "anonymous_token_required",
			"This installation requires a token to create a proxy without an account. Send it in the "+
				"Postern-Anonymous-Token header, or %s", signIn)
	}
	if !p.Anonymous() {
		return fault.New(fault.Forbidden, "not_allowed", "You can't create a proxy with a workspace key on this "+
			"installation. Instead, %s", signIn)
	}
	return fault.New(fault.Unauthenticated, "credentials_required",
		"You need an account to create a proxy on this installation: %s", signIn)
}

// sameSecret compares in constant time for guesses of one length. No guess equals an
// empty secret.
func sameSecret(guess, secret string) bool {
	return secret != "" && subtle.ConstantTimeCompare([]byte(guess), []byte(secret)) == 1
}

// openAPISource has the schema of a contract.OpenAPISource, which has its own schema.
type openAPISource struct{}

// Schema implements huma.SchemaProvider.
func (openAPISource) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "OpenAPI 3.0 or 3.1 document, as an object, or as a string with the document or its URL. Sets " +
			"the defaults of version, display_name and environments (from its servers)",
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
		Environments: in.Environments,
		OpenAPI:      json.RawMessage(in.OpenAPI),
	}
	if auth := in.RequestsAuth; auth != nil {
		out.Auth = *auth
	}
	return out
}

func (h *Handler) showCreated(created projects.Created) contract.Proxy {
	version := created.Project.Versions[0]
	out := contract.Proxy{
		Warnings: append([]contract.Warning{}, created.Warnings...), // never null
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
