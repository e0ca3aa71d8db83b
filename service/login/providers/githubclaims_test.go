package providers_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/login/providers"
	"postern/testkit"
	"postern/testkit/idp"
)

// reading is a GitHub of which claims are read.
func reading(t *testing.T, enterprise bool, claims ...string) (*idp.GitHub, *stage) {
	t.Helper()
	fake, s := hub(t, enterprise)
	for _, claim := range claims {
		s.config.Claims = append(s.config.Claims, federation.ClaimPath{claim})
	}
	fake.Orgs = []map[string]any{idp.GitHubOrg(9919, "github"), idp.GitHubOrg(9007199254740993, "Acme")}
	fake.Teams = []map[string]any{idp.GitHubTeam(1, "Acme", "sre"), idp.GitHubTeam(2, "github", "justice-league")}
	return fake, s
}

func (s *stage) finds(t *testing.T, claim string) federation.Finding {
	t.Helper()
	person, _, err := s.login(t)
	if err != nil {
		t.Fatal(err)
	}
	if person.Claims == nil {
		t.Fatal("no claims are read")
	}
	return person.Claims.Find(federation.ClaimPath{claim})
}

func TestGitHub_claims(t *testing.T) {
	for claim, want := range map[string][]string{
		"organizations":    {"github", "Acme"},
		"organization_ids": {"9919", "9007199254740993"},
		"teams":            {"Acme/sre", "github/justice-league"},
		"team_ids":         {"1", "2"},
	} {
		for name, enterprise := range map[string]bool{"github.com": false, "a server of one's own": true} {
			t.Run(claim+" of "+name, func(t *testing.T) {
				_, s := reading(t, enterprise, claim)
				if got := s.finds(t, claim); !slices.Equal(got.Values, want) || got.Withheld || got.Unavailable {
					t.Errorf("%+v, want %q", got, want)
				}
			})
		}
	}
}

// Only what rules name is requested and asked for.
func TestGitHubClaims_onlyThoseRead(t *testing.T) {
	for name, tt := range map[string]struct {
		claims      []string
		configured  []string
		all         bool
		scope       string
		orgs, teams int
	}{
		"no rules": {scope: "read:user user:email"},
		"organizations": {
			claims: []string{"organization_ids"}, scope: "read:user user:email read:org", orgs: 1,
		},
		"teams": {claims: []string{"teams"}, scope: "read:user user:email read:org", teams: 1},
		"both": {claims: []string{"teams", "organizations"}, scope: "read:user user:email read:org",
			orgs: 1, teams: 1},
		"a wider scope": {
			claims: []string{"teams"}, configured: []string{"admin:org"}, scope: "admin:org", teams: 1,
		},
		"a test login":         {all: true, scope: "read:user user:email"},
		"a test login with it": {all: true, configured: []string{"read:org"}, scope: "read:org", orgs: 1, teams: 1},
		"a test login of rules": {all: true, claims: []string{"teams"}, scope: "read:user user:email read:org",
			orgs: 1, teams: 1},
	} {
		t.Run(name, func(t *testing.T) {
			fake, s := reading(t, false, tt.claims...)
			if tt.configured != nil {
				s.config.Scopes = tt.configured
			}
			s.config.AllClaims = tt.all
			address, err := s.set.AuthorizeURL(t.Context(), s.config, sent)
			if err != nil {
				t.Fatal(err)
			}
			asked, err := url.Parse(address)
			if err != nil || asked.Query().Get("scope") != tt.scope {
				t.Errorf("the scope is %q, want %q", asked.Query().Get("scope"), tt.scope)
			}
			if _, _, err := s.login(t); err != nil {
				t.Fatal(err)
			}
			if got := fake.Requests("/user/orgs"); got != tt.orgs {
				t.Errorf("organizations are asked for %d times, want %d", got, tt.orgs)
			}
			if got := fake.Requests("/user/teams"); got != tt.teams {
				t.Errorf("teams are asked for %d times, want %d", got, tt.teams)
			}
		})
	}
}

func TestGitHubClaims_pages(t *testing.T) {
	fake, s := reading(t, false, "organization_ids")
	grow := func(count int) {
		fake.Orgs = nil
		for i := range count {
			fake.Orgs = append(fake.Orgs, idp.GitHubOrg(i+1, "org-"+strconv.Itoa(i+1)))
		}
	}
	for _, tt := range []struct {
		organizations, read, requests int
		withheld                      bool
	}{
		{0, 0, 1, false}, {50, 50, 1, false}, {51, 51, 2, false}, {1000, 1000, 20, false}, {1001, 1000, 20, true},
	} {
		t.Run(strconv.Itoa(tt.organizations), func(t *testing.T) {
			grow(tt.organizations)
			before := fake.Requests("/user/orgs")
			got := s.finds(t, "organization_ids")
			if len(got.Values) != tt.read || got.Withheld != tt.withheld || !got.Stated {
				t.Errorf("%d values, withheld %v, stated %v", len(got.Values), got.Withheld, got.Stated)
			}
			if requests := fake.Requests("/user/orgs") - before; requests != tt.requests {
				t.Errorf("%d requests, want %d", requests, tt.requests)
			}
		})
	}
	t.Run("without a session of single sign-on", func(t *testing.T) {
		grow(60)
		fake.API = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/user/orgs" && r.URL.Query().Get("page") == "1" {
				w.Header().Set("X-GitHub-SSO", "partial-results; organizations=21955855,20582480")
			}
			return false
		}
		if got := s.finds(t, "organization_ids"); len(got.Values) != 60 || !got.Withheld {
			t.Errorf("%d values, withheld %v", len(got.Values), got.Withheld)
		}
	})
	t.Run("the time is over at the second page", func(t *testing.T) {
		grow(51)
		ctx, over := context.WithCancel(t.Context())
		defer over()
		fake.API = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/user/orgs" || r.URL.Query().Get("page") == "1" {
				return false
			}
			over()
			<-r.Context().Done()
			return true
		}
		person, err := s.identify(lateContext{ctx}, t)
		if err != nil {
			t.Fatal(err)
		}
		got := person.Claims.Find(federation.ClaimPath{"organization_ids"})
		if len(got.Values) != 50 || !got.Withheld || got.Unavailable {
			t.Errorf("%d values, withheld %v, unavailable %v", len(got.Values), got.Withheld, got.Unavailable)
		}
	})
	t.Run("the link leads away", func(t *testing.T) {
		grow(1)
		other := idp.StartGitHub(t)
		fake.API = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/user/orgs" && r.URL.Query().Get("page") == "1" {
				w.Header().Set("Link", "<"+other.URL+`/user/orgs?page=2>; rel="next"`)
			}
			return false
		}
		s.finds(t, "organization_ids")
		if other.Requests("/user/orgs") > 0 {
			t.Error("the token went there")
		}
	})
}

// lateContext ends by its deadline when its parent is canceled.
type lateContext struct{ context.Context }

// Err implements context.Context.
func (c lateContext) Err() error {
	if c.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// identify is login with a context.
func (s *stage) identify(ctx context.Context, t *testing.T) (federation.Identity, error) {
	t.Helper()
	address, err := s.set.AuthorizeURL(ctx, s.config, sent)
	if err != nil {
		t.Fatal(err)
	}
	back := s.fake.Authorize(t, address).Query()
	person, _, err := s.set.Complete(ctx, s.config, sent, providers.Response{Code: back.Get("code")})
	return person, err
}

// Failures that the user can cause count as withheld, and failures that only GitHub can cause as unavailable.
func TestGitHubClaims_failures(t *testing.T) {
	answering := func(status int, header, value string, body any) func(*idp.GitHub) {
		return func(g *idp.GitHub) {
			g.API = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/user/orgs" {
					return false
				}
				if header != "" {
					w.Header().Set(header, value)
				}
				idp.Answer(w, status, body)
				return true
			}
		}
	}
	granting := func(scopes string) func(*idp.GitHub) {
		return func(g *idp.GitHub) { g.Grants = &scopes }
	}
	message := map[string]any{"message": "no"}
	for name, tt := range testkit.ByName(map[string]struct {
		change                func(*idp.GitHub)
		withheld, unavailable bool
	}{
		"fewer scopes granted":  {granting("read:user,user:email"), true, false},
		"a wider scope granted": {granting("user, admin:org"), false, false},
		"refused": {
			answering(http.StatusForbidden, "X-RateLimit-Remaining", "4999", message), true, false,
		},
		"not found":       {answering(http.StatusNotFound, "", "", message), true, false},
		"unauthorized":    {answering(http.StatusUnauthorized, "", "", message), true, false},
		"down":            {answering(http.StatusBadGateway, "", "", message), false, true},
		"not a list":      {answering(http.StatusOK, "", "", message), false, true},
		"a redirect":      {answering(http.StatusFound, "Location", "/user", message), true, false},
		"a page of 1 MiB": {answering(http.StatusOK, "", "", []any{strings.Repeat("x", 1<<20)}), true, false},
		"cut off": {func(g *idp.GitHub) {
			g.API = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/user/orgs" {
					panic(http.ErrAbortHandler)
				}
				return false
			}
		}, false, true},
	}) {
		t.Run(name, func(t *testing.T) {
			fake, s := reading(t, false, "organizations", "teams")
			tt.change(fake)
			got := s.finds(t, "organizations")
			if got.Withheld != tt.withheld || got.Unavailable != tt.unavailable {
				t.Errorf("withheld %v, unavailable %v", got.Withheld, got.Unavailable)
			}
			if whole := !tt.withheld && !tt.unavailable; (len(got.Values) > 0) != whole {
				t.Errorf("the values are %q", got.Values)
			}
		})
	}
	for name, change := range testkit.ByName(map[string]func(*idp.GitHub){
		"the primary rate limit":     answering(http.StatusForbidden, "X-RateLimit-Remaining", "0", message),
		"the secondary rate limit":   answering(http.StatusForbidden, "Retry-After", "60", message),
		"the rate limit by its code": answering(http.StatusTooManyRequests, "", "", message),
	}) {
		t.Run(name, func(t *testing.T) {
			fake, s := reading(t, false, "organizations")
			change(fake)
			if _, _, err := s.login(t); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("the sign-in ends with %v, want one to try again", err)
			}
		})
	}
}
