package pages

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
// is where it was. All of them are held to axe.
func TestConfirmation_keyboard(t *testing.T) {
	t.Parallel()
	j, axe := ownerAndAxe(t)
	p, o := j.p, j.o
	var paths []string
	for _, route := range []string{
		"/projects/:project/keys/:key", "/tenants/:tenant", "/users/:user", "/groups/:group", "/products/:product",
		"/teams/:team/settings", "/projects/:project/login/:client",
		"/projects/:project/login/:client/providers/:provider", "/projects/:project/domains/:domain",
		"/settings/webhooks/:webhook", "/projects/:project/key-types/:key_type",
	} {
		paths = append(paths, o.NewAllObjects(t, questionNeeds[route], route).Path(route))
	}
	j.eachLook(func(look string) {
		for _, path := range paths {
			p.Open(j.origin + path)
			p.evaluates(
				`String(document.querySelectorAll("details[data-confirmation]").forEach((d) => { d.open = true; }))`)
			p.Waits("details[open] [data-undo]")
			j.holds(t, axe, path+" "+look)
		}
	})
	for _, path := range paths {
		p.Open(j.origin + path)
		for i := range p.number("details[data-confirmation]") {
			p.evaluates(fmt.Sprintf(
				`String(document.querySelectorAll("details[data-confirmation] summary")[%d].focus())`, i))
			p.key(kb.Enter)
			p.Waits("details[open] [data-undo]")
			p.Waits("details[data-confirmation] form :focus")
			p.key(kb.Escape)
			p.Waits("details:not([open]) summary:focus")
		}
	}
}

// ownerAndAxe returns the journey of an owner on its own server, and the script of axe.
func ownerAndAxe(t *testing.T) (j journey, axe string) {
	t.Helper()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	server := httptest.NewServer(o.Handler)
	t.Cleanup(server.Close)
	j = journey{p: sit(t), o: o, origin: server.URL}
	j.p.WantsNoMotion()
	j.as(access.Owner, o.Owner)
	return j, axeScript(t)
}

// enters presses Enter on an element. A click would miss it while scripts still move it.
func (p *person) enters(selector string) {
	p.T.Helper()
	p.Does("focus "+selector, chromedp.Focus(chromedp.CSS(selector)))
	p.key(kb.Enter)
}

// eachLook calls fn in both themes at both widths.
func (j *journey) eachLook(fn func(look string)) {
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{1440, 390} {
			j.emulates(width, theme)
			fn(fmt.Sprintf("%s %d", theme, width))
		}
	}
}

// holds fails the test if axe finds something on the page, and keeps a picture of it.
func (j *journey) holds(t *testing.T, axe, name string) {
	t.Helper()
	if found := j.p.violations(axe); found != "" {
		t.Errorf("%s:\n%s", name, found)
	}
	j.keepsPicture(t, pictureName(name))
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
	j, axe := ownerAndAxe(t)
	p, o := j.p, j.o
	questions := []struct{ route, needs, page, form string }{
		{"/account/sessions/:session/end", "", "/account/sessions", "[action$='/end']"},
		{"/account/sessions/end-others", "", "/account/sessions", "[action$='/end-others']"},
		{"/users/:user", "signed in", "", "[action$='/end']"},
		{"/users/:user", "signed in", "", "[action$='/withdraw']"},
		{"/users/:user", "signed in", "", "[action$='/end-all']"},
		{"/groups/:group", "nested", "", "[action*='/children/']"},
		{"/exports/:export", "", "", "[action$='/cancel']"},
	}
	asks := func(i int, page string) (form string) {
		form = "main form" + questions[i].form
		p.Open(j.origin + page)
		p.enters(form + " button")
		p.Waits(form + " [data-undo]")
		return form
	}
	pageOf := func(i int) string {
		q := questions[i]
		has := o.NewAllObjects(t, q.needs, q.route)
		return cmp.Or(q.page, has.Path(q.route))
	}
	for i := range questions {
		page := pageOf(i)
		form := asks(i, page)
		p.enters("main a.btn-plain")
		p.Waits(form + ":not(:has([data-undo])) button")
		p.lacks("[data-flash]")
		asks(i, page)
		p.enters(form + " [name=confirm]")
		p.Waits("[data-flash]")
	}
	for i, q := range questions {
		page := pageOf(i)
		j.eachLook(func(look string) {
			asks(i, page)
			j.holds(t, axe, q.route+" "+q.form+" "+look)
		})
	}
}

// keepsPicture keeps a picture of the whole page where -shots says.
func (j *journey) keepsPicture(t *testing.T, name string) {
	t.Helper()
	if *shots == "" {
		return
	}
	shot, err := chromedp.Call(j.p.Tab, page.CaptureScreenshot, page.CaptureScreenshotParams{
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
