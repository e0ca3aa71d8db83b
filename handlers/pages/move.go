package pages

import (
	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// moveSection is the form that gives a project to another team of which the visitor is an
// owner; nil where there is none.
func (h *Handler) moveSection(v *page.Visit, p rules.Project) (*projects.Move, error) {
	if !v.MayChange(p, access.ProjectMove) {
		return nil, nil
	}
	teams, err := h.Accounts.Teams(v.Ctx(), v.Who, contract.OwnTeamList{Page: contract.Page{Limit: models.MaxLimit}})
	if err != nil {
		return nil, err
	}
	m := &projects.Move{Action: page.ProjectPath(p.Name) + "/move"}
	for _, team := range teams.Items {
		if team.ID != p.Team && v.Who.May(team.ID, access.ProjectMove) {
			m.Teams = append(m.Teams, ui.Option{Value: team.ID, Title: team.Name})
		}
	}
	if len(m.Teams) == 0 {
		return nil, nil
	}
	return m, nil
}

func (h *Handler) moveProject(v *page.Visit) (web.Answer, error) {
	team := v.Posted("team")
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	err = access.Check(v.Who, p.Team, access.ProjectMove)
	if err == nil {
		err = v.Confirmed("Tick the box to move the project.")
	}
	if err == nil {
		_, err = h.Projects.Move(v.Ctx(), v.Who, contract.ProjectMove{
			ProjectPath: p.Path(), Body: contract.ProjectTeam{Team: team},
		})
	}
	if err == nil {
		return v.Done("moved", settingsPage.path(v), p.DisplayName)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.configuration(v, p, settingsPage)
	if err != nil {
		return web.Answer{}, err
	}
	if m.Move == nil { // the visitor has no other team any more
		m.Move = &projects.Move{Action: page.ProjectPath(p.Name) + "/move"}
	}
	for i := range m.Move.Teams {
		m.Move.Teams[i].Chosen = m.Move.Teams[i].Value == team
	}
	m.Move.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: projects.SettingsPage(m)}, nil
}
