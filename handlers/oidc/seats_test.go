package oidc_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/directory"
	"postern/service/login/providers"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// seatEmail is the address of the seat, which each kind's fake states.
const seatEmail = "ana@example.com"

// joinMethod is a way by which an identity could become an invited or provisioned user.
type joinMethod struct {
	name  string
	kinds map[string]bool // where it takes the seat
	enter func(s *providerLogin, browser *http.Client, user contract.User) step
}

func all(kinds ...string) map[string]bool {
	out := map[string]bool{}
	for _, kind := range kinds {
		out[kind] = true
	}
	return out
}

// states has the fake state the address of the seat, and a claim about it.
func (s *providerLogin) states(claim string, value any) {
	if s.github != nil {
		verified := claim != "email_verified" || value == true
		s.github.Emails = []map[string]any{{"email": seatEmail, "primary": true, "verified": verified}}
	}
	honest := s.fake.Claims
	s.fake.Claims = func(claims map[string]any) {
		if honest != nil {
			honest(claims)
		}
		claims["email"], claims[claim] = seatEmail, value
	}
}

var waysIn = []joinMethod{
	{"a verified address", nil, func(s *providerLogin, browser *http.Client, _ contract.User) step {
		s.states("email_verified", true)
		return s.signsIn(browser)
	}},
	{"an unverified address", nil, func(s *providerLogin, browser *http.Client, _ contract.User) step {
		s.states("email_verified", false)
		return s.signsIn(browser)
	}},
	{"the account page", nil, func(s *providerLogin, browser *http.Client, _ contract.User) step {
		s.states("email_verified", true)
		return s.linked(browser, s.fake, s.provider.ID, "signin")
	}},
	{"the invitation link", all(providers.Kinds()...), func(
		s *providerLogin, browser *http.Client, user contract.User,
	) step {
		made, err := s.server.Login.InviteUser(
			s.t.Context(), s.owner, contract.UserInvitationCreation{UserPath: user.Path()},
		)
		if err != nil {
			s.t.Fatal(err)
		}
		return s.accepts(browser, made.URL.Reveal())
	}},
	{"a link that was replaced", nil, func(s *providerLogin, browser *http.Client, user contract.User) step {
		var links []string
		for range 2 {
			made, err := s.server.Login.InviteUser(s.t.Context(), s.owner, contract.UserInvitationCreation{
				UserPath: user.Path(), Body: contract.InvitationPage{AppClient: s.client.ID},
			})
			if err != nil {
				s.t.Fatal(err)
			}
			links = append(links, made.URL.Reveal())
		}
		return s.accepts(browser, links[0])
	}},
	{"a Workspace organization", all(providers.Google), func(
		s *providerLogin, browser *http.Client, _ contract.User,
	) step {
		s.states("hd", "example.com")
		return s.signsIn(browser)
	}},
	{"a domain that the tenant trusts", all(providers.OIDC, providers.Auth0), func(
		s *providerLogin, browser *http.Client, _ contract.User,
	) step {
		if !providers.TakesDomains(s.kind, s.provider.Issuer) {
			return s.signsIn(browser)
		}
		s.declare(s.provider, "example.com")
		defer s.declare(s.provider)
		s.states("email_verified", true)
		return s.signsIn(browser)
	}},
	{"the directory's id, with any tenant of the provider", nil, func(
		s *providerLogin, browser *http.Client, user contract.User,
	) step {
		s.setExternalID(user, idp.MicrosoftObjectID)
		return s.signsIn(browser)
	}},
	{"the directory's id", all(providers.Microsoft), func(
		s *providerLogin, browser *http.Client, user contract.User,
	) step {
		s.setExternalID(user, idp.MicrosoftObjectID)
		if s.kind != providers.Microsoft {
			return s.signsIn(browser)
		}
		issuer := s.fake.URL + "/" + idp.MicrosoftTenantID + "/v2.0"
		base, name := s.fake.Base, s.fake.Issuer
		s.fake.Base, s.fake.Issuer = "/"+idp.MicrosoftTenantID+"/v2.0", issuer
		defer func() { s.fake.Base, s.fake.Issuer = base, name }()
		clientID, secret, before := idp.ClientID, contract.Secret(idp.ClientSecret), s.provider
		s.provider = s.offer(contract.NewProvider{
			Type:             s.kind,
			Issuer:           issuer,
			ProviderSettings: contract.ProviderSettings{ClientID: &clientID, ClientSecret: &secret},
		})
		defer func() { s.provider = before }()
		return s.signsIn(browser)
	}},
}

func (s *providerLogin) setExternalID(user contract.User, id string) {
	s.t.Helper()
	change := directory.UserChange{ExternalID: &id}
	if _, err := s.server.Directory.ChangeUser(s.t.Context(), s.owner, user.ID, "", change); err != nil {
		s.t.Fatal(err)
	}
}

// signsIn goes through the provider to the application's consent page.
func (s *providerLogin) signsIn(browser *http.Client) step {
	s.t.Helper()
	to := s.toProvider(browser, s.request("openid profile email"), s.provider.ID)
	return s.get(browser, s.fake.Authorize(s.t, to.String()).String())
}

// accepts opens an invitation link and signs in.
func (s *providerLogin) accepts(browser *http.Client, link string) step {
	s.t.Helper()
	at, err := url.Parse(link)
	if err != nil {
		s.t.Fatal(err)
	}
	if page := s.get(browser, at.Path); page.status != http.StatusOK {
		return page
	}
	begun := s.post(browser, at.Path, nil)
	page := s.get(browser, begun.to.String())
	chosen := s.get(browser, page.Find("a[href$='/"+s.provider.ID+"']").AttrOr("href", ""))
	return s.get(browser, s.fake.Authorize(s.t, chosen.to.String()).String())
}

// Every kind of provider × every way in: a seat with its groups goes to no one for a verified address alone.
func TestLogin_seats(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	for _, kind := range providers.Kinds() {
		t.Run(kind, func(t *testing.T) {
			s := newProviderLogin(t, db, kind)
			for _, way := range waysIn {
				s.pristine()
				user, err := s.server.Directory.ProvisionUser(t.Context(), s.owner, s.tenant, directory.NewUser{
					NewUser: contract.NewUser{Email: seatEmail}, UserName: "ana",
				})
				if err != nil {
					t.Fatal(err)
				}
				browser := s.browser()
				page := way.enter(s, browser, user)
				if page.Find("button[value=agree]").Length() > 0 {
					page = s.post(browser, s.path("/consent"), formOf(page, "agree"))
				}
				after, err := s.server.Directory.User(t.Context(), s.owner, user.Path())
				if err != nil {
					t.Fatal(err)
				}
				if took := after.State == directory.Active; took != way.kinds[kind] {
					t.Errorf("%s takes the seat: %t, want %t: %d %s", way.name, took, way.kinds[kind], page.status,
						page.Find("main").Text())
				}
				s.clear()
			}
		})
	}
}

// A trusted provider that verifies an address like a seat's, with another letter k or i, makes another user.
func TestLogin_seatsOfOtherAlphabets(t *testing.T) {
	t.Parallel()
	s := newProviderLogin(t, state.OpenSQLite(t), providers.OIDC)
	s.pristine()
	s.declare(s.provider, "example.com")
	for seat, stated := range map[string]string{
		"kate@example.com": "\u212Aate@example.com", "iana@example.com": "\u0130ana@example.com",
	} {
		user, err := s.server.Directory.CreateUser(t.Context(), s.owner, contract.NewUser{Email: seat}.In(s.tenant))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range []struct {
			email string
			takes bool
		}{{stated, false}, {strings.ToUpper(seat), true}} {
			s.fake.Claims = func(claims map[string]any) { claims["sub"], claims["email"] = one.email, one.email }
			browser := s.browser()
			to := s.toProvider(browser, s.request("openid email"), s.provider.ID)
			s.agree(browser, s.fake.Authorize(t, to.String()).String())
			after, err := s.server.Directory.User(t.Context(), s.owner, user.Path())
			if took := after.State == directory.Active; err != nil || took != one.takes {
				t.Errorf("%s takes the seat of %s: %t, %v", one.email, seat, took, err)
			}
		}
	}
}

// clear deletes the users of the tenant.
func (s *providerLogin) clear() {
	s.t.Helper()
	list, _, err := s.server.Directory.UsersFrom(s.t.Context(), s.owner, s.tenant, models.UserFilter{}, 0, 100)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, one := range list {
		_, err := s.server.Directory.DeleteUser(s.t.Context(), s.owner, one.Path())
		if err != nil && fault.KindOf(err) != fault.NotFound {
			s.t.Fatal(err)
		}
	}
}
