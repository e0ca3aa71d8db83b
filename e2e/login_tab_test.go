package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"postern/testkit"
	"postern/testkit/oidcprovider"
)

// TestALoginIsSetUpAndTriedOutInTheDashboard does by hand what an owner does: an app
// client, its looks, a provider that is registered with a certified issuer by the
// callback URL that the dashboard shows, and a test login in a new tab.
func TestALoginIsSetUpAndTriedOutInTheDashboard(t *testing.T) {
	t.Parallel()
	issuer := oidcprovider.Start(t)
	server := start(t)
	p := sit(t)
	p.overlooks(issuer.Issuer, "https://fonts.googleapis.com/") // the issuer's own pages
	p.wantsNoMotion()
	p.open(server.FirstLink)
	p.types("email", "ana@example.com")
	p.types("name", "Ana")
	p.types("password", "four unrelated words")
	p.presses("Create account and sign in")
	p.follows("New project")
	p.types("target", testkit.NewUpstream(t).URL)
	p.types("name", "shop")
	p.presses("Create project")
	p.sees("shop is up")
	p.follows("I have copied the key")
	p.follows("Login")
	p.clicks("summary")
	p.types("name", "web")
	p.types("redirect_uris", "https://app.example.com/callback")
	p.presses("Create app client")
	p.sees("web")

	p.types("title", "Acme Orders") // seen before it is saved
	p.does(
		"see the preview change",
		chromedp.WaitVisible(chromedp.Search(`//figure//p[normalize-space()="Sign in to Acme Orders"]`)),
	)

	p.clicks(`a[href$="type=oidc"]`)
	p.waits("#dialog[open] [name=issuer]")
	p.types("issuer", issuer.Issuer)
	p.presses("Continue")
	p.waits("#provider-callback")
	registered := issuer.Register(t, p.reads("#provider-callback"))
	p.types("client_id", registered.ID)
	p.types("client_secret", registered.Secret)
	p.clicks("#provider-enabled")
	p.presses("Save")
	p.waits(`#providers button[role=switch][aria-checked=true]`)

	tab := p.opensTab("Test login")
	tab.sees("Sign in to shop")
	tab.follows("Continue with")
	tab.types("login", "ana")
	tab.types("password", "any")
	tab.presses("Sign-in")
	tab.presses("Continue")
	tab.sees("Continue to shop?")
	tab.presses("Agree and continue")
	tab.sees("The login of web works")
	if claims := tab.reads("[aria-labelledby=id-token]"); claims == "" {
		t.Error("the page does not say what the ID token said")
	}

	p.clicks("#providers button[role=switch]")
	p.waits("#test-problem")
}

// wantsNoMotion keeps pages from scrolling smoothly, which moves what is clicked away
// from under the pointer.
func (p *person) wantsNoMotion() {
	p.t.Helper()
	still := []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}
	_, err := chromedp.Call(p.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: still})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) clicks(selector string) {
	p.t.Helper()
	p.does("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// opensTab presses a button that opens another tab, and goes there.
func (p *person) opensTab(button string) *person {
	p.t.Helper()
	opened := chromedp.WaitNewTarget(p.tab, func(info *target.Info) bool { return info.Type == "page" })
	p.presses(button)
	id, ok := <-opened
	if !ok {
		p.t.Fatal(fmt.Errorf("%s opened no tab", button))
	}
	tab, leave := chromedp.NewContext(p.tab, chromedp.WithTargetID(id))
	p.t.Cleanup(leave)
	return &person{t: p.t, tab: tab, downloads: p.downloads}
}
