package pages

import (
	"net/http"
	"strings"
	"testing"

	"postern/e2e/harness"
	"postern/testkit"
)

// TestRequests_live has calls come in while the page of the
// live log is open, stops it and lets it go on; then looks at what was counted,
// and at both pages without any script.
func TestRequests_live(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := harness.Start(t)
	p := sit(t)
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
	key, address := p.Reads("section[aria-labelledby=keys] code"), p.Reads("dl code")
	p.Follows("I've copied the key")

	p.Follows("Requests")
	p.Reaches(`//p[@id="live-state"][.="Live"]`)
	p.Reaches(`//td[contains(., "No requests since this server started")]`)
	harness.CallsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
	p.Reaches(`//tr[contains(., "GET /hello")][contains(., "200")][contains(., "bootstrap")]`)
	p.Reaches(`//tr[contains(., "credentials_required (access)")][contains(., "none")]`)
	p.Presses("Pause")
	p.Reaches(`//p[@id="live-state"][.="Paused"]`)
	harness.CallsAnswer(t, address+"/while/paused", key, http.StatusOK, http.StatusUnauthorized)
	p.Presses("Resume")
	p.Reaches(`//tr[contains(., "GET /while/paused/hello")][contains(., "200")]`)
	if rows := strings.Count(p.Reads("tbody"), "Explain GET "); rows != 4 {
		t.Errorf("%d requests are shown, want each of 4 once:\n%s", rows, p.Reads("tbody"))
	}

	p.Follows("Explain GET /while/paused/hello")
	p.Sees("Explain a call")
	p.Reaches(`//h2[.="GET /while/paused/hello"]`)
	p.Follows("Back to requests")
	p.Follows("Overview")
	p.Follows("Explain a call")
	p.Reaches(`//*[@id="dialog"]//label[starts-with(., "Path")]`)
	p.Types("path", "/dialog")
	p.Presses("Explain")
	p.Reaches(`//h2[.="GET /dialog"]`)
	p.Reaches(`//span[.="401 credentials_required"]`)
	p.Follows("Back to requests")

	p.Follows("Usage")
	p.Reaches(`//dt[.="Calls"]/following-sibling::dd[.="4"]`)
	p.Follows("Status")
	p.Reaches(`//tr[contains(., "4xx")]/td[1][.="2"]`)

	p.ForbidsScripts()
	p.Follows("Requests")
	p.Reaches(`//tr[contains(., "GET /hello")][contains(., "bootstrap")]`)
	harness.CallsAnswer(t, address+"/plain", key, http.StatusOK, http.StatusUnauthorized)
	p.Follows("Refresh")
	p.Reaches(`//tr[contains(., "GET /plain/hello")][contains(., "200")]`)
}
