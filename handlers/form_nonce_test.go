package handlers_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/handlers"
	"postern/models"
	"postern/testkit/state"
	"postern/views/ui"
)

// secretForm is a form that shows a secret once.
type secretForm struct {
	page   string   // that the form is on
	field  string   // of the form, by which it is found
	typed  []string // name, value…
	secret string   // selector of what is shown once
	count  func(s *site) int
}

// secretForms is every one of them, in a team with the project shop, an app client
// and a webhook.
func secretForms(s *site) map[string]secretForm {
	keyPage := s.get("/projects/shop").Find("#keys tbody a").AttrOr("href", "")
	clientPage := s.get("/projects/shop/login").
		Find("main tbody a, main li a").
		FilterFunction(func(_ int, a *goquery.Selection) bool {
			return strings.HasPrefix(a.AttrOr("href", ""), "/projects/shop/login/cli_")
		}).
		First().
		AttrOr("href", "")
	hookPage := s.get("/settings/webhooks").Find("tbody a").AttrOr("href", "")
	team := s.get("/teams").Find("main a[href^='/teams/team_']").AttrOr("href", "")
	rows := func(page, selector string) func(*site) int {
		return func(s *site) int { return s.get(page).Find(selector).Length() }
	}
	return map[string]secretForm{
		"create a project": {
			"/projects/new",
			"target",
			[]string{"target", "http://127.0.0.1:9", "name", "books", "require_keys", "true"},
			"section[aria-labelledby=keys] code",
			rows("/projects", "main li h2"),
		},
		"create a key": {
			"/projects/shop",
			"owner",
			[]string{"owner", "billing", "key_type", "full"},
			"#new-key",
			rows("/projects/shop", "#keys tbody tr"),
		},
		"rotate a key": {keyPage, "grace_seconds", []string{"grace_seconds", "0"}, "#new-key", audited},
		"create an access token": {
			"/settings/tokens",
			"scopes",
			[]string{"name", "ci", "scopes", "read"},
			"#new-token",
			rows("/settings/tokens", "tbody tr"),
		},
		"add a webhook": {
			"/settings/webhooks",
			"url",
			[]string{"url", "http://8.8.8.8/other", "events", "key.frozen"},
			"#new-secret",
			rows("/settings/webhooks", "tbody tr"),
		},
		"rotate a webhook": {hookPage, "", nil, "#new-secret", audited},
		"invite": {
			team,
			"email",
			[]string{"role", "viewer"},
			"#invitation-link",
			rows(team, "form[action$='/revoke']"),
		},
		"create an app client": {
			"/projects/shop/login",
			"confidential",
			[]string{"name", "back", "redirect_uris", "https://app.example.com/b", "confidential", "true"},
			"#new-secret",
			rows("/projects/shop/login", "a[href^='/projects/shop/login/cli_']"),
		},
		"a new app client's secret": {
			clientPage,
			"kind",
			[]string{"kind", "confidential", "confirm", "true"},
			"#new-secret",
			audited,
		},
	}
}

// audited is the length of the audit log, which every change adds to.
func audited(s *site) int {
	return len(s.ask(http.MethodGet, "/api/v1/audit?limit=200", "", []string{"Accept", "application/json"}).raw)
}

// form is the form as the browser would send it now.
func secretFormOn(s *site, f secretForm) (action string, values url.Values) {
	s.t.Helper()
	page := s.get(f.page)
	form := page.Find("form:has([name='" + f.field + "'])").First()
	if f.field == "" {
		form = page.Find("form[action$='/rotate']")
	}
	values = url.Values{ui.NonceField: {form.Find("[name="+ui.NonceField+"]").AttrOr("value", "")}}
	if team := form.Find("[name=tenant] option").First().AttrOr("value", ""); team != "" {
		values.Set("tenant", team)
	}
	for i := 0; i < len(f.typed); i += 2 {
		values.Add(f.typed[i], f.typed[i+1])
	}
	return form.AttrOr("action", f.page), values
}

func furnishForms(s *site) {
	s.t.Helper()
	s.makes("/settings/webhooks", "url", "http://8.8.8.8/hook", "events", "key.frozen")
	tenant := s.get("/projects/shop/login").Find("[name=tenant] option").First().AttrOr("value", "")
	s.post("/projects/shop/login", "tenant", tenant, "name", "web", "redirect_uris", "https://app.example.com/a")
}

func TestSecretForm(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		furnishForms(s)
		for name, f := range secretForms(s) {
			t.Run(name+"/sent again", func(t *testing.T) {
				s := s.in(t)
				action, values := secretFormOn(s, f)
				first := s.ask(http.MethodPost, action, values.Encode(), nil)
				shown := s.follow(first)
				secret := clean(shown.Find(f.secret).First().Text())
				if shown.status != http.StatusOK || len(secret) < 20 {
					t.Fatalf(
						"%s: %d, secret of %d characters\n%s",
						shown.what,
						shown.status,
						len(secret),
						clean(shown.Find("main").Text()),
					)
				}
				if strings.Contains(first.header.Get("Location"), secret) {
					t.Error("the secret is in the address")
				}
				before := f.count(s)
				again := s.ask(http.MethodPost, action, values.Encode(), nil)
				if again.status != http.StatusSeeOther || again.header.Get("Location") != first.header.Get("Location") {
					t.Fatalf(
						"sent again: %d to %q, want the first answer, to %q",
						again.status,
						again.header.Get("Location"),
						first.header.Get("Location"),
					)
				}
				for range 2 { // the page that the second one leads to, and its reload
					if page := s.follow(again); page.status != http.StatusOK || strings.Contains(page.raw, secret) ||
						page.Find(f.secret).Length() > 0 {
						t.Errorf("%s: %d, or the secret is shown again", page.what, page.status)
					}
				}
				if after := f.count(s); after != before {
					t.Errorf("sent again it changed something: %d, before %d", after, before)
				}
			})
			t.Run(name+"/without its nonce", func(t *testing.T) {
				s := s.in(t)
				action, values := secretFormOn(s, f)
				values.Del(ui.NonceField)
				before := f.count(s)
				got := s.ask(http.MethodPost, action, values.Encode(), nil)
				if got.status != http.StatusUnprocessableEntity {
					t.Errorf("%d, want 422", got.status)
				}
				if !strings.Contains(got.raw, `name="`+ui.NonceField+`"`) {
					t.Error("the form that is offered for sending again has no nonce")
				}
				if after := f.count(s); after != before {
					t.Errorf("it changed something: %d, before %d", after, before)
				}
			})
			t.Run(name+"/with another nonce", func(t *testing.T) {
				s := s.in(t)
				action, values := secretFormOn(s, f)
				own := values.Get(ui.NonceField)
				state := rand.Text()
				before := f.count(s)
				for what, nonce := range map[string]string{
					"invented":           strings.Repeat("A", len(own)),
					"of another form":    handlers.FormNonce(s.session(), "/teams", state),
					"of another session": handlers.FormNonce(rand.Text(), action, state),
					"of no session":      handlers.FormNonce("", action, state),
					"changed":            own[:len(own)-2] + "AA",
					"overlong":           handlers.FormNonce(s.session(), action, strings.Repeat(state, 9)),
				} {
					values.Set(ui.NonceField, nonce)
					got := s.ask(http.MethodPost, action, values.Encode(), nil)
					if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.raw, "out of date") {
						t.Errorf("nonce %s: %d, want 422", what, got.status)
					}
				}
				if after := f.count(s); after != before {
					t.Errorf("it changed something: %d, before %d", after, before)
				}
			})
			t.Run(name+"/HEAD takes nothing", func(t *testing.T) {
				s := s.in(t)
				action, values := secretFormOn(s, f)
				if f.field != "kind" && f.field != "grace_seconds" && f.field != "" {
					values.Set("description", rand.Text()) // another form than the first
					if values.Has("name") {
						values.Set("name", strings.ToLower("n"+rand.Text()[:10]))
					}
				}
				first := s.ask(http.MethodPost, action, values.Encode(), nil)
				if first.status != http.StatusSeeOther {
					t.Fatalf("%d %s", first.status, clean(first.Find("main").Text()))
				}
				if head := s.ask(http.MethodHead, first.header.Get("Location"), "", nil); head.status != http.StatusOK ||
					head.raw != "" {
					t.Errorf("HEAD: %d with %d bytes", head.status, len(head.raw))
				}
				if s.follow(first).Find(f.secret).Length() == 0 {
					t.Error("HEAD took the secret")
				}
			})
		}
	})
}

// A double click sends the form twice at the same time; the browser shows the
// second answer, which has to lead to the secret.
func TestSecretForm_doubleClick(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		action, values := secretFormOn(s, secretForm{
			page:  "/projects/shop",
			field: "owner",
			typed: []string{"owner", "billing"},
		})
		var clicks sync.WaitGroup
		answers := make([]*seen, 5)
		for i := range answers {
			clicks.Go(func() { answers[i] = s.ask(http.MethodPost, action, values.Encode(), nil) })
		}
		clicks.Wait()
		places := map[string]bool{}
		for _, a := range answers {
			places[fmt.Sprint(a.status, a.header.Get("Location"))] = true
		}
		if len(places) != 1 {
			t.Fatalf("several answers: %v", places)
		}
		s.follow(answers[4]).is(200, "Key created").says("main", "Copy it now")
		s.get("/projects/shop").says("#keys", "2 keys")
	})
}

// What waits between the form and the page is sealed: the database holds it nowhere.
func TestSecretForm_atRest(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		action, values := secretFormOn(s, secretForm{
			page:  "/projects/shop",
			field: "owner",
			typed: []string{"owner", "billing"},
		})
		first := s.ask(http.MethodPost, action, values.Encode(), nil)
		var waiting []models.IdempotentRequest
		rows, err := db.SQL().QueryContext(t.Context(), "SELECT answer FROM idempotent_requests")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var row models.IdempotentRequest
			if err := rows.Scan(&row.Answer); err != nil {
				t.Fatal(err)
			}
			waiting = append(waiting, row)
		}
		key := clean(s.follow(first).Find("#new-key").Text())
		if len(waiting) == 0 || key == "" {
			t.Fatalf("%d rows wait, key %q", len(waiting), key)
		}
		for _, row := range waiting {
			if bytes.Contains(row.Answer, []byte(key)) {
				t.Error("the key waits in plain text")
			}
		}
	})
}

// A form that shows no secret leads to the same place when it is sent again.
func TestForm_sentAgain(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := withShop(t, db)
		for name, f := range map[string]struct {
			page, field string
			typed       []string
			rows        string
		}{
			"team":    {"/teams", "name", []string{"name", "Second"}, "main a[href^='/teams/team_']"},
			"product": {"/products", "name", []string{"name", "storefront"}, "main a[href^='/products/']"},
			"tenant":  {"/tenants", "name", []string{"name", "acme"}, "main a[href^='/tenants/']"},
			"export":  {"/projects/shop/export", "format", []string{"format", "data", "keys", "hashes"}, "#export-history tbody tr"},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.in(t)
				action, values := secretFormOn(s, secretForm{page: f.page, field: f.field, typed: f.typed})
				if values.Get(ui.NonceField) == "" {
					t.Fatal("the form has no nonce")
				}
				first := s.ask(http.MethodPost, action, values.Encode(), nil)
				before := s.get(f.page).Find(f.rows).Length()
				again := s.ask(http.MethodPost, action, values.Encode(), nil)
				if first.status != 303 || again.status != 303 ||
					first.header.Get("Location") != again.header.Get("Location") {
					t.Errorf(
						"%d to %q, then %d to %q",
						first.status,
						first.header.Get("Location"),
						again.status,
						again.header.Get("Location"),
					)
				}
				if after := s.get(f.page).Find(f.rows).Length(); after != before || before == 0 {
					t.Errorf("%d rows, then %d", before, after)
				}
			})
		}
	})
}
