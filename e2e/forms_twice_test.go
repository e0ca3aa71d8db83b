package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"postern/app"
	"postern/testkit"
)

// formsTwice is a person at the dashboard who sends each form more than once.
type formsTwice struct {
	*person
	server   *app.App
	upstream string
}

func (p formsTwice) at(path string) { p.open(p.server.Config.PublicURL + path) }

// TestFormsSentTwice sends each form that shows a secret as people do by mistake:
// it reloads the answer, clicks twice, goes back and sends the form again.
func TestFormsSentTwice(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := start(t)
	p := formsTwice{person: sit(t), server: server, upstream: upstream.URL}
	p.wantsNoMotion()
	p.open(p.server.FirstLink)
	p.types("email", "ana@example.com")
	p.types("name", "Ana")
	p.types("password", "four unrelated words")
	p.presses("Create account and sign in")
	p.sees("Projects")

	t.Run("create a project", p.createsProject)
	t.Run("rotate a key", p.rotatesKey)
	t.Run("rotate a key on its page, back and again", p.rotatesKeyOnItsPage)
	t.Run("create a key, back and again", p.createsKey)
	t.Run("a double click", p.doubleClicks)
	t.Run("a webhook, reloaded", p.addsWebhook)
	t.Run("an invitation, reloaded", p.invites)
	t.Run("an app client, reloaded", p.createsAppClient)
}

func (p formsTwice) createsProject(t *testing.T) {
	p.at("/projects/new")
	p.types("target", p.upstream)
	p.types("name", "shop")
	p.presses("Create project")
	p.sees("shop is up")
	key := p.reads("section[aria-labelledby=keys] code")
	address := p.reads("dl code")
	p.reloads()
	p.sees("shop is up")
	p.lacks("section[aria-labelledby=keys]")
	p.goesBack()
	p.sees("New project")
	p.fills("target", p.upstream) // whatever the browser has kept of the form
	p.fills("name", "shop")
	p.presses("Create project")
	p.sees("shop is up")
	p.lacks("section[aria-labelledby=keys]")
	p.counts(p.server, "/projects", "main li h2", 1)
	callsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
}

func (p formsTwice) rotatesKey(t *testing.T) {
	p.at("/projects/shop/keys")
	p.follows("Manage key")
	p.waits("#dialog[open] [data-panel]")
	p.unfolds("form[action$='/rotate']")
	p.fills("grace_seconds", "0")
	p.presses("Rotate")
	p.sees("Key rotated")
	key := p.reads("#new-key")
	address := p.server.Config.Address("shop", "1.0.0", "prod")
	p.reloads()
	p.sees("Key of bootstrap")
	p.lacks("#new-key")
	callsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
	p.goesBack()
	p.sees("Keys")
	p.goesForward()
	p.sees("Key of bootstrap")
	callsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
}

func (p formsTwice) rotatesKeyOnItsPage(t *testing.T) {
	p.at("/projects/shop/keys")
	p.does("open the key's page", chromedp.Navigate(p.evaluates("document.querySelector('#keys tbody a').href")))
	p.sees("Key of bootstrap")
	p.unfolds("form[action$='/rotate']")
	p.presses("Rotate")
	p.sees("Key rotated")
	key := p.reads("#new-key")
	p.goesBack()
	p.unfolds("form[action$='/rotate']")
	p.presses("Rotate")
	p.waits("main a.btn-primary")
	p.sees("Key of bootstrap")
	p.lacks("#new-key")
	callsAnswer(t, p.server.Config.Address("shop", "1.0.0", "prod"), key, http.StatusOK, http.StatusUnauthorized)
}

func (p formsTwice) createsKey(_ *testing.T) {
	p.at("/projects/shop/keys")
	p.clicks("#keys summary")
	p.types("owner", "billing")
	p.presses("Create key")
	p.sees("Key created")
	p.reloads()
	p.sees("Key of billing")
	p.lacks("#new-key")
	p.goesBack()
	p.sees("Keys")
	p.counts(p.server, "/projects/shop/keys", "#keys tbody tr", 2)
}

func (p formsTwice) doubleClicks(t *testing.T) {
	p.at("/settings/tokens")
	p.clicks("summary")
	p.types("name", "ci")
	p.does("double click", chromedp.DoubleClick(chromedp.Search(`//button[normalize-space()="Create token"]`)))
	p.sees("Token created")
	if p.reads("#new-token") == "" {
		t.Error("the token is not shown")
	}
	p.counts(p.server, "/settings/tokens", "tbody tr", 1)
}

func (p formsTwice) addsWebhook(_ *testing.T) {
	p.at("/settings/webhooks")
	p.clicks("summary")
	p.types("url", "http://8.8.8.8/hook")
	p.presses("Add webhook")
	p.sees("Webhook added")
	p.reloads()
	p.sees("Secret of the webhook")
	p.lacks("#new-secret")
	p.follows("Back to the webhook")
	p.unfolds("form[action$='/rotate']")
	p.presses("Rotate secret")
	p.sees("New secret")
	p.waits("#new-secret")
	p.reloads()
	p.sees("Secret of the webhook")
	p.counts(p.server, "/settings/webhooks", "tbody tr", 1)
}

func (p formsTwice) invites(_ *testing.T) {
	p.at("/teams")
	p.clicks("main a[href^='/teams/team_']")
	p.presses("Create link")
	p.waits("#invitation-link")
	p.reloads()
	p.waits("form[action$='/revoke']")
	p.lacks("#invitation-link")
	p.counts(p.server, "", "form[action$='/revoke']", 1)
}

func (p formsTwice) createsAppClient(_ *testing.T) {
	p.at("/projects/shop/login")
	p.clicks("summary")
	p.types("name", "web")
	p.types("redirect_uris", "https://app.example.com/callback")
	p.clicks("[name=confidential]")
	p.presses("Create app client")
	p.sees("Client secret of web")
	p.waits("#new-secret")
	p.reloads()
	p.sees("Client secret of web")
	p.lacks("#new-secret")
	p.counts(p.server, "/projects/shop/login", "main tbody tr", 1)
}

// unfolds opens the question around a form, if it is not open.
func (p *person) unfolds(form string) {
	p.t.Helper()
	p.waits("details:has(" + form + ") > summary")
	p.evaluates(fmt.Sprintf(`String(document.querySelector(%q).open = true)`, "details:has("+form+")"))
}

// reloads does what F5 does: a page that answered a form is asked for again with
// the form.
func (p *person) reloads() {
	p.t.Helper()
	p.does("reload", chromedp.Reload())
}

func (p *person) goesBack() {
	p.t.Helper()
	p.does("go back", chromedp.NavigateBack())
}

func (p *person) goesForward() {
	p.t.Helper()
	p.does("go forward", chromedp.NavigateForward())
}

// fills puts text in place of what is in a field.
func (p *person) fills(field, text string) {
	p.t.Helper()
	p.does("fill "+field, chromedp.SetValue(chromedp.CSS("[name="+field+"]"), text))
}

func (p *person) evaluates(expression string) string {
	p.t.Helper()
	text, err := chromedp.Run(p.tab, chromedp.Evaluate[string](expression))
	if err != nil {
		p.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return text
}

func (p *person) lacks(selector string) {
	p.t.Helper()
	if n := p.number(selector); n != 0 {
		p.t.Errorf("the page has %s", selector)
	}
}

func (p *person) number(selector string) int {
	p.t.Helper()
	n, err := chromedp.Run(p.tab, chromedp.Evaluate[int](fmt.Sprintf("document.querySelectorAll(%q).length", selector)))
	if err != nil {
		p.t.Fatalf("count %s: %v", selector, err)
	}
	return n
}

// counts asserts how many of something the page at path has, "" for the one that
// is open.
func (p *person) counts(server *app.App, path, selector string, want int) {
	p.t.Helper()
	if path != "" {
		p.open(server.Config.PublicURL + path)
	}
	p.waits("main")
	if n := p.number(selector); n != want {
		p.t.Errorf("%s has %d of %s, want %d", path, n, selector, want)
	}
}
