package tenants

import (
	"net/http"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/projects"
	"postern/views/tenants"
	"postern/views/ui"
)

func tenantsCrumb() ui.Crumb { return ui.Crumb{Text: "Tenants", URL: page.TenantsPath} }

func (h *Handler) showTenants(v *page.Visit) (web.Answer, error) {
	return h.tenantListWith(v, contract.NewTenant{}, &page.Errors{})
}

// tenantListWith is the chosen team's list with the form as it was typed.
func (h *Handler) tenantListWith(v *page.Visit, typed contract.NewTenant, wrong *page.Errors) (web.Answer, error) {
	v.SelectTeam(typed.Team)
	list := page.GroupingList(page.TenantsPath, "tenant").Read(v)
	found, err := h.Projects.Tenants(v.Ctx(), v.Who, list.OfTeam(v.Who.HomeTeam))
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.List{
		Page: v.Shell("Tenants", page.TenantsPath, ui.Crumb{Text: "Tenants"}),
		List: page.ListView(list, found),
	}
	for _, t := range found.Items {
		m.Rows = append(m.Rows, tenants.Row{
			URL:           page.TenantPath(t.ID),
			Name:          t.Name,
			DisplayName:   t.DisplayName,
			FallbackOwner: page.TextOf(t.FallbackOwner),
			Created:       t.CreatedAt,
			Projects:      page.ProjectLinks(t.Projects),
		})
	}
	if v.Who.May(v.Who.HomeTeam, access.TenantCreate) {
		m.Create = &tenants.Create{
			Open:          wrong.Status != 0,
			Action:        page.TenantsPath,
			Team:          v.Who.HomeTeam,
			Name:          wrong.Value("/name", typed.Name),
			DisplayName:   wrong.Value("/display_name", typed.DisplayName),
			FallbackOwner: wrong.Value("/fallback_owner", typed.FallbackOwner),
		}
		m.Create.Error = wrong.Rest()
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: tenants.ListPage(m)}, nil
}

func (h *Handler) createTenant(v *page.Visit) (web.Answer, error) {
	var typed contract.NewTenant
	v.Fill(&typed, "team", "name", "display_name", "fallback_owner")
	made, err := h.Projects.CreateTenant(v.Ctx(), v.Who, contract.TenantCreation{Body: typed})
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.tenantListWith(v, typed, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("tenant_made", page.TenantPath(made.ID), made.DisplayName)
}

// tenantIn is the tenant in the page's URL.
func tenantIn(v *page.Visit) contract.TenantPath {
	return contract.TenantPath{Tenant: v.Param("tenant")}
}

func (h *Handler) showTenant(v *page.Visit) (web.Answer, error) {
	m, err := h.tenantPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(tenants.SettingsPage(m)), nil
}

// tenantShell is the shell of a tenant's page. The breadcrumbs of a project's own tenant
// begin at the project, whose pages are in the sidebar if it can be read.
func (h *Handler) tenantShell(
	v *page.Visit, t contract.Tenant, title, here string, crumbs ...ui.Crumb,
) ui.Page {
	v.SelectTeam(t.Team)
	way := []ui.Crumb{tenantsCrumb()}
	if t.Project != nil && len(t.Projects) == 1 {
		name := t.Projects[0]
		project := ui.Crumb{Text: name, URL: page.ProjectPath(name)}
		if p, err := h.Projects.Get(v.Ctx(), v.Who, name); err != nil {
			v.Server.Web.LogCause(v.Ctx(), err)
		} else {
			project = page.ProjectCrumb(p)
		}
		way = []ui.Crumb{
			page.ProjectsCrumb(), project, {Text: "Tenants", URL: page.ProjectPath(name) + "/tenants"},
		}
	}
	way = append(way, ui.Crumb{Text: t.DisplayName, URL: page.TenantPath(t.ID)})
	return v.Shell(title, here, append(way, crumbs...)...)
}

func tenantHead(t contract.Tenant, current string) tenants.Head {
	path := page.TenantPath(t.ID)
	m := tenants.Head{
		Name:        t.Name,
		DisplayName: t.DisplayName,
		Tabs: []ui.Tab{
			{URL: path, Text: "Settings"},
			{URL: usersPath(t.ID), Text: "Users"},
			{URL: groupsPath(t.ID), Text: "Groups"},
			{URL: signupPath(t.ID), Text: "Sign-up"},
		},
	}
	for i := range m.Tabs {
		m.Tabs[i].Current = m.Tabs[i].URL == current
	}
	return m
}

// tenantModel is a tenant's settings page.
func (h *Handler) tenantModel(v *page.Visit, t contract.Tenant, cors contract.SavedCORS) tenants.Settings {
	path := page.TenantPath(t.ID)
	m := tenants.Settings{
		Page:     h.tenantShell(v, t, t.DisplayName, path),
		Head:     tenantHead(t, path),
		Projects: page.ProjectLinks(t.Projects),
		Facts: []ui.Fact{
			{Label: "ID", Value: t.ID, Mono: true, Copy: "tenant-id"},
			{Label: "Belongs to", Value: "the team"},
			{Label: "Created", Time: t.CreatedAt},
		},
	}
	mayChange := v.Who.May(t.Team, access.TenantUpdate)
	m.CORS = tenantCORSSection(t, cors, mayChange)
	if t.Project != nil {
		m.Facts[1].Value = "its project, until the project is deleted"
	}
	if mayChange {
		m.Change = &tenants.Change{
			Action:        path,
			Revision:      t.ETag,
			DisplayName:   ui.Value{Text: t.DisplayName},
			FallbackOwner: ui.Value{Text: page.TextOf(t.FallbackOwner)},
		}
	}
	return m
}

func (h *Handler) saveTenant(v *page.Visit) (web.Answer, error) {
	in := contract.TenantUpdate{TenantPath: tenantIn(v), Condition: v.Condition()}
	v.Fill(&in.Body, "display_name", "fallback_owner")
	t, err := h.Projects.UpdateTenant(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("tenant", page.TenantPath(t.ID), t.DisplayName)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.tenantConflict(v, in.Body)
	}
	return h.refusedTenant(v, err, access.TenantUpdate, func(m *tenants.Settings, wrong *page.Errors) {
		if m.Change != nil {
			m.Change.Revision = in.IfMatch
			m.Change.DisplayName = wrong.Value("/display_name", *in.Body.DisplayName)
			m.Change.FallbackOwner = wrong.Value("/fallback_owner", in.Body.FallbackOwner.Or(""))
			m.Change.Error = wrong.Rest()
		}
	})
}

// refusedTenant shows the tenant's page with what mark adds to it, to visitors with the
// permission for the action.
func (h *Handler) refusedTenant(
	v *page.Visit, err error, action access.Action, mark func(*tenants.Settings, *page.Errors),
) (web.Answer, error) {
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	t, err := h.tenantOf(v)
	if err == nil {
		err = access.Check(v.Who, t.Team, action)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.tenantPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	mark(&m, wrong)
	return web.Answer{Status: wrong.Status, Page: tenants.SettingsPage(m)}, nil
}

// tenantConflict shows what was saved since next to what was typed.
func (h *Handler) tenantConflict(v *page.Visit, mine contract.TenantChange) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path, name, owner := page.TenantPath(t.ID), *mine.DisplayName, mine.FallbackOwner.Or("")
	m := projects.Conflict{
		Page:    h.tenantShell(v, t, "Changed since you opened this page", path),
		BackURL: path,
		Action:  path,
		What:    "The tenant " + t.Name,
		Rows: []projects.Difference{
			{Label: "Display name", Theirs: t.DisplayName, Yours: name},
			{
				Label:  "Fallback owner",
				Theirs: page.TextOrNone(page.TextOf(t.FallbackOwner)),
				Yours:  page.TextOrNone(owner),
			},
		},
		Hidden: []projects.Pair{
			{Name: "revision", Value: t.ETag},
			{Name: "display_name", Value: name},
			{Name: "fallback_owner", Value: owner},
		},
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}
