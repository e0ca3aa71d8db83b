package pages

import (
	"postern/handlers/page"
	rules "postern/service/projects"
)

// callersOf says who called a project lately, or one of its environments (an id), or either
// with keys and users of a tenant (an id).
func (h *Handler) callersOf(v *page.Visit, p rules.Project, environment, tenant string) []string {
	c, err := h.Projects.Callers(v.Ctx(), v.Who, p.ID, environment, tenant)
	return v.Figure(page.CallersText(c), err)
}
