package pages

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	devtools "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/e2e/harness"
	"postern/testkit"
)

// TestDashboard_firstStartToExport is the main job done by hand: a first
// account, a project, its key in use, frozen, and the project taken away; the
// last part once more without any script.
func TestDashboard_firstStartToExport(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := harness.Start(t)
	p := sit(t)

	p.Open(server.FirstLink)
	p.Sees("Welcome to Postern")
	p.Types("email", "ana@example.com")
	p.Types("name", "Ana")
	p.Types("password", "four unrelated words")
	p.Presses("Create account and sign in")

	p.Sees("Projects")
	p.Follows("Create a project")
	p.Types("target", upstream.URL)
	p.Types("name", "shop")
	p.Presses("Create project")

	p.Sees("shop is ready")
	key := p.Reads("section[aria-labelledby=keys] code")
	address := p.Reads("dl code")
	harness.CallsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
	seen := slices.DeleteFunc(upstream.Requests(), func(r testkit.Seen) bool {
		return r.Headers.Get("X-Consumer-Username") == "" // of the check of the target
	})
	if len(seen) != 1 || seen[0].Headers.Get("X-Consumer-Username") != "bootstrap" {
		t.Errorf("the upstream saw %d calls, want the one with a key, in its owner's name: %+v", len(seen), seen)
	}

	p.Follows("I've copied the key")
	p.Sees("shop")
	if strings.Contains(p.Reads("html"), key) {
		t.Error("the key is shown a second time")
	}
	p.Follows("Keys")
	p.Sees("Keys")
	p.Follows("bootstrap")
	p.Waits("#dialog[open] [data-panel]")
	p.Presses("Freeze")
	p.Sees("Key for bootstrap")
	harness.CallsAnswer(t, address, key, http.StatusForbidden, http.StatusUnauthorized)
	p.Presses("Unfreeze")
	p.Waits(`form[action$="/freeze"]`)
	harness.CallsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)

	p.Open(server.Config.PublicURL)
	p.Sees("Projects")
	p.Follows("Export")
	p.Waits("#dialog[open] [data-panel]")
	p.exportsZip("shop-kong.zip", byItself)
	p.Follows("All items and to-dos")
	p.keepsTicks()

	p.ForbidsScripts()
	p.Open(server.Config.PublicURL)
	p.Sees("Projects")
	p.Follows("Export")
	p.Sees("Export shop")
	p.exportsZip("shop-kong.zip", byHand)
}

// person is a harness.Person who also saves files.
type person struct {
	*harness.Person
	downloads string
}

func sit(t *testing.T) *person {
	t.Helper()
	return &person{harness.NewPerson(t), t.TempDir()}
}

// How the zip of an export gets to the person who started it.
const (
	byItself = true  // with scripts
	byHand   = false // by its button
)

// exportsZip starts the export that the form in front of the person offers, waits
// for it on its page, and checks the zip that the browser saves: once by itself where
// scripts run, and then by the button.
func (p *person) exportsZip(name string, alone bool) {
	p.T.Helper()
	arrived := p.awaits(name)
	p.Presses("Start export")
	p.Sees("Export of shop")
	p.Reaches(`//h2[normalize-space()="Ready to download"]`)
	p.Reaches(`//section[@id="export-history"]//tr[1]//span[normalize-space()="Ready"]`)
	if alone {
		p.verifies(arrived())
	}
	p.verifies(p.saves("Download zip", name))
}

// verifies checks the zip of a project with one key.
func (p *person) verifies(path string) {
	p.T.Helper()
	zip, err := os.Open(path)
	if err != nil {
		p.T.Fatal(err)
	}
	defer zip.Close()
	info, err := zip.Stat()
	if err != nil {
		p.T.Fatal(err)
	}
	report, err := bundle.Verify(p.T.Context(), zip, info.Size(), bundle.Against{Targets: targets.All()})
	if err != nil {
		p.T.Fatalf("verify the zip: %v", err)
	}
	if report.Keys != 1 {
		p.T.Errorf("the zip holds %d keys, want 1", report.Keys)
	}
}

// keepsTicks ticks the first task of a ledger and finds it ticked after a reload.
func (p *person) keepsTicks() {
	p.T.Helper()
	p.Sees("Ledger for shop")
	if got := p.Reads("[data-checked]"); !strings.HasPrefix(got, "0 of ") {
		p.T.Errorf("the checklist begins with %q", got)
	}
	p.Clicks("[data-checklist] input")
	for _, when := range []string{"at once", "after a reload"} {
		if got := p.Reads("[data-checked]"); !strings.HasPrefix(got, "1 of ") {
			p.T.Errorf("%s the checklist says %q", when, got)
		}
		p.reloads()
		p.Sees("Ledger for shop")
	}
}

// saves follows a link to a file and returns where the browser put it.
func (p *person) saves(link, name string) string {
	p.T.Helper()
	arrived := p.awaits(name)
	p.Follows(link)
	return arrived()
}

// awaits returns a function that waits for a file of that name and returns where the browser
// put it.
func (p *person) awaits(name string) (arrived func() string) {
	p.T.Helper()
	events := true
	_, err := chromedp.CallBrowser(p.Tab, devtools.SetDownloadBehavior, devtools.SetDownloadBehaviorParams{
		Behavior: devtools.SetDownloadBehaviorBehaviorAllow, DownloadPath: p.downloads, EventsEnabled: &events,
	})
	if err != nil {
		p.T.Fatal(err)
	}
	path := filepath.Join(p.downloads, name)
	_ = os.Remove(path)
	progress := chromedp.BrowserEvents(p.Tab, devtools.DownloadProgress)
	return func() string {
		p.T.Helper()
		for event, err := range progress {
			if err != nil {
				p.T.Fatalf("save %s: %v", name, err)
			}
			switch event.State {
			case devtools.DownloadProgressStateCompleted:
				return path
			case devtools.DownloadProgressStateCanceled:
				p.T.Fatalf("save %s: the browser gave up", name)
			}
		}
		p.T.Fatalf("save %s: the browser ended", name)
		return ""
	}
}
