package pages

import (
	"github.com/dustin/go-humanize"

	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

const binPath = "/bin"

func deletePath(p rules.Project) string  { return projectPath(p.Name) + "/delete" }
func restorePath(p rules.Project) string { return projectPath(p.Name) + "/restore" }

func (h *Handler) showBin(v *visit) (web.Answer, error) {
	list := &listing{
		path:   binPath,
		one:    "project",
		search: "Name",
		orders: []listOrder{{by: "name", text: "Name"}, {by: "created", text: "Age", desc: true}},
	}
	list.read(v)
	found, err := h.Projects.List(v.ctx(), v.who, v.who.HomeTeam, models.DeletedProjects, list.page())
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.Bin{
		Page: v.shell("Bin", binPath, projectsCrumb(), ui.Crumb{Text: "Bin"}),
		List: listView(list, found),
	}
	for _, p := range found.Items {
		row := projects.BinRow{
			Name:        p.Name,
			DisplayName: p.DisplayName,
			URL:         projectPath(p.Name),
			Deleted:     moment(p.Deleted.Since),
			Purge:       moment(p.Deleted.PurgeAt),
			ExportURL:   projectPath(p.Name) + "/export",
		}
		if v.who.May(p.Team, access.ProjectRestore) {
			row.RestoreURL = restorePath(p)
		}
		if v.who.May(p.Team, access.ProjectErase) {
			row.EraseURL = deletePath(p)
		}
		m.Rows = append(m.Rows, row)
	}
	return web.Show(projects.BinPage(m)), nil
}

func (h *Handler) showDeleteProject(v *visit) (web.Answer, error) {
	m, err := h.deletionOf(v)
	return web.Show(projects.DeletionPage(m)), err
}

// deletionOf is the page that asks before a project is deleted.
func (h *Handler) deletionOf(v *visit) (projects.Deletion, error) {
	d, err := h.Projects.Deletion(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return projects.Deletion{}, err
	}
	newest, err := h.Exports.NewestReady(v.ctx(), v.who, d.Project.ID)
	if err != nil {
		return projects.Deletion{}, err
	}
	p := d.Project
	v.selectTeam(p.Team)
	m := projects.Deletion{
		Page: v.shell("Delete "+p.DisplayName, deletePath(p), projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Delete"}),
		Project:   p.DisplayName,
		Facts:     contentFacts(d.Contents),
		Notes:     deletionNotes(d),
		ExportURL: projectPath(p.Name) + "/export",
		BackURL:   projectPath(p.Name),
	}
	if newest != nil {
		m.Newest = humanize.Time(*newest)
	}
	switch {
	case p.Deleted != nil && v.who.May(p.Team, access.ProjectRestore):
		m.RestoreURL = restorePath(p)
	case p.Deleted == nil && v.who.May(p.Team, access.ProjectDelete):
		m.Confirm = &ui.Confirmation{
			ID:     "delete-confirm",
			Action: deletePath(p),
			Verb:   "Delete",
			Kind:   "project",
			Name:   p.DisplayName,
			Impact: append(h.callersOf(v, p, "", ""), "All calls will get 410."),
			Undo:   "You can restore it from the bin for 30 days, with everything it had.",
		}
	}
	if v.who.May(p.Team, access.ProjectErase) {
		m.Erase = &ui.Confirmation{
			ID:     "erase-confirm",
			Action: deletePath(p),
			Verb:   "Delete",
			Kind:   "project",
			Title:  "Delete for good",
			Name:   p.Name,
			Type:   p.Name,
			Hidden: []ui.Hidden{{Name: "now", Value: "true"}},
			Impact: []string{"Everything above is deleted immediately. Others can then use the name."},
		}
		if p.Deleted == nil {
			m.Erase.Impact = append(h.callersOf(v, p, "", ""), m.Erase.Impact...)
		}
	}
	return m, nil
}

func contentFacts(c models.ProjectContents) []ui.Fact {
	fact := func(label string, n int64) ui.Fact { return ui.Fact{Label: label, Value: someText(n)} }
	keys := fact("API keys", c.Keys)
	if c.Keys > 0 {
		keys.Value += ", " + someText(c.ActiveKeys) + " of them active"
	}
	return []ui.Fact{
		fact("Versions", c.Versions),
		fact("Environments", c.Environments),
		keys,
		fact("App clients", c.AppClients),
		fact("Users", c.Users),
		fact("Groups", c.Groups),
		fact("Exports", c.Exports),
	}
}

func deletionNotes(d rules.Deletion) []string {
	notes := []string{"App clients, users and groups are those of the project's own tenant. The team's tenants stay, " +
		"with their users and groups. The audit log stays too."}
	if d.Contents.ProductKeys > 0 && d.Project.Product != "" {
		notes = append(notes, someText(d.Contents.ProductKeys)+" of the keys are also valid for other projects of "+
			"the product "+d.Project.Product+". They stop working there too.")
	}
	return notes
}

func (h *Handler) deleteProject(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	forGood := v.posted("now") == "true"
	if forGood {
		_, err = h.Projects.Erase(v.ctx(), v.who, p.ID, v.posted("typed_name"))
	} else if err = v.allowed(p, access.ProjectDelete); err == nil {
		if err = v.confirmed("Tick the box to delete the project."); err == nil {
			_, err = h.Projects.Delete(v.ctx(), v.who, p.ID)
		}
	}
	switch {
	case err == nil && forGood:
		return v.done("project_erased", "/projects", p.DisplayName)
	case err == nil:
		return v.done("project_deleted", binPath, p.DisplayName)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.deletionOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	switch {
	case m.Erase != nil && forGood:
		v.mark(m.Erase, wrong)
	case m.Confirm != nil:
		v.mark(m.Confirm, wrong)
	default:
		return web.Answer{}, access.NotFound()
	}
	return web.Answer{Status: wrong.status, Page: projects.DeletionPage(m)}, nil
}

func (h *Handler) restoreProject(v *visit) (web.Answer, error) {
	p, err := h.Projects.RestoreDeleted(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("project_restored", projectPath(p.Name), p.DisplayName)
}
