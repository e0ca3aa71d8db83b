package e2e

import (
	"fmt"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"postern/service/access"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestCode_dialog reads the lines of the forms in dialogs, which follow what is typed, and
// stays in the dialog. Without scripts a dialog is a page, whose drawer TestJourneys opens.
func TestCode_dialog(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v: run tools/setup", err)
	}
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	server := httptest.NewServer(o.Handler)
	t.Cleanup(server.Close)
	has := o.NewAllObjects(t, "token", "/settings/tokens/:token")
	p := sit(t)
	p.wantsNoMotion()
	j := journey{p: p, o: o, origin: server.URL}
	j.as(access.Owner, o.Owner)
	line := func(words string) {
		p.does("see "+words+" in the lines", chromedp.WaitVisible(chromedp.Search(fmt.Sprintf(
			`//details[@open and @data-panel-code]//code[contains(., %q)]`, words))))
	}
	look := func(what string) {
		if found := p.violations(string(axe)); found != "" {
			t.Errorf("%s:\n%s", what, found)
		}
		j.keepsPicture(t, what)
	}
	const fold = "#dialog [data-panel-code] summary"
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{1440, 390} {
			j.emulates(width, theme)
			shot := func(what string) string { return fmt.Sprintf("%s-%s-%d", what, theme, width) }

			p.open(j.origin + has.Path("/projects/:project/keys"))
			p.clicks("tbody a[data-dialog]")
			p.waits(fold)
			look(shot("dialog"))
			p.evaluates(fmt.Sprintf(`String(document.querySelector(%q).focus())`, fold))
			p.key(kb.Enter)
			line("postern keys revoke")
			p.waits(fold + ":focus")
			p.clicks("#dialog details:has(#rotate-grace) > summary")
			p.waits("#rotate-grace:focus")
			p.does("choose another time", chromedp.SendKeys(chromedp.CSS("#rotate-grace"), "1 hour"))
			line("--grace 3600s")
			p.waits("#dialog [data-panel-code] button[data-copy]:not([hidden])")
			look(shot("dialog-code"))
			p.key(kb.Escape) // closes the question
			p.waits("#dialog[open] details:has(#rotate-grace):not([open]) > summary:focus")
			p.key(kb.Escape)
			p.does("see the dialog close", chromedp.WaitNotVisible(chromedp.CSS("#dialog")))

			// What is typed before the lines are unfolded is in them, too.
			p.open(j.origin + has.Path("/projects/:project/key-types"))
			p.clicks("tbody a[data-dialog]")
			p.does("type", chromedp.SendKeys(chromedp.CSS("#dialog textarea[name=scopes]"), "for:robots\n"))
			p.clicks(fold)
			line("for:robots")
			look(shot("dialog-code-key-type"))

			// A question for a tick has the lines below it.
			p.open(j.origin + "/settings/tokens")
			p.clicks("tbody a[data-dialog]")
			p.clicks(fold)
			line("postern tokens revoke")
			look(shot("dialog-code-token"))
		}
	}
}
