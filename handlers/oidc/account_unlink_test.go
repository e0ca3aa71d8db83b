package oidc_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/testkit/state"
)

const unlinkForms = "form[action$='/unlink']"

// unlinkActions returns the addresses of the Unlink buttons that a browser sees.
func (s *app) unlinkActions(browser *http.Client) []string {
	var list []string
	forms := s.get(browser, s.path("/account")).Find(unlinkForms)
	for i := range forms.Length() {
		list = append(list, forms.Eq(i).AttrOr("action", ""))
	}
	return list
}

func TestAccount_unlinkProvider(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newLoginApp(t, db, contract.AppClientSettings{})
		fake, provider := s.offerFake()
		second, other := s.offerFake()
		browser := s.browser()
		ana := claims(t, s.enter(browser, fake, provider.ID, "openid").ID)["sub"].(string)
		if got := s.unlinkActions(browser); len(got) != 0 {
			t.Fatalf("the only provider can be unlinked: %v", got)
		}
		if got := s.linked(browser, second, other.ID, "link"); got.to == nil {
			t.Fatalf("linking answers %d %s", got.status, got.Find("main").Text())
		}
		actions := s.unlinkActions(browser)
		if len(actions) != 2 {
			t.Fatalf("the page offers to unlink %v, want two", actions)
		}
		if got := s.post(s.browser(), actions[1], nil); got.status != http.StatusUnauthorized {
			t.Errorf("without a session: %d, want 401", got.status)
		}
		const age = "UPDATE login_sessions SET created_at = $1"
		if _, err := db.SQL().ExecContext(t.Context(), age, models.Now().Add(-11*time.Minute)); err != nil {
			t.Fatal(err)
		}
		if got := s.post(browser, actions[1], nil); got.status != http.StatusForbidden {
			t.Errorf("eleven minutes after the sign-in: %d, want 403", got.status)
		}
		if got := s.unlinkActions(browser); len(got) != 0 {
			t.Errorf("the page offers to unlink %v to a session that may not", got)
		}
		s.linked(browser, fake, provider.ID, "signin")
		before := s.told(ana)
		for range 2 { // a form that is sent twice
			if got := s.post(browser, actions[1], nil); got.status != http.StatusSeeOther {
				t.Errorf("unlinking answers %d %s", got.status, got.Find("main").Text())
			}
		}
		if got := s.told(ana) - before; got != 1 {
			t.Errorf("the audit log has %d entries more, want 1", got)
		}
		if got := s.post(browser, actions[0], nil); got.status != http.StatusConflict {
			t.Errorf("unlinking the last one answers %d, want 409", got.status)
		}
		profile, err := s.server.Directory.User(t.Context(), s.owner, contract.UserPath{User: ana})
		if err != nil || len(profile.Identities) != 1 {
			t.Errorf("the user has the identities %v, %v, want 1", profile.Identities, err)
		}
		if sub := claims(t, s.enter(s.browser(), second, other.ID, "openid").ID)["sub"]; sub == ana {
			t.Error("the unlinked provider signs in to the account")
		}
		if sub := claims(t, s.enter(s.browser(), fake, provider.ID, "openid").ID)["sub"]; sub != ana {
			t.Errorf("a sign-in with the provider that is left is %v, want %v", sub, ana)
		}
	})
}

func TestAccount_concurrentUnlink(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	second, other := s.offerFake()
	browser := s.browser()
	ana := claims(t, s.enter(browser, fake, provider.ID, "openid").ID)["sub"].(string)
	s.linked(browser, second, other.ID, "link")
	var tabs sync.WaitGroup
	for _, action := range s.unlinkActions(browser) {
		tabs.Go(func() { s.post(browser, action, nil) })
	}
	tabs.Wait()
	profile, err := s.server.Directory.User(t.Context(), s.owner, contract.UserPath{User: ana})
	if err != nil || len(profile.Identities) != 1 {
		t.Errorf("the user has the identities %v, %v, want 1", profile.Identities, err)
	}
}

// told counts the audit entries of changes of a user.
func (s *app) told(user string) int {
	s.t.Helper()
	var n int
	const count = "SELECT count(*) FROM audit_entries WHERE object = $1 AND action = $2"
	if err := s.db.SQL().QueryRowContext(s.t.Context(), count, user, string(access.UserUpdate)).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// No sign-in through the provider would end these memberships later.
func TestAccount_unlinkMappedGroups(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newMappedApp(t, db, "staff")
	second, other := s.offerFake()
	s.mapOf(s.provider, rule("dept", "eng", s.groups["staff"]))
	s.stated = map[string]any{"dept": "eng"}
	browser := s.browser()
	user := claims(t, s.enter(browser, s.fake, s.provider.ID, "openid").ID)["sub"].(string)
	s.linked(browser, second, other.ID, "link")
	before, err := s.server.Directory.User(t.Context(), s.owner, contract.UserPath{User: user})
	if err != nil || len(before.Groups) != 1 {
		t.Fatalf("groups before: %v, %v, want staff", before.Groups, err)
	}
	s.post(browser, s.unlinkActions(browser)[0], nil)
	after, err := s.server.Directory.User(t.Context(), s.owner, contract.UserPath{User: user})
	if err != nil || len(after.Groups) != 0 || len(after.Identities) != 1 {
		t.Errorf("after unlinking: %v, %v, %v, want no groups, one identity", after.Groups, after.Identities, err)
	}
}
