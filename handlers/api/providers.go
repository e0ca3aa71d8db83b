package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/login"
)

// ClientRef is the path parameter of an app client.
type ClientRef = contract.AppClientPath

// ProviderRef is the path parameter of a provider.
type ProviderRef struct {
	Provider string `path:"provider" doc:"Id of the provider"`
}

// tokenTypeInput is an object, or a string that sets both of its members.
type tokenTypeInput struct{ login.TokenTypes }

// UnmarshalJSON implements json.Unmarshaler.
func (t *tokenTypeInput) UnmarshalJSON(raw []byte) error {
	var both string
	if json.Unmarshal(raw, &both) == nil {
		t.TokenTypes = login.BothTokens(both)
		return nil
	}
	var each struct {
		Client   string `json:"client"`
		Upstream string `json:"upstream"`
	}
	err := json.Unmarshal(raw, &each)
	t.TokenTypes = login.TokenTypes{Client: each.Client, Upstream: each.Upstream}
	return err
}

// Schema implements huma.SchemaProvider.
func (t tokenTypeInput) Schema(huma.Registry) *huma.Schema {
	one := 1
	text := &huma.Schema{Type: huma.TypeString, MinLength: &one}
	return &huma.Schema{
		Description: "Tokens that the browser and the upstream get. A string sets both: service, provider or none. " +
			"The provider is asked about its own tokens on every call; two providers of a project whose tokens " +
			"cannot be distinguished are refused.",
		OneOf: []*huma.Schema{
			text,
			{Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{
				"client": {Type: huma.TypeString, MinLength: &one, Description: "service (default) or provider"},
				"upstream": {
					Type:        huma.TypeString,
					MinLength:   &one,
					Description: "service, provider_access_token, provider_id_token or none",
				},
			}},
		},
	}
}

type providerInput struct {
	Type         string          `json:"type,omitempty" minLength:"1" doc:"github, google, microsoft, facebook, auth0 or oidc"`
	Managed      bool            `json:"managed,omitempty" doc:"Use the installation's shared app; github only"`
	ClientID     *string         `json:"client_id,omitempty" doc:"Client ID of your app at the provider"`
	ClientSecret *string         `json:"client_secret,omitempty" doc:"Write-only"`
	Issuer       string          `json:"issuer,omitempty" minLength:"1" doc:"Required for oidc; optional: URL of a GitHub Enterprise server or a Microsoft tenant"`
	Domain       string          `json:"domain,omitempty" minLength:"1" doc:"Required for auth0, for example example.eu.auth0.com"`
	Scopes       *[]string       `json:"scopes,omitempty" doc:"Default: the provider type's own"`
	TokenType    *tokenTypeInput `json:"token_type,omitempty"`
	Label        *string         `json:"label,omitempty" doc:"What users see after Continue with; empty: the type's name"`
	Audience     *string         `json:"audience,omitempty" doc:"auth0: identifier of your API; required if browsers get Auth0's access tokens, which are opaque without it"`
	Domains      *[]string       `json:"authoritative_domains,omitempty" doc:"oidc, auth0 and a microsoft provider of one tenant: mail domains that it speaks for, so that approvals by domain count"`
	ResponseMode *string         `json:"response_mode,omitempty" doc:"oidc: how the provider sends its answer to the callback URL, query or form_post; default query, form_post for Apple's issuer"`
	Enabled      *bool           `json:"enabled,omitempty" doc:"Default true"`

	SignInDomains *[]string `json:"sign_in_domains,omitempty" doc:"Mail domains whose users are sent to it from the sign-in page"`
}

func (in providerInput) rule() (login.ProviderInput, error) {
	out := login.ProviderInput{
		Type:     in.Type,
		Managed:  in.Managed,
		Issuer:   in.Issuer,
		ClientID: in.ClientID,
		Scopes:   in.Scopes,
		Label:    in.Label,
		Audience: in.Audience,
		Domains:  in.Domains,
		Enabled:  in.Enabled,

		ResponseMode: in.ResponseMode,

		SignInDomains: in.SignInDomains,
	}
	if in.Domain != "" {
		if in.Issuer != "" {
			return out, fault.InvalidField("/domain", "one_of_two", "Give issuer or domain, not both.")
		}
		out.Issuer = in.Domain
	}
	if in.ClientSecret != nil {
		secret := secrets.Given(*in.ClientSecret)
		out.ClientSecret = &secret
	}
	if in.TokenType != nil {
		out.Tokens = &in.TokenType.TokenTypes
	}
	return out, nil
}

type tokenTypeOutput struct {
	Client   string `json:"client"`
	Upstream string `json:"upstream"`
}

type providerOutput struct {
	ID        string          `json:"id"`
	AppClient string          `json:"app_client" doc:"Id of the app client"`
	Type      string          `json:"type"`
	Managed   bool            `json:"managed"`
	ClientID  string          `json:"client_id"`
	HasSecret bool            `json:"has_client_secret"`
	Issuer    string          `json:"issuer,omitempty"`
	Scopes    []string        `json:"scopes"`
	TokenType tokenTypeOutput `json:"token_type"`
	Label     string          `json:"label,omitempty" doc:"What users see after Continue with"`
	Audience  string          `json:"audience,omitempty"`
	Domains   []string        `json:"authoritative_domains" doc:"Mail domains that the team declares it authoritative for"`

	ResponseMode string `json:"response_mode,omitempty" doc:"oidc: how the provider sends its answer to the callback URL, query or form_post"`

	SignInDomains []string `json:"sign_in_domains" doc:"Mail domains whose users are sent to it from the sign-in page"`

	Enabled   bool      `json:"enabled"`
	Callback  string    `json:"callback_url" doc:"Callback URL to register with the provider"`
	ETag      string    `json:"etag" doc:"Send as If-Match to update the provider"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func showProvider(p login.Provider) providerOutput {
	return providerOutput{
		ID:        p.ID,
		AppClient: p.Client,
		Type:      p.Type,
		Managed:   p.Managed,
		ClientID:  p.ClientID,
		HasSecret: p.HasSecret,
		Issuer:    p.Issuer,
		Scopes:    p.Scopes,
		TokenType: tokenTypeOutput(p.Tokens),
		Label:     p.Label,
		Audience:  p.Audience,
		Domains:   p.Domains,
		Enabled:   p.Enabled,

		ResponseMode: p.ResponseMode,

		SignInDomains: p.SignInDomains,

		Callback:  p.Callback,
		ETag:      web.FormatETag(p.ETag),
		CreatedAt: p.CreatedAt.UTC(),
		UpdatedAt: p.UpdatedAt.UTC(),
	}
}

func (h *Handler) listProviders(ctx context.Context, in *ClientRef) (*body[list[providerOutput]], error) {
	found, err := h.Login.ProvidersOf(ctx, web.Principal(ctx), in.Client)
	if err != nil {
		return nil, err
	}
	var items []providerOutput
	for _, p := range found {
		items = append(items, showProvider(p))
	}
	return &body[list[providerOutput]]{listOf(items, "")}, nil
}

func (h *Handler) createProvider(ctx context.Context, in *struct {
	ClientRef
	Body providerInput
}) (*tagged[providerOutput], error) {
	input, err := in.Body.rule()
	if err != nil {
		return nil, err
	}
	made, err := h.Login.CreateProvider(ctx, web.Principal(ctx), in.Client, input)
	if err != nil {
		return nil, err
	}
	return &tagged[providerOutput]{web.FormatETag(made.ETag), showProvider(made)}, nil
}

func (h *Handler) updateProvider(ctx context.Context, in *struct {
	ProviderRef
	IfMatch string `header:"If-Match"`
	Body    providerInput
}) (*tagged[providerOutput], error) {
	b := in.Body
	if b.Type != "" || b.Managed || b.Issuer != "" || b.Domain != "" {
		return nil, fault.InvalidField("/type", "fixed", "Type, issuer, domain and managed cannot be changed: "+
			"the users of a provider are identified by them. Add another provider.")
	}
	input, err := b.rule()
	if err != nil {
		return nil, err
	}
	changed, err := h.Login.UpdateProvider(ctx, web.Principal(ctx), in.Provider, web.ParseIfMatch(in.IfMatch), input)
	if err != nil {
		return nil, err
	}
	return &tagged[providerOutput]{web.FormatETag(changed.ETag), showProvider(changed)}, nil
}

func (h *Handler) deleteProvider(ctx context.Context, in *ProviderRef) (*struct{}, error) {
	return nil, h.Login.DeleteProvider(ctx, web.Principal(ctx), in.Provider)
}
