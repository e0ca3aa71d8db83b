package pages

import (
	"testing"

	"github.com/chromedp/chromedp"

	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/browser"
)

// TestExport_secretsAndLedger exports with secrets, which needs the password, and filters the
// ledger of that, with scripts and without.
func TestExport_secretsAndLedger(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := harness.Start(t)
	p := sit(t)
	p.IgnoresErrorsAt(server.Config.PublicURL + "/projects/shop/export") // whose answer is a refusal
	p.Open(server.FirstLink)
	p.Types("email", "ana@example.com")
	p.Types("name", "Ana")
	p.Types("password", "four unrelated words")
	p.Presses("Create account and sign in")
	p.Follows("Create a project")
	p.Types("target", upstream.URL)
	p.Types("name", "shop")
	p.Presses("Create project")
	p.Sees("shop is ready")

	p.Open(server.Config.PublicURL + "/projects/shop/export")
	p.Clicks("[name=secrets]")
	p.Presses("Start export")
	const refused = `//body[not(@data-before)]//*[@id="export-password-error"][contains(., "current password")]`
	p.Reaches(refused)
	p.evaluates(`document.body.dataset.before = ""`) // to tell the next page from this one
	p.Types("password", "three unrelated words")
	p.Presses("Start export")
	p.Reaches(refused)
	p.Types("password", "four unrelated words")
	arrived := p.awaits("shop-kong.zip")
	p.Presses("Start export")
	p.Sees("Export of shop")
	p.Reaches(`//dt[.="Secrets"]/following-sibling::dd[.="Included, in plaintext"]`)
	p.verifies(arrived())

	p.Follows("All items and to-dos")
	p.filtersLedger(func(area string) { p.fills("area", area); p.evaluates(changed) })
	p.ForbidsScripts()
	p.Open(server.Config.PublicURL + "/projects/shop/export")
	p.Reaches(`//section[@id="export-history"]//tr[1]`)
	p.Clicks("#export-history tbody tr:first-child td:last-child a")
	p.filtersLedger(func(area string) { p.fills("area", area); p.Clicks("#ledger-items form button") })
}

// changed tells the page that a person has chosen an area.
const changed = `document.querySelector("#ledger-area").dispatchEvent(new Event("change", {bubbles: true})), ""`

// filtersLedger looks at the items of a ledger that are the same for every project, and then at those of one area.
func (p *person) filtersLedger(choose func(area string)) {
	p.T.Helper()
	p.Sees("Ledger for shop")
	p.Waits("#ledger-exact")
	p.Follows("The same for every project")
	p.Reaches(`//*[@id="ledger-items"]//*[@aria-current][contains(., "The same for every project")]`)
	p.lacks("#ledger-exact")
	p.Waits("#ledger-everywhere")
	all := p.number("#ledger-everywhere > ul > li")
	choose("records")
	area := chromedp.Search(`//*[@id="ledger-area"]/option[@value="records"][@selected]`)
	p.Does("wait for the area", chromedp.WaitReady(area, browser.Steady))
	if n := p.number("#ledger-everywhere > ul > li"); n == 0 || n >= all {
		p.T.Errorf("of %d kinds that are the same for every project, %d are records", all, n)
	}
	p.lacks("#ledger-exact")
}
