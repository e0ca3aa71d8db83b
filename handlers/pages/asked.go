package pages

import (
	"postern/handlers/web"
	"postern/views/ui"
)

// asked reports whether a form of a list has come from the page that asks for a tick.
func (v *visit) asked() bool { return v.posted("confirm") == "true" }

// ask answers a form of a list with the page that asks for a tick. The form of that page has
// the same address.
func (v *visit) ask(m ui.Asked) (web.Answer, error) {
	m.Confirm.ID, m.Confirm.Action = "asked-confirm", v.c.Request.URL.EscapedPath()
	return web.Show(ui.AskedPage(m)), nil
}
