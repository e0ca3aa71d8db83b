package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/idp"
	"postern/testkit/state"
	"postern/views/ui"
)

// newMappedSite is a test login's site whose tenant has a group, with the address of its
// provider's group mappings.
func newMappedSite(t *testing.T, db *models.DB) (*testLoginSite, string) {
	t.Helper()
	s := newTestLoginSite(t, db)
	provider := strings.TrimSuffix(s.Get(s.page).Find("#providers form[action$='/switch']").AttrOr("action", ""),
		"/switch")
	tenant := s.Get("/projects/shop/login").Find("select[name=tenant] option").AttrOr("value", "")
	s.Post("/tenants/"+tenant+"/groups", "name", "staff").Location()
	return s, provider + "/group-mappings"
}

func TestGroupMappings_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, page := newMappedSite(t, db)
	s.Get(strings.TrimSuffix(page, "/group-mappings")).Says("a[href='"+page+"']", "Group mappings")
	s.Get(page).Shows(200, "Group mappings").Says("main", "No mappings yet")
	s.Post(page, "claim", "a..b", "match", "prefix", "claim_value", "<b>", "group", "missing").
		Shows(422, "Group mappings").
		Holds("claim", "a..b").
		Holds("claim_value", "<b>").
		Says("#mapping-claim-error", "Use the path to a claim").
		Says("#mapping-group-error", "group")
	rule := []string{"claim", "groups", "match", "prefix", "claim_value", "<b>", "group", "staff"}
	form := append(slices.Clone(rule), ui.NonceField, s.Get(page).Nonce(page))
	s.Post(page, form...).LeadsTo(page)
	s.Post(page, form...).LeadsTo(page) // a form sent twice adds one rule
	s.Get(page).Says("tbody", `groups starts with "<b>"`).Says("tbody", "staff")
	s.Post(page, rule...).Shows(422, "Group mappings").Says("main", "twice")
	one := s.Get(page).Find("tbody a").AttrOr("href", "")
	s.Get(one).Shows(200, "Remove a group mapping").Says("main", `groups starts with "<b>"`)
	s.Post(one+"/remove").Shows(422, "Remove a group mapping").Says("main", "Check the box")
	s.Post(one+"/remove", "confirm", "true").LeadsTo(page)
	s.Get(page).Says("main", "No mappings yet")
	s.Post(one+"/remove", "confirm", "true").Shows(404, "Page not found")
}

// A test login shows every claim of the provider, and what each rule makes of them.
func TestGroupMappings_testLogin(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, page := newMappedSite(t, db)
		s.fake.Claims = func(claims map[string]any) {
			claims["roles"] = []string{"admin", "<b>sales</b>"}
			claims["long"] = strings.Repeat("x", 5000)
		}
		for _, rule := range [][]string{{"exact", "admin"}, {"prefix", "<b>owner"}} {
			s.Post(page, "claim", "roles", "match", rule[0], "claim_value", rule[1], "group", "staff").LeadsTo(page)
		}
		end := s.tested()
		result := s.Get(end).
			Shows(200, "Test login to web succeeded").
			Says("[aria-labelledby=mapped-groups]", `roles is "admin"`).
			Says("[aria-labelledby=mapped-groups]", "admin, <b>sales</b>").
			Says("[aria-labelledby=provider-claims]", `["admin","\u003cb\u003esales\u003c/b\u003e"]`).
			Says("[aria-labelledby=access-token]", `["staff"]`)
		states := result.Find("[aria-labelledby=mapped-groups] .badge").Text()
		if states != "matchesdoesn't match" {
			t.Errorf("the rules %q, want the first to hold alone", states)
		}
		if strings.Contains(result.Raw, strings.Repeat("x", 2000)) {
			t.Error("a long claim is not shortened")
		}
		var kept int
		const left = "SELECT count(*) FROM login_attempts WHERE stated IS NOT NULL"
		if err := db.SQL().QueryRowContext(t.Context(), left).Scan(&kept); err != nil || kept != 0 {
			t.Errorf("%d attempts keep claims after the result was shown (%v)", kept, err)
		}
	})
}

// GitHub's organizations and teams are mapped like claims; a test login shows them, and what
// GitHub failed to list.
func TestGroupMappings_gitHubPage(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, page := newMappedSite(t, db)
	app, _, _ := strings.Cut(page, "/providers/")
	fake := idp.StartGitHub(t)
	s.Server.AppClients.Providers.GitHubURL, s.Server.AppClients.Providers.GitHubAPI = fake.URL, fake.URL
	fake.Orgs = []map[string]any{idp.GitHubOrg(42, "Acme")}
	fake.Teams = []map[string]any{idp.GitHubTeam(7, "Acme", "sre")}
	s.Post(strings.TrimSuffix(page, "/group-mappings")+"/delete", "confirm", "true").Location()
	provider := s.Post(app+"/providers", "type", "github").Location()
	s.Post(provider, "client_id", idp.ClientID, "client_secret", idp.ClientSecret,
		"client_token", "service", "upstream_token", "service", "enabled", "true").Location()
	page = provider + "/group-mappings"
	s.fake = fake.Fake
	s.Get(page).Says("[data-note]", "asks users for read access").Says("#mapping-claim", "team_ids")
	s.Post(page, "claim", "groups", "match", "exact", "claim_value", "x", "group", "staff").
		Shows(422, "Group mappings").
		Says("#mapping-claim-error", "organizations, organization_ids, teams, team_ids")
	for _, rule := range [][]string{{"teams", "Acme/sre"}, {"organizations", "Acme"}} {
		s.Post(page, "claim", rule[0], "match", "exact", "claim_value", rule[1], "group", "staff").LeadsTo(page)
	}
	s.Get(s.tested()).
		Shows(200, "Test login to web succeeded").
		Says("[aria-labelledby=mapped-groups]", `teams is "Acme/sre"`).
		Says("[aria-labelledby=provider-claims]", `["Acme/sre"]`).
		Says("[aria-labelledby=provider-claims]", `[42]`).
		Says("[aria-labelledby=access-token]", `["staff"]`)
	fake.API = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/user/teams" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return r.URL.Path == "/user/teams"
	}
	fake.Orgs = nil
	s.Get(s.tested()).
		Says("[aria-labelledby=mapped-groups]", "not available (the provider failed").
		Says("[aria-labelledby=access-token]", `["staff"]`)
	less := "read:user"
	fake.API, fake.Grants = nil, &less
	result := s.Get(s.tested()).Says("[aria-labelledby=mapped-groups]", "not sent (withheld by the provider)")
	if strings.Contains(result.Find("[aria-labelledby=access-token]").Text(), `["staff"]`) {
		t.Error("the user stays in the group without the scope")
	}
}
