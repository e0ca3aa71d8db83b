package pages

import (
	"strings"

	"postern/platform/fault"
	rules "postern/service/projects"
	"postern/views/ui"
)

// The forms that take something away ask by a ui.Confirmation. It asks to type the name of
// what cannot be brought back and stops callers, and for a tick otherwise; where the same is
// easily made again, its button confirms. The box or the button is posted as confirm, the
// name as typed_name.

// confirmed returns an error with the text unless the form's confirmation box is ticked.
func (v *visit) confirmed(text string) error {
	if v.posted("confirm") != "true" {
		return fault.InvalidField("/confirm", "required", "%s", text)
	}
	return nil
}

// named returns an error unless the name was typed. kind is what has it, such as version.
func (v *visit) named(kind, name string) error {
	if strings.TrimSpace(v.posted("typed_name")) != name {
		return fault.InvalidField("/confirm", "wrong_confirmation", "Type the %s's name, %s, to confirm.", kind, name)
	}
	return nil
}

// refuse gives the mistake in a confirmation to the one of a page's questions that was answered.
func (v *visit) refuse(wrong *formErrors, questions ...*ui.Confirmation) {
	for _, question := range questions {
		if question != nil && question.Action == v.c.Request.URL.EscapedPath() {
			question.Error = wrong.take("/confirm")
		}
	}
}

// mark shows the mistakes of a refused form in its confirmation, if the page has one.
func (v *visit) mark(c *ui.Confirmation, wrong *formErrors) {
	if c == nil {
		return
	}
	if c.Type != "" {
		c.Typed = wrong.value("/confirm", v.posted("typed_name"))
	}
	c.Error = wrong.rest()
}

// figure is a line of an impact that is read from the database. The form works without one
// that cannot be read.
func (v *visit) figure(text string, err error) []string {
	if err != nil {
		v.server.Web.LogCause(v.ctx(), err)
		return nil
	}
	return []string{text}
}

// callersOf says who called a project lately, or one of its environments (an id), or either
// with keys and users of a tenant (an id).
func (h *Handler) callersOf(v *visit, p rules.Project, environment, tenant string) []string {
	c, err := h.Projects.Callers(v.ctx(), v.who, p.ID, environment, tenant)
	return v.figure(callersText(c), err)
}

// callersText is such as "3 owners called since 13:00 UTC: 1,204 calls."
func callersText(c rules.Callers) string {
	since := " since " + c.Since.Format("15:04 MST")
	if c.Calls == 0 {
		return "No calls" + since + "."
	}
	return countText(c.Owners, "owner") + " called" + since + ": " + countText(c.Calls, "call") + "."
}

// signInsText is such as "4 users signed in through it today."
func signInsText(n int64, through string) string {
	if n == 0 {
		return "No user signed in " + through + " it today."
	}
	return countText(n, "user") + " signed in " + through + " it today."
}
