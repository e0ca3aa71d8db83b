package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/login"
)

// ClientRef is the path parameter of an app client.
type ClientRef struct {
	Client string `path:"client" doc:"Id of the app client"`
}

// ProviderRef is the path parameter of a provider.
type ProviderRef struct {
	Provider string `path:"provider" doc:"Id of the provider"`
}

type brandingInput struct {
	Title   *string `json:"title,omitempty" doc:"Name of the application on the login page; default: name"`
	Welcome *string `json:"welcome,omitempty" doc:"Sentence below the title"`
	LogoURL *string `json:"logo_url,omitempty" doc:"https URL of an image"`
	Color   *string `json:"color,omitempty" doc:"Color as #rrggbb"`
}

type clientInput struct {
	Name           *string        `json:"name,omitempty" doc:"Unique in the tenant, for example web"`
	RedirectURIs   *[]string      `json:"redirect_uris,omitempty" doc:"Allowed redirect URIs: https, http on loopback, or a private-use scheme such as com.example.app:/callback; compared exactly, but for the port of 127.0.0.1 and [::1]"`
	LogoutURIs     *[]string      `json:"logout_uris,omitempty" doc:"Allowed redirect URIs after signing out"`
	Backchannel    *string        `json:"backchannel_logout_uri,omitempty" doc:"Address of your server that gets a logout token when a session ends (OpenID Connect Back-Channel Logout); empty: none"`
	APIScopes      *[]string      `json:"api_scopes,omitempty" doc:"API scopes that it may ask for, declared by a project that serves the tenant; orders:* covers a family"`
	GrantTypes     *[]string      `json:"grant_types,omitempty" doc:"authorization_code and refresh_token (default), client_credentials for calls of the application itself"`
	Confidential   *bool          `json:"confidential,omitempty" doc:"true returns a new client secret once; false (default) is for clients that cannot keep a secret"`
	PKCE           *string        `json:"pkce,omitempty" doc:"required (default), or when_sent for a confidential client whose library cannot send a code challenge"`
	AccessSeconds  *int64         `json:"access_token_seconds,omitempty" doc:"Lifetime of access and ID tokens; default 600"`
	RefreshSeconds *int64         `json:"refresh_token_seconds,omitempty" doc:"How long a login can be refreshed; default 2592000, 0 for never"`
	Algorithm      *string        `json:"algorithm,omitempty" doc:"RS256 (default), ES256 or EdDSA"`
	Branding       *brandingInput `json:"branding,omitempty"`
}

func (in clientInput) rule() login.ClientInput {
	out := login.ClientInput{
		Name:         in.Name,
		RedirectURIs: in.RedirectURIs,
		LogoutURIs:   in.LogoutURIs,
		Backchannel:  in.Backchannel,
		APIScopes:    in.APIScopes,
		GrantTypes:   in.GrantTypes,
		Confidential: in.Confidential,
		PKCE:         in.PKCE,
		Access:       seconds(in.AccessSeconds),
		Refresh:      seconds(in.RefreshSeconds),
		Algorithm:    in.Algorithm,
	}
	if b := in.Branding; b != nil {
		out.Title, out.Welcome, out.LogoURL, out.Color = b.Title, b.Welcome, b.LogoURL, b.Color
	}
	return out
}

// seconds converts a number that may overflow time.Duration. Such a number stays out of
// the range that is allowed; multiplied, it could wrap into it.
func seconds(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	d := time.Duration(-1)
	if *n >= 0 && *n <= int64(login.MaxRefresh/time.Second) {
		d = time.Duration(*n) * time.Second
	}
	return &d
}

type clientOutput struct {
	ID             string         `json:"id"`
	Tenant         string         `json:"tenant" doc:"Id of the tenant"`
	Name           string         `json:"name"`
	Issuer         string         `json:"issuer" doc:"Issuer of this client; its discovery document is below it"`
	AuthorizeURL   string         `json:"authorize_url"`
	RedirectURIs   []string       `json:"redirect_uris"`
	LogoutURIs     []string       `json:"logout_uris"`
	Backchannel    string         `json:"backchannel_logout_uri"`
	APIScopes      []string       `json:"api_scopes" doc:"API scopes that it may ask for"`
	GrantTypes     []string       `json:"grant_types"`
	Frozen         bool           `json:"frozen" doc:"It gets no tokens, and those that it has are refused"`
	Confidential   bool           `json:"confidential"`
	PKCE           string         `json:"pkce" doc:"required or when_sent"`
	AccessSeconds  int64          `json:"access_token_seconds"`
	RefreshSeconds int64          `json:"refresh_token_seconds"`
	Algorithm      string         `json:"algorithm"`
	Branding       brandingOutput `json:"branding"`
	ETag           string         `json:"etag" doc:"Send as If-Match to update the app client"`
	CreatedAt      time.Time      `json:"created_at"`
	UpdatedAt      time.Time      `json:"updated_at"`
	Secret         string         `json:"client_secret,omitempty" doc:"Returned only once"`

	Warnings []warningOutput `json:"warnings,omitempty" doc:"In the answer to a change: what is allowed but may surprise"`
}

type brandingOutput struct {
	Title   string `json:"title"`
	Welcome string `json:"welcome"`
	LogoURL string `json:"logo_url"`
	Color   string `json:"color"`
}

func (h *Handler) showClient(c login.Client, secret secrets.Secret) clientOutput {
	issuer := h.Login.Issuer(c.ID)
	return clientOutput{
		ID:             c.ID,
		Tenant:         c.Tenant,
		Name:           c.Name,
		Issuer:         issuer,
		AuthorizeURL:   issuer + "/authorize",
		RedirectURIs:   c.RedirectURIs,
		LogoutURIs:     c.LogoutURIs,
		Backchannel:    c.Backchannel,
		APIScopes:      append([]string{}, c.APIScopes...),
		GrantTypes:     c.GrantTypes,
		Frozen:         c.Frozen,
		Confidential:   c.Confidential,
		PKCE:           c.PKCE,
		AccessSeconds:  int64(c.Access / time.Second),
		RefreshSeconds: int64(c.Refresh / time.Second),
		Algorithm:      c.Algorithm,
		Branding:       brandingOutput(c.Branding),
		ETag:           web.FormatETag(c.ETag),
		CreatedAt:      c.CreatedAt.UTC(),
		UpdatedAt:      c.UpdatedAt.UTC(),
		Secret:         secret.Reveal(),
	}
}

func (h *Handler) taggedClient(c login.Client, secret secrets.Secret) *tagged[clientOutput] {
	return &tagged[clientOutput]{web.FormatETag(c.ETag), h.showClient(c, secret)}
}

func (h *Handler) listAppClients(ctx context.Context, in *struct {
	Tenant string `path:"tenant" doc:"Id of the tenant"`
	Page
	Sort string `query:"sort" enum:"name,-name,created,-created" doc:"Order; - begins at the end; default: name"`
	Text string `query:"q" maxLength:"200" doc:"Part of the name or the title, ignoring case"`
}) (*body[list[clientOutput]], error) {
	found, err := h.Login.Clients(ctx, web.Principal(ctx), in.Tenant, in.sorted(in.Sort, in.Text))
	return answerPage(found, err, func(c login.Client) clientOutput { return h.showClient(c, "") })
}

func (h *Handler) createAppClient(ctx context.Context, in *struct {
	Tenant string `path:"tenant" doc:"Id of the tenant"`
	Body   clientInput
}) (*tagged[clientOutput], error) {
	made, err := h.Login.CreateClient(ctx, web.Principal(ctx), in.Tenant, in.Body.rule())
	if err != nil {
		return nil, err
	}
	return h.warnedClient(made), nil
}

// warnedClient is the answer to a change of an app client.
func (h *Handler) warnedClient(changed login.NewClient) *tagged[clientOutput] {
	out := h.taggedClient(changed.Client, changed.Secret)
	out.Body.Warnings = showWarnings(changed.Warnings)
	return out
}

func (h *Handler) getAppClient(ctx context.Context, in *ClientRef) (*tagged[clientOutput], error) {
	found, err := h.Login.Client(ctx, web.Principal(ctx), in.Client)
	if err != nil {
		return nil, err
	}
	return h.taggedClient(found, ""), nil
}

func (h *Handler) updateAppClient(ctx context.Context, in *struct {
	ClientRef
	IfMatch string `header:"If-Match"`
	Body    clientInput
}) (*tagged[clientOutput], error) {
	etag := web.ParseIfMatch(in.IfMatch)
	changed, err := h.Login.UpdateClient(ctx, web.Principal(ctx), in.Client, etag, in.Body.rule())
	if err != nil {
		return nil, err
	}
	return h.warnedClient(changed), nil
}

func (h *Handler) deleteAppClient(ctx context.Context, in *ClientRef) (*struct{}, error) {
	return nil, h.Login.DeleteClient(ctx, web.Principal(ctx), in.Client)
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
