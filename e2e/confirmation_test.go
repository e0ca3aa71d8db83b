package e2e

import (
	"cmp"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
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
				p.open(j.origin + path)
				for i := range p.number("details[data-confirmation]") {
					name := fmt.Sprintf("%s %d %s %d", route, i, theme, width)
					p.evaluates(fmt.Sprintf(
						`String(document.querySelectorAll("details[data-confirmation] summary")[%d].focus())`, i))
					p.key(kb.Enter)
					p.waits("details[open] [data-undo]")
					p.waits("details[data-confirmation] form :focus")
					if found := p.violations(string(axe)); found != "" {
						t.Errorf("%s:\n%s", name, found)
					}
					j.keepsPicture(t, pictureName(name))
					p.key(kb.Escape)
					p.waits("details:not([open]) summary:focus")
				}
			}
		}
	}
}

// noName is what the name of a file does not have.
var noName = regexp.MustCompile(`[^0-9A-Za-z-]+`)

func pictureName(name string) string {
	return strings.Trim(noName.ReplaceAllString(name, "_"), "_")
}

// TestConfirmation_asked sends forms of lists, which lead to a page with the question. Its
// button takes the thing away; the link back does not.
func TestConfirmation_asked(t *testing.T) {
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
			for _, tt := range []struct{ route, needs, page, form string }{
				{"/account/sessions/:session/end", "", "/account/sessions", "[action$='/end']"},
				{"/account/sessions/end-others", "", "/account/sessions", "[action$='/end-others']"},
				{"/users/:user", "signed in", "", "[action$='/end']"},
				{"/users/:user", "signed in", "", "[action$='/withdraw']"},
				{"/users/:user", "signed in", "", "[action$='/end-all']"},
				{"/groups/:group", "nested", "", "[action*='/children/']"},
				{"/exports/:export", "", "", "[action$='/cancel']"},
			} {
				has := o.NewAllObjects(t, tt.needs, tt.route)
				page := cmp.Or(tt.page, has.Path(tt.route))
				name := fmt.Sprintf("%s %s %s %d", tt.route, tt.form, theme, width)
				form := "main form" + tt.form
				p.open(j.origin + page)
				p.clicks(form + " button")
				p.waits("main form" + tt.form + " [data-undo]")
				if found := p.violations(string(axe)); found != "" {
					t.Errorf("%s:\n%s", name, found)
				}
				j.keepsPicture(t, pictureName(name))
				p.clicks("main a.btn-plain")
				p.waits(form + ":not(:has([data-undo])) button")
				p.lacks("[data-flash]")
				p.clicks(form + " button")
				p.clicks("main form" + tt.form + " [name=confirm]")
				p.waits("[data-flash]")
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
