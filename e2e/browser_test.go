// Package e2e tests the whole program from outside, as its users use it.
//
// It owns the flows that cross packages. What one package promises is tested beside it.
package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	devtools "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	devlog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"postern/app"
	"postern/bundle"
	"postern/bundle/targets"
	"postern/platform/config"
	"postern/testkit"
	"postern/testkit/browser"
	"postern/testkit/state"
)

// TestDashboardFromFirstStartToExport is the main job done by hand: a first
// account, a project, its key in use, frozen, and the project taken away; the
// last part once more without any script.
func TestDashboardFromFirstStartToExport(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := start(t)
	p := sit(t)

	p.open(server.FirstLink)
	p.sees("Welcome to Postern")
	p.types("email", "ana@example.com")
	p.types("name", "Ana")
	p.types("password", "four unrelated words")
	p.presses("Create account and sign in")

	p.sees("Projects")
	p.follows("New project")
	p.types("target", upstream.URL)
	p.types("name", "shop")
	p.presses("Create project")

	p.sees("shop is up")
	key := p.reads("section[aria-labelledby=keys] code")
	address := p.reads("dl code")
	callsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
	if seen := upstream.Requests(); len(seen) != 1 || seen[0].Headers.Get("X-Consumer-Username") != "bootstrap" {
		t.Errorf("the upstream saw %d requests, want the one with a key, in its owner's name: %+v", len(seen), seen)
	}

	p.follows("I have copied the key")
	p.sees("shop")
	if strings.Contains(p.reads("html"), key) {
		t.Error("the key is shown a second time")
	}
	p.follows("Keys")
	p.sees("Keys")
	p.follows("Manage key")
	p.waits("#dialog[open] [data-panel]")
	p.presses("Freeze")
	p.sees("Key of bootstrap")
	callsAnswer(t, address, key, http.StatusForbidden, http.StatusUnauthorized)
	p.presses("Unfreeze")
	p.waits(`form[action$="/freeze"]`)
	callsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)

	p.open(server.Config.PublicURL)
	p.sees("Projects")
	p.follows("Export")
	p.waits("#dialog[open] [data-panel]")
	p.takesAway("shop-kong.zip", byItself)
	p.follows("Item by item, with what is left to do")
	p.keepsTicks()

	p.forbidsScripts()
	p.open(server.Config.PublicURL)
	p.sees("Projects")
	p.follows("Export")
	p.sees("Export shop")
	p.takesAway("shop-kong.zip", byHand)
}

func start(t *testing.T) *app.App {
	t.Helper()
	return startWith(t, func(*config.Config) {})
}

// startWith starts a server whose configuration a test has changed.
func startWith(t *testing.T, change func(*config.Config)) *app.App {
	t.Helper()
	settings := config.Default()
	settings.ControlAddr, settings.GatewayAddr, settings.DataDir = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
	settings.Drain = 0
	if _, err := state.SQLiteIn(settings.DataDir); err != nil {
		t.Fatal(err)
	}
	change(&settings)
	a, err := app.New(t.Context(), settings, "test", slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("stop the server: %v", err)
		}
	})
	return a
}

// callsAnswer calls the gateway with the key and without any.
func callsAnswer(t *testing.T, address, key string, with, without int) {
	t.Helper()
	for sent, want := range map[string]int{key: with, "": without} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/hello", nil)
		if err != nil {
			t.Fatal(err)
		}
		if sent != "" {
			r.Header.Set("X-API-Key", sent)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("a call with key %q: %d, want %d", sent, answer.StatusCode, want)
		}
	}
}

// person sits at a real browser.
type person struct {
	t         *testing.T
	tab       context.Context
	downloads string
	strangers []string // see overlooks
}

// sit opens a browser. Whatever the browser complains about, such as a script
// that the content security policy refuses, fails the test.
func sit(t *testing.T) *person {
	t.Helper()
	p := &person{t: t, tab: browser.Open(t), downloads: t.TempDir()}
	var mu sync.Mutex
	var complaints []string
	err := chromedp.Listen(p.tab, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *devlog.EventEntryAdded:
			isEntry := func(address string) bool { return strings.HasPrefix(e.Entry.URL, address) }
			if !slices.ContainsFunc(p.strangers, isEntry) {
				complaints = append(complaints, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
			}
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, e.ExceptionDetails.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if len(complaints) > 0 {
			t.Errorf("the browser complains:\n%s", strings.Join(complaints, "\n"))
		}
	})
	return p
}

// overlooks keeps the browser's complaints about addresses with these prefixes, where no
// server of the test listens, from failing it. It must be called before a page is open.
func (p *person) overlooks(addresses ...string) { p.strangers = addresses }

// glance bounds how long a failed test looks at what is on the page.
const glance = 5 * time.Second

func (p *person) does(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.tab, steps...); err != nil {
		// The tab's own time may be what has run out, and then it reads nothing.
		look, end := context.WithTimeout(context.WithoutCancel(p.tab), glance)
		defer end()
		page, _ := chromedp.Run(look, chromedp.Text(chromedp.CSS("body")))
		p.t.Fatalf("%s: %v\non the page:\n%s", what, err, page)
	}
}

func (p *person) open(url string) {
	p.t.Helper()
	p.does("open a page", chromedp.Navigate(url)) // not named: the first one holds a code
}

// sees waits for the page with that heading.
func (p *person) sees(heading string) {
	p.t.Helper()
	p.does("see "+heading, chromedp.WaitVisible(chromedp.Search(fmt.Sprintf("//h1[normalize-space()=%q]", heading))))
}

func (p *person) waits(selector string) {
	p.t.Helper()
	p.does("wait for "+selector, chromedp.WaitVisible(chromedp.CSS(selector)))
}

func (p *person) types(field, text string) {
	p.t.Helper()
	p.does("type into "+field, chromedp.SendKeys(chromedp.CSS("[name="+field+"]"), text))
}

// presses clicks a button. While a dialog is open only its own can be reached.
func (p *person) presses(button string) {
	p.t.Helper()
	const reachable = "[ancestor::dialog[@open] or not(//dialog[@open])]"
	p.does(
		"press "+button,
		chromedp.Click(chromedp.Search(fmt.Sprintf("//button[starts-with(normalize-space(), %q)]", button)+reachable)),
	)
}

// confirms ticks the box of the question in the dialog and presses its button.
func (p *person) confirms(button string) {
	p.t.Helper()
	p.does("tick the box", chromedp.Click(chromedp.CSS("#dialog [name=confirm]")))
	p.presses(button)
}

func (p *person) follows(link string) {
	p.t.Helper()
	p.does(
		"follow "+link,
		chromedp.Click(chromedp.Search(fmt.Sprintf("//a[starts-with(normalize-space(), %q)]", link))),
	)
}

func (p *person) reads(selector string) string {
	p.t.Helper()
	text, err := chromedp.Run(p.tab, chromedp.TextContent(chromedp.CSS(selector)))
	if err != nil {
		p.t.Fatalf("read %s: %v", selector, err)
	}
	return strings.TrimSpace(text)
}

func (p *person) forbidsScripts() {
	p.t.Helper()
	disabled := emulation.SetScriptExecutionDisabledParams{Value: true}
	_, err := chromedp.Call(p.tab, emulation.SetScriptExecutionDisabled, disabled)
	if err != nil {
		p.t.Fatal(err)
	}
}

// How the zip of an export gets to the person who started it.
const (
	byItself = true  // with scripts
	byHand   = false // by its button
)

// takesAway starts the export that the form in front of the person offers, waits
// for it on its page, and checks the zip that the browser saves: once by itself where
// scripts run, and then by the button.
func (p *person) takesAway(name string, alone bool) {
	p.t.Helper()
	arrived := p.awaits(name)
	p.presses("Start export")
	p.sees("Export of shop")
	p.does("wait for the zip", chromedp.WaitVisible(chromedp.Search(`//h2[normalize-space()="Ready to download"]`)))
	p.does(
		"see it in the history",
		chromedp.WaitVisible(
			chromedp.Search(`//section[@id="export-history"]//tr[1]//span[normalize-space()="Ready"]`),
		),
	)
	if alone {
		p.verifies(arrived())
	}
	p.verifies(p.saves("Download zip", name))
}

// verifies checks the zip of a project with one key.
func (p *person) verifies(path string) {
	p.t.Helper()
	zip, err := os.Open(path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer zip.Close()
	info, err := zip.Stat()
	if err != nil {
		p.t.Fatal(err)
	}
	report, err := bundle.Verify(p.t.Context(), zip, info.Size(), bundle.Against{Targets: targets.All()})
	if err != nil {
		p.t.Fatalf("verify the zip: %v", err)
	}
	if report.Keys != 1 {
		p.t.Errorf("the zip holds %d keys, want 1", report.Keys)
	}
}

// keepsTicks ticks the first task of a ledger and finds it ticked after a reload.
func (p *person) keepsTicks() {
	p.t.Helper()
	p.sees("Ledger of shop")
	if got := p.reads("[data-checked]"); !strings.HasPrefix(got, "0 of ") {
		p.t.Errorf("the checklist begins with %q", got)
	}
	p.clicks("[data-checklist] input")
	for _, when := range []string{"at once", "after a reload"} {
		if got := p.reads("[data-checked]"); !strings.HasPrefix(got, "1 of ") {
			p.t.Errorf("%s the checklist says %q", when, got)
		}
		p.reloads()
		p.sees("Ledger of shop")
	}
}

// saves follows a link to a file and returns where the browser put it.
func (p *person) saves(link, name string) string {
	p.t.Helper()
	arrived := p.awaits(name)
	p.follows(link)
	return arrived()
}

// awaits returns a function that waits for a file of that name and returns where the browser
// put it.
func (p *person) awaits(name string) (arrived func() string) {
	p.t.Helper()
	events := true
	_, err := chromedp.CallBrowser(p.tab, devtools.SetDownloadBehavior, devtools.SetDownloadBehaviorParams{
		Behavior: devtools.SetDownloadBehaviorBehaviorAllow, DownloadPath: p.downloads, EventsEnabled: &events,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(p.downloads, name)
	_ = os.Remove(path)
	progress := chromedp.BrowserEvents(p.tab, devtools.DownloadProgress)
	return func() string {
		p.t.Helper()
		for event, err := range progress {
			if err != nil {
				p.t.Fatalf("save %s: %v", name, err)
			}
			switch event.State {
			case devtools.DownloadProgressStateCompleted:
				return path
			case devtools.DownloadProgressStateCanceled:
				p.t.Fatalf("save %s: the browser gave up", name)
			}
		}
		p.t.Fatalf("save %s: the browser ended", name)
		return ""
	}
}
