package pages

import (
	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// moveSection is the form that gives a project to another team of which the visitor is an
// owner; nil where there is none.
func (h *Handler) moveSection(v *visit, p rules.Project) (*projects.Move, error) {
	if !v.mayChange(p, access.ProjectMove) {
		return nil, nil
	}
	teams, err := h.Accounts.Teams(v.ctx(), v.who, contract.OwnTeamList{Page: contract.Page{Limit: models.MaxLimit}})
	if err != nil {
		return nil, err
	}
	m := &projects.Move{Action: projectPath(p.Name) + "/move"}
	for _, team := range teams.Items {
		if team.ID != p.Team && v.who.May(team.ID, access.ProjectMove) {
			m.Teams = append(m.Teams, ui.Option{Value: team.ID, Title: team.Name})
		}
	}
	if len(m.Teams) == 0 {
		return nil, nil
	}
	return m, nil
}

func (h *Handler) moveProject(v *visit) (web.Answer, error) {
	team := v.posted("team")
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	err = access.Check(v.who, p.Team, access.ProjectMove)
	if err == nil {
		err = v.confirmed("Tick the box to move the project.")
	}
	if err == nil {
		_, err = h.Projects.Move(v.ctx(), v.who, contract.ProjectMove{
			ProjectPath: p.Path(), Body: contract.ProjectTeam{Team: team},
		})
	}
	if err == nil {
		return v.done("moved", settingsPage.path(v), p.DisplayName)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.configuration(v, p, settingsPage)
	if err != nil {
		return web.Answer{}, err
	}
	if m.Move == nil { // the visitor has no other team any more
		m.Move = &projects.Move{Action: projectPath(p.Name) + "/move"}
	}
	for i := range m.Move.Teams {
		m.Move.Teams[i].Chosen = m.Move.Teams[i].Value == team
	}
	m.Move.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: projects.SettingsPage(m)}, nil
}
