package projects

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

const binPath = "/bin"

func restorePath(name string) string { return page.ProjectPath(name) + "/restore" }

func (h *Handler) showBin(v *page.Visit) (web.Answer, error) {
	list := &page.Listing{
		Path:   binPath,
		One:    "project",
		Search: "Name",
		Orders: []page.ListOrder{{By: "name", Text: "Name"}, {By: "created", Text: "Created", Desc: true}},
	}
	list.Read(v)
	found, err := h.Projects.List(v.Ctx(), v.Who, contract.ProjectList{
		Page: list.Request(), Sort: list.Sorting(), Text: list.Get("q"), Team: v.Who.HomeTeam,
		State: contract.ProjectDeleted,
	})
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.Bin{
		Page: v.Shell("Trash", binPath, page.ProjectsCrumb(), ui.Crumb{Text: "Trash"}),
		List: page.ListView(list, found),
	}
	for _, p := range found.Items {
		row := projects.BinRow{
			Name:        p.Name,
			DisplayName: p.DisplayName,
			URL:         page.ProjectPath(p.Name),
			Deleted:     p.Deleted.Since,
			Purge:       p.Deleted.PurgeAt,
			ExportURL:   page.ProjectPath(p.Name) + "/export",
		}
		if v.Who.May(p.Team, access.ProjectRestore) {
			row.RestoreURL = restorePath(p.Name)
		}
		if v.Who.May(p.Team, access.ProjectErase) {
			row.EraseURL = page.DeletePath(p.Name)
		}
		m.Rows = append(m.Rows, row)
	}
	return web.Show(projects.BinPage(m)), nil
}

func (h *Handler) showDeleteProject(v *page.Visit) (web.Answer, error) {
	m, err := h.deletionOf(v)
	return web.Show(projects.DeletionPage(m)), err
}

// deletionOf is the page that asks before a project is deleted.
func (h *Handler) deletionOf(v *page.Visit) (projects.Deletion, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return projects.Deletion{}, err
	}
	d, err := h.Projects.Deletion(v.Ctx(), v.Who, p.Path())
	if err != nil {
		return projects.Deletion{}, err
	}
	v.SelectTeam(p.Team)
	m := projects.Deletion{
		Page: v.Shell("Delete "+p.DisplayName, page.DeletePath(p.Name), page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Delete"}),
		Project:   p.DisplayName,
		Facts:     contentFacts(d),
		Notes:     deletionNotes(p, d),
		ExportURL: page.ProjectPath(p.Name) + "/export",
		BackURL:   page.ProjectPath(p.Name),
	}
	m.Newest = page.TimeOf(d.NewestExport)
	switch {
	case p.Deleted != nil && v.Who.May(p.Team, access.ProjectRestore):
		m.RestoreURL = restorePath(p.Name)
	case p.Deleted == nil && v.Who.May(p.Team, access.ProjectDelete):
		m.Confirm = &ui.Confirmation{
			ID:     "delete-confirm",
			Action: page.DeletePath(p.Name),
			Verb:   "Delete",
			Kind:   "project",
			Name:   p.DisplayName,
			Impact: append(h.callersOf(v, p, "", ""), "All calls will get 410."),
			Undo:   "You can restore it from the trash for 30 days, with everything in it.",
		}
	}
	if v.Who.May(p.Team, access.ProjectErase) {
		m.Erase = &ui.Confirmation{
			ID:     "erase-confirm",
			Action: page.DeletePath(p.Name),
			Verb:   "Delete",
			Kind:   "project",
			Title:  "Delete permanently",
			Name:   p.Name,
			Type:   p.Name,
			Hidden: []ui.Hidden{{Name: "now", Value: "true"}},
			Impact: []string{"Everything listed above will be deleted immediately. After that, anyone can use the " +
				"name."},
		}
		if p.Deleted == nil {
			m.Erase.Impact = append(h.callersOf(v, p, "", ""), m.Erase.Impact...)
		}
	}
	return m, nil
}

func contentFacts(c contract.ProjectDeletion) []ui.Fact {
	fact := func(label string, n int64) ui.Fact { return ui.Fact{Label: label, Value: page.SomeText(n)} }
	return []ui.Fact{
		fact("Versions", c.Versions),
		fact("Environments", c.Environments),
		page.KeysFact(c.Keys, c.ActiveKeys),
		fact("App clients", c.AppClients),
		fact("Users", c.Users),
		fact("Groups", c.Groups),
		fact("Exports", c.Exports),
	}
}

func deletionNotes(p rules.Project, d contract.ProjectDeletion) []string {
	notes := []string{"The app clients, users and groups above belong to the project's own tenant. The team's " +
		"tenants, with their users and groups, and the audit log will be kept."}
	if d.ProductKeys > 0 && p.Product != nil {
		are, they := "are", "They'll stop"
		if d.ProductKeys == 1 {
			are, they = "is", "It'll stop"
		}
		notes = append(notes, page.SomeText(d.ProductKeys)+" of the keys "+are+" also valid for other projects in "+
			"the product "+*p.Product+". "+they+" working there too.")
	}
	return notes
}

func (h *Handler) deleteProject(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	in := contract.ProjectRemoval{ProjectPath: p.Path(), Now: v.Posted("now") == "true"}
	forGood := in.Now
	if forGood {
		in.Confirm = v.Posted("typed_name")
	} else if err = v.Allowed(p, access.ProjectDelete); err == nil {
		err = v.Confirmed("Check the box to delete the project.")
	}
	if err == nil {
		_, err = h.Projects.Delete(v.Ctx(), v.Who, in)
	}
	switch {
	case err == nil && forGood:
		return v.Done("project_erased", "/projects", p.DisplayName)
	case err == nil:
		return v.Done("project_deleted", binPath, p.DisplayName)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.deletionOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	switch {
	case m.Erase != nil && forGood:
		v.Mark(m.Erase, wrong)
	case m.Confirm != nil:
		v.Mark(m.Confirm, wrong)
	default:
		return web.Answer{}, access.NotFound()
	}
	return web.Answer{Status: wrong.Status, Page: projects.DeletionPage(m)}, nil
}

func (h *Handler) restoreProject(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Restore(v.Ctx(), v.Who, projectIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("project_restored", page.ProjectPath(p.Name), p.DisplayName)
}

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
		err = v.Confirmed("Check the box to move the project.")
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
