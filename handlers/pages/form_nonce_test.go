package pages_test

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

	"postern/handlers/web"
	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/views/ui"
)

// secretForm is a form that shows a secret once.
type secretForm struct {
	page   string   // that the form is on
	field  string   // of the form, by which it is found
	typed  []string // name, value…
	secret string   // selector of what is shown once
	count  func(s *controlplane.Browser) int
}

// secretForms is every one of them, in a team with the project shop, an app client
// and a webhook.
func secretForms(s *controlplane.Browser) map[string]secretForm {
	keyPage := s.Get("/projects/shop/keys").Find("#keys tbody a").AttrOr("href", "")
	clientPage := s.Get("/projects/shop/login").
		Find("main tbody a, main li a").
		FilterFunction(func(_ int, a *goquery.Selection) bool {
			return strings.HasPrefix(a.AttrOr("href", ""), "/projects/shop/login/cli_")
		}).
		First().
		AttrOr("href", "")
	hookPage := s.Get("/settings/webhooks").Find("tbody a").AttrOr("href", "")
	team := s.Get("/teams").Find("main a[href^='/teams/team_']").AttrOr("href", "")
	rows := func(page, selector string) func(*controlplane.Browser) int {
		return func(s *controlplane.Browser) int { return s.Get(page).Find(selector).Length() }
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
			"/projects/shop/keys",
			"owner",
			[]string{"owner", "billing", "key_type", "full"},
			"#new-key",
			rows("/projects/shop/keys", "#keys tbody tr"),
		},
		"rotate a key": {
			keyPage,
			"grace_seconds",
			[]string{"grace_seconds", "0", "confirm", "true"},
			"#new-key",
			audited,
		},
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
		"rotate a webhook": {hookPage, "", []string{"confirm", "true"}, "#new-secret", audited},
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
func audited(s *controlplane.Browser) int {
	return len(s.Do(http.MethodGet, "/api/v1/audit?limit=200", "", []string{"Accept", "application/json"}).Raw)
}

// form is the form as the browser would send it now.
func secretFormOn(s *controlplane.Browser, f secretForm) (action string, values url.Values) {
	s.T.Helper()
	page := s.Get(f.page)
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

func furnishForms(s *controlplane.Browser) {
	s.T.Helper()
	s.Submit("/settings/webhooks", "url", "http://8.8.8.8/hook", "events", "key.frozen")
	tenant := s.Get("/projects/shop/login").Find("[name=tenant] option").First().AttrOr("value", "")
	s.Post("/projects/shop/login", "tenant", tenant, "name", "web", "redirect_uris", "https://app.example.com/a")
}

func TestSecretForm(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	furnishForms(s)
	for name, f := range secretForms(s) {
		t.Run(name+"/sent again", func(t *testing.T) { secretFormSentAgain(t, s.WithT(t), f) })
		t.Run(name+"/without its nonce", func(t *testing.T) { secretFormWithoutNonce(t, s.WithT(t), f) })
		t.Run(name+"/with another nonce", func(t *testing.T) { secretFormWithAnotherNonce(t, s.WithT(t), f) })
		t.Run(name+"/HEAD takes nothing", func(t *testing.T) { secretFormHead(t, s.WithT(t), f) })
	}
}

// secretFormSentAgain checks that the same form leads to the first answer, whose secret is shown once.
func secretFormSentAgain(t *testing.T, s *controlplane.Browser, f secretForm) {
	t.Helper()
	action, values := secretFormOn(s, f)
	first := s.Do(http.MethodPost, action, values.Encode(), nil)
	shown := s.FollowRedirect(first)
	secret := controlplane.Clean(shown.Find(f.secret).First().Text())
	if shown.Status != http.StatusOK {
		t.Fatalf("%s: %d\n%s", shown.Request, shown.Status, controlplane.Clean(shown.Find("main").Text()))
	}
	if len(secret) < 20 {
		t.Fatalf("%s: secret of %d characters", shown.Request, len(secret))
	}
	if strings.Contains(first.Header.Get("Location"), secret) {
		t.Error("the secret is in the address")
	}
	before := f.count(s)
	again := s.Do(http.MethodPost, action, values.Encode(), nil)
	if again.Status != http.StatusSeeOther {
		t.Fatalf("sent again: %d, want 303", again.Status)
	}
	if got, want := again.Header.Get("Location"), first.Header.Get("Location"); got != want {
		t.Fatalf("sent again it leads to %q, want %q as the first time", got, want)
	}
	for range 2 { // the page that the second one leads to, and its reload
		page := s.FollowRedirect(again)
		if page.Status != http.StatusOK {
			t.Errorf("%s: %d", page.Request, page.Status)
		}
		if strings.Contains(page.Raw, secret) || page.Find(f.secret).Length() > 0 {
			t.Errorf("%s: the secret is shown again", page.Request)
		}
	}
	if after := f.count(s); after != before {
		t.Errorf("sent again it changed something: %d, before %d", after, before)
	}
}

func secretFormWithoutNonce(t *testing.T, s *controlplane.Browser, f secretForm) {
	t.Helper()
	action, values := secretFormOn(s, f)
	values.Del(ui.NonceField)
	before := f.count(s)
	got := s.Do(http.MethodPost, action, values.Encode(), nil)
	if got.Status != http.StatusUnprocessableEntity {
		t.Errorf("%d, want 422", got.Status)
	}
	if !strings.Contains(got.Raw, `name="`+ui.NonceField+`"`) {
		t.Error("the form that is offered for sending again has no nonce")
	}
	if after := f.count(s); after != before {
		t.Errorf("it changed something: %d, before %d", after, before)
	}
}

func secretFormWithAnotherNonce(t *testing.T, s *controlplane.Browser, f secretForm) {
	t.Helper()
	action, values := secretFormOn(s, f)
	own := values.Get(ui.NonceField)
	state := rand.Text()
	before := f.count(s)
	for what, nonce := range map[string]string{
		"invented":           strings.Repeat("A", len(own)),
		"of another form":    web.FormNonce(s.Session(), "/teams", state),
		"of another session": web.FormNonce(rand.Text(), action, state),
		"of no session":      web.FormNonce("", action, state),
		"changed":            own[:len(own)-2] + "AA",
		"overlong":           web.FormNonce(s.Session(), action, strings.Repeat(state, 9)),
	} {
		values.Set(ui.NonceField, nonce)
		got := s.Do(http.MethodPost, action, values.Encode(), nil)
		if got.Status != http.StatusUnprocessableEntity || !strings.Contains(got.Raw, "out of date") {
			t.Errorf("nonce %s: %d, want 422", what, got.Status)
		}
	}
	if after := f.count(s); after != before {
		t.Errorf("it changed something: %d, before %d", after, before)
	}
}

func secretFormHead(t *testing.T, s *controlplane.Browser, f secretForm) {
	t.Helper()
	action, values := secretFormOn(s, f)
	if f.field != "kind" && f.field != "grace_seconds" && f.field != "" {
		for field, text := range map[string]string{ // another form than the first
			"description": rand.Text(),
			"email":       strings.ToLower(rand.Text()) + "@example.com",
			"name":        strings.ToLower("n" + rand.Text()[:10]),
		} {
			if values.Has(field) {
				values.Set(field, text)
			}
		}
	}
	first := s.Do(http.MethodPost, action, values.Encode(), nil)
	if first.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", first.Status, controlplane.Clean(first.Find("main").Text()))
	}
	head := s.Do(http.MethodHead, first.Header.Get("Location"), "", nil)
	if head.Status != http.StatusOK || head.Raw != "" {
		t.Errorf("HEAD: %d with %d bytes", head.Status, len(head.Raw))
	}
	if s.FollowRedirect(first).Find(f.secret).Length() == 0 {
		t.Error("HEAD took the secret")
	}
}

// A double click sends the form twice at the same time; the browser shows the
// second answer, which has to lead to the secret.
func TestSecretForm_doubleClick(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	action, values := secretFormOn(s, secretForm{
		page:  "/projects/shop/keys",
		field: "owner",
		typed: []string{"owner", "billing"},
	})
	var clicks sync.WaitGroup
	answers := make([]*controlplane.Page, 5)
	for i := range answers {
		clicks.Go(func() { answers[i] = s.Do(http.MethodPost, action, values.Encode(), nil) })
	}
	clicks.Wait()
	places := map[string]bool{}
	for _, a := range answers {
		places[fmt.Sprint(a.Status, a.Header.Get("Location"))] = true
	}
	if len(places) != 1 {
		t.Fatalf("several answers: %v", places)
	}
	s.FollowRedirect(answers[4]).Shows(200, "Key created").Says("main", "Copy the key now")
	s.Get("/projects/shop/keys").Says("#keys", "2 keys")
}

// The value between the form and the page is sealed: the database doesn't have it in plaintext.
func TestSecretForm_atRest(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		action, values := secretFormOn(s, secretForm{
			page:  "/projects/shop/keys",
			field: "owner",
			typed: []string{"owner", "billing"},
		})
		first := s.Do(http.MethodPost, action, values.Encode(), nil)
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
		key := controlplane.Clean(s.FollowRedirect(first).Find("#new-key").Text())
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
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	for name, f := range map[string]struct {
		page, field string
		typed       []string
		rows        string
	}{
		"team":    {"/teams", "name", []string{"name", "Second"}, "main a[href^='/teams/team_']"},
		"product": {"/products", "name", []string{"name", "storefront"}, "main a[href^='/products/']"},
		"tenant":  {"/tenants", "name", []string{"name", "acme"}, "main a[href^='/tenants/']"},
		"export": {
			"/projects/shop/export", "format",
			[]string{"format", "data", "keys", ""}, "#export-history tbody tr",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.WithT(t)
			action, values := secretFormOn(s, secretForm{page: f.page, field: f.field, typed: f.typed})
			if values.Get(ui.NonceField) == "" {
				t.Fatal("the form has no nonce")
			}
			first := s.Do(http.MethodPost, action, values.Encode(), nil)
			before := s.Get(f.page).Find(f.rows).Length()
			again := s.Do(http.MethodPost, action, values.Encode(), nil)
			if first.Status != 303 || again.Status != 303 ||
				first.Header.Get("Location") != again.Header.Get("Location") {
				t.Errorf(
					"%d to %q, then %d to %q",
					first.Status,
					first.Header.Get("Location"),
					again.Status,
					again.Header.Get("Location"),
				)
			}
			if after := s.Get(f.page).Find(f.rows).Length(); after != before || before == 0 {
				t.Errorf("%d rows, then %d", before, after)
			}
		})
	}
}
