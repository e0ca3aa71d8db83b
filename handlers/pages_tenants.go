package handlers

import (
	"net/http"
	"net/url"

	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/tenants"
	"postern/views/ui"
)

const tenantsPath = "/tenants"

func tenantPath(id string) string { return tenantsPath + "/" + url.PathEscape(id) }

func tenantsCrumb() ui.Crumb { return ui.Crumb{Text: "Tenants", URL: tenantsPath} }

// teamTabs lead to what a team has.
func teamTabs(current string) []ui.Tab {
	tabs := []ui.Tab{{URL: "/projects", Text: "Projects"}, {URL: productsPath, Text: "Products"}, {URL: tenantsPath, Text: "Tenants"}}
	for i := range tabs {
		tabs[i].Current = tabs[i].URL == current
	}
	return tabs
}

func (s *Server) showTenants(v *visit) (answer, error) {
	return s.tenantListWith(v, rules.TenantInput{}, &mistakes{})
}

// tenantListWith is the chosen team's list with the form as it was typed.
func (s *Server) tenantListWith(v *visit, typed rules.TenantInput, wrong *mistakes) (answer, error) {
	v.enter(typed.Team)
	found, next, err := s.Projects.Tenants(v.ctx(), v.who, v.who.HomeTeam, v.c.Query("after"), 50)
	if err != nil {
		return answer{}, err
	}
	m := tenants.List{Page: v.shell("Tenants", tenantsPath, projectsCrumb(), ui.Crumb{Text: "Tenants"}), Tabs: teamTabs(tenantsPath)}
	if next != "" {
		m.MoreURL = tenantsPath + "?after=" + url.QueryEscape(next)
	}
	for _, t := range found {
		m.Rows = append(m.Rows, tenants.Row{URL: tenantPath(t.ID), Name: t.Name, DisplayName: t.DisplayName, FallbackOwner: t.FallbackOwner, Projects: projectLinks(t.Projects)})
	}
	if v.who.May(v.who.HomeTeam, access.TenantCreate) {
		m.Create = &tenants.Create{Open: wrong.status != 0, Action: tenantsPath, Team: v.who.HomeTeam, Name: wrong.value("/name", typed.Name),
			DisplayName: wrong.value("/display_name", typed.DisplayName), FallbackOwner: wrong.value("/fallback_owner", typed.FallbackOwner)}
		m.Create.Error = wrong.rest()
	}
	return answer{status: max(wrong.status, http.StatusOK), page: tenants.ListPage(m)}, nil
}

func (s *Server) makeTenant(v *visit) (answer, error) {
	typed := postedTenant(v)
	typed.Team = v.posted("team")
	made, err := s.Projects.CreateTenant(v.ctx(), v.who, typed)
	if wrong, ok := mistakesIn(err); ok {
		return s.tenantListWith(v, typed, wrong)
	}
	if err != nil {
		return answer{}, err
	}
	return v.done("tenant_made", tenantPath(made.ID))
}

// tenantForm is what a form says of a tenant, as it was typed.
type tenantForm struct{ revision, displayName, fallbackOwner string }

func (s *Server) showTenant(v *visit) (answer, error) {
	t, err := s.Projects.Tenant(v.ctx(), v.who, v.param("tenant"))
	if err != nil {
		return answer{}, err
	}
	return show(tenants.SettingsPage(v.tenantModel(t))), nil
}

// tenantShell is a page of a tenant; the way to it begins where the tenant belongs.
func (v *visit) tenantShell(t rules.Tenant, title, here string, crumbs ...ui.Crumb) ui.Page {
	v.enter(t.Team)
	way := []ui.Crumb{projectsCrumb(), tenantsCrumb()}
	if t.Project != "" && len(t.Projects) == 1 {
		name := t.Projects[0]
		way = []ui.Crumb{projectsCrumb(), {Text: name, URL: projectPath(name)}, {Text: "Tenants", URL: projectPath(name) + "/tenants"}}
	}
	way = append(way, ui.Crumb{Text: t.DisplayName, URL: tenantPath(t.ID)})
	return v.shell(title, here, append(way, crumbs...)...)
}

func tenantHead(t rules.Tenant, current string) tenants.Head {
	path := tenantPath(t.ID)
	m := tenants.Head{Name: t.Name, DisplayName: t.DisplayName, Tabs: []ui.Tab{{URL: path, Text: "Settings"},
		{URL: usersPath(t.ID), Text: "Users"}, {URL: groupsPath(t.ID), Text: "Groups"}, {URL: entryPath(t.ID), Text: "Entry"}}}
	for i := range m.Tabs {
		m.Tabs[i].Current = m.Tabs[i].URL == current
	}
	return m
}

// tenantModel is the page as the tenant stands.
func (v *visit) tenantModel(t rules.Tenant) tenants.Settings {
	path := tenantPath(t.ID)
	m := tenants.Settings{Page: v.tenantShell(t, t.DisplayName, path), Head: tenantHead(t, path), Projects: projectLinks(t.Projects),
		Facts: []ui.Fact{{Label: "Id", Value: t.ID, Mono: true}, {Label: "Belongs to", Value: "the team"}, {Label: "Created", Value: moment(t.CreatedAt)}}}
	if t.Project != "" {
		m.Facts[1].Value = "its project alone, which keeps it as long as it exists"
	}
	if v.who.May(t.Team, access.TenantUpdate) {
		m.Change = &tenants.Change{Action: path, Revision: t.ETag, DisplayName: ui.Value{Text: t.DisplayName}, FallbackOwner: ui.Value{Text: t.FallbackOwner}}
	}
	if v.who.May(t.Team, access.TenantDelete) && t.Project == "" {
		m.Delete = &ui.Confirmation{ID: "delete-confirm", Action: path + "/delete", Button: "Delete tenant",
			Text: "Delete this tenant. Only one that no project serves, and that has no keys, users, groups or login settings, can go."}
	}
	return m
}

func (s *Server) saveTenant(v *visit) (answer, error) {
	form := tenantForm{revision: v.posted("revision"), displayName: v.posted("display_name"), fallbackOwner: v.posted("fallback_owner")}
	t, err := s.Projects.UpdateTenant(v.ctx(), v.who, v.param("tenant"), form.revision, rules.TenantChange{DisplayName: &form.displayName, FallbackOwner: &form.fallbackOwner})
	if err == nil {
		return v.done("tenant", tenantPath(t.ID))
	}
	if fault.KindOf(err) == fault.Stale {
		return s.tenantConflict(v, form)
	}
	return s.refusedTenant(v, err, func(m *tenants.Settings, wrong *mistakes) {
		if m.Change != nil {
			m.Change.Revision = form.revision
			m.Change.DisplayName, m.Change.FallbackOwner = wrong.value("/display_name", form.displayName), wrong.value("/fallback_owner", form.fallbackOwner)
			m.Change.Error = wrong.rest()
		}
	})
}

// refusedTenant shows the tenant's page with what mark says is wrong.
func (s *Server) refusedTenant(v *visit, err error, mark func(*tenants.Settings, *mistakes)) (answer, error) {
	wrong, ok := mistakesIn(err)
	if !ok {
		return answer{}, err
	}
	t, err := s.Projects.Tenant(v.ctx(), v.who, v.param("tenant"))
	if err != nil {
		return answer{}, err
	}
	m := v.tenantModel(t)
	mark(&m, wrong)
	return answer{status: wrong.status, page: tenants.SettingsPage(m)}, nil
}

// tenantConflict shows what somebody else saved meanwhile beside what was typed.
func (s *Server) tenantConflict(v *visit, mine tenantForm) (answer, error) {
	t, err := s.Projects.Tenant(v.ctx(), v.who, v.param("tenant"))
	if err != nil {
		return answer{}, err
	}
	path := tenantPath(t.ID)
	m := projects.Conflict{Page: v.tenantShell(t, "Changed meanwhile", path), BackURL: path, Action: path, What: "The tenant " + t.Name,
		Rows: []projects.Difference{
			{Label: "Display name", Theirs: t.DisplayName, Yours: mine.displayName},
			{Label: "Fallback owner", Theirs: textOrNone(t.FallbackOwner), Yours: textOrNone(mine.fallbackOwner)},
		},
		Hidden: []projects.Pair{{Name: "revision", Value: t.ETag}, {Name: "display_name", Value: mine.displayName}, {Name: "fallback_owner", Value: mine.fallbackOwner}}}
	return answer{status: http.StatusPreconditionFailed, page: projects.ConflictPage(m)}, nil
}

func (s *Server) deleteTenantPage(v *visit) (answer, error) {
	t, err := s.Projects.Tenant(v.ctx(), v.who, v.param("tenant"))
	if err != nil {
		return answer{}, err
	}
	if err = v.confirmed(access.Check(v.who, t.Team, access.TenantDelete), "Tick the box to delete the tenant."); err == nil {
		err = s.Projects.DeleteTenant(v.ctx(), v.who, t.ID)
	}
	if err == nil {
		return v.done("tenant_gone", tenantsPath)
	}
	return s.refusedTenant(v, err, func(m *tenants.Settings, wrong *mistakes) {
		if m.Delete != nil {
			m.Delete.Error = wrong.rest()
		}
	})
}
