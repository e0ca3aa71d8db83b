package pages

import (
	"testing"

	"github.com/chromedp/chromedp"

	"postern/e2e/harness"
	"postern/platform/config"
	"postern/testkit/browser"
	"postern/testkit/idp"
)

// TestSignIn_federated goes to an issuer and back in a real browser: what a
// form of ours answers leads there by itself, which the content security policy of
// the form's page must not prevent, and the session cookie is there after
// a way that another site has sent the browser on.
func TestSignIn_federated(t *testing.T) {
	t.Parallel()
	issuer := idp.StartCertified(t)
	// A native client's loopback address fits whatever port it comes from (RFC 8252, 7.3).
	client := issuer.Register(t, "http://127.0.0.1/signin/oidc/callback")
	server := harness.StartWith(t, func(c *config.Config) {
		c.AccountSignUp = config.SignUpOpen
		c.SignIn.OIDC = config.OIDC{
			Issuer:       issuer.Issuer,
			ClientID:     client.ID,
			ClientSecret: config.Secret(client.Secret),
			Name:         "Example ID",
		}
	})
	visitor(t).fills(t, server.FirstLink, "email", "ana@example.com", "name", "Ana", "password", "four unrelated words")

	p := sit(t)
	p.IgnoresErrorsAt(issuer.Issuer, "https://fonts.googleapis.com/") // the issuer's own pages
	p.Open(server.Config.PublicURL + "/projects/new")
	p.Sees("Sign in")
	p.Presses("Continue with Example ID")
	p.Sees("Sign-in")
	p.Types("login", "bob")
	p.Types("password", "any")
	p.Presses("Sign-in")
	p.Sees("Authorize")
	p.Presses("Continue")
	p.Sees("Create a project")

	p.Open(server.Config.PublicURL + "/account/signins")
	p.Sees("Your account")
	p.Waits(`form[action$="/unlink"]`)

	// Without scripts it is the same. The issuer knows the browser by now, and asks a native client's people for
	// consent anyway (RFC 8252, 8.6).
	p.Does("open the account menu", chromedp.Click(chromedp.CSS("[popovertarget=account-menu]"), browser.Steady))
	p.Presses("Sign out")
	p.Sees("Sign in")
	p.ForbidsScripts()
	p.Presses("Continue with Example ID")
	p.Sees("Authorize")
	p.Presses("Continue")
	p.Sees("Projects")
}
