package e2e

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

	"postern/testkit"
)

// Bounds of the dashboard's frame.
const (
	mostTabs   = 12     // from a project's page to a new key
	mostLoaded = 60_000 // bytes of the first page with its assets, as they are sent
	axeWithin  = time.Minute
)

// TestFrame goes through the dashboard by keyboard, and holds its pages to axe in both themes
// at both widths.
func TestFrame(t *testing.T) {
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
	p.follows("I have copied the key")
	p.sees("shop")

	p.createsKeyByTab()
	p.choosesAllKeys()
	p.searchesByKeyboard()
	p.choosesSidebar()
	p.loadsLittle()

	for _, theme := range []string{"light", "dark"} {
		visitor := sit(t) // which has some minutes
		visitor.open(server.Config.PublicURL)
		visitor.types("email", "ana@example.com")
		visitor.types("password", "four unrelated words")
		visitor.presses("Sign in")
		visitor.sees("Projects")
		visitor.satisfiesAxe(server.Config.PublicURL, theme)
	}
}

// key presses keys where the focus is.
func (p *person) key(keys string, options ...chromedp.KeyOption) {
	p.t.Helper()
	p.does("press a key", chromedp.KeyEvent(keys, options...))
}

// tabsTo presses Tab until the element has the focus, and returns how often.
func (p *person) tabsTo(selector string) (tabs int) {
	p.t.Helper()
	for tabs < mostTabs {
		p.key("\t")
		tabs++
		if p.evaluates(`String(document.activeElement.matches(`+"`"+selector+"`"+`))`) == "true" {
			return tabs
		}
	}
	p.t.Fatalf("%d tabs do not reach %s", tabs, selector)
	return tabs
}

// choosesAllKeys chooses the two keys at once, which brings up what can be done with them.
func (p *person) choosesAllKeys() {
	p.t.Helper()
	p.follows("Keys")
	p.sees("Keys")
	if got := p.evaluates(`getComputedStyle(document.querySelector(".bulk")).display`); got != "none" {
		p.t.Errorf("before a key is chosen, the actions are displayed as %q", got)
	}
	p.clicks("[data-choose-all] input")
	p.waits(".bulk")
	if got := p.reads("[data-chosen]"); got != "2 keys chosen" {
		p.t.Errorf("the page says %q of the chosen keys", got)
	}
	p.clicks("tbody .box")
	if got := p.reads("[data-chosen]"); got != "1 key chosen" {
		p.t.Errorf("the page says %q of the key that is left", got)
	}
}

func (p *person) createsKeyByTab() {
	p.t.Helper()
	p.reloads()
	p.sees("shop")
	tabs := p.tabsTo(".skip-link")
	p.key("\r")
	tabs += p.tabsTo("a[href$='keys?create=true']")
	p.key("\r")
	p.sees("Keys")
	p.waits("#key-owner:focus")
	p.key("billing")
	tabs += p.tabsTo("form:has(#key-owner) button.btn-primary")
	p.key("\r")
	p.sees("Key created")
	if tabs > mostTabs {
		p.t.Errorf("a key is created in %d tabs, want at most %d", tabs, mostTabs)
	}
	p.t.Logf("a key is created in %d tabs", tabs)
}

func (p *person) searchesByKeyboard() {
	p.t.Helper()
	p.key("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.waits("#dialog[open] #search-q:focus")
	p.key("bill")
	p.waits("#dialog [aria-labelledby=found-keys] a")
	p.key(kb.ArrowDown)
	p.waits("#dialog [aria-labelledby=found-keys] a:focus")
	p.key("\r")
	p.sees("Key of billing")
	p.key("?")
	p.waits("#dialog[open] kbd")
	p.key(kb.Escape)
	p.does("see the dialog close", chromedp.WaitNotPresent(chromedp.CSS("#dialog[open]")))
}

// choosesSidebar narrows the sidebar, which the next page keeps.
func (p *person) choosesSidebar() {
	p.t.Helper()
	p.clicks(".sidebar-toggle")
	p.waits(".frame[data-rail]")
	p.does("wait for the answer", chromedp.WaitVisible(chromedp.CSS(".sidebar-toggle[aria-pressed=true]")))
	p.reloads()
	p.waits(".frame[data-rail] .sidebar-toggle[aria-pressed=true]")
	p.clicks(".sidebar-toggle")
	p.waits(".frame:not([data-rail])")
}

// loadsLittle adds up what a browser loads first: the sign-in page and its assets.
func (p *person) loadsLittle() {
	p.t.Helper()
	origin := p.evaluates("location.origin")
	page, sum := loaded(p.t, origin+"/signin")
	document, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil {
		p.t.Fatal(err)
	}
	document.Find("script[src], link[rel=stylesheet], link[rel=preload], link[rel=icon]").Each(
		func(_ int, s *goquery.Selection) {
			_, size := loaded(p.t, origin+s.AttrOr("src", s.AttrOr("href", "")))
			sum += size
		})
	if sum > mostLoaded {
		p.t.Errorf("the first page loads %d bytes, want at most %d", sum, mostLoaded)
	}
	p.t.Logf("the first page loads %d bytes", sum)
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
	"/projects/shop/versions/1.0.0/openapi", "/projects/shop/domains", "/projects/shop/tenants", "/projects/shop/usage",
	"/projects/shop/requests", "/projects/shop/export", "/projects/shop/settings",
}

// satisfiesAxe runs axe-core, all of its rules, on pages in a theme at both widths.
func (p *person) satisfiesAxe(origin, theme string) {
	p.t.Helper()
	axe, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
	if err != nil {
		p.t.Fatalf("%v: run tools/setup", err)
	}
	scheme := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}
	p.emulates(chromedp.Call(p.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: scheme}))
	for _, width := range []int64{1440, 390} {
		p.emulates(chromedp.Call(p.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width:             width,
			Height:            900,
			DeviceScaleFactor: 1,
		}))
		for _, page := range framePages {
			p.open(origin + page)
			if found := p.violations(string(axe)); found != "" {
				p.t.Errorf("%s, %s, %d px wide:\n%s", page, theme, width, found)
			}
		}
	}
}

func (p *person) emulates(_ any, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// violations returns what axe finds on the page, "" for nothing.
func (p *person) violations(axe string) string {
	p.t.Helper()
	const run = `; axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) =>
		v.id + ": " + v.nodes.map((n) => n.html.slice(0, 120)).join(" | ")).join("\n"))`
	look, end := context.WithTimeout(p.tab, axeWithin)
	defer end()
	found, err := chromedp.Run(look, chromedp.Evaluate[string](axe+run, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("run axe: %v", err)
	}
	return found
}
