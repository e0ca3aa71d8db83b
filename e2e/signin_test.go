package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"

	"postern/platform/config"
	"postern/testkit/oidcprovider"
)

// TestSignInElsewhereInABrowser goes to an issuer and back in a real browser: what a
// form of ours answers leads there by itself, which the content security policy of
// the form's page must not stand in the way of, and the session cookie is there after
// a way that another site has sent the browser on.
func TestSignInElsewhereInABrowser(t *testing.T) {
	t.Parallel()
	issuer := oidcprovider.Start(t)
	// A native client's loopback address fits whatever port it comes from (RFC 8252, 7.3).
	client := issuer.Register(t, "http://127.0.0.1/signin/oidc/callback")
	server := startWith(t, func(c *config.Config) {
		c.SignUp = config.SignUpOpen
		c.SignIn.OIDC = config.OIDC{
			Issuer:       issuer.Issuer,
			ClientID:     client.ID,
			ClientSecret: config.Secret(client.Secret),
			Name:         "Example ID",
		}
	})
	visitor(t).fills(t, server.FirstLink, "email", "ana@example.com", "name", "Ana", "password", "four unrelated words")

	p := sit(t)
	p.overlooks(issuer.Issuer, "https://fonts.googleapis.com/") // the issuer's own pages
	p.open(server.Config.PublicURL + "/projects/new")
	p.sees("Sign in")
	p.presses("Continue with Example ID")
	p.sees("Sign-in")
	p.types("login", "bob")
	p.types("password", "any")
	p.presses("Sign-in")
	p.sees("Authorize")
	p.presses("Continue")
	p.sees("New project")

	p.open(server.Config.PublicURL + "/account/signins")
	p.sees("Your account")
	p.waits(`form[action$="/unlink"]`)

	// Without scripts it is the same. The issuer knows the browser by now, and asks a
	// native client's people for consent all the same (RFC 8252, 8.6).
	p.does("open the account menu", chromedp.Click(chromedp.CSS("[popovertarget=account-menu]")))
	p.presses("Sign out")
	p.sees("Sign in")
	p.forbidsScripts()
	p.presses("Continue with Example ID")
	p.sees("Authorize")
	p.presses("Continue")
	p.sees("Projects")
}
