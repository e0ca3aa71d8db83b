package pages

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/brotli"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/browser"
)

// Bounds of the dashboard's frame.
const (
	mostTabs   = 12     // from a project's page to a new key
	mostLoaded = 60_000 // bytes sent for the first page and its assets
	axeWithin  = time.Minute
)

// TestFrame goes through the dashboard by keyboard, and holds its pages to axe in both themes
// at both widths.
func TestFrame(t *testing.T) {
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
	p.Follows("I've copied the key")
	p.Sees("shop")

	p.createsKeyByTab()
	p.choosesAllKeys()
	p.searchesByKeyboard()
	p.choosesSidebar()
	p.loadsLittle()

	for _, theme := range []string{"light", "dark"} {
		visitor := sit(t) // which has some minutes
		visitor.Open(server.Config.PublicURL)
		visitor.Types("email", "ana@example.com")
		visitor.Types("password", "four unrelated words")
		visitor.Presses("Sign in")
		visitor.Sees("Projects")
		visitor.satisfiesAxe(server.Config.PublicURL, theme)
	}
}

// key presses keys where the focus is.
func (p *person) key(keys string, options ...chromedp.KeyOption) {
	p.T.Helper()
	p.Does("press a key", chromedp.KeyEvent(keys, options...))
}

// tabsTo presses Tab until the element has the focus, and returns how often.
func (p *person) tabsTo(selector string) (tabs int) {
	p.T.Helper()
	for tabs < mostTabs {
		p.key("\t")
		tabs++
		if p.evaluates(`String(document.activeElement.matches(`+"`"+selector+"`"+`))`) == "true" {
			return tabs
		}
	}
	p.T.Fatalf("%d tabs do not reach %s", tabs, selector)
	return tabs
}

// choosesAllKeys chooses the two keys at once, which brings up what can be done with them.
func (p *person) choosesAllKeys() {
	p.T.Helper()
	p.Follows("Keys")
	p.Sees("Keys")
	if got := p.evaluates(`getComputedStyle(document.querySelector(".bulk")).display`); got != "none" {
		p.T.Errorf("before a key is chosen, the actions are displayed as %q", got)
	}
	p.Clicks("[data-choose-all] input")
	p.Waits(".bulk")
	if got := p.Reads("[data-chosen]"); got != "2 keys selected" {
		p.T.Errorf("the page says %q of the selected keys", got)
	}
	p.Clicks("tbody .box")
	if got := p.Reads("[data-chosen]"); got != "1 key selected" {
		p.T.Errorf("the page says %q of the key that is left", got)
	}
}

func (p *person) createsKeyByTab() {
	p.T.Helper()
	p.reloads()
	p.Sees("shop")
	tabs := p.tabsTo(".skip-link")
	p.key("\r")
	tabs += p.tabsTo("a[href$='keys?create=true']")
	p.key("\r")
	p.Sees("Keys")
	p.Waits("#key-owner:focus")
	p.key("billing")
	tabs += p.tabsTo("form:has(#key-owner) button.btn-primary")
	p.key("\r")
	p.Sees("Key created")
	if tabs > mostTabs {
		p.T.Errorf("a key is created in %d tabs, want at most %d", tabs, mostTabs)
	}
	p.T.Logf("a key is created in %d tabs", tabs)
}

func (p *person) searchesByKeyboard() {
	p.T.Helper()
	p.key("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.Waits("#dialog[open] #search-q:focus")
	p.key("bill")
	p.Waits("#dialog [aria-labelledby=found-keys] a")
	p.key(kb.ArrowDown)
	p.Waits("#dialog [aria-labelledby=found-keys] a:focus")
	p.key("\r")
	p.Sees("Key for billing")
	p.key("?")
	p.Waits("#dialog[open] kbd")
	p.key(kb.Escape)
	p.Does("see the dialog close", chromedp.WaitNotPresent(chromedp.CSS("#dialog[open]"), browser.Steady))
}

// choosesSidebar narrows the sidebar, which the next page keeps.
func (p *person) choosesSidebar() {
	p.T.Helper()
	p.Clicks(".sidebar-toggle")
	p.Waits(".frame[data-rail]")
	p.Waits(".sidebar-toggle[aria-pressed=true]")
	p.reloads()
	p.Waits(".frame[data-rail] .sidebar-toggle[aria-pressed=true]")
	p.Clicks(".sidebar-toggle")
	p.Waits(".frame:not([data-rail])")
}

// loadsLittle adds up what a browser loads first: the sign-in page and its assets.
func (p *person) loadsLittle() {
	p.T.Helper()
	origin := p.evaluates("location.origin")
	page, sum := loaded(p.T, origin+"/signin")
	document, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil {
		p.T.Fatal(err)
	}
	document.Find("script[src], link[rel=stylesheet], link[rel=preload], link[rel=icon]").Each(
		func(_ int, s *goquery.Selection) {
			_, size := loaded(p.T, origin+s.AttrOr("src", s.AttrOr("href", "")))
			sum += size
		})
	if sum > mostLoaded {
		p.T.Errorf("the first page loads %d bytes, want at most %d", sum, mostLoaded)
	}
	p.T.Logf("the first page loads %d bytes", sum)
}

// loaded returns a file as text, and its size as a browser receives it.
func loaded(t *testing.T, address string) (text string, size int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip, br")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	sent, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", address, answer.StatusCode, err)
	}
	var body io.Reader = strings.NewReader(string(sent))
	switch answer.Header.Get("Content-Encoding") {
	case "br":
		body = brotli.NewReader(body)
	case "gzip":
		if body, err = gzip.NewReader(body); err != nil {
			t.Fatal(err)
		}
	}
	plain, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain), len(sent)
}

// framePages are the pages that the sidebar leads to, and the search.
var framePages = []string{
	"/projects", "/tenants", "/products", "/teams", "/settings/webhooks", "/audit", "/search", "/shortcuts",
	"/projects/shop", "/projects/shop/keys?create=true", "/projects/shop/versions/1.0.0/access", "/projects/shop/login",
	"/projects/shop/versions/1.0.0/rules", "/projects/shop/limits", "/projects/shop/versions/1.0.0/transforms",
	"/projects/shop/versions/1.0.0/openapi", "/projects/shop/domains", "/projects/shop/users", "/projects/shop/tenants",
	"/projects/shop/usage", "/projects/shop/requests", "/projects/shop/export", "/projects/shop/settings",
}

// satisfiesAxe runs axe-core, all of its rules, on pages in a theme at both widths.
func (p *person) satisfiesAxe(origin, theme string) {
	p.T.Helper()
	axe := axeScript(p.T)
	scheme := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}
	p.emulates(chromedp.Call(p.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: scheme}))
	for _, width := range []int64{1440, 390} {
		p.emulates(chromedp.Call(p.Tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width:             width,
			Height:            900,
			DeviceScaleFactor: 1,
		}))
		for _, page := range framePages {
			p.Open(origin + page)
			if found := p.violations(axe); found != "" {
				p.T.Errorf("%s, %s, %d px wide:\n%s", page, theme, width, found)
			}
		}
	}
}

// axeScript returns the script of axe.
func axeScript(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile("../../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v: run tools/setup", err)
	}
	return string(script)
}

func (p *person) emulates(_ any, err error) {
	p.T.Helper()
	if err != nil {
		p.T.Fatal(err)
	}
}

// violations returns what axe finds on the page, "" for nothing.
func (p *person) violations(axe string) string {
	p.T.Helper()
	const run = `; axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) =>
		v.id + ": " + v.nodes.map((n) => n.html.slice(0, 120)).join(" | ")).join("\n"))`
	look, end := context.WithTimeout(p.Tab, axeWithin)
	defer end()
	found, err := chromedp.Run(look, chromedp.Evaluate[string](axe+run, chromedp.EvalAwaitPromise))
	if err != nil {
		p.T.Fatalf("run axe: %v", err)
	}
	return found
}
