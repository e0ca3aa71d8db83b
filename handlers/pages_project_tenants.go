package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func tenantsOf(p rules.Project) string { return projectPath(p.Name) + "/tenants" }

func (s *Server) showProjectTenants(v *visit) (answer, error) {
	return s.projectTenantsWith(v, rules.TenantInput{}, &mistakes{})
}

// projectTenantsWith is the list with the form as it was typed.
func (s *Server) projectTenantsWith(v *visit, typed rules.TenantInput, wrong *mistakes) (answer, error) {
	p, err := s.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return answer{}, err
	}
	v.enter(p.Team)
	served, next, err := s.Projects.Served(v.ctx(), v.who, p.ID, v.c.Query("after"), 50)
	if err != nil {
		return answer{}, err
	}
	m := projects.Tenants{
		Page: v.shell("Tenants", tenantsOf(p), projectsCrumb(), projectCrumb(p), ui.Crumb{Text: "Tenants"}),
		Head: v.headOf(p, projects.TabTenants),
	}
	if next != "" {
		m.MoreURL = tenantsOf(p) + "?after=" + url.QueryEscape(next)
	}
	mayChange := v.who.May(p.Team, access.ProjectUpdate)
	for _, t := range served {
		m.Rows = append(m.Rows, projectTenantRow(p, t, mayChange))
	}
	if mayChange {
		m.Add, err = s.tenantAdd(v, p, typed, wrong)
	}
	return answer{status: max(wrong.status, http.StatusOK), page: projects.TenantsPage(m)}, err
}

func projectTenantRow(p rules.Project, t rules.Tenant, mayChange bool) projects.TenantRow {
	others := slices.DeleteFunc(slices.Clone(t.Projects), func(name string) bool { return name == p.Name })
	row := projects.TenantRow{
		URL:           tenantPath(t.ID),
		Name:          t.Name,
		DisplayName:   t.DisplayName,
		FallbackOwner: t.FallbackOwner,
		Elsewhere:     projectLinks(others),
		Own:           t.Project != "",
	}
	if mayChange && !row.Own {
		row.DetachURL = tenantsOf(p) + "/" + t.ID
	}
	return row
}

func projectLinks(names []string) []ui.Link {
	var out []ui.Link
	for _, name := range names {
		out = append(out, ui.Link{URL: projectPath(name), Text: name})
	}
	return out
}

func (s *Server) tenantAdd(v *visit, p rules.Project, typed rules.TenantInput, wrong *mistakes) (*projects.TenantAdd, error) {
	m := &projects.TenantAdd{
		Open:          wrong.status != 0,
		Action:        tenantsOf(p),
		Name:          wrong.value("/name", typed.Name),
		DisplayName:   wrong.value("/display_name", typed.DisplayName),
		FallbackOwner: wrong.value("/fallback_owner", typed.FallbackOwner),
	}
	m.Error = wrong.rest()
	names, err := s.Projects.Attachable(v.ctx(), v.who, p.ID)
	for _, name := range names {
		m.Attachable = append(m.Attachable, ui.Option{Value: name, Title: name})
	}
	return m, err
}

func postedTenant(v *visit) rules.TenantInput {
	return rules.TenantInput{
		Name:          strings.TrimSpace(v.posted("name")),
		DisplayName:   strings.TrimSpace(v.posted("display_name")),
		FallbackOwner: strings.TrimSpace(v.posted("fallback_owner")),
	}
}

// addProjectTenant attaches the tenant that is chosen, or makes one first. When that
// cannot be attached after all, the form offers it among the others.
func (s *Server) addProjectTenant(v *visit) (answer, error) {
	p, err := s.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return answer{}, err
	}
	chosen, typed := v.posted("tenant"), postedTenant(v)
	if chosen == "" {
		typed.Team = p.Team
		made, err := s.Projects.CreateTenant(v.ctx(), v.who, typed)
		if wrong, ok := mistakesIn(err); ok {
			return s.projectTenantsWith(v, typed, wrong)
		}
		if err != nil {
			return answer{}, err
		}
		chosen = made.ID
	}
	if _, err := s.Projects.Attach(v.ctx(), v.who, p.ID, chosen); err != nil {
		return answer{}, err
	}
	return v.done("attached", tenantsOf(p))
}

func (s *Server) askDetach(v *visit) (answer, error) { return s.askDetachWith(v, &mistakes{}) }

func (s *Server) askDetachWith(v *visit, wrong *mistakes) (answer, error) {
	p, t, err := s.servedTenant(v)
	if err != nil {
		return answer{}, err
	}
	v.enter(p.Team)
	path := tenantsOf(p) + "/" + t.ID
	m := projects.Detach{
		Page: v.shell("Detach "+t.DisplayName, path, projectsCrumb(), projectCrumb(p), ui.Crumb{
			Text: "Tenants",
			URL:  tenantsOf(p),
		}, ui.Crumb{Text: t.DisplayName}),
		Tenant:  t.DisplayName,
		Project: p.DisplayName,
		BackURL: tenantsOf(p),
		Facts: []ui.Fact{{
			Label: "Tenant",
			Value: t.Name,
			Mono:  true,
		}, {Label: "Served by", Value: strings.Join(t.Projects, ", ")}},
	}
	if v.who.May(p.Team, access.ProjectUpdate) {
		m.Confirm = &ui.Confirmation{
			ID: "detach-confirm", Action: path + "/detach", Button: "Detach",
			Text: "Refuse its keys in this project from now on.", Error: wrong.rest(),
		}
	}
	return answer{status: max(wrong.status, http.StatusOK), page: projects.DetachPage(m)}, nil
}

// servedTenant finds the tenant that the address names, among those of the project
// that it names.
func (s *Server) servedTenant(v *visit) (rules.Project, rules.Tenant, error) {
	p, err := s.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return p, rules.Tenant{}, err
	}
	t, err := s.Projects.Tenant(v.ctx(), v.who, v.param("tenant"))
	if err == nil && !slices.Contains(t.Projects, p.Name) {
		err = notFound()
	}
	return p, t, err
}

func (s *Server) detachProjectTenant(v *visit) (answer, error) {
	p, t, err := s.servedTenant(v)
	if err != nil {
		return answer{}, err
	}
	if err = v.confirmed(v.allowed(p, access.ProjectUpdate), "Tick the box to detach the tenant."); err == nil {
		err = s.Projects.Detach(v.ctx(), v.who, p.ID, t.ID)
	}
	if wrong, ok := mistakesIn(err); ok {
		return s.askDetachWith(v, wrong)
	}
	if err != nil {
		return answer{}, err
	}
	return v.done("detached", tenantsOf(p))
}
