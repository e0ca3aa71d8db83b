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

func tenantCORSSection(t contract.Tenant, cors contract.SavedCORS, mayChange bool) ui.CORS {
	m := ui.CORS{
		Hint: "These settings override the projects' settings for calls with this tenant's keys and tokens. " +
			"For preflights, project and tenant settings are combined. If you don't list any origins, the " +
			"projects' settings apply.",
		Apps: "tenant's",
	}
	if mayChange {
		m.Action = page.TenantPath(t.ID) + "/cors"
	}
	page.CORSFormOf(cors).Fill(&m, cors.FromApps, &page.Errors{})
	return m
}

func (h *Handler) saveTenantCORS(v *page.Visit) (web.Answer, error) {
	form := page.PostedCORS(v)
	_, err := h.Projects.SetTenantCORS(v.Ctx(), v.Who, contract.TenantCORSUpdate{
		TenantPath: contract.TenantPath{Tenant: v.Param("tenant")},
		Condition:  contract.Condition{IfMatch: form.Revision},
		Body:       form.Value(),
	})
	if err == nil {
		t, err := h.tenantOf(v)
		if err != nil {
			return web.Answer{}, err
		}
		return v.Done("tenant", page.TenantPath(t.ID), t.DisplayName)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.tenantCORSConflict(v, form)
	}
	return h.refusedTenant(v, err, access.TenantUpdate, func(m *tenants.Settings, wrong *page.Errors) {
		form.Fill(&m.CORS, m.CORS.FromApps, wrong)
	})
}

func (h *Handler) tenantCORSConflict(v *page.Visit, mine page.CORSForm) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	now, err := h.Projects.TenantCORS(v.Ctx(), v.Who, contract.TenantPath{Tenant: t.ID})
	if err != nil {
		return web.Answer{}, err
	}
	path := page.TenantPath(t.ID)
	m := projects.Conflict{
		Page:    h.tenantShell(v, t, "Changed since you opened this page", path),
		BackURL: path,
		Action:  path + "/cors",
		What:    "The CORS settings",
	}
	mine.CompareWith(&m, now)
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}
