package pages

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"postern/service/access"
	"postern/testkit/browser"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

var shots = flag.String("shots", "", "folder for pictures of all pages, light and dark, 1440 and 390 px wide")

// notJourneyed are routes that are no page to look at.
var notJourneyed = map[string]string{
	"/static/*file":                    "is a file",
	"/brand/:color":                    "is a style sheet",
	"/projects/:project/usage.csv":     "is a file",
	"/exports/:export/download":        "is a file",
	"/imports/:import/download":        "is a file",
	"/exports/:export/ledger/download": "is a file",
	"/signin/:provider/callback":       "belongs to a provider",
	"/healthz":                         "is for probes",
	"/readyz":                          "is for probes",
	"/metrics":                         "is for Prometheus",
	"/openapi.json":                    "is the API's description",
	"/openapi.yaml":                    "is the API's description",
	"/openapi-3.0.json":                "is the API's description",
	"/openapi-3.0.yaml":                "is the API's description",
	"/.well-known/postern-export-key":  "is a key",
	"/.well-known/oauth-authorization-server/oauth/:client": "is for app clients",
	"/":                                    "redirects",
	"/recover/:code":                       "needs a mail",
	"/email/:code":                         "needs a mail",
	"/welcome/:code":                       "is for the first account",
	"/docs/reference/:tag":                 "is tested with the documentation",
	"/account/signins":                     "is shown where providers are configured",
	"/claimed":                             "follows a claim",
	"/projects/:project/requests/:request": "needs a call",
}

// journeyNeeds are the states that pages need besides all kinds of objects.
var journeyNeeds = map[string]string{
	"/settings/tokens/:token": "token",
	"/projects/:project/versions/:version/environments/:environment/upstream-headers/:name": "upstream header",
	"/settings/tokens/:token/secret":                   "token",
	"/projects/:project/tenants/:tenant":               "attached",
	"/exports/:export/ledger":                          "ready",
	"/settings/webhooks/:webhook":                      "webhook",
	"/settings/webhooks/:webhook/secret":               "webhook",
	"/settings/webhooks/:webhook/deliveries/:delivery": "webhook",
}

// journeyQueries are what pages show nothing without.
var journeyQueries = map[string]string{
	"/projects/:project/versions/:version/openapi/operation": "?method=GET&path=/orders",
	"/projects/:project/relations/forget":                    "?user=ana&object=order:1",
}

// TestJourneys opens every page of the dashboard in a browser, as owner, member and viewer with scripts, and as owner
// without. Pages of the other roles without scripts are read as served.
func TestJourneys(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	server := httptest.NewServer(o.Handler)
	t.Cleanup(server.Close)
	paths := journeyPaths(t, o)
	p := sit(t)
	j := journey{p: p, o: o, origin: server.URL, answers: map[string]int{}, pressed: map[string]bool{}}
	j.emulates(390, "light")
	j.readsCode(paths["/projects/:project/keys"])
	for _, scripts := range []bool{true, false} {
		if !scripts {
			p.ForbidsScripts()
		}
		for role, caller := range journeyers(o) {
			j.as(role, caller)
			for _, route := range slices.Sorted(maps.Keys(paths)) {
				name := fmt.Sprintf("%s, %s, scripts %v", route, role, scripts)
				j.visits(t, name, paths[route], scripts || role == access.Owner)
			}
		}
	}
	for save := range ofViewers {
		if !j.pressed[save] {
			t.Errorf("ofViewers has %q, which no page offers to a viewer", save)
		}
	}
	if *shots != "" {
		j.photographs(t, paths)
	}
}

func journeyers(o *controlplane.Fixture) map[access.Role][]string {
	return map[access.Role][]string{
		access.Owner: o.Owner, access.Member: o.Members[access.Member], access.Viewer: o.Members[access.Viewer],
	}
}

// journeyPaths returns the path of every page, about objects that exist.
func journeyPaths(t *testing.T, o *controlplane.Fixture) map[string]string {
	t.Helper()
	paths := map[string]string{}
	has := map[string]controlplane.Objects{}
	routes := map[string]bool{}
	for _, route := range controlplane.Routes(o.Server) {
		_, left := notJourneyed[route.Path]
		routes[route.Path] = routes[route.Path] || route.Method == "GET"
		if route.Method != "GET" || left || controlplane.IsAPI(route.Path) ||
			strings.HasPrefix(route.Path, "/oauth/") || strings.HasPrefix(route.Path, "/scim/") {
			continue
		}
		// Objects are made once for all pages that need the same, and for those about people and plans of imports.
		people := strings.Contains(route.Path, "team") || strings.Contains(route.Path, "invit") ||
			strings.Contains(route.Path, ":import")
		kind := journeyNeeds[route.Path]
		about := kind
		if people || strings.Contains(route.Path, "claim") {
			about += route.Path
		}
		if _, made := has[about]; !made {
			has[about] = o.NewAllObjects(t, kind, route.Path)
		}
		path := has[about].Path(route.Path)
		if route.Path == "/docs/:page" {
			path = "/docs/quick-start"
		}
		paths[route.Path] = path + journeyQueries[route.Path]
	}
	for route := range notJourneyed {
		if !routes[route] {
			t.Errorf("notJourneyed has %s, which isn't a route", route)
		}
	}
	for _, list := range []map[string]string{journeyNeeds, journeyQueries} {
		for route := range list {
			if paths[route] == "" {
				t.Errorf("%s needs something, and isn't a page that is opened", route)
			}
		}
	}
	return paths
}

// journey is a walk of one browser through the pages.
type journey struct {
	p       *person
	o       *controlplane.Fixture
	origin  string
	role    access.Role
	caller  []string
	answers map[string]int  // of links, by role and path
	pressed map[string]bool // of ofViewers
}

func (j *journey) as(role access.Role, caller []string) {
	j.p.T.Helper()
	j.role, j.caller = role, caller
	_, session, _ := strings.Cut(caller[1], "=")
	_, err := chromedp.Call(j.p.Tab, network.SetCookie, network.SetCookieParams{
		Name: "postern", Value: session, URL: j.origin,
	})
	if err != nil {
		j.p.T.Fatal(err)
	}
}

func (j *journey) emulates(width int64, theme string) {
	j.p.T.Helper()
	j.p.emulates(chromedp.Call(j.p.Tab, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1}))
	j.p.emulates(chromedp.Call(j.p.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
	}))
}

// seen is what a page has, as its own script would find it.
type seen struct {
	Status   int      `json:"status"`
	Headings int      `json:"headings"`
	Heading  string   `json:"heading"`
	Title    string   `json:"title"`
	Wide     int      `json:"wide"`
	Saves    []string `json:"saves"`
	Links    []string `json:"links"`
	Code     bool     `json:"code"`
}

const look = `JSON.stringify({
	status: performance.getEntriesByType("navigation")[0]?.responseStatus ?? 0,
	headings: document.querySelectorAll("h1").length,
	heading: document.querySelector("h1")?.textContent.trim() ?? "",
	title: document.title,
	wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
	saves: [...document.querySelectorAll("main form[method=post] button:not([type=button]):not(:disabled)")]
		.map((b) => b.closest("form").getAttribute("action") + " " + b.textContent.trim()),
	links: [...document.querySelectorAll("a[href^='/']")].map((a) => a.getAttribute("href").split("#")[0]),
	code: !document.querySelector(".bar [popovertarget=account-menu]") ||
		document.querySelectorAll("#as-code:has(h3) code, #as-code p").length > 0 &&
		document.querySelectorAll(".bar [popovertarget=as-code]").length === 1,
})`

// ofViewers are the forms that viewers may send, by action and button: those about themselves.
var ofViewers = map[string]bool{
	"/account Save name and email address": true,
	"/account/delete Delete account":       true,
	"/account/password Save password":      true,
	"/claim/… Claim":                       true,
	"/device Continue":                     true,
	"/invite/… Join as vic@example.com":    true,
	"/search Search":                       true,
	"/settings/tokens Create token":        true,
	"/teams Create team":                   true,
	"/teams/…/leave Leave team":            true,
}

// identifiers are the parts of an action that are other ones in each run: ids and codes.
var identifiers = regexp.MustCompile(`/[0-9A-Za-z_-]{26,}`)

// visits looks at a page in the browser, or as it is served.
func (j *journey) visits(t *testing.T, name, path string, browses bool) {
	t.Helper()
	if status := j.answer(t, path); status >= 400 {
		if j.role == access.Owner || status >= 500 {
			t.Errorf("%s: %s answers %d", name, path, status)
		}
		return // not for this role: TestRoutes_authorization says which
	}
	var got seen
	if browses {
		j.p.Open(j.origin + path)
		if err := json.Unmarshal([]byte(j.p.evaluates(look)), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	} else {
		got = j.served(t, path)
	}
	if got.Status >= 400 {
		t.Errorf("%s: %s answers %d %q", name, path, got.Status, got.Heading)
	}
	if got.Headings != 1 || got.Heading == "" || got.Title == "" || !strings.HasSuffix(got.Title, "Postern") {
		t.Errorf("%s: %d h1 %q, title %q", name, got.Headings, got.Heading, got.Title)
	}
	if got.Wide > 0 {
		t.Errorf("%s: scrolls by %d px at 390", name, got.Wide)
	}
	if !got.Code && !strings.HasPrefix(path, "/docs") {
		t.Errorf("%s: has no code", name)
	}
	if j.role == access.Viewer {
		for _, save := range got.Saves {
			save = identifiers.ReplaceAllString(save, "/…")
			j.pressed[save] = true
			if !ofViewers[save] {
				t.Errorf("%s: a viewer may press %q", name, save)
			}
		}
	}
	for _, link := range got.Links {
		if status := j.answer(t, link); status >= 400 {
			t.Errorf("%s: its link %s answers %d", name, link, status)
		}
	}
}

// served returns what a page has without scripts, as look does. Its width takes a browser.
func (j *journey) served(t *testing.T, path string) seen {
	t.Helper()
	answer := j.o.Do(t, "GET", path, "", j.caller)
	for hops := 0; answer.Status/100 == 3 && hops < 5; hops++ {
		answer = j.o.Do(t, "GET", answer.Header.Get("Location"), "", j.caller)
	}
	document, err := goquery.NewDocumentFromReader(strings.NewReader(answer.Raw))
	if err != nil {
		t.Fatal(err)
	}
	headings := document.Find("h1")
	got := seen{
		Status:   answer.Status,
		Headings: headings.Length(),
		Heading:  strings.TrimSpace(headings.First().Text()),
		Title:    strings.TrimSpace(document.Find("head title").Text()),
		Code: document.Find(".bar [popovertarget=account-menu]").Length() == 0 ||
			document.Find("#as-code:has(h3) code, #as-code p").Length() > 0 &&
				document.Find(".bar [popovertarget=as-code]").Length() == 1,
	}
	buttons := document.Find("main form[method=post] button:not([type=button]):not(:disabled)")
	for _, button := range buttons.EachIter() {
		action := button.Closest("form").AttrOr("action", "")
		got.Saves = append(got.Saves, action+" "+strings.TrimSpace(button.Text()))
	}
	for _, link := range document.Find("a[href^='/']").EachIter() {
		path, _, _ := strings.Cut(link.AttrOr("href", ""), "#")
		got.Links = append(got.Links, path)
	}
	return got
}

// answer returns the status of a link. Each is asked for once per role, without the browser.
func (j *journey) answer(t *testing.T, link string) int {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(u.Path, "/download") || strings.HasPrefix(u.Path, "/static/") {
		return 200
	}
	key := string(j.role) + " " + link
	if status, known := j.answers[key]; known {
		return status
	}
	j.answers[key] = j.o.Do(t, "GET", link, "", j.caller).Status
	return j.answers[key]
}

// readsCode opens the code of a page and fills in its form, which the lines follow.
func (j *journey) readsCode(path string) {
	j.p.T.Helper()
	axe := axeScript(j.p.T)
	j.as(access.Owner, j.o.Owner)
	for _, width := range []int64{390, 1440} {
		for _, theme := range []string{"dark", "light"} {
			j.emulates(width, theme)
			j.p.Open(j.origin + path + "?create=true")
			j.p.Types("owner", "it's ana")
			j.p.Clicks("[popovertarget=as-code]")
			j.p.Reaches(`//*[@id="as-code"]//code[contains(., "postern keys create") and contains(., "s ana")]`)
			j.p.Reaches(`//*[@id="as-code"]//*[.//code[contains(., "postern keys create")]]/button[@data-copy]`)
			if found := j.p.violations(axe); found != "" {
				j.p.T.Errorf("the code of a page, %s, %d px wide:\n%s", theme, width, found)
			}
			j.p.key(kb.Escape)
			j.p.Does("see it close", chromedp.WaitNotVisible(chromedp.CSS("#as-code"), browser.Steady))
		}
	}
	j.emulates(390, "light")
}

// photographs keeps a picture of every page.
func (j *journey) photographs(t *testing.T, paths map[string]string) {
	t.Helper()
	j.as(access.Owner, j.o.Owner)
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{1440, 390} {
			j.emulates(width, theme)
			dir := filepath.Join(*shots, fmt.Sprintf("%s-%d", theme, width))
			if err := os.MkdirAll(dir, 0o750); err != nil {
				t.Fatal(err)
			}
			for _, route := range slices.Sorted(maps.Keys(paths)) {
				j.p.Open(j.origin + paths[route])
				shot, err := chromedp.Call(j.p.Tab, page.CaptureScreenshot, page.CaptureScreenshotParams{})
				if err != nil {
					t.Fatal(err)
				}
				name := strings.NewReplacer("/", "_", ":", "").Replace(strings.Trim(route, "/")) + ".png"
				if err := os.WriteFile(filepath.Join(dir, name), shot.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
