package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"

	"postern/testkit"
)

// TestExport_secretsAndLedger exports with secrets, which needs the password, and filters the
// ledger of that, with scripts and without.
func TestExport_secretsAndLedger(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := start(t)
	p := sit(t)
	p.overlooks(server.Config.PublicURL + "/projects/shop/export") // whose answer is a refusal
	p.open(server.FirstLink)
	p.types("email", "ana@example.com")
	p.types("name", "Ana")
	p.types("password", "four unrelated words")
	p.presses("Create account and sign in")
	p.follows("New project")
	p.types("target", upstream.URL)
	p.types("name", "shop")
	p.presses("Create project")
	p.sees("shop is up")

	p.open(server.Config.PublicURL + "/projects/shop/export")
	p.clicks("[name=secrets]")
	p.presses("Start export")
	const refused = `//body[not(@data-before)]//*[@id="export-password-error"][contains(., "not the password")]`
	p.reaches(refused)
	p.evaluates(`document.body.dataset.before = ""`) // to tell the next page from this one
	p.types("password", "three unrelated words")
	p.presses("Start export")
	p.reaches(refused)
	p.types("password", "four unrelated words")
	arrived := p.awaits("shop-kong.zip")
	p.presses("Start export")
	p.sees("Export of shop")
	p.reaches(`//dt[.="Secrets"]/following-sibling::dd[.="Included, in plain text"]`)
	p.verifies(arrived())

	p.follows("Item by item, with what is left to do")
	p.filtersLedger(func(area string) { p.fills("area", area); p.evaluates(changed) })
	p.forbidsScripts()
	p.open(server.Config.PublicURL + "/projects/shop/export")
	p.reaches(`//section[@id="export-history"]//tr[1]`)
	p.clicks("#export-history tbody tr:first-child td:last-child a")
	p.filtersLedger(func(area string) { p.fills("area", area); p.clicks("#ledger-items form button") })
}

// changed tells the page that a person has chosen an area.
const changed = `document.querySelector("#ledger-area").dispatchEvent(new Event("change", {bubbles: true})), ""`

// filtersLedger looks at the skipped items of a ledger, and then at those of one area.
func (p *person) filtersLedger(choose func(area string)) {
	p.t.Helper()
	p.sees("Ledger of shop")
	p.waits("#ledger-exact")
	p.follows("Skipped")
	p.reaches(`//*[@id="ledger-items"]//*[@aria-current][contains(., "Skipped")]`)
	p.lacks("#ledger-exact")
	p.waits("#ledger-skipped")
	all := p.number("#ledger-skipped > ul > li")
	choose("records")
	p.does("wait for the area",
		chromedp.WaitReady(chromedp.Search(`//*[@id="ledger-area"]/option[@value="records"][@selected]`)))
	if n := p.number("#ledger-skipped > ul > li"); n == 0 || n >= all {
		p.t.Errorf("of %d kinds that stay behind, %d are records", all, n)
	}
	p.lacks("#ledger-exact")
}
