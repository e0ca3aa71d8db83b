package pages

import (
	"net/http"
	"net/url"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/projects"
	"postern/views/tenants"
	"postern/views/ui"
)

const tenantsPath = "/tenants"

func tenantPath(id string) string { return tenantsPath + "/" + url.PathEscape(id) }

func tenantsCrumb() ui.Crumb { return ui.Crumb{Text: "Tenants", URL: tenantsPath} }

func (h *Handler) showTenants(v *visit) (web.Answer, error) {
	return h.tenantListWith(v, contract.NewTenant{}, &formErrors{})
}

// groupingList is a list of things that a team has, with a name and an age.
func groupingList(path, one string) *listing {
	return &listing{
		path:   path,
		one:    one,
		search: "Name",
		orders: []listOrder{{by: "created", text: "Age"}, {by: "name", text: "Name"}},
	}
}

// tenantListWith is the chosen team's list with the form as it was typed.
func (h *Handler) tenantListWith(v *visit, typed contract.NewTenant, wrong *formErrors) (web.Answer, error) {
	v.selectTeam(typed.Team)
	list := groupingList(tenantsPath, "tenant").read(v)
	found, err := h.Projects.Tenants(v.ctx(), v.who, list.ofTeam(v.who.HomeTeam))
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.List{
		Page: v.shell("Tenants", tenantsPath, ui.Crumb{Text: "Tenants"}),
		List: listView(list, found),
	}
	for _, t := range found.Items {
		m.Rows = append(m.Rows, tenants.Row{
			URL:           tenantPath(t.ID),
			Name:          t.Name,
			DisplayName:   t.DisplayName,
			FallbackOwner: textOf(t.FallbackOwner),
			Created:       day(t.CreatedAt),
			Projects:      projectLinks(t.Projects),
		})
	}
	if v.who.May(v.who.HomeTeam, access.TenantCreate) {
		m.Create = &tenants.Create{
			Open:          wrong.status != 0,
			Action:        tenantsPath,
			Team:          v.who.HomeTeam,
			Name:          wrong.value("/name", typed.Name),
			DisplayName:   wrong.value("/display_name", typed.DisplayName),
			FallbackOwner: wrong.value("/fallback_owner", typed.FallbackOwner),
		}
		m.Create.Error = wrong.rest()
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: tenants.ListPage(m)}, nil
}

func (h *Handler) createTenant(v *visit) (web.Answer, error) {
	var typed contract.NewTenant
	v.fill(&typed, "team", "name", "display_name", "fallback_owner")
	made, err := h.Projects.CreateTenant(v.ctx(), v.who, contract.TenantCreation{Body: typed})
	if wrong, ok := formErrorsIn(err); ok {
		return h.tenantListWith(v, typed, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("tenant_made", tenantPath(made.ID), made.DisplayName)
}

// ofTeam is the request for a team's products or tenants.
func (l *listing) ofTeam(team string) contract.TeamList {
	return contract.TeamList{Page: l.asked(), Sort: l.sorting(), Text: l.get("q"), Team: team}
}

// tenantIn is the tenant in the page's address.
func tenantIn(v *visit) contract.TenantPath { return contract.TenantPath{Tenant: v.param("tenant")} }

func (h *Handler) showTenant(v *visit) (web.Answer, error) {
	m, err := h.tenantPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(tenants.SettingsPage(m)), nil
}

// tenantShell is the shell of a tenant's page. The breadcrumbs of a project's own tenant
// begin at the project.
func (v *visit) tenantShell(t contract.Tenant, title, here string, crumbs ...ui.Crumb) ui.Page {
	v.selectTeam(t.Team)
	way := []ui.Crumb{tenantsCrumb()}
	if t.Project != nil && len(t.Projects) == 1 {
		name := t.Projects[0]
		way = []ui.Crumb{
			projectsCrumb(), {Text: name, URL: projectPath(name)},
			{Text: "Tenants", URL: projectPath(name) + "/tenants"},
		}
	}
	way = append(way, ui.Crumb{Text: t.DisplayName, URL: tenantPath(t.ID)})
	return v.shell(title, here, append(way, crumbs...)...)
}

func tenantHead(t contract.Tenant, current string) tenants.Head {
	path := tenantPath(t.ID)
	m := tenants.Head{
		Name:        t.Name,
		DisplayName: t.DisplayName,
		Tabs: []ui.Tab{
			{URL: path, Text: "Settings"},
			{URL: usersPath(t.ID), Text: "Users"},
			{URL: groupsPath(t.ID), Text: "Groups"},
			{URL: entryPath(t.ID), Text: "Entry"},
		},
	}
	for i := range m.Tabs {
		m.Tabs[i].Current = m.Tabs[i].URL == current
	}
	return m
}

// tenantModel is a tenant's settings page.
func (v *visit) tenantModel(t contract.Tenant, cors contract.SavedCORS) tenants.Settings {
	path := tenantPath(t.ID)
	m := tenants.Settings{
		Page:     v.tenantShell(t, t.DisplayName, path),
		Head:     tenantHead(t, path),
		Projects: projectLinks(t.Projects),
		Facts: []ui.Fact{
			{Label: "ID", Value: t.ID, Mono: true, Copy: "tenant-id"},
			{Label: "Belongs to", Value: "the team"},
			{Label: "Created", Value: moment(t.CreatedAt)},
		},
	}
	mayChange := v.who.May(t.Team, access.TenantUpdate)
	m.CORS = tenantCORSSection(t, cors, mayChange)
	if t.Project != nil {
		m.Facts[1].Value = "its project, for as long as the project exists"
	}
	if mayChange {
		m.Change = &tenants.Change{
			Action:        path,
			Revision:      t.ETag,
			DisplayName:   ui.Value{Text: t.DisplayName},
			FallbackOwner: ui.Value{Text: textOf(t.FallbackOwner)},
		}
	}
	return m
}

func (h *Handler) saveTenant(v *visit) (web.Answer, error) {
	in := contract.TenantUpdate{TenantPath: tenantIn(v), Condition: v.condition()}
	v.fill(&in.Body, "display_name", "fallback_owner")
	t, err := h.Projects.UpdateTenant(v.ctx(), v.who, in)
	if err == nil {
		return v.done("tenant", tenantPath(t.ID), t.DisplayName)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.tenantConflict(v, in.Body)
	}
	return h.refusedTenant(v, err, access.TenantUpdate, func(m *tenants.Settings, wrong *formErrors) {
		if m.Change != nil {
			m.Change.Revision = in.IfMatch
			m.Change.DisplayName = wrong.value("/display_name", *in.Body.DisplayName)
			m.Change.FallbackOwner = wrong.value("/fallback_owner", in.Body.FallbackOwner.Or(""))
			m.Change.Error = wrong.rest()
		}
	})
}

// refusedTenant shows the tenant's page with what mark adds to it, to visitors with the
// permission for the action.
func (h *Handler) refusedTenant(
	v *visit, err error, action access.Action, mark func(*tenants.Settings, *formErrors),
) (web.Answer, error) {
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	t, err := h.tenantOf(v)
	if err == nil {
		err = access.Check(v.who, t.Team, action)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.tenantPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	mark(&m, wrong)
	return web.Answer{Status: wrong.status, Page: tenants.SettingsPage(m)}, nil
}

// tenantConflict shows what was saved meanwhile beside what was typed.
func (h *Handler) tenantConflict(v *visit, mine contract.TenantChange) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path, name, owner := tenantPath(t.ID), *mine.DisplayName, mine.FallbackOwner.Or("")
	m := projects.Conflict{
		Page:    v.tenantShell(t, "Changed since you opened it", path),
		BackURL: path,
		Action:  path,
		What:    "The tenant " + t.Name,
		Rows: []projects.Difference{
			{Label: "Display name", Theirs: t.DisplayName, Yours: name},
			{Label: "Fallback owner", Theirs: textOrNone(textOf(t.FallbackOwner)), Yours: textOrNone(owner)},
		},
		Hidden: []projects.Pair{
			{Name: "revision", Value: t.ETag},
			{Name: "display_name", Value: name},
			{Name: "fallback_owner", Value: owner},
		},
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}
