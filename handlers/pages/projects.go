package pages

import (
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	rules "postern/service/projects"
	"postern/service/usage"
	"postern/views/projects"
	"postern/views/ui"
)

// The list stays short enough to load quickly.
const (
	cardsPerPage     = 50
	addressesPerCard = 4
)

func (h *Handler) showProjects(v *page.Visit) (web.Answer, error) {
	list := &page.Listing{
		Path:   "/projects",
		One:    "project",
		Search: "Name",
		Orders: []page.ListOrder{{By: "name", Text: "Name"}, {By: "created", Text: "Age", Desc: true}},
	}
	in := contract.ProjectList{
		Page: list.Read(v).Asked(), Sort: list.Sorting(), Text: list.Get("q"), Team: v.Who.HomeTeam,
		State: contract.ProjectServed,
	}
	in.Limit = cardsPerPage
	found, err := h.Projects.List(v.Ctx(), v.Who, in)
	if err != nil {
		return web.Answer{}, err
	}
	ids := make([]string, 0, len(found.Items))
	for _, p := range found.Items {
		ids = append(ids, p.ID)
	}
	active, err := h.Keys.ActiveCounts(v.Ctx(), v.Who, ids)
	if err != nil {
		return web.Answer{}, err
	}
	latest, err := h.Exports.Latest(v.Ctx(), v.Who, ids)
	if err != nil {
		return web.Answer{}, err
	}
	traffic, err := h.Usage.Overviews(v.Ctx(), v.Who, ids, lastDay.from(time.Now()))
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.List{Page: v.Shell("Projects", "/projects"), ReadOnly: page.ReadsOnly(v)}
	if m.Claims, err = h.claimOffers(v); err != nil {
		return web.Answer{}, err
	}
	binned, err := h.Projects.AnyInBin(v.Ctx(), v.Who, v.Who.HomeTeam)
	if err != nil {
		return web.Answer{}, err
	}
	if binned {
		m.BinURL = binPath
	}
	m.List = page.ListView(list, found)
	for _, p := range found.Items {
		m.Projects = append(m.Projects, h.card(p, active[p.ID], latest[p.ID], traffic[p.ID]))
	}
	return web.Show(projects.ListPage(m)), nil
}

func (h *Handler) card(
	p contract.Project,
	activeKeys int64,
	latest contract.Export,
	traffic usage.Series,
) projects.Card {
	m := projects.Card{
		ID: p.ID, Name: p.Name, DisplayName: p.DisplayName, Version: english.Plural(len(p.Versions), "version", ""),
		Access: page.AccessBadge(p.Versions), ActiveKeys: "no active keys", LastExport: lastExportText(latest),
		ConfigureURL: page.ProjectPath(p.Name), ExportURL: page.ProjectPath(p.Name) + "/export",
		PreviewURL: page.ProjectPath(p.Name) + "/export/preview", Overview: overviewOf(p, traffic, latest),
	}
	if activeKeys > 0 {
		m.ActiveKeys = humanize.Comma(activeKeys) + " active " + english.PluralWord(int(activeKeys), "key", "")
	}
	if activeKeys > models.MaxActiveKeys {
		m.ActiveKeys = "more than " + humanize.Comma(models.MaxActiveKeys) + " active keys"
	}
	if len(p.Versions) == 1 {
		m.Version = p.Versions[0].Name
	}
	if n := len(p.Versions); n > 0 {
		m.Addresses = addressesOf(p.Versions[n-1])
	}
	if more := len(m.Addresses) - addressesPerCard; more > 0 {
		m.Addresses, m.More = m.Addresses[:addressesPerCard], english.Plural(more, "more environment", "")
	}
	return m
}

func addressesOf(version contract.Version) []projects.Address {
	var out []projects.Address
	for _, e := range version.Environments {
		out = append(out, projects.Address{
			ID:          e.ID,
			Environment: e.Name,
			URL:         e.URL,
		})
	}
	return out
}

func lastExportText(e contract.Export) string {
	switch e.State {
	case contract.ExportQueued, contract.ExportBuilding:
		return "exporting now"
	case contract.ExportFailed:
		return "last export failed"
	case contract.ExportCancelled:
		return "last export canceled"
	case contract.ExportReady, contract.ExportExpired:
		return "exported " + humanize.Time(e.CreatedAt)
	}
	return "never exported"
}

func (h *Handler) showNewProject(v *page.Visit) (web.Answer, error) {
	m := projects.New{Page: newProjectShell(v), RequireKeys: true}
	m.Denied = page.ReadsOnly(v)
	return web.Show(projects.NewPage(m)), nil
}

func newProjectShell(v *page.Visit) ui.Page {
	return v.Shell("New project", "/projects/new", page.ProjectsCrumb(), ui.Crumb{Text: "New"})
}

func (h *Handler) createProject(v *page.Visit) (web.Answer, error) {
	target, name := strings.TrimSpace(v.Posted("target")), strings.TrimSpace(v.Posted("name"))
	requireKeys, _ := strconv.ParseBool(v.Posted("require_keys"))
	in := rules.CreateInput{Target: target, Name: name}
	if requireKeys {
		in.Auth.Mode = string(snapshot.Authenticate)
	}
	created, err := h.Projects.Create(v.Ctx(), v.Who, in)
	if err == nil {
		minted := map[string]string{}
		for environment, key := range created.Keys {
			minted[environment] = key.Secret.Reveal()
		}
		return v.Disclose(createdPath(created.Project), page.Disclosed{Keys: minted})
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m := projects.New{Page: newProjectShell(v), RequireKeys: requireKeys,
		Target: wrong.Value("/target", target), Name: wrong.Value("/name", name)}
	m.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: projects.NewPage(m)}, nil
}

func createdPath(p rules.Project) string { return page.ProjectPath(p.Name) + "/created" }

// showCreatedProject shows a new project's addresses, the first time with its keys.
func (h *Handler) showCreatedProject(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	found, err := v.Disclosed(createdPath(p))
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.CreatedPage(h.created(v, p, found))), nil
}

func (h *Handler) created(v *page.Visit, p rules.Project, found *page.Disclosed) projects.Created {
	m := projects.Created{
		Page:         v.Shell(p.DisplayName, createdPath(p), page.ProjectsCrumb(), page.ProjectCrumb(p)),
		DisplayName:  p.DisplayName,
		ConfigureURL: page.ProjectPath(p.Name),
		KeysGone:     found == nil,
	}
	if found == nil {
		found = &page.Disclosed{}
	}
	version := p.Versions[0]
	m.Addresses = addressesOf(version.Version)
	for _, e := range version.Environments {
		if key := found.Keys[e.Name]; key != "" {
			m.Keys = append(m.Keys, projects.Minted{ID: "key-" + e.Name, Environment: e.Name, Key: key})
		}
	}
	if len(m.Keys) > 0 {
		m.Curl = page.Curl(m.Addresses[0].URL, m.Keys[0].Key)
	} else if version.RequestsAuth.Mode != string(snapshot.Authenticate) {
		m.Curl = page.Curl(m.Addresses[0].URL, "")
	}
	return m
}
