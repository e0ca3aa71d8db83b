package pages

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"postern/app"
	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/browser"
)

// formsTwice is a person at the dashboard who sends each form more than once.
type formsTwice struct {
	*person
	server   *app.App
	upstream string
}

func (p formsTwice) at(path string) { p.Open(p.server.Config.PublicURL + path) }

// TestForms_sentTwice sends each form that shows a secret as people do by mistake:
// it reloads the answer, clicks twice, goes back and sends the form again.
func TestForms_sentTwice(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := harness.Start(t)
	p := formsTwice{person: sit(t), server: server, upstream: upstream.URL}
	p.WantsNoMotion()
	p.Open(p.server.FirstLink)
	p.Types("email", "ana@example.com")
	p.Types("name", "Ana")
	p.Types("password", "four unrelated words")
	p.Presses("Create account and sign in")
	p.Sees("Projects")

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
	p.Types("target", p.upstream)
	p.Types("name", "shop")
	p.Presses("Create project")
	p.Sees("shop is ready")
	key := p.Reads("section[aria-labelledby=keys] code")
	address := p.Reads("dl code")
	p.reloads()
	p.Sees("shop is ready")
	p.lacks("section[aria-labelledby=keys]")
	p.goesBack()
	p.Sees("Create a project")
	p.fills("target", p.upstream) // whatever the browser has kept of the form
	p.fills("name", "shop")
	p.Presses("Create project")
	p.Sees("shop is ready")
	p.lacks("section[aria-labelledby=keys]")
	p.counts(p.server, "/projects", "main li h2", 1)
	harness.CallsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
}

func (p formsTwice) rotatesKey(t *testing.T) {
	p.at("/projects/shop/keys")
	p.Follows("bootstrap")
	p.Waits("#dialog[open] [data-panel]")
	p.unfolds("form[action$='/rotate']")
	p.fills("grace_seconds", "0")
	p.Presses("Rotate")
	p.Sees("Key rotated")
	key := p.Reads("#new-key")
	address := p.server.Config.Address("shop", "1.0.0", "prod")
	p.reloads()
	p.Sees("Key for bootstrap")
	p.lacks("#new-key")
	harness.CallsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
	p.goesBack()
	p.Sees("Keys")
	p.goesForward()
	p.Sees("Key for bootstrap")
	harness.CallsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
}

func (p formsTwice) rotatesKeyOnItsPage(t *testing.T) {
	p.at("/projects/shop/keys")
	p.Does("open the key's page", chromedp.Navigate(p.evaluates("document.querySelector('#keys tbody a').href")))
	p.Sees("Key for bootstrap")
	p.unfolds("form[action$='/rotate']")
	p.Presses("Rotate")
	p.Sees("Key rotated")
	key := p.Reads("#new-key")
	p.goesBack()
	p.unfolds("form[action$='/rotate']")
	p.Presses("Rotate")
	p.Waits("main a.btn-primary")
	p.Sees("Key for bootstrap")
	p.lacks("#new-key")
	address := p.server.Config.Address("shop", "1.0.0", "prod")
	harness.CallsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
}

func (p formsTwice) createsKey(_ *testing.T) {
	p.at("/projects/shop/keys")
	p.Clicks("details.create > summary")
	p.Types("owner", "billing")
	p.Presses("Create key")
	p.Sees("Key created")
	p.reloads()
	p.Sees("Key for billing")
	p.lacks("#new-key")
	p.goesBack()
	p.Sees("Keys")
	p.counts(p.server, "/projects/shop/keys", "#keys tbody tr", 2)
}

func (p formsTwice) doubleClicks(t *testing.T) {
	p.at("/settings/tokens")
	p.Clicks("summary")
	p.Types("name", "ci")
	p.Does("double click", chromedp.DoubleClick(chromedp.Search(`//button[normalize-space()="Create token"]`)))
	p.Sees("Token created")
	if p.Reads("#new-token") == "" {
		t.Error("the token is not shown")
	}
	p.counts(p.server, "/settings/tokens", "tbody tr", 1)
}

func (p formsTwice) addsWebhook(_ *testing.T) {
	p.at("/settings/webhooks")
	p.Clicks("summary")
	p.Types("url", "http://8.8.8.8/hook")
	p.Presses("Add webhook")
	p.Sees("Webhook added")
	p.reloads()
	p.Sees("Webhook secret")
	p.lacks("#new-secret")
	p.Follows("Back to the webhook")
	p.unfolds("form[action$='/rotate']")
	p.Presses("Rotate secret")
	p.Sees("New secret")
	p.Waits("#new-secret")
	p.reloads()
	p.Sees("Webhook secret")
	p.counts(p.server, "/settings/webhooks", "tbody tr", 1)
}

func (p formsTwice) invites(_ *testing.T) {
	p.at("/teams")
	p.Clicks("main a[href^='/teams/team_']")
	p.unfolds("form[action$='/invitations']")
	p.Presses("Create link")
	p.Waits("#invitation-link")
	p.reloads()
	p.Waits("form[action$='/revoke']")
	p.lacks("#invitation-link")
	p.counts(p.server, "", "form[action$='/revoke']", 1)
}

func (p formsTwice) createsAppClient(_ *testing.T) {
	p.at("/projects/shop/login")
	p.Clicks("summary")
	p.Types("name", "web")
	p.Types("redirect_uris", "https://app.example.com/callback")
	p.Clicks("[name=confidential]")
	p.Presses("Create app client")
	p.Sees("Client secret for web")
	p.Waits("#new-secret")
	p.reloads()
	p.Sees("Client secret for web")
	p.lacks("#new-secret")
	p.counts(p.server, "/projects/shop/login", "main tbody tr", 1)
}

// unfolds opens the question around a form, if it is not open.
func (p *person) unfolds(form string) {
	p.T.Helper()
	p.Waits("details:has(" + form + ") > summary")
	p.evaluates(fmt.Sprintf(`String(document.querySelector(%q).open = true)`, "details:has("+form+")"))
}

// reloads does what F5 does: a page that answered a form is asked for again with
// the form.
func (p *person) reloads() {
	p.T.Helper()
	p.Does("reload", chromedp.Reload())
}

func (p *person) goesBack() {
	p.T.Helper()
	p.Does("go back", chromedp.NavigateBack())
}

func (p *person) goesForward() {
	p.T.Helper()
	p.Does("go forward", chromedp.NavigateForward())
}

// fills puts text in place of what is in a field.
func (p *person) fills(field, text string) {
	p.T.Helper()
	p.Does("fill "+field, chromedp.SetValue(chromedp.CSS("[name="+field+"]"), text, browser.Steady))
}

func (p *person) evaluates(expression string) string {
	p.T.Helper()
	text, err := chromedp.Run(p.Tab, chromedp.Evaluate[string](expression))
	if err != nil {
		p.T.Fatalf("evaluate %s: %v", expression, err)
	}
	return text
}

func (p *person) lacks(selector string) {
	p.T.Helper()
	if n := p.number(selector); n != 0 {
		p.T.Errorf("the page has %s", selector)
	}
}

func (p *person) number(selector string) int {
	p.T.Helper()
	n, err := chromedp.Run(p.Tab, chromedp.Evaluate[int](fmt.Sprintf("document.querySelectorAll(%q).length", selector)))
	if err != nil {
		p.T.Fatalf("count %s: %v", selector, err)
	}
	return n
}

// counts asserts how many of something the page at path has, "" for the one that
// is open.
func (p *person) counts(server *app.App, path, selector string, want int) {
	p.T.Helper()
	if path != "" {
		p.Open(server.Config.PublicURL + path)
	}
	p.Waits("main")
	if n := p.number(selector); n != want {
		p.T.Errorf("%s has %d of %s, want %d", path, n, selector, want)
	}
}
