package login

import (
	"errors"
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
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

func TestClientsThatAreRefused(t *testing.T) {
	text := func(s string) *string { return &s }
	list := func(s ...string) *[]string { return &s }
	length := func(d time.Duration) *time.Duration { return &d }
	tests := map[string]struct {
		in   ClientInput
		want string
	}{
		"a name with a space": {ClientInput{Name: text("my app")}, "/name invalid_name"},
		"http": {
			ClientInput{RedirectURIs: list("http://app.example/cb")},
			"/redirect_uris/0 invalid_redirect_uri",
		},
		"http on loopback elsewhere": {
			ClientInput{RedirectURIs: list("http://127.0.0.1.evil.example/cb")},
			"/redirect_uris/0 invalid_redirect_uri",
		},
		"a scheme of its own": {
			ClientInput{RedirectURIs: list("myapp://callback")},
			"/redirect_uris/0 invalid_redirect_uri",
		},
		"a script": {
			ClientInput{RedirectURIs: list("javascript:alert(1)")},
			"/redirect_uris/0 invalid_redirect_uri",
		},
		"a fragment": {
			ClientInput{RedirectURIs: list("https://app.example/cb#x")},
			"/redirect_uris/0 invalid_redirect_uri",
		},
		"a name in the address": {
			ClientInput{RedirectURIs: list("https://app.example@evil.example/cb")},
			"/redirect_uris/0 invalid_redirect_uri",
		},
		"a path alone": {ClientInput{RedirectURIs: list("/cb")}, "/redirect_uris/0 invalid_redirect_uri"},
		"a host of a policy": {
			ClientInput{RedirectURIs: list("https://app.example;script-src/cb")},
			"/redirect_uris/0 invalid_redirect_uri",
		},
		"a wildcard": {
			ClientInput{RedirectURIs: list("https://*.app.example/cb")},
			"/redirect_uris/0 invalid_redirect_uri",
		},
		"the second of two": {
			ClientInput{RedirectURIs: list("https://app.example/cb", "x")},
			"/redirect_uris/1 invalid_redirect_uri",
		},
		"a line end": {
			ClientInput{LogoutURIs: list("https://app.example/\r\nSet-Cookie: x")},
			"/logout_uris/0 invalid_redirect_uri",
		},
		"a lifetime of a second": {
			ClientInput{Access: length(time.Second)},
			"/access_token_seconds invalid_lifetime",
		},
		"a lifetime of a year": {
			ClientInput{Refresh: length(365 * 24 * time.Hour)},
			"/refresh_token_seconds invalid_lifetime",
		},
		"HS256": {ClientInput{Algorithm: text("HS256")}, "/algorithm unknown_algorithm"},
		"none":  {ClientInput{Algorithm: text("none")}, "/algorithm unknown_algorithm"},
		"a logo over http": {
			ClientInput{LogoURL: text("http://app.example/logo.png")},
			"/branding/logo_url invalid_url",
		},
		"a logo that is data": {
			ClientInput{LogoURL: text("data:image/png;base64,AA")},
			"/branding/logo_url invalid_url",
		},
		"a logo of a policy": {
			ClientInput{LogoURL: text("https://app.example; script-src *")},
			"/branding/logo_url invalid_url",
		},
		"a colour of a style sheet": {
			ClientInput{Color: text("red;}body{display:none")},
			"/branding/color invalid_color",
		},
		"a title that turns text": {ClientInput{Title: text("a\u202eb")}, "/branding/title invalid_text"},
		"a welcome without end": {
			ClientInput{Welcome: text(strings.Repeat("x", 301))},
			"/branding/welcome invalid_text",
		},
	}
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newRoom(t, db, RS256)
		for name, tt := range tests {
			if _, err := r.UpdateClient(t.Context(), r.owner, r.client.ID, "", tt.in); err == nil ||
				wrongIn(err) != tt.want {
				t.Errorf("%s: %v, want %s", name, err, tt.want)
			}
		}
		fitting := ClientInput{
			RedirectURIs: list(
				"https://app.example/cb?x=1",
				"http://127.0.0.1:3000/cb",
				"http://[::1]:3000/cb",
				"http://localhost/cb",
			),
			LogoURL: text("https://cdn.example/logo.png"),
			Color:   text("#0A7D55"),
		}
		if got, err := r.UpdateClient(t.Context(), r.owner, r.client.ID, "", fitting); err != nil ||
			got.Branding.Color != "#0a7d55" ||
			len(got.RedirectURIs) != 4 {
			t.Errorf("what fits: %+v, %v", got, err)
		}
	})
}

func TestProvidersThatAreRefused(t *testing.T) {
	id, secret, scopes := "app", secrets.Secret("secret"), []string{"email"}
	tests := map[string]struct {
		in   ProviderInput
		want string
	}{
		"an unknown kind":           {ProviderInput{Type: "myspace", ClientID: &id}, "/type unknown_provider"},
		"GitHub without a secret":   {ProviderInput{Type: "github", ClientID: &id}, "/client_secret required"},
		"Facebook without a secret": {ProviderInput{Type: "facebook", ClientID: &id}, "/client_secret required"},
		"Google without an id":      {ProviderInput{Type: "google"}, "/client_id required"},
		"no issuer":                 {ProviderInput{Type: "oidc", ClientID: &id}, "/issuer required"},
		"no domain":                 {ProviderInput{Type: "auth0", ClientID: &id}, "/issuer required"},
		"an issuer of Google's own": {ProviderInput{
			Type:     "google",
			ClientID: &id,
			Issuer:   "https://evil.example",
		}, "/issuer issuer_not_taken"},
		"an issuer inside": {ProviderInput{
			Type:     "oidc",
			ClientID: &id,
			Issuer:   "https://169.254.169.254",
		}, "/issuer target_forbidden"},
		"an issuer with a query": {ProviderInput{
			Type:     "oidc",
			ClientID: &id,
			Issuer:   "http://127.0.0.1:9/?x",
		}, "/issuer invalid_url"},
		"an issuer that is a file": {ProviderInput{
			Type:     "oidc",
			ClientID: &id,
			Issuer:   "file:///etc/passwd",
		}, "/issuer invalid_url"},
		"no openid": {ProviderInput{
			Type:     "google",
			ClientID: &id,
			Scopes:   &scopes,
		}, "/scopes scope_missing"},
		"Google, managed": {ProviderInput{
			Type:    "google",
			Managed: true,
		}, "/managed managed_login_unavailable"},
		"GitHub, managed, without one": {ProviderInput{
			Type:    "github",
			Managed: true,
		}, "/managed managed_login_unavailable"},
		"tokens that cannot be": {ProviderInput{
			Type:     "google",
			ClientID: &id,
			Tokens:   &TokenTypes{ProviderToken, ServiceToken},
		}, "/token_type/upstream token_type_impossible"},
	}
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newRoom(t, db, RS256)
		for name, tt := range tests {
			if _, err := r.CreateProvider(t.Context(), r.owner, r.client.ID, tt.in); err == nil ||
				wrongIn(err) != tt.want {
				t.Errorf("%s: %v, want %s", name, err, tt.want)
			}
		}
		r.Shared = Shared{ClientID: "shared", ClientSecret: "shared-secret"}
		managed, err := r.CreateProvider(t.Context(), r.owner, r.client.ID, ProviderInput{
			Type:    "github",
			Managed: true,
		})
		if err != nil || managed.ClientID != "" {
			t.Fatalf("managed: %+v, %v", managed, err)
		}
		config, _, err := r.providerConfig(t.Context(), r.client.ID, managed.ID)
		if err != nil || config.ClientID != "shared" || config.ClientSecret.Reveal() != "shared-secret" {
			t.Errorf("managed is asked as %+v, %v", config, err)
		}
		_, err = r.UpdateProvider(
			t.Context(), r.owner, managed.ID, "", ProviderInput{Tokens: &TokenTypes{Client: ProviderToken}},
		)
		if err == nil || wrongIn(err) != "/token_type token_type_impossible" {
			t.Errorf("tokens of the shared app: %v", err)
		}
		own, err := r.CreateProvider(t.Context(), r.owner, r.client.ID, ProviderInput{
			Type:         "github",
			ClientID:     &id,
			ClientSecret: &secret,
		})
		if err != nil || !own.HasSecret || own.Tokens != (TokenTypes{ServiceToken, ServiceToken}) {
			t.Fatalf("GitHub: %+v, %v", own, err)
		}
		row, err := db.Read(t.Context()).ProviderByID(own.ID)
		if err != nil || strings.Contains(string(row.ClientSecret), secret.Reveal()) {
			t.Errorf("the secret is kept as %q, %v", row.ClientSecret, err)
		}
		if config, _, err := r.providerConfig(t.Context(), r.client.ID, own.ID); err != nil ||
			config.ClientSecret != secret {
			t.Errorf("GitHub is asked with another secret: %v", err)
		}
	})
}

// Whoever holds a workspace key asks issuers on web ports only, whatever the way in.
func TestAnUnclaimedWorkspaceAsksIssuersOnWebPorts(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		r := newRoom(t, db, RS256)
		key := access.Principal{Token: "wk_1", Roles: map[string]access.Role{}}
		for team := range r.owner.Roles {
			key.Roles[team] = access.Workspace
		}
		id, off, on := "app", false, true
		odd := ProviderInput{Type: "oidc", ClientID: &id, Issuer: "https://8.8.8.8:8443"}
		made, err := r.CreateProvider(t.Context(), key, r.client.ID, odd)
		if err != nil {
			t.Fatalf("where nothing is capped: %v", err)
		}
		r.CapUnclaimed = true
		if _, err := r.CreateProvider(t.Context(), key, r.client.ID, odd); wrongIn(err) != "/issuer port_needs_claim" {
			t.Errorf("a new one: %v", err)
		}
		if _, err := r.UpdateProvider(t.Context(), key, made.ID, "", ProviderInput{Enabled: &on}); wrongIn(
			err,
		) != "/issuer port_needs_claim" {
			t.Errorf("one that is there: %v", err)
		}
		if _, err := r.UpdateProvider(t.Context(), key, made.ID, "", ProviderInput{Enabled: &off}); err != nil {
			t.Errorf("turning it off: %v", err)
		}
		if _, err := r.CreateProvider(t.Context(), r.owner, r.client.ID, odd); err != nil {
			t.Errorf("a team's own: %v", err)
		}
		odd.Issuer = "https://8.8.8.8"
		if _, err := r.CreateProvider(t.Context(), key, r.client.ID, odd); err != nil {
			t.Errorf("at a web port: %v", err)
		}
	})
}
