package pages

import (
	"net/http"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func tenantsOf(p rules.Project) string { return projectPath(p.Name) + "/tenants" }

func (h *Handler) showProjectTenants(v *visit) (web.Answer, error) {
	return h.projectTenantsWith(v, contract.NewTenant{}, &formErrors{})
}

// projectTenantsWith shows the tenants that a project serves, with the form as typed.
func (h *Handler) projectTenantsWith(v *visit, typed contract.NewTenant, wrong *formErrors) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	list := &listing{path: tenantsOf(p), one: "tenant", search: "Name", orders: []listOrder{{by: "name"}}}
	served, err := h.Projects.Served(v.ctx(), v.who, p.ID, list.read(v).page())
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.Tenants{
		Page: v.shell("Tenants", tenantsOf(p), projectsCrumb(), projectCrumb(p), ui.Crumb{Text: "Tenants"}),
		Head: v.headOf(p),
		List: listView(list, served),
	}
	mayChange := v.mayChange(p, access.ProjectUpdate)
	for _, t := range served.Items {
		m.Rows = append(m.Rows, projectTenantRow(p, t, mayChange))
	}
	if mayChange {
		m.Add, err = h.tenantAdd(v, p, typed, wrong)
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: projects.TenantsPage(m)}, err
}

func projectTenantRow(p rules.Project, t contract.Tenant, mayChange bool) projects.TenantRow {
	others := slices.DeleteFunc(slices.Clone(t.Projects), func(name string) bool { return name == p.Name })
	row := projects.TenantRow{
		URL:           tenantPath(t.ID),
		Name:          t.Name,
		DisplayName:   t.DisplayName,
		FallbackOwner: textOf(t.FallbackOwner),
		OtherProjects: projectLinks(others),
		Own:           t.Project != nil,
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

func (h *Handler) tenantAdd(
	v *visit, p rules.Project, typed contract.NewTenant, wrong *formErrors,
) (*projects.TenantAdd, error) {
	m := &projects.TenantAdd{
		Open:          wrong.status != 0,
		Action:        tenantsOf(p),
		Name:          wrong.value("/name", typed.Name),
		DisplayName:   wrong.value("/display_name", typed.DisplayName),
		FallbackOwner: wrong.value("/fallback_owner", typed.FallbackOwner),
	}
	m.Error = wrong.rest()
	names, err := h.Projects.Attachable(v.ctx(), v.who, p.ID)
	if err != nil {
		return m, err
	}
	for _, name := range names {
		m.Attachable = append(m.Attachable, ui.Option{Value: name, Title: name})
	}
	return m, nil
}

// addProjectTenant attaches the selected tenant, or creates one first. If that cannot be
// attached, the form offers it among the others.
func (h *Handler) addProjectTenant(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	chosen := v.posted("tenant")
	if chosen == "" {
		typed := contract.NewTenant{Team: p.Team}
		v.fill(&typed, "name", "display_name", "fallback_owner")
		made, err := h.Projects.CreateTenant(v.ctx(), v.who, contract.TenantCreation{Body: typed})
		if wrong, ok := formErrorsIn(err); ok {
			return h.projectTenantsWith(v, typed, wrong)
		}
		if err != nil {
			return web.Answer{}, err
		}
		chosen = made.ID
	}
	t, err := h.Projects.Attach(v.ctx(), v.who, contract.Attachment(p.ID, chosen))
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("attached", tenantsOf(p), t.DisplayName)
}

func (h *Handler) showDetach(v *visit) (web.Answer, error) {
	p, t, err := h.servedTenant(v)
	if err != nil {
		return web.Answer{}, err
	}
	return h.detachWith(v, p, t, &formErrors{})
}

func (h *Handler) detachWith(v *visit, p rules.Project, t contract.Tenant, wrong *formErrors) (web.Answer, error) {
	v.selectTeam(p.Team)
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
	if v.mayChange(p, access.ProjectUpdate) {
		m.Confirm = &ui.Confirmation{
			ID:     "detach-confirm",
			Action: path + "/detach",
			Verb:   "Detach",
			Kind:   "tenant",
			Name:   t.DisplayName,
			Impact: append(h.callersOf(v, p, "", t.ID), "After that, "+p.DisplayName+" refuses its keys with 403."),
			Undo:   "The tenant stays, with its keys, users and groups. You can attach it again.",
			Error:  wrong.rest(),
		}
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: projects.DetachPage(m)}, nil
}

// servedTenant finds the tenant in the address and the project that serves it.
func (h *Handler) servedTenant(v *visit) (rules.Project, contract.Tenant, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return p, contract.Tenant{}, err
	}
	t, err := h.Projects.Tenant(v.ctx(), v.who, contract.TenantPath{Tenant: v.param("tenant")})
	if err == nil && !slices.Contains(t.Projects, p.Name) {
		err = web.NotFound()
	}
	return p, t, err
}

func (h *Handler) detachProjectTenant(v *visit) (web.Answer, error) {
	p, t, err := h.servedTenant(v)
	if err != nil {
		return web.Answer{}, err
	}
	err = v.allowed(p, access.ProjectUpdate)
	if err == nil {
		err = v.confirmed("Tick the box to detach the tenant.")
	}
	if err == nil {
		_, err = h.Projects.Detach(v.ctx(), v.who, contract.Attachment(p.ID, t.ID))
	}
	if wrong, ok := formErrorsIn(err); ok {
		return h.detachWith(v, p, t, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("detached", tenantsOf(p), t.DisplayName)
}
