package pages

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/browser"
)

// TestForms_asTyped creates a project from a name with spaces and a target without a scheme, and then leaves forms with
// changes: the browser asks first, but not when a form is sent.
func TestForms_asTyped(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := harness.Start(t)
	p := sit(t)
	p.WantsNoMotion()
	p.IgnoresErrorsAt(server.Config.PublicURL + "/projects/new") // whose first answer is a refusal
	p.Open(server.FirstLink)
	p.Types("email", "ana@example.com")
	p.Types("name", "Ana")
	p.Types("password", "four unrelated words")
	p.Presses("Create account and sign in")
	p.Follows("Create a project")
	p.Types("target", strings.TrimPrefix(upstream.URL, "http://"))
	p.Types("name", "My Shop API")
	p.Reaches(`//*[@id="name-slug"][normalize-space()="Saved as my-shop-api"]`)
	p.Presses("Create project")
	p.Reaches(`//main[@data-posted]//*[@id="target-error"][contains(., "didn't have a scheme")]`)
	p.leavesRefused()
	p.Presses("Create project")
	p.Sees("My Shop API is ready")
	p.Reaches(`//*[@id="check-report"]//p[contains(., "` + upstream.URL + `")]`)

	p.staysForChanges(server.Config.PublicURL + "/projects/my-shop-api")
}

// leavesRefused tries to leave a page that shows a form again because of a mistake.
func (p *person) leavesRefused() {
	p.T.Helper()
	p.Stays(true)
	p.Follows("Cancel")
	p.Sees("Create a project")
	p.Stays(false)
	if got := p.Prompts(); got != 1 {
		p.T.Errorf("leaving a form with a mistake: the browser has asked %d times, want once", got)
	}
}

// staysForChanges edits forms of a project, and leaves them.
func (p *person) staysForChanges(project string) {
	p.T.Helper()
	before := p.Prompts()
	asked := func(want int64, what string) {
		p.T.Helper()
		if got := p.Prompts() - before; got != want {
			p.T.Errorf("%s: the browser has asked %d times, want %d", what, got, want)
		}
	}
	p.Open(project + "/settings")
	p.Sees("Settings")
	p.Follows("Overview")
	p.Sees("My Shop API")
	asked(0, "nothing was changed")

	p.Open(project + "/settings")
	p.Sees("Settings")
	p.Types("display_name", "2 ") // the browser types before what is there
	p.Stays(true)
	p.Follows("Overview")
	p.Sees("Settings")
	asked(1, "a name was changed")
	p.Stays(false)
	p.Presses("Save")
	p.Reaches(`//*[@data-flash][contains(., "Saved")]`)
	asked(1, "the name was saved")
	p.Types("display_name", "more and ")
	p.Follows("Overview")
	p.Sees("2 My Shop API")
	asked(2, "a change was left")

	p.Follows("Rename or remove environment")
	p.Waits("#dialog[open] [data-panel]")
	p.Does("change the name", chromedp.SendKeys(chromedp.CSS("#place-name"), "pre", browser.Steady))
	p.Stays(true)
	p.Clicks("[data-dialog-close]")
	p.Waits("#dialog[open] [data-panel]")
	asked(3, "the dialog was closed")
	p.Stays(false)
	p.Clicks("[data-dialog-close]")
	p.Reaches(`//dialog[@id="dialog"][not(@open)]/..`)
	asked(4, "the dialog was closed for good")
	p.Follows("Keys")
	p.Sees("Keys")
	asked(4, "a closed dialog had no changes")
	p.losesIssuers(asked)
}

// losesIssuers leaves issuers that were typed and not saved. The button that adds one shows the others again. A row
// that is added and removed again leaves nothing to lose.
func (p *person) losesIssuers(asked func(want int64, what string)) {
	p.T.Helper()
	p.Clicks("nav[aria-label=Project] a[href$='/access']")
	p.Clicks("[name=methods][value=jwt]")
	p.Presses("Add an issuer")
	p.Waits("[name=issuer]")
	p.fills("issuer", "https://accounts.example.com")
	p.Presses("Add an issuer")
	p.Reaches(`(//*[@name="issuer"])[2]/..`)
	p.Clicks("[name=methods][value=jwt]") // the added issuers are the only change
	p.Stays(true)
	p.Follows("Overview")
	p.Waits("[name=methods][value=jwt]")
	asked(5, "an issuer was added")
	p.Stays(false)
	p.Follows("Overview")
	p.Sees("2 My Shop API")
	asked(6, "an added issuer was left")

	p.Clicks("nav[aria-label=Project] a[href$='/limits']")
	p.Presses("Add a limit")
	p.Waits("[name=limit_calls]")
	p.Presses("Remove limit 1")
	p.Reaches(`//*[@id="limit-rows"][not(.//*[@name="limit_calls"])]`)
	p.Follows("Overview")
	p.Sees("2 My Shop API")
	asked(6, "an added limit was removed again")
}
