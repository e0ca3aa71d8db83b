package tenants

import (
	"slices"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	"postern/views/tenants"
	"postern/views/ui"
)

// tenantAttach is the form that attaches a tenant to one of its team's projects, nil for those who may not and for a
// project's own tenant, which no other project can serve.
func (h *Handler) tenantAttach(v *page.Visit, t contract.Tenant) (*tenants.Attach, error) {
	if t.Project != nil || !v.Who.May(t.Team, access.ProjectUpdate) {
		return nil, nil //nolint:nilnil // no form
	}
	found, err := h.Projects.List(v.Ctx(), v.Who, contract.ProjectList{
		Team: t.Team, State: contract.ProjectServed, Page: contract.Page{Limit: models.MaxLimit},
	})
	if err != nil {
		return nil, err
	}
	m := &tenants.Attach{Action: page.TenantPath(t.ID) + "/projects", Truncated: found.Next != ""}
	for _, p := range found.Items {
		if !slices.Contains(t.Projects, p.Name) {
			m.Projects = append(m.Projects, ui.Option{Value: p.Name, Title: page.ChoiceTitle(p.DisplayName, p.Name)})
		}
	}
	if len(found.Items) == 0 {
		m.NewProject = "/projects/new"
	}
	return m, nil
}

// attachToProject attaches the tenant to the selected project.
func (h *Handler) attachToProject(v *page.Visit) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	if err := access.Check(v.Who, t.Team, access.ProjectUpdate); err != nil {
		return web.Answer{}, err
	}
	t, err = h.Projects.Attach(v.Ctx(), v.Who, contract.Attachment(v.Posted("project"), t.ID))
	if err == nil {
		return v.Done("attached", page.TenantPath(t.ID)+"#served", t.DisplayName)
	}
	return h.refusedTenant(v, err, access.ProjectUpdate, func(m *tenants.Settings, wrong *page.Errors) {
		if m.Attach != nil {
			m.Attach.Error = wrong.Rest()
		}
	})
}
