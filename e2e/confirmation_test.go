package e2e

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"postern/service/access"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// questionNeeds are the states that the pages of TestConfirmation_keyboard need.
var questionNeeds = map[string]string{"/tenants/:tenant": "shared", "/settings/webhooks/:webhook": "webhook"}

// TestConfirmation_keyboard opens the questions before something is taken away with the
// keyboard: the focus goes to the box or the field, Escape closes the question, and the focus
// is where it was. It keeps pictures of them where -shots says.
func TestConfirmation_keyboard(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v: run tools/setup", err)
	}
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	server := httptest.NewServer(o.Handler)
	t.Cleanup(server.Close)
	p := sit(t)
	p.wantsNoMotion()
	j := journey{p: p, o: o, origin: server.URL}
	j.as(access.Owner, o.Owner)
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{1440, 390} {
			j.emulates(width, theme)
			for _, route := range []string{
				"/projects/:project/keys/:key", "/tenants/:tenant", "/users/:user", "/groups/:group",
				"/products/:product",
				"/teams/:team/settings", "/projects/:project/login/:client",
				"/projects/:project/login/:client/providers/:provider", "/projects/:project/domains/:domain",
				"/settings/webhooks/:webhook", "/projects/:project/key-types/:key_type",
			} {
				path := o.NewAllObjects(t, questionNeeds[route], route).Path(route)
				name := fmt.Sprintf("%s %s %d", route, theme, width)
				p.open(j.origin + path)
				p.evaluates(`String(document.querySelector("details[data-confirmation] summary").focus())`)
				p.key(kb.Enter)
				p.waits("details[open] [data-undo]")
				p.waits("details[data-confirmation] form :focus")
				if found := p.violations(string(axe)); found != "" {
					t.Errorf("%s:\n%s", name, found)
				}
				j.keepsPicture(t, strings.NewReplacer("/", "_", ":", "", " ", "_").Replace(name))
				p.key(kb.Escape)
				p.waits("details:not([open]) summary:focus")
			}
		}
	}
}

// keepsPicture keeps a picture of the whole page where -shots says.
func (j *journey) keepsPicture(t *testing.T, name string) {
	t.Helper()
	if *shots == "" {
		return
	}
	shot, err := chromedp.Call(j.p.tab, page.CaptureScreenshot, page.CaptureScreenshotParams{
		CaptureBeyondViewport: new(true),
	})
	if err == nil {
		err = os.MkdirAll(*shots, 0o750)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), shot.Data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
