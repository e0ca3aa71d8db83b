package introspection_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/login"
	"postern/service/login/providers"
	"postern/service/projects"
	"postern/testkit/idp"
	"postern/testkit/state"
)

const back = "https://app.example.com/callback"

// kind is a provider whose own tokens browsers get.
type kind struct {
	in   contract.NewProvider
	path string // of its question about a token
	// start runs it and tells the set where it is.
	start func(t *testing.T, set *providers.Set, in *contract.NewProvider) *idp.Fake
}

func offer(kind, upstream string) contract.NewProvider {
	id, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	return contract.NewProvider{
		Type: kind,
		ProviderSettings: contract.ProviderSettings{
			ClientID:     &id,
			ClientSecret: &secret,
			TokenType:    contract.NewTokenType{Client: contract.ProviderToken, Upstream: upstream},
		},
	}
}

func ofIssuer(t *testing.T, _ *providers.Set, in *contract.NewProvider) *idp.Fake {
	fake := idp.StartFake(t)
	fake.Introspects = true
	in.Issuer = fake.URL
	if in.Type == providers.Auth0 {
		fake.Issuer += "/"
		in.Audience = new("https://api.example.com")
	}
	return fake
}

func google(t *testing.T, set *providers.Set, _ *contract.NewProvider) *idp.Fake {
	fake := idp.StartGoogle(t)
	set.GoogleURL, set.GoogleTokenInfo = fake.URL, fake.URL+"/tokeninfo"
	return fake
}

var kinds = map[string]kind{
	"github": {
		offer(providers.GitHub, contract.ProviderAccessToken),
		"/applications/" + idp.ClientID + "/token",
		func(t *testing.T, set *providers.Set, _ *contract.NewProvider) *idp.Fake {
			fake := idp.StartGitHub(t)
			set.GitHubURL, set.GitHubAPI = fake.URL, fake.URL
			return fake.Fake
		},
	},
	"google":    {offer(providers.Google, contract.ProviderAccessToken), "/tokeninfo", google},
	"google id": {offer(providers.Google, contract.ProviderIDToken), "/keys", google},
	"facebook": {
		offer(providers.Facebook, contract.NoToken),
		"/v23.0/debug_token",
		func(t *testing.T, set *providers.Set, _ *contract.NewProvider) *idp.Fake {
			fake := idp.StartFacebook(t)
			set.FacebookURL, set.FacebookGraph = fake.URL, fake.URL
			return fake.Fake
		},
	},
	"microsoft": {
		offer(providers.Microsoft, contract.ProviderAccessToken),
		"/userinfo",
		func(t *testing.T, set *providers.Set, in *contract.NewProvider) *idp.Fake {
			in.Scopes = &[]string{"openid", "api://" + idp.ClientID + "/access"}
			fake := idp.StartMicrosoft(t)
			set.MicrosoftURL, set.MicrosoftSTS = fake.URL, idp.MicrosoftSTS(fake)
			return fake
		},
	},
	"auth0": {offer(providers.Auth0, contract.NoToken), "/introspect", ofIssuer},
	"oidc":  {offer(providers.OIDC, contract.ProviderAccessToken), "/introspect", ofIssuer},
}

// loginProject is a project whose people sign in.
type loginProject struct {
	*world
	name      string
	owner     access.Principal
	client    string
	providers map[string]string // type to id
}

// newLoginProject creates the project shop with the providers.
func newLoginProject(t *testing.T, db *models.DB, offers ...contract.NewProvider) *loginProject {
	t.Helper()
	return addLoginProject(t, newWorld(t, db), "shop", offers...)
}

func addLoginProject(t *testing.T, w *world, name string, offers ...contract.NewProvider) *loginProject {
	t.Helper()
	setup := &appclients.Setup{Service: w.appClients, RedirectURIs: []string{back}, Providers: offers}
	_, owner := w.create(t, projects.CreateInput{
		Name:  name,
		Auth:  contract.NewRequestsAuth{Mode: "authenticate", Methods: []string{"jwt"}},
		Login: setup,
	})
	h := &loginProject{world: w, name: name, owner: owner, client: setup.Client.ID, providers: map[string]string{}}
	for _, one := range setup.Offered {
		h.providers[one.Type] = one.ID
	}
	return h
}

// signIn goes through a whole login and returns what the browser gets as its access
// token.
func (h *loginProject) signIn(t *testing.T, fake *idp.Fake, kind string) string {
	t.Helper()
	const browser, verifier = "the browser", "a-verifier-of-at-least-forty-three-characters"
	sum := sha256.Sum256([]byte(verifier))
	begun, err := h.login.Authorize(t.Context(), login.AuthorizationRequest{
		ClientID:        h.client,
		RedirectURI:     back,
		ResponseType:    "code",
		Scope:           "openid",
		State:           "s",
		Challenge:       base64.RawURLEncoding.EncodeToString(sum[:]),
		ChallengeMethod: "S256",
	}, browser)
	if err != nil || begun.Back.URL != "" {
		t.Fatal(begun, err)
	}
	address, err := h.login.Choose(t.Context(), h.client, begun.ID, h.providers[kind], browser)
	if err != nil {
		t.Fatal(err)
	}
	to := fake.Authorize(t, address).Query()
	arrived, err := h.login.HandleCallback(t.Context(), login.AuthorizationResponse{
		Client:   h.client,
		Provider: h.providers[kind],
		State:    to.Get("state"),
		Code:     to.Get("code"),
	}, browser)
	if err != nil {
		t.Fatal(err)
	}
	if arrived.Back.URL == "" {
		ticket := arrived.Ticket.Reveal()
		arrived.Finished, err = h.login.GrantConsent(t.Context(), h.client, arrived.Attempt, ticket, browser)
		if err != nil {
			t.Fatal(err)
		}
	}
	tokens, err := h.login.Token(t.Context(), login.TokenInput{
		Credentials: login.Credentials{ClientID: h.client, NamedClient: h.client},
		GrantType:   "authorization_code",
		Code:        queryOf(t, arrived.Back.URL).Get("code"),
		RedirectURI: back,
		Verifier:    verifier,
	})
	if err != nil {
		t.Fatal(err)
	}
	return tokens.Access
}

// update changes the provider of a kind.
func (h *loginProject) update(t *testing.T, kind string, in contract.ProviderSettings) {
	t.Helper()
	if _, err := h.appClients.UpdateProvider(t.Context(), h.owner, in.Of(h.providers[kind])); err != nil {
		t.Fatal(err)
	}
}

// failingProvider calls with a good token while the provider's path fails.
func (h *loginProject) failingProvider(t *testing.T, fake *idp.Fake, path, token string) {
	t.Helper()
	honest := fake.Serve
	defer func() { fake.Serve = honest }()
	answers := func(status int, body string) {
		fake.Serve = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return honest != nil && honest(w, r)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	answers(http.StatusServiceUnavailable, "")
	h.call(t, h.name, token).wants(t, "a provider that is down", 503, "provider_unavailable")
	answers(http.StatusOK, "<html>")
	h.call(t, h.name, token).wants(t, "a provider that answers nonsense", 502, "provider_answer_invalid")
}

func TestIntrospect_providerTokens(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		for name, one := range kinds {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, db)
				in := one.in
				fake := one.start(t, w.appClients.Providers, &in)
				h := addLoginProject(t, w, "shop-"+strings.ReplaceAll(name, " ", "-"), in)
				token := h.signIn(t, fake, in.Type)
				user := h.person(t)
				h.join(t, user, "staff")
				for range 2 {
					h.call(t, h.name, token).wants(t, "a good token", 200, "")
				}
				seen := h.upstream.Requests()
				last, authorization := seen[len(seen)-1].Headers, "Bearer "+token
				if in.TokenType.Upstream == contract.NoToken {
					authorization = ""
				}
				for name, want := range map[string]string{
					"X-Authenticated-Userid": user,
					"X-Consumer-Groups":      "staff",
					"X-Authenticated-Scope":  "",
					"X-Consumer-Username":    "",
					"Authorization":          authorization,
				} {
					if got := last.Get(name); got != want {
						t.Errorf("the upstream got %s: %q, want %q", name, got, want)
					}
				}
				if last.Get("X-Tenant-Id") == "" {
					t.Error("the upstream got no X-Tenant-Id")
				}
				if n := fake.Requests(one.path); n < 2 && one.path != "/keys" {
					t.Errorf("2 calls asked %d times", n)
				}
				if _, err := h.people.Freeze(t.Context(), h.owner, contract.UserPath{User: user}); err != nil {
					t.Fatal(err)
				}
				h.call(t, h.name, token).wants(t, "a frozen user", 403, "user_frozen")
				if _, err := h.people.Unfreeze(t.Context(), h.owner, contract.UserPath{User: user}); err != nil {
					t.Fatal(err)
				}
				h.call(t, h.name, token).wants(t, "unfrozen", 200, "")

				if one.path != "/keys" {
					h.failingProvider(t, fake, one.path, token)
				}
				other := "another-app"
				h.update(t, in.Type, contract.ProviderSettings{ClientID: &other})
				if got := h.call(t, h.name, token); got.status == 200 {
					t.Error("another app's token gets in")
				}
				id := idp.ClientID
				h.update(t, in.Type, contract.ProviderSettings{ClientID: &id})
				h.call(t, h.name, token).wants(t, "as it was", 200, "")
				if _, err := h.people.DeleteUser(t.Context(), h.owner, contract.UserPath{User: user}); err != nil {
					t.Fatal(err)
				}
				h.call(t, h.name, token).wants(t, "a deleted user", 401, "invalid_token")
				off := false
				h.update(t, in.Type, contract.ProviderSettings{Enabled: &off})
				asked := fake.Requests(one.path)
				h.call(t, h.name, token).wants(t, "a provider that is off", 401, "invalid_token")
				if fake.Requests(one.path) != asked {
					t.Error("a provider that is off was asked")
				}
				if strings.Contains(h.log.String(), token) || strings.Contains(h.log.String(), fake.Access) {
					t.Error("the log holds the token")
				}
			})
		}
	})
}

// A token is shown only to the provider that can have issued it.
func TestIntrospect_otherProvider(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		fakes := map[string]*idp.Fake{}
		var offers []contract.NewProvider
		for _, name := range []string{"github", "google", "facebook", "microsoft", "oidc"} {
			in := kinds[name].in
			fakes[name] = kinds[name].start(t, w.appClients.Providers, &in)
			offers = append(offers, in)
		}
		h := addLoginProject(t, w, "shop", offers...)
		total := func() map[string]int {
			out := map[string]int{}
			for name, fake := range fakes {
				out[name] = fake.Requests(kinds[name].path)
			}
			return out
		}
		for token, whose := range map[string]string{
			"gho_canary":  "github",
			"ya29.canary": "google",
			"EAAcanary":   "facebook",
			"canary":      "oidc",
			"ghp_canary":  "",
			idp.MicrosoftAccess(fakes["microsoft"], nil):                   "microsoft",
			idp.Unsigned(map[string]any{"iss": "https://evil.example"}):    "",
			idp.Unsigned(map[string]any{"iss": "https://postern.example"}): "",
		} {
			before := total()
			h.call(t, h.name, token).wants(t, token, 401, "invalid_token")
			for name, n := range total() {
				if want := before[name]; n != want && name != whose {
					t.Errorf("%.20s… was shown to %s", token, name)
				} else if n == want && name == whose {
					t.Errorf("%.20s… was not shown to %s", token, name)
				}
			}
		}
	})
}

// person is the one end user there is.
func (h *loginProject) person(t *testing.T) string {
	t.Helper()
	page, err := h.people.Users(t.Context(), h.owner, contract.UserList{
		TenantPath: contract.TenantPath{Tenant: h.tenant(t)},
	})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%d users, %v", len(page.Items), err)
	}
	return page.Items[0].ID
}

func (h *loginProject) tenant(t *testing.T) string {
	t.Helper()
	client, err := h.appClients.Client(t.Context(), h.owner, contract.AppClientPath{Client: h.client})
	if err != nil {
		t.Fatal(err)
	}
	return client.Tenant
}

func (h *loginProject) join(t *testing.T, user, group string) {
	t.Helper()
	made, err := h.people.CreateGroup(t.Context(), h.owner, contract.NewGroup{Name: group}.In(h.tenant(t)))
	if err == nil {
		_, err = h.people.SetMember(t.Context(), h.owner, contract.InGroup(made.ID, user).As("member"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func queryOf(t *testing.T, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}
