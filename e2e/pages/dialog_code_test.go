package pages

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"postern/testkit/browser"
)

// TestCode_dialog reads the lines of the forms in dialogs, which follow what is typed, and
// stays in the dialog. Without scripts a dialog is a page, whose drawer TestJourneys opens.
func TestCode_dialog(t *testing.T) {
	t.Parallel()
	j, axe := ownerAndAxe(t)
	p, has := j.p, j.o.NewAllObjects(t, "token", "/settings/tokens/:token")
	line := func(words string) {
		p.Does("see "+words+" in the lines", chromedp.WaitVisible(chromedp.Search(fmt.Sprintf(
			`//details[@open and @data-panel-code]//code[contains(., %q)]`, words)), browser.Steady))
	}
	const fold = "#dialog [data-panel-code] summary"
	j.eachLook(func(name string) {
		p.Open(j.origin + has.Path("/projects/:project/keys"))
		p.Clicks("tbody a[data-dialog]")
		p.Waits(fold)
		j.holds(t, axe, "dialog "+name)
		p.evaluates(fmt.Sprintf(`String(document.querySelector(%q).focus())`, fold))
		p.key(kb.Enter)
		line("postern keys revoke")
		p.Waits(fold + ":focus")
		p.Clicks("#dialog details:has(#rotate-grace) > summary")
		p.Waits("#rotate-grace:focus")
		p.Does("choose another time", chromedp.SendKeys(chromedp.CSS("#rotate-grace"), "1 hour", browser.Steady))
		line("--grace 3600s")
		p.Waits("#dialog [data-panel-code] button[data-copy]:not([hidden])")
		j.holds(t, axe, "dialog-code "+name)
		p.key(kb.Escape) // closes the question
		p.Waits("#dialog[open] details:has(#rotate-grace):not([open]) > summary:focus")
		p.key(kb.Escape)
		p.Does("see the dialog close", chromedp.WaitNotVisible(chromedp.CSS("#dialog"), browser.Steady))

		// The lines also have what was typed before they were unfolded.
		p.Open(j.origin + has.Path("/projects/:project/key-types"))
		p.Clicks("tbody a[data-dialog]")
		p.Does("type", chromedp.SendKeys(chromedp.CSS("#dialog textarea[name=scopes]"), "for:robots\n", browser.Steady))
		p.Clicks(fold)
		line("for:robots")
		j.holds(t, axe, "dialog-code-key-type "+name)

		// A question for a tick has the lines below it.
		p.Open(j.origin + "/settings/tokens")
		p.Clicks("tbody a[data-dialog]")
		p.Clicks(fold)
		line("postern tokens revoke")
		j.holds(t, axe, "dialog-code-token "+name)
	})
}
