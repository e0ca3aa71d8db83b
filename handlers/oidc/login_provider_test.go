package oidc_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/login/providers"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// providerLogin is an app client with one kind of provider, and the attacks on it: all requests
// go through the control plane's own addresses, as an attacker's would.
type providerLogin struct {
	*app
	kind     string
	fake     *idp.Fake
	github   *idp.GitHub    // nil for others
	facebook *idp.Facebook  // nil for others
	set      *providers.Set // where the kind is to be found
	provider contract.Provider
	other    contract.Provider // a second one of the kind
	pristine func()            // makes the provider honest again
}

// providerKinds starts the provider of each kind, and says where it is and as what
// issuer it is configured.
var providerKinds = map[string]func(t *testing.T, s *providerLogin) (issuer string){
	providers.GitHub: func(t *testing.T, s *providerLogin) string {
		s.github = idp.StartGitHub(t)
		s.fake, s.set = s.github.Fake, &providers.Set{GitHubURL: s.github.URL, GitHubAPI: s.github.URL}
		user, emails := maps.Clone(s.github.User), slices.Clone(s.github.Emails)
		s.pristine = func() {
			s.github.User, s.github.Emails, s.github.API = maps.Clone(user), slices.Clone(emails), nil
		}
		return ""
	},
	providers.Facebook: func(t *testing.T, s *providerLogin) string {
		s.facebook = idp.StartFacebook(t)
		s.fake, s.set = s.facebook.Fake, &providers.Set{FacebookURL: s.facebook.URL, FacebookGraph: s.facebook.URL}
		debug, me := maps.Clone(s.facebook.Debug), maps.Clone(s.facebook.Me)
		s.pristine = func() {
			s.facebook.Debug, s.facebook.Me, s.facebook.Graph = maps.Clone(debug), maps.Clone(me), nil
		}
		return ""
	},
	providers.Google: func(t *testing.T, s *providerLogin) string {
		s.fake = idp.StartGoogle(t)
		s.set = &providers.Set{GoogleURL: s.fake.URL}
		return ""
	},
	providers.Microsoft: func(t *testing.T, s *providerLogin) string {
		s.fake = idp.StartMicrosoft(t)
		s.set = &providers.Set{MicrosoftURL: s.fake.URL}
		return ""
	},
	providers.Auth0: func(t *testing.T, s *providerLogin) string {
		s.fake, s.set = idp.StartFake(t), &providers.Set{}
		s.fake.Issuer += "/"
		return s.fake.Issuer
	},
	providers.OIDC: func(t *testing.T, s *providerLogin) string {
		s.fake, s.set = idp.StartFake(t), &providers.Set{}
		return s.fake.Issuer
	},
}

func newProviderLogin(t *testing.T, db *models.DB, kind string) *providerLogin {
	t.Helper()
	s := &providerLogin{kind: kind, app: newLoginApp(t, db, contract.AppClientSettings{}), pristine: func() {}}
	issuer := providerKinds[kind](t, s)
	claims, serve, special := s.fake.Claims, s.fake.Serve, s.pristine
	s.pristine = func() {
		special()
		s.fake.Switch(serve) // a response of the last attack may still be under way
		s.fake.Claims, s.fake.Sign, s.fake.Discovery, s.fake.Token = claims, nil, nil, nil
		// A document that was read in one attack must not serve in the next.
		s.server.AppClients.Providers = &providers.Set{
			HTTP:          s.server.AppClients.Providers.HTTP,
			GitHubURL:     s.set.GitHubURL,
			GitHubAPI:     s.set.GitHubAPI,
			GoogleURL:     s.set.GoogleURL,
			MicrosoftURL:  s.set.MicrosoftURL,
			FacebookURL:   s.set.FacebookURL,
			FacebookGraph: s.set.FacebookGraph,
		}
	}
	name, secret := idp.ClientID, contract.Secret(idp.ClientSecret)
	in := contract.NewProvider{
		Type:             kind,
		Issuer:           issuer,
		ProviderSettings: contract.ProviderSettings{ClientID: &name, ClientSecret: &secret},
	}
	s.provider, s.other = s.offer(in), s.offer(in)
	return s
}

// begin goes to the provider in a new browser and comes back with a code.
func (s *providerLogin) begin() (browser *http.Client, r request, back *url.URL) {
	s.t.Helper()
	browser, r = s.browser(), s.request("openid profile email offline_access")
	return browser, r, s.fake.Authorize(s.t, s.toProvider(browser, r, s.provider.ID).String())
}

// arrives is an honest browser's way through a provider that may lie.
func (s *providerLogin) arrives() step {
	s.t.Helper()
	browser := s.browser()
	page := s.get(browser, s.path("/authorize?"+s.request("openid profile email").query.Encode()))
	chosen := s.get(browser, page.Find("a[href$='/"+s.provider.ID+"']").AttrOr("href", ""))
	if chosen.to == nil {
		return chosen // it is refused before anyone is sent there
	}
	return s.get(browser, s.fake.Authorize(s.t, chosen.to.String()).String())
}

// honest signs in without an attack, which has to work for a refusal to mean
// anything, and returns the application's tokens.
func (s *providerLogin) honest() got {
	s.t.Helper()
	browser, r, back := s.begin()
	return s.exchange(r, s.agree(browser, back.String()))
}

// with is an address with a query changed.
func with(u *url.URL, change func(url.Values)) string {
	query := u.Query()
	change(query)
	changed := *u
	changed.RawQuery = query.Encode()
	return changed.String()
}

// attack is one try to get in where one does not belong, and the answer to it.
type attack struct {
	name string
	try  func(s *providerLogin) step
}

// judged is the response to an attack that another check has already refused.
func (s *providerLogin) judged() step { return s.get(s.browser(), s.path("/login/x/y")) }

// leastAttacks is how many each kind has to stand.
const leastAttacks = 12

// TestLogin_attacks runs each attack on each kind of provider: the attacker gets no code,
// no token and no consent page, no redirect leads to another site, and the answer holds
// nothing of the provider's.
func TestLogin_attacks(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	for _, kind := range providers.Kinds() {
		t.Run(kind, func(t *testing.T) {
			s := newProviderLogin(t, db, kind)
			s.pristine()
			if tokens := s.honest(); tokens.status != http.StatusOK {
				t.Fatalf("without an attack, it is answered %+v", tokens)
			}
			attacks := attacksOn(kind)
			for _, a := range attacks {
				s.pristine()
				s.refused(t, a.name, a.try(s))
			}
			t.Logf("%s: %d attacks", kind, len(attacks))
			if len(attacks) < leastAttacks {
				t.Errorf("that is fewer than %d", leastAttacks)
			}
		})
	}
}

func attacksOn(kind string) []attack {
	traits, _ := providers.TraitsOf(kind)
	list := slices.Concat(onTheBrowser, onTheClient, onTheExchange)
	if traits.HasIDToken {
		list = slices.Concat(list, onTheIDToken)
	}
	return slices.Concat(list, byKind[kind])
}

func (s *providerLogin) refused(t *testing.T, name string, got step) {
	t.Helper()
	if got.status < 400 && got.to == nil || got.status >= 500 && got.status != http.StatusServiceUnavailable {
		t.Errorf("%s: it is answered %d %s", name, got.status, got.Find("main").Text())
	}
	if got.to != nil {
		query := got.to.Query()
		if !strings.HasPrefix(got.to.String(), callback+"?") || query.Has("code") || !query.Has("error") {
			t.Errorf("%s: the browser is sent to %s", name, got.to)
		}
	}
	if got.Find("input[name=ticket]").Length() > 0 || strings.Contains(got.raw, "access_token") {
		t.Errorf("%s: it lets somebody in", name)
	}
	for _, secret := range []string{s.fake.Access, "canary-refresh", idp.ClientSecret, "eyJ"} {
		if strings.Contains(got.raw, secret) {
			t.Errorf("%s: the answer holds %q", name, secret)
		}
	}
}
