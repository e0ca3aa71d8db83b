package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"postern/testkit"
)

// TestRequestsAppearWhileSomebodyWatches has calls come in while the page of the
// live log is open, stops it and lets it go on; then looks at what was counted,
// and at both pages without any script.
func TestRequestsAppearWhileSomebodyWatches(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := start(t)
	p := sit(t)
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
	key, address := p.reads("section[aria-labelledby=keys] code"), p.reads("dl code")
	p.follows("I have copied the key")

	p.follows("Requests")
	p.reaches(`//p[@id="live-state"][.="Live"]`)
	p.reaches(`//td[contains(., "No calls yet")]`)
	callsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
	p.reaches(`//tr[contains(., "GET /hello")][contains(., "200")][contains(., "bootstrap")]`)
	p.reaches(`//tr[contains(., "credentials_required (access)")][contains(., "none")]`)
	p.presses("Pause")
	p.reaches(`//p[@id="live-state"][.="Paused"]`)
	callsAnswer(t, address+"/while/paused", key, http.StatusOK, http.StatusUnauthorized)
	p.presses("Resume")
	p.reaches(`//tr[contains(., "GET /while/paused/hello")][contains(., "200")]`)
	if rows := strings.Count(p.reads("tbody"), "Explain GET "); rows != 4 {
		t.Errorf("%d requests are shown, want each of 4 once:\n%s", rows, p.reads("tbody"))
	}

	p.follows("Explain GET /while/paused/hello")
	p.sees("Explain a call")
	p.reaches(`//h2[.="GET /while/paused/hello"]`)
	p.follows("Back to the project")
	p.follows("Explain a call")
	p.reaches(`//*[@id="dialog"]//label[starts-with(., "Path")]`)
	p.types("path", "/dialog")
	p.presses("Explain")
	p.reaches(`//h2[.="GET /dialog"]`)
	p.reaches(`//span[.="401 credentials_required"]`)
	p.follows("Back to the project")

	p.follows("Usage")
	p.reaches(`//dt[.="Calls"]/following-sibling::dd[.="4"]`)
	p.follows("Status")
	p.reaches(`//tr[contains(., "4xx")]/td[1][.="2"]`)

	p.forbidsScripts()
	p.follows("Requests")
	p.reaches(`//tr[contains(., "GET /hello")][contains(., "bootstrap")]`)
	callsAnswer(t, address+"/plain", key, http.StatusOK, http.StatusUnauthorized)
	p.follows("Refresh")
	p.reaches(`//tr[contains(., "GET /plain/hello")][contains(., "200")]`)
}

// reaches waits until the page has what the XPath names.
func (p *person) reaches(path string) {
	p.t.Helper()
	p.does("reach "+path, chromedp.WaitVisible(chromedp.Search(path)))
}
