package appclients

import (
	"errors"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit/state"
)

// wrongIn is the pointer and code of the one field that is wrong.
func wrongIn(err error) string {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || len(f.Fields) != 1 {
		return "no single field"
	}
	return f.Fields[0].Pointer + " " + f.Code
}

func uris(list ...string) *[]string { return &list }

func branded(b contract.BrandingChange) contract.AppClientSettings {
	return contract.AppClientSettings{Branding: b}
}

var refusedClients = map[string]struct {
	in   contract.AppClientSettings
	want string
}{
	"http": {
		contract.AppClientSettings{RedirectURIs: uris("http://app.example/cb")},
		"/redirect_uris/0 invalid_redirect_uri",
	},
	"http on loopback elsewhere": {
		contract.AppClientSettings{RedirectURIs: uris("http://127.0.0.1.evil.example/cb")},
		"/redirect_uris/0 invalid_redirect_uri",
	},
	"its own scheme": {
		contract.AppClientSettings{RedirectURIs: uris("myapp://callback")},
		"/redirect_uris/0 invalid_redirect_uri",
	},
	"a script": {
		contract.AppClientSettings{RedirectURIs: uris("javascript:alert(1)")},
		"/redirect_uris/0 invalid_redirect_uri",
	},
	"a fragment": {
		contract.AppClientSettings{RedirectURIs: uris("https://app.example/cb#x")},
		"/redirect_uris/0 invalid_redirect_uri",
	},
	"a name in the address": {
		contract.AppClientSettings{RedirectURIs: uris("https://app.example@evil.example/cb")},
		"/redirect_uris/0 invalid_redirect_uri",
	},
	"a path alone": {contract.AppClientSettings{RedirectURIs: uris("/cb")}, "/redirect_uris/0 invalid_redirect_uri"},
	"a host of a policy": {
		contract.AppClientSettings{RedirectURIs: uris("https://app.example;script-src/cb")},
		"/redirect_uris/0 invalid_redirect_uri",
	},
	"a wildcard": {
		contract.AppClientSettings{RedirectURIs: uris("https://*.app.example/cb")},
		"/redirect_uris/0 invalid_redirect_uri",
	},
	"the second of two": {
		contract.AppClientSettings{RedirectURIs: uris("https://app.example/cb", "x")},
		"/redirect_uris/1 invalid_redirect_uri",
	},
	"a line end": {
		contract.AppClientSettings{LogoutURIs: uris("https://app.example/\r\nSet-Cookie: x")},
		"/logout_uris/0 invalid_redirect_uri",
	},
	"a lifetime of a second": {
		contract.AppClientSettings{AccessTokenSeconds: new(int64(1))},
		"/access_token_seconds invalid_lifetime",
	},
	"a lifetime of a year": {
		contract.AppClientSettings{RefreshTokenSeconds: new(int64(365 * 24 * 60 * 60))},
		"/refresh_token_seconds invalid_lifetime",
	},
	"HS256": {contract.AppClientSettings{Algorithm: new("HS256")}, "/algorithm unknown_algorithm"},
	"none":  {contract.AppClientSettings{Algorithm: new("none")}, "/algorithm unknown_algorithm"},
	"a logo over http": {
		contract.AppClientSettings{Branding: contract.BrandingChange{LogoURL: new("http://app.example/logo.png")}},
		"/branding/logo_url invalid_url",
	},
	"a logo that is data": {
		contract.AppClientSettings{Branding: contract.BrandingChange{LogoURL: new("data:image/png;base64,AA")}},
		"/branding/logo_url invalid_url",
	},
	"a logo of a policy": {
		branded(contract.BrandingChange{LogoURL: new("https://app.example; script-src *")}),
		"/branding/logo_url invalid_url",
	},
	"a color of a style sheet": {
		contract.AppClientSettings{Branding: contract.BrandingChange{Color: new("red;}body{display:none")}},
		"/branding/color invalid_color",
	},
	"a title that turns text": {
		branded(contract.BrandingChange{Title: new("a\u202eb")}), "/branding/title invalid_text",
	},
	"a welcome without end": {
		contract.AppClientSettings{Branding: contract.BrandingChange{Welcome: new(strings.Repeat("x", 301))}},
		"/branding/welcome invalid_text",
	},
}

func TestUpdateClient_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newFixture(t, db, contract.RS256)
		named := contract.AppClientSettings{}.Of(r.client.ID)
		named.Body.Name = new("my app")
		if _, err := r.UpdateClient(t.Context(), r.owner, named); wrongIn(err) != "/name invalid_name" {
			t.Errorf("a name with a space: %v", err)
		}
		for name, tt := range refusedClients {
			t.Run(name, func(t *testing.T) {
				if _, err := r.UpdateClient(t.Context(), r.owner, tt.in.Of(r.client.ID)); wrongIn(err) != tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
			})
		}
	})
}

func TestUpdateClient_accepted(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newFixture(t, db, contract.RS256)
		got, err := r.UpdateClient(t.Context(), r.owner, contract.AppClientSettings{
			RedirectURIs: uris(
				"https://app.example/cb?x=1",
				"http://127.0.0.1:3000/cb",
				"http://[::1]:3000/cb",
				"http://localhost/cb",
			),
			Branding: contract.BrandingChange{LogoURL: new("https://cdn.example/logo.png"), Color: new("#0A7D55")},
		}.Of(r.client.ID))
		if err != nil {
			t.Fatal(err)
		}
		if got.Branding.Color != "#0a7d55" {
			t.Errorf("the color is %s", got.Branding.Color)
		}
		if n := len(got.RedirectURIs); n != 4 {
			t.Errorf("%d redirect URIs are stored, want 4", n)
		}
	})
}

var refusedProviders = map[string]struct {
	in   contract.NewProvider
	want string
}{
	"an unknown kind": {contract.NewProvider{
		Type:             "myspace",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
	}, "/type unknown_provider"},
	"GitHub without a secret": {contract.NewProvider{
		Type:             "github",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
	}, "/client_secret required"},
	"Facebook without a secret": {contract.NewProvider{
		Type:             "facebook",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
	}, "/client_secret required"},
	"Google without an id": {contract.NewProvider{Type: "google"}, "/client_id required"},
	"no issuer": {contract.NewProvider{
		Type:             "oidc",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
	}, "/issuer required"},
	"no domain": {contract.NewProvider{
		Type:             "auth0",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
	}, "/issuer required"},
	"an issuer of Google's own": {contract.NewProvider{
		Type:             "google",
		Issuer:           "https://evil.example",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
	}, "/issuer issuer_not_taken"},
	"an issuer inside": {contract.NewProvider{
		Type:             "oidc",
		Issuer:           "https://169.254.169.254",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
	}, "/issuer target_forbidden"},
	"an issuer with a query": {contract.NewProvider{
		Type:             "oidc",
		Issuer:           "http://127.0.0.1:9/?x",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
	}, "/issuer invalid_url"},
	"an issuer that is a file": {contract.NewProvider{
		Type:             "oidc",
		Issuer:           "file:///etc/passwd",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
	}, "/issuer invalid_url"},
	"no openid": {contract.NewProvider{
		Type:             "google",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app"), Scopes: &[]string{"email"}},
	}, "/scopes scope_missing"},
	"Google, managed": {contract.NewProvider{
		Type: "google", Managed: true,
	}, "/managed managed_login_unavailable"},
	"GitHub, managed, without one": {contract.NewProvider{
		Type: "github", Managed: true,
	}, "/managed managed_login_unavailable"},
	"Auth0's access tokens without an audience": {contract.NewProvider{
		Type:   "auth0",
		Issuer: "127.0.0.1",
		ProviderSettings: contract.ProviderSettings{
			ClientID:  new("app"),
			TokenType: contract.NewTokenType{Client: contract.ProviderToken, Upstream: contract.ProviderAccessToken},
		},
	}, "/audience required"},
	"a domain of GitHub's": {contract.NewProvider{
		Type: "github",
		ProviderSettings: contract.ProviderSettings{
			ClientID:             new("app"),
			ClientSecret:         new(contract.Secret("secret")),
			AuthoritativeDomains: &[]string{"example.com"},
		},
	}, "/authoritative_domains domains_not_taken"},
	"a domain of any Microsoft tenant": {contract.NewProvider{
		Type: "microsoft",
		ProviderSettings: contract.ProviderSettings{
			ClientID: new("app"), AuthoritativeDomains: &[]string{"example.com"},
		},
	}, "/authoritative_domains domains_not_taken"},
	"a domain that is an address": {contract.NewProvider{
		Type:   "oidc",
		Issuer: "https://8.8.8.8",
		ProviderSettings: contract.ProviderSettings{
			ClientID: new("app"), AuthoritativeDomains: &[]string{"example.com", "ana@example.com"},
		},
	}, "/authoritative_domains/1 invalid_domain"},
	"an audience of Google's": {contract.NewProvider{
		Type: "google",
		ProviderSettings: contract.ProviderSettings{
			ClientID: new("app"), Audience: new("https://api.example.com"),
		},
	}, "/audience audience_not_taken"},
	"a response mode of Google's": {contract.NewProvider{
		Type:             "google",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app"), ResponseMode: new("query")},
	}, "/response_mode response_mode_not_taken"},
	"a response mode that cannot be read": {contract.NewProvider{
		Type:   "oidc",
		Issuer: "https://8.8.8.8",
		ProviderSettings: contract.ProviderSettings{
			ClientID: new("app"), ResponseMode: new("fragment"),
		},
	}, "/response_mode invalid_response_mode"},
	"access tokens of personal Microsoft accounts": {contract.NewProvider{
		Type: "microsoft",
		ProviderSettings: contract.ProviderSettings{
			ClientID:  new("app"),
			TokenType: contract.NewTokenType{Client: contract.ProviderToken, Upstream: contract.NoToken},
		},
	}, "/scopes token_unverifiable"},
	"a Microsoft domain as tenant": {contract.NewProvider{
		Type:             "microsoft",
		Issuer:           "https://8.8.8.8/contoso.onmicrosoft.com/v2.0",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
	}, "/issuer invalid_issuer"},
	"Microsoft's consumers": {contract.NewProvider{
		Type:             "microsoft",
		Issuer:           "https://8.8.8.8/consumers/v2.0",
		ProviderSettings: contract.ProviderSettings{ClientID: new("app")},
	}, "/issuer invalid_issuer"},
	"tokens that cannot be": {contract.NewProvider{
		Type: "google",
		ProviderSettings: contract.ProviderSettings{
			ClientID:  new("app"),
			TokenType: contract.NewTokenType{Client: contract.ProviderToken, Upstream: contract.ServiceToken},
		},
	}, "/token_type/upstream token_type_impossible"},
}

func TestCreateProvider_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newFixture(t, db, contract.RS256)
		for name, tt := range refusedProviders {
			t.Run(name, func(t *testing.T) {
				if _, err := r.CreateProvider(t.Context(), r.owner, tt.in.In(r.client.ID)); wrongIn(err) != tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
			})
		}
	})
}

func TestCreateProvider_managed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newFixture(t, db, contract.RS256)
		r.Shared = Shared{ClientID: "shared", ClientSecret: "shared-secret"}
		gitHub := contract.NewProvider{Type: "github", Managed: true}
		managed, err := r.CreateProvider(t.Context(), r.owner, gitHub.In(r.client.ID))
		if err != nil || managed.ClientID != "" {
			t.Fatalf("managed: %+v, %v", managed, err)
		}
		config, err := r.ProviderToTest(t.Context(), r.owner, managed.ID)
		if err != nil || config.ClientID != "shared" || config.ClientSecret.Reveal() != "shared-secret" {
			t.Errorf("managed is asked as %+v, %v", config, err)
		}
		tokens := contract.ProviderSettings{TokenType: contract.NewTokenType{Client: contract.ProviderToken}}
		_, err = r.UpdateProvider(t.Context(), r.owner, tokens.Of(managed.ID))
		if wrongIn(err) != "/token_type token_type_impossible" {
			t.Errorf("tokens of the shared app: %v", err)
		}
	})
}

func TestCreateProvider_sealedSecret(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newFixture(t, db, contract.RS256)
		id, secret := "app", contract.Secret("secret")
		own, err := r.CreateProvider(t.Context(), r.owner, contract.NewProvider{
			Type:             "github",
			ProviderSettings: contract.ProviderSettings{ClientID: &id, ClientSecret: &secret},
		}.In(r.client.ID))
		if err != nil || !own.HasClientSecret || own.TokenType != contract.BothTokens(contract.ServiceToken) {
			t.Fatalf("GitHub: %+v, %v", own, err)
		}
		row, err := db.Read(t.Context()).ProviderByID(own.ID)
		if err != nil || strings.Contains(string(row.ClientSecret), secret.Reveal()) {
			t.Errorf("the secret is kept as %q, %v", row.ClientSecret, err)
		}
		if config, err := r.ProviderToTest(t.Context(), r.owner, own.ID); err != nil ||
			config.ClientSecret.Reveal() != secret.Reveal() {
			t.Errorf("GitHub is asked with another secret: %v", err)
		}
	})
}

// A workspace key can configure issuers on web ports only, by creating and by updating.
func TestCreateProvider_portOfUnclaimedWorkspace(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newFixture(t, db, contract.RS256)
		key := access.Principal{Token: "wk_1", Roles: map[string]access.Role{}}
		for team := range r.owner.Roles {
			key.Roles[team] = access.Workspace
		}
		id, off, on := "app", false, true
		odd := contract.NewProvider{
			Type:             "oidc",
			Issuer:           "https://8.8.8.8:8443",
			ProviderSettings: contract.ProviderSettings{ClientID: &id},
		}
		made, err := r.CreateProvider(t.Context(), key, odd.In(r.client.ID))
		if err != nil {
			t.Fatalf("where nothing is capped: %v", err)
		}
		r.CapUnclaimed = true
		_, err = r.CreateProvider(t.Context(), key, odd.In(r.client.ID))
		if wrongIn(err) != "/issuer port_needs_claim" {
			t.Errorf("a new one: %v", err)
		}
		change := contract.ProviderSettings{Enabled: &on}
		_, err = r.UpdateProvider(t.Context(), key, change.Of(made.ID))
		if wrongIn(err) != "/issuer port_needs_claim" {
			t.Errorf("an existing one: %v", err)
		}
		change.Enabled = &off
		if _, err := r.UpdateProvider(t.Context(), key, change.Of(made.ID)); err != nil {
			t.Errorf("turning it off: %v", err)
		}
		if _, err := r.CreateProvider(t.Context(), r.owner, odd.In(r.client.ID)); err != nil {
			t.Errorf("a team's own: %v", err)
		}
		odd.Issuer = "https://8.8.8.8"
		if _, err := r.CreateProvider(t.Context(), key, odd.In(r.client.ID)); err != nil {
			t.Errorf("at a web port: %v", err)
		}
	})
}

func TestApplyPKCE(t *testing.T) {
	t.Parallel()
	public, secret := models.AppClient{PKCE: contract.PKCEWhenSent}, models.AppClient{
		PKCE: contract.PKCEWhenSent, SecretHash: []byte{1},
	}
	text := func(s string) *string { return &s }
	for name, tt := range map[string]struct {
		row  models.AppClient
		in   *string
		want string
		code string
	}{
		"kept with a secret":       {secret, nil, contract.PKCEWhenSent, ""},
		"reset by becoming public": {public, nil, contract.PKCERequired, ""},
		"refused without a secret": {public, text(contract.PKCEWhenSent), contract.PKCERequired, "needs_secret"},
		"required without one":     {public, text(contract.PKCERequired), contract.PKCERequired, ""},
		"unknown":                  {secret, text("never"), contract.PKCEWhenSent, "unknown_pkce"},
		"required":                 {secret, text(contract.PKCERequired), contract.PKCERequired, ""},
	} {
		wrong := applyPKCE(&tt.row, tt.in)
		code := ""
		if len(wrong) > 0 {
			code = wrong[0].Code
		}
		if code != tt.code || tt.row.PKCE != tt.want {
			t.Errorf("%s: %q with %q, want %q with %q", name, tt.row.PKCE, code, tt.want, tt.code)
		}
	}
}

func TestSettingWarnings_algorithms(t *testing.T) {
	t.Parallel()
	for algorithm, want := range map[string]int{contract.RS256: 0, contract.ES256: 1, contract.EdDSA: 1} {
		if got := settingWarnings(contract.AppClientSettings{Algorithm: &algorithm}); len(got) != want {
			t.Errorf("choosing %s warns of %v, want %d warnings", algorithm, got, want)
		}
	}
}

// The response mode has a default by issuer, which a change does not bring back unless it asks for that.
func TestFillRow_responseMode(t *testing.T) {
	t.Parallel()
	const apple, other = "https://appleid.apple.com", "https://id.example"
	for name, tt := range map[string]struct {
		kind, issuer, before string
		in                   *string
		want                 string
	}{
		"a new one":                {"oidc", other, "", nil, "query"},
		"Apple":                    {"oidc", apple, "", nil, "form_post"},
		"Apple, by query":          {"oidc", apple, "", new("query"), "query"},
		"another, by form":         {"oidc", other, "", new("form_post"), "form_post"},
		"another change":           {"oidc", apple, "query", nil, "query"},
		"a change":                 {"oidc", other, "query", new("form_post"), "form_post"},
		"back to the default":      {"oidc", apple, "query", new(""), "form_post"},
		"a kind that takes none":   {"github", "", "", nil, ""},
		"a kind that is sent none": {"github", "", "", new(""), ""},
	} {
		row := models.Provider{Type: tt.kind, Issuer: tt.issuer, ResponseMode: tt.before}
		err := fillRow(&row, contract.ProviderSettings{ResponseMode: tt.in})
		if err != nil || row.ResponseMode != tt.want {
			t.Errorf("%s: %q, %v; want %q", name, row.ResponseMode, err, tt.want)
		}
	}
}
