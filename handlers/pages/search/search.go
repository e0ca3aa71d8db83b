package search

import (
	"strings"

	"github.com/dustin/go-humanize/english"

	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/search"
	"postern/views/ui"
)

const (
	searchPath = "/search"
	// foundOfEach bounds what is found of each kind.
	foundOfEach = 6
	// searchedText bounds what is searched for, in bytes.
	searchedText = 200
)

// showSearch searches for what was posted, in everything that the visitor may see. A GET lists
// pages and actions only: a whole key finds itself, and belongs into no address.
func (h *Handler) showSearch(v *page.Visit) (web.Answer, error) {
	text := strings.TrimSpace(v.Posted("q"))
	if len(text) > searchedText {
		text = ""
	}
	m := search.Search{Text: text, Project: v.Posted("project")}
	if m.Project == "" {
		m.Project = v.Gin.Query("project")
	}
	var crumbs []ui.Crumb
	if m.Project != "" {
		p, err := h.Projects.Get(v.Ctx(), v.Who, m.Project)
		if err != nil {
			return web.Answer{}, err
		}
		v.SelectTeam(p.Team)
		crumbs = append(crumbs, page.ProjectsCrumb(), page.ProjectCrumb(p))
	}
	m.Page = v.Shell("Search", searchPath, append(crumbs, ui.Crumb{Text: "Search"})...)
	if text != "" {
		if err := h.search(v, &m); err != nil {
			return web.Answer{}, err
		}
	}
	addFound(&m, "pages", "Pages", chosenPlaces(m.Page.Places(), text))
	addFound(&m, "actions", "Actions", chosenPlaces(actions(v, m.Project), text))
	n := 0
	for _, g := range m.Groups {
		n += len(g.Found)
	}
	m.Said = english.Plural(n, "result", "")
	return web.Show(search.SearchPage(m)), nil
}

// search adds what the text finds in the database.
func (h *Handler) search(v *page.Visit, m *search.Search) error {
	projects, err := h.Projects.FindProjects(v.Ctx(), v.Who, m.Text, foundOfEach)
	if err != nil {
		return err
	}
	found, err := h.Keys.Find(v.Ctx(), v.Who, m.Text, foundOfEach)
	if err != nil {
		return err
	}
	users, err := h.Directory.FindUsers(v.Ctx(), v.Who, m.Text, foundOfEach)
	if err != nil {
		return err
	}
	tenants, err := h.Projects.FindTenants(v.Ctx(), v.Who, m.Text, foundOfEach)
	if err != nil {
		return err
	}
	addFound(m, "projects", "Projects",
		foundMatches(projects, func(p rules.Match) string { return page.ProjectPath(p.Name) }))
	var keyRows []search.Found
	for _, k := range found {
		badge := page.KeyBadge(k.State)
		keyRows = append(keyRows, search.Found{
			URL:   page.ProjectPath(k.Project) + "/keys/" + k.ID,
			Text:  k.Owner,
			Note:  k.Display + " in " + k.Project,
			State: &badge,
		})
	}
	addFound(m, "keys", "Keys", keyRows)
	var userRows []search.Found
	for _, u := range users {
		userRows = append(userRows, search.Found{URL: page.UserPath(u.ID), Text: u.Email, Note: u.Name})
	}
	addFound(m, "users", "Users", userRows)
	addFound(
		m,
		"tenants",
		"Tenants",
		foundMatches(tenants, func(t rules.Match) string { return page.TenantPath(t.ID) }),
	)
	return nil
}

func addFound(m *search.Search, id, title string, found []search.Found) {
	if len(found) > 0 {
		m.Groups = append(m.Groups, search.Group{ID: id, Title: title, Found: found})
	}
}

func foundMatches(list []rules.Match, path func(rules.Match) string) []search.Found {
	var out []search.Found
	for _, one := range list {
		out = append(out, search.Found{URL: path(one), Text: one.DisplayName, Note: one.Name})
	}
	return out
}

// chosenPlaces returns the links of whose text every word of the search is a part.
func chosenPlaces(links []ui.Link, text string) []search.Found {
	words := strings.Fields(strings.ToLower(text))
	var out []search.Found
next:
	for _, link := range links {
		for _, word := range words {
			if !strings.Contains(strings.ToLower(link.Text), word) {
				continue next
			}
		}
		out = append(out, search.Found{URL: link.URL, Text: link.Text})
	}
	return out
}

// actions lists pages with a form that the visitor may send.
func actions(v *page.Visit, project string) []ui.Link {
	var out []ui.Link
	if !page.ReadsOnly(v) {
		out = append(out,
			ui.Link{URL: "/projects/new", Text: "Create a project"},
			ui.Link{URL: "/imports", Text: "Import a project"})
		if project != "" && v.Who.May(v.Who.HomeTeam, access.KeyCreate) {
			out = append(out, ui.Link{
				URL:  page.ProjectPath(project) + "/keys?" + page.CreateOpen + "=true",
				Text: "Create a key",
			})
		}
	}
	return append(out,
		ui.Link{URL: page.TokensPath, Text: "Create an access token"},
		ui.Link{URL: "/account", Text: "Account settings"},
		ui.Link{URL: "/account/sessions", Text: "See where you're signed in"},
		ui.Link{URL: "/teams", Text: "Create a team"},
		ui.Link{URL: "/shortcuts", Text: "Keyboard shortcuts"})
}

// showShortcuts lists the keys that the dashboard's script follows.
func (h *Handler) showShortcuts(v *page.Visit) (web.Answer, error) {
	return web.Show(search.ShortcutsPage(search.Shortcuts{
		Page: v.Shell("Keyboard shortcuts", "/shortcuts", ui.Crumb{Text: "Keyboard shortcuts"}),
		Rows: []search.Shortcut{
			{Keys: []string{"Ctrl", "K"}, Text: "Search (⌘ K on a Mac)"},
			{Keys: []string{"/"}, Text: "Search (when no field is focused)"},
			{Keys: []string{"?"}, Text: "Show this list"},
			{Keys: []string{"↑", "↓"}, Text: "Move through results and menus"},
			{Keys: []string{"Enter"}, Text: "Open the selected result, or the first result if none is selected"},
			{Keys: []string{"Esc"}, Text: "Close"},
		},
	})), nil
}
