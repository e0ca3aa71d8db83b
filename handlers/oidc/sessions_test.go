package oidc_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/service/serving"
	"postern/testkit/state"
)

// barred returns the sessions whose tokens gateways refuse, as the next snapshot has them.
func (s *app) barred() []string {
	s.t.Helper()
	tenant, err := s.db.Read(s.t.Context()).TenantByID(s.tenant)
	if err != nil {
		s.t.Fatal(err)
	}
	compiled, err := serving.Compile(s.db.Read(s.t.Context()), *tenant.ProjectID, s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	return compiled.EndedSessions
}

func sid(t *testing.T, token string) string { return claims(t, token)["sid"].(string) }

func TestEndSessions(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	browser := s.browser()
	out := s.enter(s.browser(), fake, provider.ID, "openid offline_access")
	one := s.enter(browser, fake, provider.ID, "openid offline_access")
	other := s.enter(s.browser(), fake, provider.ID, "openid offline_access")
	user := claims(t, one.ID)["sub"].(string)
	mine := contract.UserSessionList{UserPath: contract.UserPath{User: user}}
	listed := func() (ids []string) {
		t.Helper()
		list, err := s.server.Login.Sessions(t.Context(), s.owner, mine)
		if err != nil {
			t.Fatal(err)
		}
		for _, session := range list.Items {
			ids = append(ids, session.ID)
		}
		return ids
	}
	if answer := s.get(s.browser(), s.path("/logout?id_token_hint="+out.ID)); answer.status != http.StatusOK {
		t.Fatalf("signing out answers %d", answer.status)
	}
	if got, want := s.barred(), []string{sid(t, out.ID)}; !slices.Equal(got, want) {
		t.Errorf("after a sign-out in the application gateways refuse %v, want %v", got, want)
	}
	if got, want := listed(), []string{sid(t, other.ID), sid(t, one.ID)}; !slices.Equal(got, want) {
		t.Errorf("the sessions are %v, want %v", got, want)
	}

	if _, err := s.server.Login.EndSession(t.Context(), s.owner, contract.UserSessionPath{
		UserPath: contract.UserPath{User: user}, Session: sid(t, one.ID),
	}); err != nil {
		t.Fatal(err)
	}
	ended := []string{sid(t, out.ID), sid(t, one.ID)}
	slices.Sort(ended)
	if got := s.barred(); !slices.Equal(got, ended) {
		t.Errorf("gateways refuse %v, want %v", got, ended)
	}
	if got := s.refresh(one.Refresh); got.Error != "invalid_grant" {
		t.Errorf("an ended session is refreshed: %+v", got)
	}
	if back := s.silently(browser, s.request("openid"), nil); back.Get("error") != "login_required" {
		t.Errorf("prompt=none after the end gives %v", back)
	}
	if got := s.refresh(other.Refresh); got.status != http.StatusOK {
		t.Errorf("another session is not refreshed: %+v", got)
	}

	count, err := s.server.Login.EndSessions(t.Context(), s.owner, contract.UserPath{User: user})
	if err != nil || count.Ended != 1 {
		t.Errorf("EndSessions = %+v, %v, want 1", count, err)
	}
	want := []string{sid(t, out.ID), sid(t, one.ID), sid(t, other.ID)}
	slices.Sort(want)
	if got := s.barred(); !slices.Equal(got, want) {
		t.Errorf("gateways refuse %v, want %v", got, want)
	}
	again := s.enter(browser, fake, provider.ID, "openid")
	if slices.Contains(s.barred(), sid(t, again.ID)) {
		t.Error("the session of a new sign-in is refused")
	}
}

// A token from before a freeze must not open anything again after the user is unfrozen.
func TestFreeze_endedSessions(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	before := s.enter(s.browser(), fake, provider.ID, "openid")
	user := claims(t, before.ID)["sub"].(string)
	if _, err := s.server.Directory.Freeze(t.Context(), s.owner, contract.UserPath{User: user}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.server.Directory.Unfreeze(t.Context(), s.owner, contract.UserPath{User: user}); err != nil {
		t.Fatal(err)
	}
	if got, want := s.barred(), []string{sid(t, before.ID)}; !slices.Equal(got, want) {
		t.Errorf("after the unfreeze gateways refuse %v, want %v", got, want)
	}
}

func TestWithdrawConsent(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	browser := s.browser()
	before := s.enter(browser, fake, provider.ID, "openid email")
	user := claims(t, before.ID)["sub"].(string)
	list, err := s.server.Login.Consents(t.Context(), s.owner, contract.UserPath{User: user})
	if err != nil || len(list.Items) != 1 || !slices.Equal(list.Items[0].Scopes, []string{"openid", "email"}) {
		t.Fatalf("Consents = %+v, %v", list, err)
	}
	if _, err := s.server.Login.WithdrawConsent(t.Context(), s.owner, contract.ConsentPath{
		UserPath: contract.UserPath{User: user}, Client: s.client.ID,
	}); err != nil {
		t.Fatal(err)
	}
	if got, want := s.barred(), []string{sid(t, before.ID)}; !slices.Equal(got, want) {
		t.Errorf("gateways refuse %v, want %v", got, want)
	}
	page := s.get(browser,
		fake.Authorize(t, s.toProvider(browser, s.request("openid email"), provider.ID).String()).String())
	if page.status != http.StatusOK || page.Find("button[value=agree]").Length() != 1 {
		t.Errorf("the next sign-in is not asked to agree: %d %s", page.status, page.Find("main").Text())
	}
	_, err = s.server.Login.WithdrawConsent(t.Context(), s.owner, contract.ConsentPath{
		UserPath: contract.UserPath{User: user}, Client: s.client.ID,
	})
	if err == nil {
		t.Error("a consent is withdrawn twice")
	}
}

func TestSessions_otherTeam(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	fake, provider := s.offerFake()
	tokens := s.enter(s.browser(), fake, provider.ID, "openid")
	user := claims(t, tokens.ID)["sub"].(string)
	outsider := access.Principal{Account: "acc_other", Roles: map[string]access.Role{"team_other": access.Owner}}
	viewer := access.Principal{Account: "acc_viewer", Roles: map[string]access.Role{}}
	for team := range s.owner.Roles {
		viewer.Roles[team] = access.Viewer
	}
	for name, p := range map[string]access.Principal{"another team": outsider, "a viewer": viewer} {
		if _, err := s.server.Login.EndSessions(t.Context(), p, contract.UserPath{User: user}); err == nil {
			t.Errorf("%s ends all sessions", name)
		}
		if _, err := s.server.Login.EndSession(t.Context(), p, contract.UserSessionPath{
			UserPath: contract.UserPath{User: user}, Session: sid(t, tokens.ID),
		}); err == nil {
			t.Errorf("%s ends a session", name)
		}
		if _, err := s.server.Login.WithdrawConsent(t.Context(), p, contract.ConsentPath{
			UserPath: contract.UserPath{User: user}, Client: s.client.ID,
		}); err == nil {
			t.Errorf("%s withdraws a consent", name)
		}
	}
	theirs := contract.UserSessionList{UserPath: contract.UserPath{User: user}}
	if _, err := s.server.Login.Sessions(t.Context(), outsider, theirs); err == nil {
		t.Error("another team lists the sessions")
	}
	if got := s.barred(); len(got) != 0 {
		t.Errorf("gateways refuse %v", got)
	}
}

// An ended session is kept while gateways have to refuse its tokens, and no longer.
func TestUpkeep_endedSessions(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newLoginApp(t, db, contract.AppClientSettings{})
		fake, provider := s.offerFake()
		first := s.enter(s.browser(), fake, provider.ID, "openid offline_access")
		second := s.enter(s.browser(), fake, provider.ID, "openid offline_access")
		live := s.enter(s.browser(), fake, provider.ID, "openid offline_access")
		user := claims(t, first.ID)["sub"].(string)
		for _, ended := range []got{first, second} {
			if _, err := s.server.Login.EndSession(t.Context(), s.owner, contract.UserSessionPath{
				UserPath: contract.UserPath{User: user}, Session: sid(t, ended.ID),
			}); err != nil {
				t.Fatal(err)
			}
		}
		const query = "UPDATE login_sessions SET ended_at = $1, barred_until = $2 WHERE id = $3"
		now := models.Now()
		_, err := db.SQL().ExecContext(t.Context(), query, now.Add(-26*time.Hour), now.Add(-time.Hour),
			sid(t, first.ID))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.server.Login.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, one := range map[string]struct {
			session got
			kept    bool
		}{"old": {first, false}, "ended lately": {second, true}, "live": {live, true}} {
			_, err := db.Read(t.Context()).LoginSessionByID(sid(t, one.session.ID))
			if kept := err == nil; kept != one.kept {
				t.Errorf("%s: the session is kept: %v (%v), want %v", name, kept, err, one.kept)
			}
		}
		if answer := s.get(s.browser(), s.path("/logout?id_token_hint="+first.ID)); answer.status != http.StatusOK {
			t.Errorf("signing out of a session that is deleted answers %d", answer.status)
		}
		if got := s.refresh(live.Refresh); got.status != http.StatusOK {
			t.Errorf("the live session is not refreshed: %+v", got)
		}
	})
}
