package pages_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestCode_lists searches, filters and sorts lists, and compares the page with the API.
func TestCode_lists(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		tenant := s.Get("/projects/shop/tenants").Find("tbody a[href^='/tenants/']").AttrOr("href", "")
		team := s.Get("/teams").Find("main a[href^='/teams/']").First().AttrOr("href", "")
		s.Post(tenant+"/groups", "name", "staff")
		group := s.Get(tenant+"/groups").Find("main a[href^='/groups/']").First().AttrOr("href", "")
		users := tenant + "/users"
		for name, tt := range map[string]struct {
			page, query string
			read        int // of what the page shows
			want        string
		}{
			"projects": {
				"/projects", "q=sh&sort=created&dir=desc", 0,
				"q=sh&sort=-created&state=served",
			},
			"projects, newest":             {"/projects", "sort=created", 0, "sort=-created&state=served"},
			"an order that is not offered": {"/projects", "sort=owner&dir=desc", 0, "state=served"},
			"tenants":                      {"/tenants", "q=a&sort=name&dir=asc", 0, "q=a&sort=name"},
			"products":                     {"/products", "q=a&sort=name&dir=desc", 0, "q=a&sort=-name"},
			"users": {
				users, "q=a&sort=last_login&state=active", 0,
				"q=a&sort=-last_login&state=active",
			},
			"groups":             {tenant + "/groups", "q=st&sort=created&dir=asc", 0, "q=st&sort=created"},
			"members of a group": {group, "q=ana&sort=role&dir=desc", 1, "q=ana&sort=-role"},
			"members of a team":  {team, "q=ana&sort=joined&dir=desc", 0, "q=ana&sort=-joined"},
			"keys": {
				"/projects/shop/keys", "keys_text=abc&keys_sort=owner&keys_dir=desc", 0,
				"q=abc&sort=-owner",
			},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.WithT(t)
				address := readAddress(t, s.Get(tt.page+"?"+tt.query), tt.read)
				got := address.Query()
				got.Del("team")
				if got.Encode() != tt.want {
					t.Errorf("the line has the query %q, want %q", got.Encode(), tt.want)
				}
				if answer := s.Get(address.RequestURI()); answer.Status != 200 {
					t.Errorf("the line is answered %d: %s", answer.Status, answer.Raw)
				}
			})
		}
	})
}

// TestCode_usage has the period and the grouping of the page in the lines.
func TestCode_usage(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop/usage?period=7d&by=key")
	address := readAddress(t, page, 0)
	from, err := time.Parse(time.RFC3339, address.Query().Get("from"))
	if age := time.Since(from); err != nil || age < 6*24*time.Hour || age > 7*24*time.Hour {
		t.Errorf("the line asks for what is since %s: %v", from, err)
	}
	if got := address.Query()["group_by"]; strings.Join(got, " ") != "key owner" {
		t.Errorf("the line groups by %q", got)
	}
	if answer := s.Get(address.RequestURI()); answer.Status != 200 {
		t.Errorf("the line is answered %d: %s", answer.Status, answer.Raw)
	}
	page.Says("#as-code-reads", "--group-by key")
}

// TestCode_parts has answers that htmx takes a part of: a list takes what the page shows along.
func TestCode_parts(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	page := s.Get("/projects/shop/keys")
	if taken := page.Find("a[data-list]").AttrOr("hx-select-oob", ""); page.Find(taken).Length() != 1 {
		t.Errorf("a list takes %q along, which the page does not have once", taken)
	}
	if page.Find("#as-code-forms").Length() != 1 {
		t.Error("the page does not say what its forms do")
	}
	part := s.Get("/projects/shop/keys?keys_owner=ana", "HX-Request", "true").Says("#as-code-reads", "owner=ana")
	if part.Find("#as-code-forms").Length() != 0 {
		t.Error("the part says what the page's forms do")
	}
}

// TestCode_panel has what a dialog takes of a page: its panel with the lines of its forms, which follow what is typed,
// by ids that the page around the dialog does not have.
func TestCode_panel(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	path := s.Get("/projects/shop/keys").Find("#keys tbody a").AttrOr("href", "")
	s.Get(path).Says("#as-code", "keys rotate").Lacks("[data-panel-code]")
	panel := s.Get(path, "HX-Request", "true", "HX-Target", "dialog-body").
		Says("[data-panel] [data-panel-code]:not([open])", "keys rotate").
		Says("[data-panel-code]", "keys revoke").
		Says("[data-panel-code]", "keys show").
		Lacks("#as-code")
	shown := panel.Find("[data-panel-code] div[id]:has(code:contains('keys rotate'))").AttrOr("id", "")
	filled := s.Post("/as-code?in=panel-code&form="+url.QueryEscape(path+"/rotate"), "grace_seconds", "3600").
		Says("code[id$='-cli']", "3600s")
	if id := filled.Find("div[id]").First().AttrOr("id", ""); id == "" || id != shown {
		t.Errorf("the lines of what is typed have the id %q, those of the panel %q", id, shown)
	}
	s.Get("/shortcuts", "HX-Request", "true", "HX-Target", "dialog-body").Lacks("[data-panel-code]")
}

// readAddress is where one of the curl lines of what the page shows leads.
func readAddress(t *testing.T, page *controlplane.Page, read int) *url.URL {
	t.Helper()
	line := page.Find(fmt.Sprintf("#as-code-read-%d-curl", read)).Text()
	for _, word := range testkit.ShellArguments(t, line)["curl"] {
		if strings.HasPrefix(word, "http") {
			address, err := url.Parse(word)
			if err != nil {
				t.Fatal(err)
			}
			return address
		}
	}
	t.Fatal("there is no curl line")
	return nil
}
