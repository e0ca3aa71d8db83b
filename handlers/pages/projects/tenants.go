package projects

import (
	"net/http"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func tenantsOf(p rules.Project) string { return page.ProjectPath(p.Name) + "/tenants" }

func (h *Handler) showProjectTenants(v *page.Visit) (web.Answer, error) {
	return h.projectTenantsWith(v, contract.NewTenant{}, &page.Errors{})
}

// projectTenantsWith shows the tenants that a project serves, with the form as typed.
func (h *Handler) projectTenantsWith(v *page.Visit, typed contract.NewTenant, wrong *page.Errors) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	list := &page.Listing{Path: tenantsOf(p), One: "tenant", Search: "Name", Orders: []page.ListOrder{{By: "name"}}}
	served, err := h.Projects.Served(v.Ctx(), v.Who, p.ID, list.Read(v).Page())
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.Tenants{
		Page: v.Shell("Tenants", tenantsOf(p), page.ProjectsCrumb(), page.ProjectCrumb(p), ui.Crumb{Text: "Tenants"}),
		Head: v.HeadOf(p),
		List: page.ListView(list, served),
	}
	mayChange := v.MayChange(p, access.ProjectUpdate)
	for _, t := range served.Items {
		m.Rows = append(m.Rows, projectTenantRow(p, t, mayChange))
	}
	if mayChange {
		m.Add, err = h.tenantAdd(v, p, typed, wrong)
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.TenantsPage(m)}, err
}

func projectTenantRow(p rules.Project, t contract.Tenant, mayChange bool) projects.TenantRow {
	others := slices.DeleteFunc(slices.Clone(t.Projects), func(name string) bool { return name == p.Name })
	row := projects.TenantRow{
		URL:           page.TenantPath(t.ID),
		Name:          t.Name,
		DisplayName:   t.DisplayName,
		FallbackOwner: page.TextOf(t.FallbackOwner),
		OtherProjects: page.ProjectLinks(others),
		Own:           t.Project != nil,
	}
	if mayChange && !row.Own {
		row.DetachURL = tenantsOf(p) + "/" + t.ID
	}
	return row
}

func (h *Handler) tenantAdd(
	v *page.Visit, p rules.Project, typed contract.NewTenant, wrong *page.Errors,
) (*projects.TenantAdd, error) {
	m := &projects.TenantAdd{
		Open:          wrong.Status != 0,
		Action:        tenantsOf(p),
		Name:          wrong.Value("/name", typed.Name),
		DisplayName:   wrong.Value("/display_name", typed.DisplayName),
		FallbackOwner: wrong.Value("/fallback_owner", typed.FallbackOwner),
	}
	m.Error = wrong.Rest()
	names, err := h.Projects.Attachable(v.Ctx(), v.Who, p.ID)
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
func (h *Handler) addProjectTenant(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	chosen := v.Posted("tenant")
	if chosen == "" {
		typed := contract.NewTenant{Team: p.Team}
		v.Fill(&typed, "name", "display_name", "fallback_owner")
		made, err := h.Projects.CreateTenant(v.Ctx(), v.Who, contract.TenantCreation{Body: typed})
		if wrong, ok := page.ErrorsIn(err); ok {
			return h.projectTenantsWith(v, typed, wrong)
		}
		if err != nil {
			return web.Answer{}, err
		}
		chosen = made.ID
	}
	t, err := h.Projects.Attach(v.Ctx(), v.Who, contract.Attachment(p.ID, chosen))
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("attached", tenantsOf(p), t.DisplayName)
}

func (h *Handler) showDetach(v *page.Visit) (web.Answer, error) {
	p, t, err := h.servedTenant(v)
	if err != nil {
		return web.Answer{}, err
	}
	return h.detachWith(v, p, t, &page.Errors{})
}

func (h *Handler) detachWith(
	v *page.Visit,
	p rules.Project,
	t contract.Tenant,
	wrong *page.Errors,
) (web.Answer, error) {
	v.SelectTeam(p.Team)
	path := tenantsOf(p) + "/" + t.ID
	m := projects.Detach{
		Page: v.Shell("Detach "+t.DisplayName, path, page.ProjectsCrumb(), page.ProjectCrumb(p), ui.Crumb{
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
	if v.MayChange(p, access.ProjectUpdate) {
		m.Confirm = &ui.Confirmation{
			ID:     "detach-confirm",
			Action: path + "/detach",
			Verb:   "Detach",
			Kind:   "tenant",
			Name:   t.DisplayName,
			Impact: append(h.callersOf(v, p, "", t.ID), "Calls to "+p.DisplayName+" with the tenant's keys will get "+
				"403."),
			Undo:  "The tenant keeps its keys, users and groups. You can attach it again.",
			Error: wrong.Rest(),
		}
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.DetachPage(m)}, nil
}

// servedTenant finds the tenant in the address and the project that serves it.
func (h *Handler) servedTenant(v *page.Visit) (rules.Project, contract.Tenant, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return p, contract.Tenant{}, err
	}
	t, err := h.Projects.Tenant(v.Ctx(), v.Who, contract.TenantPath{Tenant: v.Param("tenant")})
	if err == nil && !slices.Contains(t.Projects, p.Name) {
		err = web.NotFound()
	}
	return p, t, err
}

func (h *Handler) detachProjectTenant(v *page.Visit) (web.Answer, error) {
	p, t, err := h.servedTenant(v)
	if err != nil {
		return web.Answer{}, err
	}
	err = v.Allowed(p, access.ProjectUpdate)
	if err == nil {
		err = v.Confirmed("Check the box to detach the tenant.")
	}
	if err == nil {
		_, err = h.Projects.Detach(v.Ctx(), v.Who, contract.Attachment(p.ID, t.ID))
	}
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.detachWith(v, p, t, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("detached", tenantsOf(p), t.DisplayName)
}
