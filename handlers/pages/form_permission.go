package pages

import (
	"postern/models"
	"postern/service/access"
	"postern/service/projects"
)

// Rules check the permission before they look at the input. A page that refuses a form
// without calling a rule checks the permission too before it says what is wrong.

// allowed returns an error unless the visitor may do this with the project.
func (v *visit) allowed(p projects.Project, action access.Action) error {
	row := models.Project{ID: p.ID, TeamID: p.Team, Name: p.Name}
	if p.Deleted != nil {
		row.DeletedAt, row.PurgeAt = &p.Deleted.Since, &p.Deleted.PurgeAt
	}
	return access.CheckProject(v.who, row, action)
}

// mayChange reports whether the visitor may do this with the project now: they may change
// nothing of one that is in the bin.
func (v *visit) mayChange(p projects.Project, action access.Action) bool {
	return v.allowed(p, action) == nil
}
