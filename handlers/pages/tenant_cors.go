package pages

import (
	"net/http"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/projects"
	"postern/views/tenants"
	"postern/views/ui"
)

func tenantCORSSection(t contract.Tenant, cors contract.SavedCORS, mayChange bool) ui.CORS {
	m := ui.CORS{
		Hint: "Browsers let pages from these origins make calls with this tenant's keys and tokens (CORS). These " +
			"settings replace those of the projects that serve the tenant. Preflights carry no credentials, so they " +
			"are answered with what the project and all of its tenants allow. If no origin is listed, the projects' " +
			"settings apply.",
		Apps: "tenant's",
	}
	if mayChange {
		m.Action = tenantPath(t.ID) + "/cors"
	}
	corsFormOf(cors).fill(&m, cors.FromApps, &formErrors{})
	return m
}

func (h *Handler) saveTenantCORS(v *visit) (web.Answer, error) {
	form := postedCORS(v)
	_, err := h.Projects.SetTenantCORS(v.ctx(), v.who, contract.TenantCORSUpdate{
		TenantPath: contract.TenantPath{Tenant: v.param("tenant")},
		Condition:  contract.Condition{IfMatch: form.revision},
		Body:       form.asked(),
	})
	if err == nil {
		t, err := h.tenantOf(v)
		if err != nil {
			return web.Answer{}, err
		}
		return v.done("tenant", tenantPath(t.ID), t.DisplayName)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.tenantCORSConflict(v, form)
	}
	return h.refusedTenant(v, err, access.TenantUpdate, func(m *tenants.Settings, wrong *formErrors) {
		form.fill(&m.CORS, m.CORS.FromApps, wrong)
	})
}

func (h *Handler) tenantCORSConflict(v *visit, mine corsForm) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	now, err := h.Projects.TenantCORS(v.ctx(), v.who, contract.TenantPath{Tenant: t.ID})
	if err != nil {
		return web.Answer{}, err
	}
	path := tenantPath(t.ID)
	m := projects.Conflict{
		Page:    v.tenantShell(t, "Changed since you opened it", path),
		BackURL: path,
		Action:  path + "/cors",
		What:    "Cross-origin calls",
	}
	mine.compareWith(&m, now)
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}
