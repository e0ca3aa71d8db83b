package pages

import (
	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

const binPath = "/bin"

func deletePath(name string) string  { return projectPath(name) + "/delete" }
func restorePath(name string) string { return projectPath(name) + "/restore" }

func (h *Handler) showBin(v *visit) (web.Answer, error) {
	list := &listing{
		path:   binPath,
		one:    "project",
		search: "Name",
		orders: []listOrder{{by: "name", text: "Name"}, {by: "created", text: "Age", desc: true}},
	}
	list.read(v)
	found, err := h.Projects.List(v.ctx(), v.who, contract.ProjectList{
		Page: list.asked(), Sort: list.sorting(), Text: list.get("q"), Team: v.who.HomeTeam,
		State: contract.ProjectDeleted,
	})
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
			row.RestoreURL = restorePath(p.Name)
		}
		if v.who.May(p.Team, access.ProjectErase) {
			row.EraseURL = deletePath(p.Name)
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
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return projects.Deletion{}, err
	}
	d, err := h.Projects.Deletion(v.ctx(), v.who, p.Path())
	if err != nil {
		return projects.Deletion{}, err
	}
	v.selectTeam(p.Team)
	m := projects.Deletion{
		Page: v.shell("Delete "+p.DisplayName, deletePath(p.Name), projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Delete"}),
		Project:   p.DisplayName,
		Facts:     contentFacts(d),
		Notes:     deletionNotes(p, d),
		ExportURL: projectPath(p.Name) + "/export",
		BackURL:   projectPath(p.Name),
	}
	if d.NewestExport != nil {
		m.Newest = humanize.Time(*d.NewestExport)
	}
	switch {
	case p.Deleted != nil && v.who.May(p.Team, access.ProjectRestore):
		m.RestoreURL = restorePath(p.Name)
	case p.Deleted == nil && v.who.May(p.Team, access.ProjectDelete):
		m.Confirm = &ui.Confirmation{
			ID:     "delete-confirm",
			Action: deletePath(p.Name),
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
			Action: deletePath(p.Name),
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

func contentFacts(c contract.ProjectDeletion) []ui.Fact {
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

func deletionNotes(p rules.Project, d contract.ProjectDeletion) []string {
	notes := []string{"App clients, users and groups are those of the project's own tenant. The team's tenants stay, " +
		"with their users and groups. The audit log stays too."}
	if d.ProductKeys > 0 && p.Product != nil {
		notes = append(notes, someText(d.ProductKeys)+" of the keys are also valid for other projects of "+
			"the product "+*p.Product+". They stop working there too.")
	}
	return notes
}

func (h *Handler) deleteProject(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	in := contract.ProjectRemoval{ProjectPath: p.Path(), Now: v.posted("now") == "true"}
	forGood := in.Now
	if forGood {
		in.Confirm = v.posted("typed_name")
	} else if err = v.allowed(p, access.ProjectDelete); err == nil {
		err = v.confirmed("Tick the box to delete the project.")
	}
	if err == nil {
		_, err = h.Projects.Delete(v.ctx(), v.who, in)
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
	p, err := h.Projects.Restore(v.ctx(), v.who, projectIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("project_restored", projectPath(p.Name), p.DisplayName)
}
