package pages

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
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

func projectPath(name string) string { return "/projects/" + name }

func projectsCrumb() ui.Crumb { return ui.Crumb{Text: "Projects", URL: "/projects"} }

// projectCrumb leads to the project. The sidebar shows its pages.
func projectCrumb(p rules.Project) ui.Crumb {
	nav := ui.Project{Name: p.Name, DisplayName: p.DisplayName}
	for _, version := range p.Versions {
		nav.Versions = append(nav.Versions, ui.Link{Text: version.Name, URL: version.ID})
	}
	return ui.Crumb{Text: p.DisplayName, URL: projectPath(p.Name), Project: &nav}
}

func (h *Handler) showProjects(v *visit) (web.Answer, error) {
	list := &listing{
		path:   "/projects",
		one:    "project",
		search: "Name",
		orders: []listOrder{{by: "name", text: "Name"}, {by: "created", text: "Age", desc: true}},
	}
	in := contract.ProjectList{
		Page: list.read(v).asked(), Sort: list.sorting(), Text: list.get("q"), Team: v.who.HomeTeam,
		State: contract.ProjectServed,
	}
	in.Limit = cardsPerPage
	found, err := h.Projects.List(v.ctx(), v.who, in)
	if err != nil {
		return web.Answer{}, err
	}
	ids := make([]string, 0, len(found.Items))
	for _, p := range found.Items {
		ids = append(ids, p.ID)
	}
	active, err := h.Keys.ActiveCounts(v.ctx(), v.who, ids)
	if err != nil {
		return web.Answer{}, err
	}
	latest, err := h.Exports.Latest(v.ctx(), v.who, ids)
	if err != nil {
		return web.Answer{}, err
	}
	traffic, err := h.Usage.Overviews(v.ctx(), v.who, ids, lastDay.from(time.Now()))
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.List{Page: v.shell("Projects", "/projects"), ReadOnly: readsOnly(v)}
	if m.Claims, err = h.claimOffers(v); err != nil {
		return web.Answer{}, err
	}
	binned, err := h.Projects.AnyInBin(v.ctx(), v.who, v.who.HomeTeam)
	if err != nil {
		return web.Answer{}, err
	}
	if binned {
		m.BinURL = binPath
	}
	m.List = listView(list, found)
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
		Access: accessBadge(p.Versions), ActiveKeys: "no active keys", LastExport: lastExportText(latest),
		ConfigureURL: projectPath(p.Name), ExportURL: projectPath(p.Name) + "/export",
		PreviewURL: projectPath(p.Name) + "/export/preview", Overview: overviewOf(p, traffic, latest),
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

// accessBadge names the credentials that the project accepts.
func accessBadge(versions []contract.Version) ui.Badge {
	var badge ui.Badge
	for i, version := range versions {
		this := versionBadge(version)
		if i > 0 && this != badge {
			return ui.Badge{Text: "Differs by version"}
		}
		badge = this
	}
	return badge
}

func versionBadge(version contract.Version) ui.Badge {
	auth := version.RequestsAuth
	if len(auth.Methods) == 0 {
		return ui.Badge{Text: "Passthrough"}
	}
	optional := auth.Mode != string(snapshot.Authenticate)
	text := "Tokens"
	switch {
	case !slices.Contains(auth.Methods, string(snapshot.APIKey)):
	case len(auth.Methods) > 1:
		text = "Keys or tokens"
	case optional:
		text = "Keys"
	default:
		text = "API keys"
	}
	if optional {
		text += " optional"
	}
	return ui.Badge{Tone: ui.Accent, Text: text}
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

func (h *Handler) showNewProject(v *visit) (web.Answer, error) {
	m := projects.New{Page: newProjectShell(v), RequireKeys: true}
	m.Denied = readsOnly(v)
	return web.Show(projects.NewPage(m)), nil
}

// readsOnly reports whether the visitor may create no projects in the chosen team. An
// account without a team may: its first project comes with one.
func readsOnly(v *visit) bool {
	return v.who.HomeTeam != "" && !v.who.May(v.who.HomeTeam, access.ProjectCreate)
}

func newProjectShell(v *visit) ui.Page {
	return v.shell("New project", "/projects/new", projectsCrumb(), ui.Crumb{Text: "New"})
}

func (h *Handler) createProject(v *visit) (web.Answer, error) {
	target, name := strings.TrimSpace(v.posted("target")), strings.TrimSpace(v.posted("name"))
	requireKeys, _ := strconv.ParseBool(v.posted("require_keys"))
	in := rules.CreateInput{Target: target, Name: name}
	if requireKeys {
		in.Auth.Mode = string(snapshot.Authenticate)
	}
	created, err := h.Projects.Create(v.ctx(), v.who, in)
	if err == nil {
		minted := map[string]string{}
		for environment, key := range created.Keys {
			minted[environment] = key.Secret.Reveal()
		}
		return v.disclose(createdPath(created.Project), disclosed{Keys: minted})
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m := projects.New{Page: newProjectShell(v), RequireKeys: requireKeys,
		Target: wrong.value("/target", target), Name: wrong.value("/name", name)}
	m.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: projects.NewPage(m)}, nil
}

func createdPath(p rules.Project) string { return projectPath(p.Name) + "/created" }

// showCreatedProject shows a new project's addresses, the first time with its keys.
func (h *Handler) showCreatedProject(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	found, err := v.disclosed(createdPath(p))
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.CreatedPage(h.created(v, p, found))), nil
}

func (h *Handler) created(v *visit, p rules.Project, found *disclosed) projects.Created {
	m := projects.Created{
		Page:         v.shell(p.DisplayName, createdPath(p), projectsCrumb(), projectCrumb(p)),
		DisplayName:  p.DisplayName,
		ConfigureURL: projectPath(p.Name),
		KeysGone:     found == nil,
	}
	if found == nil {
		found = &disclosed{}
	}
	version := p.Versions[0]
	m.Addresses = addressesOf(version.Version)
	for _, e := range version.Environments {
		if key := found.Keys[e.Name]; key != "" {
			m.Keys = append(m.Keys, projects.Minted{ID: "key-" + e.Name, Environment: e.Name, Key: key})
		}
	}
	if len(m.Keys) > 0 {
		m.Curl = curl(m.Addresses[0].URL, m.Keys[0].Key)
	} else if version.RequestsAuth.Mode != string(snapshot.Authenticate) {
		m.Curl = curl(m.Addresses[0].URL, "")
	}
	return m
}

// callOf returns a command that calls a project, with the key of the variable KEY if it takes keys.
func callOf(p rules.Project) string {
	if len(p.Versions) == 0 || len(p.Versions[0].Environments) == 0 {
		return ""
	}
	version := p.Versions[0]
	address := version.Environments[0].URL
	if version.RequestsAuth.Mode == string(snapshot.Authenticate) {
		return "curl -H \"X-API-Key: $KEY\" \\\n  " + address + "/"
	}
	return curl(address, "")
}

// curl returns a command that calls the address, with the key if there is one.
func curl(address, key string) string {
	if key == "" {
		return "curl " + address + "/"
	}
	return "curl -H 'X-API-Key: " + key + "' \\\n  " + address + "/"
}
