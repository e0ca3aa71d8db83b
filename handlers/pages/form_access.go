package pages

import (
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/projects"
)

// Rules ask who is asking before they look at what was sent. Where a page reads its
// form before it comes to a rule, it has to ask first as well.

// allowed asks whether the visitor may do this with the project.
func (v *visit) allowed(p projects.Project, action access.Action) error {
	return access.CheckProject(v.who, models.Project{ID: p.ID, TeamID: p.Team}, action)
}

// confirmed refuses a form whose box is not ticked, and before that whoever is not
// allowed what it is for.
func (v *visit) confirmed(allowed error, mend string) error {
	if allowed != nil {
		return allowed
	}
	if v.posted("confirm") != "true" {
		return fault.InvalidField("/confirm", "required", "%s", mend)
	}
	return nil
}
