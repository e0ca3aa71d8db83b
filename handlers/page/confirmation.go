package page

import (
	"strings"

	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/projects"
	"postern/views/ui"
)

// The forms that take something away ask by a ui.Confirmation. It asks to type the name of
// what cannot be brought back and stops callers, and for a tick otherwise; where the same is
// easily made again, its button confirms. The box or the button is posted as confirm, the
// name as typed_name.

// Confirmed returns an error with the text unless the form's confirmation box is ticked.
func (v *Visit) Confirmed(text string) error {
	if v.Posted("confirm") != "true" {
		return fault.InvalidField("/confirm", "required", "%s", text)
	}
	return nil
}

// Named returns an error unless the name was typed. kind is the kind of object, such as version.
func (v *Visit) Named(kind, name string) error {
	if strings.TrimSpace(v.Posted("typed_name")) != name {
		return fault.InvalidField("/confirm", "wrong_confirmation", "Type the %s's name, %s, to confirm.", kind, name)
	}
	return nil
}

// Refuse gives the mistake in a confirmation to the one of a page's questions that was answered.
func (v *Visit) Refuse(wrong *Errors, questions ...*ui.Confirmation) {
	for _, question := range questions {
		if question != nil && question.Action == v.Gin.Request.URL.EscapedPath() {
			question.Error = wrong.Take("/confirm")
		}
	}
}

// Mark shows the mistakes of a refused form in its confirmation, if the page has one.
func (v *Visit) Mark(c *ui.Confirmation, wrong *Errors) {
	if c == nil {
		return
	}
	if c.Type != "" {
		wrong.nameTyped(c.Type)
		c.Typed = wrong.Value("/confirm", v.Posted("typed_name"))
	}
	c.Error = wrong.Rest()
}

// nameTyped words the error of a name that was typed wrong for a page: the rule's text can explain the API's parameter.
func (m *Errors) nameTyped(name string) {
	for i := range m.Fields {
		if m.Fields[i].Code == "wrong_confirmation" {
			m.Fields[i].Detail = "Type " + name + " to confirm."
		}
	}
}

// Figure is a line of an impact that is read from the database. The form works without one
// that cannot be read.
func (v *Visit) Figure(text string, err error) []string {
	if err != nil {
		v.Server.Web.LogCause(v.Ctx(), err)
		return nil
	}
	return []string{text}
}

// CallersText is such as "1,204 calls from 3 owners since 28 Nov 2026, 13:00 UTC."
func CallersText(c projects.Callers) string {
	since := " since " + Moment(c.Since)
	if c.Calls == 0 {
		return "No calls" + since + "."
	}
	who := CountText(c.Owners, "owner")
	switch {
	case c.Ownerless && c.Owners == 0:
		who = "callers without a key"
	case c.Ownerless:
		who += " and callers without a key"
	}
	return CountText(c.Calls, "call") + " from " + who + since + "."
}

// SignInsText is such as "4 users signed in with this provider today.", where by is "with this provider".
func SignInsText(n int64, by string) string {
	if n == 0 {
		return "No users signed in " + by + " today."
	}
	return CountText(n, "user") + " signed in " + by + " today."
}

// HasConfirmed reports whether a list's form was sent from the confirmation page.
func (v *Visit) HasConfirmed() bool { return v.Posted("confirm") == "true" }

// AskConfirmation answers a list's form with the confirmation page. The form on that page has the same address.
func (v *Visit) AskConfirmation(m ui.ConfirmationView) (web.Answer, error) {
	m.Confirm.ID, m.Confirm.Action = "asked-confirm", v.Gin.Request.URL.EscapedPath()
	return web.Show(ui.ConfirmationPage(m)), nil
}

// Allowed returns an error unless the visitor may do this with the project.
func (v *Visit) Allowed(p projects.Project, action access.Action) error {
	row := models.Project{ID: p.ID, TeamID: p.Team, Name: p.Name}
	if p.Deleted != nil {
		row.DeletedAt, row.PurgeAt = &p.Deleted.Since, &p.Deleted.PurgeAt
	}
	return access.CheckProject(v.Who, row, action)
}

// MayChange reports whether the visitor may do this with the project now: they may change
// nothing of one that is in the trash.
func (v *Visit) MayChange(p projects.Project, action access.Action) bool {
	return v.Allowed(p, action) == nil
}
