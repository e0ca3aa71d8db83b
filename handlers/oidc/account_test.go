package oidc_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// linked goes from a form of the account page through a provider and back.
func (s *app) linked(browser *http.Client, fake *idp.Fake, provider, form string) step {
	s.t.Helper()
	begun := s.post(browser, s.path("/account/"+form), nil)
	if begun.to == nil {
		s.t.Fatalf("the form %s answers %d %s", form, begun.status, begun.Find("main").Text())
	}
	page := s.get(browser, begun.to.String())
	link, ok := page.Find("a[href$='/" + provider + "']").Attr("href")
	if !ok {
		s.t.Fatalf("the page does not offer %s: %d %s", provider, page.status, page.Find("main").Text())
	}
	return s.get(browser, fake.Authorize(s.t, s.get(browser, link).to.String()).String())
}

func TestAccount_sessionsAndConsents(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newLoginApp(t, db, contract.AppClientSettings{})
		fake, provider := s.offerFake()
		browser := s.browser()
		if page := s.get(browser, s.path("/account")); page.Find("form[action$='/account/signin']").Length() != 1 {
			t.Fatalf("a visitor is not asked to sign in: %d %s", page.status, page.Find("main").Text())
		}
		first := s.enter(browser, fake, provider.ID, "openid email")
		other := s.enter(s.browser(), fake, provider.ID, "openid email")
		page := s.get(browser, s.path("/account"))
		if text := page.Find("main").Text(); !strings.Contains(text, "ana@example.com") ||
			!strings.Contains(text, "see your email address") {
			t.Errorf("the page says %s", text)
		}
		if n := page.Find("form[action*='/sessions/ses_']").Length(); n != 2 {
			t.Errorf("the page lists %d sessions, want 2", n)
		}
		end := s.path("/account/sessions/" + sid(t, other.ID) + "/end")
		for range 2 { // a form that is sent twice
			if got := s.post(browser, end, nil); got.status != http.StatusSeeOther {
				t.Errorf("ending a session answers %d", got.status)
			}
		}
		if got, want := s.barred(), []string{sid(t, other.ID)}; !slices.Equal(got, want) {
			t.Errorf("gateways refuse %v, want %v", got, want)
		}
		if got := s.post(s.browser(), s.path("/account/sessions/end-all"), nil); got.status != http.StatusUnauthorized {
			t.Errorf("another browser ends the sessions: %d", got.status)
		}
		if got := s.post(browser, s.path("/account/sessions/end-all"), nil); got.status != http.StatusOK {
			t.Errorf("signing out everywhere answers %d", got.status)
		}
		if got := s.barred(); !slices.Contains(got, sid(t, first.ID)) {
			t.Errorf("gateways refuse %v, want %s among them", got, sid(t, first.ID))
		}
		if page := s.get(browser, s.path("/account")); page.Find("form[action$='/account/signin']").Length() != 1 {
			t.Error("the account is shown after signing out everywhere")
		}

		s.linked(browser, fake, provider.ID, "signin")
		withdraw := s.path("/account/consents/" + s.client.ID + "/withdraw")
		if got := s.post(browser, withdraw, nil); got.status != http.StatusSeeOther {
			t.Fatalf("withdrawing the consent answers %d", got.status)
		}
		user := claims(t, first.ID)["sub"].(string)
		list, err := s.server.Login.Consents(t.Context(), s.owner, contract.UserPath{User: user})
		if err != nil || len(list.Items) != 0 {
			t.Errorf("Consents = %v, %v, want none", list, err)
		}
	})
}

func TestAccount_delete(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	browser := s.browser()
	first := s.enter(browser, fake, provider.ID, "openid")
	user := claims(t, first.ID)["sub"].(string)
	agreed := url.Values{"confirm": {"true"}}
	if got := s.post(browser, s.path("/account/delete"), nil); got.status != http.StatusUnprocessableEntity {
		t.Errorf("without the box ticked: %d", got.status)
	}
	if got := s.post(s.browser(), s.path("/account/delete"), agreed); got.status != http.StatusUnauthorized {
		t.Errorf("without a session: %d", got.status)
	}
	const age = "UPDATE login_sessions SET created_at = $1"
	if _, err := db.SQL().ExecContext(t.Context(), age, models.Now().Add(-11*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := s.post(browser, s.path("/account/delete"), agreed); got.status != http.StatusForbidden {
		t.Errorf("eleven minutes after the sign-in: %d", got.status)
	}
	if _, err := s.server.Directory.User(t.Context(), s.owner, contract.UserPath{User: user}); err != nil {
		t.Fatalf("the user is gone: %v", err)
	}
	s.linked(browser, fake, provider.ID, "signin")
	if got := s.post(browser, s.path("/account/delete"), agreed); got.status != http.StatusOK {
		t.Fatalf("after signing in again: %d %s", got.status, got.Find("main").Text())
	}
	if _, err := s.server.Directory.User(t.Context(), s.owner, contract.UserPath{User: user}); err == nil {
		t.Error("the user is there after the deletion")
	}
	if got := s.userInfo(first.Access); got != http.StatusUnauthorized {
		t.Errorf("userinfo of a deleted user: %d", got)
	}
	if got := s.linked(browser, fake, provider.ID, "signin"); got.status != http.StatusForbidden {
		t.Errorf("a sign-in to the account page creates the account again: %d", got.status)
	}
}

func TestAccount_linkProvider(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	second, other := s.offerFake()
	browser := s.browser()
	ana := claims(t, s.enter(browser, fake, provider.ID, "openid").ID)["sub"]
	if got := s.linked(browser, second, other.ID, "link"); got.to == nil {
		t.Fatalf("linking answers %d %s", got.status, got.Find("main").Text())
	}
	if sub := claims(t, s.enter(s.browser(), second, other.ID, "openid").ID)["sub"]; sub != ana {
		t.Errorf("a sign-in with the linked provider is %v, want %v", sub, ana)
	}
	if got := s.linked(browser, second, other.ID, "link"); got.to == nil {
		t.Errorf("linking it again answers %d", got.status)
	}

	second.Subject = "ben"
	ben := claims(t, s.enter(s.browser(), second, other.ID, "openid").ID)["sub"]
	if ben == ana {
		t.Fatal("two subjects are one user")
	}
	if got := s.linked(browser, second, other.ID, "link"); got.status != http.StatusConflict {
		t.Errorf("linking another user's sign-in answers %d, want 409", got.status)
	}
	if sub := claims(t, s.enter(s.browser(), second, other.ID, "openid").ID)["sub"]; sub != ben {
		t.Errorf("after that the other user is %v, want %v", sub, ben)
	}

	second.Subject = "carla" // linked by a browser whose session has ended since
	begun := s.post(browser, s.path("/account/link"), nil)
	page := s.get(browser, begun.to.String())
	link := page.Find("a[href$='/"+other.ID+"']").AttrOr("href", "")
	back := second.Authorize(t, s.get(browser, link).to.String())
	if _, err := s.server.Login.EndSessions(t.Context(), s.owner, contract.UserPath{User: ana.(string)}); err != nil {
		t.Fatal(err)
	}
	if got := s.get(browser, back.String()); got.status != http.StatusUnauthorized {
		t.Errorf("linking without a session answers %d, want 401", got.status)
	}
	if sub := claims(t, s.enter(s.browser(), second, other.ID, "openid").ID)["sub"]; sub == ana {
		t.Error("the provider is linked although the session had ended")
	}
	profile, err := s.server.Directory.User(t.Context(), s.owner, contract.UserPath{User: ana.(string)})
	if err != nil || len(profile.Identities) != 2 {
		t.Errorf("the user has the identities %v, %v, want 2", profile.Identities, err)
	}
}
