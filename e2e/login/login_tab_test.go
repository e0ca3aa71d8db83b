package login

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/idp"
)

// TestDashboard_login does by hand what an owner does: an app
// client, its looks, a provider that is registered with a certified issuer by the
// callback URL that the dashboard shows, and a test login in a new tab.
func TestDashboard_login(t *testing.T) {
	t.Parallel()
	issuer := idp.StartCertified(t)
	server := harness.Start(t)
	p := harness.NewPerson(t)
	p.IgnoresErrorsAt(issuer.Issuer, "https://fonts.googleapis.com/") // the issuer's own pages
	p.WantsNoMotion()
	p.Open(server.FirstLink)
	p.Types("email", "ana@example.com")
	p.Types("name", "Ana")
	p.Types("password", "four unrelated words")
	p.Presses("Create account and sign in")
	p.Follows("Create a project")
	p.Types("target", testkit.NewUpstream(t).URL)
	p.Types("name", "shop")
	p.Presses("Create project")
	p.Sees("shop is ready")
	p.Follows("I've copied the key")
	p.Follows("Login")
	p.Clicks("summary")
	p.Types("name", "web")
	p.Types("redirect_uris", "https://app.example.com/callback")
	p.Presses("Create app client")
	p.Sees("web")

	p.Types("title", "Acme Orders") // seen before it is saved
	p.Reaches(`//figure//p[normalize-space()="Sign in to Acme Orders"]`)

	p.Clicks(`a[href$="type=oidc"]`)
	p.Waits("#dialog[open] [name=issuer]")
	p.Types("issuer", issuer.Issuer)
	p.Presses("Continue")
	p.Waits("#provider-callback")
	registered := issuer.Register(t, p.Reads("#provider-callback"))
	p.Types("client_id", registered.ID)
	p.Types("client_secret", registered.Secret)
	p.Clicks("#provider-enabled")
	p.Presses("Save")
	p.Waits(`#providers button[role=switch][aria-checked=true]`)

	tab := opensTab(p, "Test login")
	tab.Sees("Sign in to shop")
	tab.Follows("Continue with")
	tab.Types("login", "ana")
	tab.Types("password", "any")
	tab.Presses("Sign-in")
	tab.Presses("Continue")
	tab.Sees("Continue to shop?")
	tab.Presses("Agree and continue")
	tab.Sees("Test login to web succeeded")
	if claims := tab.Reads("[aria-labelledby=id-token]"); claims == "" {
		t.Error("the page does not say what the ID token said")
	}

	p.Clicks("#providers button[role=switch]")
	p.Waits("#test-problem")
}

// opensTab presses a button that opens another tab, and goes there.
func opensTab(p *harness.Person, button string) *harness.Person {
	p.T.Helper()
	opened := chromedp.WaitNewTarget(p.Tab, func(info *target.Info) bool { return info.Type == "page" })
	p.Presses(button)
	id, ok := <-opened
	if !ok {
		p.T.Fatal(fmt.Errorf("%s opened no tab", button))
	}
	tab, leave := chromedp.NewContext(p.Tab, chromedp.WithTargetID(id))
	p.T.Cleanup(leave)
	return &harness.Person{T: p.T, Tab: tab}
}
