package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/dustin/go-humanize/english"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/login"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func apiScopesPath(p rules.Project) string { return projectPath(p.Name) + "/api-scopes" }

func apiScopePath(p rules.Project, scope string) string {
	return apiScopesPath(p) + "/" + url.PathEscape(scope)
}

func apiScopesCrumb(p rules.Project) ui.Crumb {
	return ui.Crumb{Text: "API scopes", URL: apiScopesPath(p)}
}

func scopeCount(n int) string {
	if n == 0 {
		return "No API scopes yet"
	}
	return english.Plural(n, "API scope", "")
}

func (h *Handler) showAPIScopes(v *visit) (web.Answer, error) {
	return h.apiScopesWith(v, func(*projects.APIScopes) {}, http.StatusOK)
}

// apiScopesWith shows a project's API scopes and audience with what mark adds to them.
func (h *Handler) apiScopesWith(v *visit, mark func(*projects.APIScopes), status int) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	path := apiScopesPath(p)
	m := projects.APIScopes{
		Page: v.shell("API scopes", path, projectsCrumb(), projectCrumb(p), loginCrumb(p),
			ui.Crumb{Text: "API scopes"}),
		BackURL: loginPath(p) + "#api",
		Audience: projects.APIAudience{
			Revision: rules.AudienceETag(p.API),
			Audience: ui.Value{Text: p.API.Audience},
		},
	}
	for _, scope := range p.API.Scopes {
		m.Rows = append(m.Rows, projects.APIScopeRow{
			Name:        scope.Name,
			Description: scope.Description,
			URL:         apiScopePath(p, scope.Name),
		})
	}
	if v.mayChange(p, access.ProjectUpdate) {
		m.Create = &projects.APIScopeForm{Action: path}
		m.Audience.Action = projectPath(p.Name) + "/api-audience"
	}
	mark(&m)
	return web.Answer{Status: status, Page: projects.APIScopesPage(m)}, nil
}

func (h *Handler) addAPIScope(v *visit) (web.Answer, error) {
	scope := snapshot.APIScope{
		Name:        strings.TrimSpace(v.posted("name")),
		Description: strings.TrimSpace(v.posted("description")),
	}
	_, err := h.Projects.AddAPIScope(v.ctx(), v.who, v.param("project"), scope)
	if err == nil {
		return v.done("api_scope_made", projectPath(v.param("project"))+"/api-scopes", scope.Name)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.apiScopesWith(v, func(m *projects.APIScopes) {
		if m.Create == nil {
			return
		}
		place := fmt.Sprintf("/scopes/%d", len(m.Rows))
		m.Create.Open = true
		m.Create.Name = wrong.value(place+"/name", scope.Name)
		m.Create.Description = wrong.value(place+"/description", scope.Description)
		m.Create.Error = wrong.rest()
	}, wrong.status)
}

func (h *Handler) saveAPIAudience(v *visit) (web.Answer, error) {
	revision, audience := v.posted("revision"), strings.TrimSpace(v.posted("audience"))
	_, err := h.Projects.SetAPIAudience(v.ctx(), v.who, v.param("project"), revision, audience)
	if err == nil {
		return v.done("api_audience", projectPath(v.param("project"))+"/api-scopes", audience)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.apiAudienceConflict(v, audience)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.apiScopesWith(v, func(m *projects.APIScopes) {
		m.Audience.Revision = revision
		m.Audience.Audience = wrong.value("/audience", audience)
		m.Audience.Error = wrong.rest()
	}, wrong.status)
}

func (h *Handler) apiAudienceConflict(v *visit, typed string) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.Conflict{
		Page: v.shell("Changed since you opened it", apiScopesPath(p), projectsCrumb(), projectCrumb(p),
			apiScopesCrumb(p)),
		What:    "The audience",
		Action:  v.c.Request.URL.Path,
		BackURL: apiScopesPath(p),
		Rows: []projects.Difference{
			{Label: "Audience", Yours: textOrNone(typed), Theirs: textOrNone(p.API.Audience)},
		},
		Hidden: []projects.Pair{
			{Name: "revision", Value: rules.AudienceETag(p.API)},
			{Name: "audience", Value: typed},
		},
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

// apiScopeOf finds the API scope in the address and its project.
func (h *Handler) apiScopeOf(v *visit) (rules.Project, snapshot.APIScope, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return p, snapshot.APIScope{}, err
	}
	scope, ok := rules.ScopeOf(p.API, v.param("scope"))
	if !ok {
		return p, scope, web.NotFound()
	}
	v.selectTeam(p.Team)
	return p, scope, nil
}

func (h *Handler) showAPIScope(v *visit) (web.Answer, error) {
	p, scope, err := h.apiScopeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return h.apiScopeWith(v, p, scope, func(*projects.APIScope) {}, http.StatusOK)
}

// apiScopeWith shows an API scope with what mark adds to its page.
func (h *Handler) apiScopeWith(
	v *visit, p rules.Project, scope snapshot.APIScope, mark func(*projects.APIScope), status int,
) (web.Answer, error) {
	asking, err := h.Login.ClientsAskingFor(v.ctx(), v.who, p.ID, scope.Name)
	if err != nil {
		return web.Answer{}, err
	}
	path := apiScopePath(p, scope.Name)
	m := projects.APIScope{
		Page: v.shell("API scope "+scope.Name, path, projectsCrumb(), projectCrumb(p), loginCrumb(p),
			apiScopesCrumb(p), ui.Crumb{Text: scope.Name}),
		Name:        scope.Name,
		Description: scope.Description,
		BackURL:     apiScopesPath(p),
	}
	for _, c := range asking.First {
		m.Clients = append(m.Clients, ui.Link{URL: appClientPath(p, c.ID), Text: c.Name + " of " + c.TenantName})
	}
	if more := asking.Total - len(asking.First); more > 0 {
		m.MoreClients = fmt.Sprintf("and %d more", more)
	}
	if v.mayChange(p, access.ProjectUpdate) {
		m.Edit = &projects.APIScopeEdit{
			Action:      path,
			Revision:    rules.APIScopeETag(scope),
			Description: ui.Value{Text: scope.Description},
		}
		m.Remove = &ui.Confirmation{
			ID:     "scope-remove",
			Action: path + "/remove",
			Verb:   "Remove",
			Kind:   "API scope",
			Name:   scope.Name,
			Impact: removalOfScope(asking),
			Undo:   "You can add it again.",
		}
	}
	mark(&m)
	return web.Answer{Status: status, Page: projects.APIScopePage(m)}, nil
}

// removalOfScope says what the removal of an API scope ends.
func removalOfScope(asking login.Asking) []string {
	first := "No app client can request it."
	if asking.Total > 0 {
		first = countText(int64(asking.Total), "app client") + " can request it. Sign-ins that still request it " +
			"continue without it."
	}
	return []string{
		first,
		"New and refreshed tokens won't have it. Tokens that have it keep it until they expire.",
	}
}

func (h *Handler) saveAPIScope(v *visit) (web.Answer, error) {
	revision, typed := v.posted("revision"), strings.TrimSpace(v.posted("description"))
	_, err := h.Projects.DescribeAPIScope(v.ctx(), v.who, v.param("project"), revision, snapshot.APIScope{
		Name:        v.param("scope"),
		Description: typed,
	})
	if err == nil {
		return v.done("api_scope", projectPath(v.param("project"))+"/api-scopes", v.param("scope"))
	}
	if fault.KindOf(err) == fault.Stale {
		return h.apiScopeConflict(v, typed)
	}
	return h.refusedAPIScope(v, err, func(m *projects.APIScope, wrong *formErrors) {
		if m.Edit != nil {
			m.Edit.Revision = revision
			m.Edit.Description = wrong.value("/scopes", typed)
			m.Edit.Error = wrong.rest()
		}
	})
}

func (h *Handler) apiScopeConflict(v *visit, typed string) (web.Answer, error) {
	p, scope, err := h.apiScopeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path := apiScopePath(p, scope.Name)
	m := projects.Conflict{
		Page:    v.shell("Changed since you opened it", path, projectsCrumb(), projectCrumb(p), apiScopesCrumb(p)),
		What:    "The API scope " + scope.Name,
		Action:  path,
		BackURL: path,
		Rows: []projects.Difference{
			{Label: "Description", Yours: textOrNone(typed), Theirs: textOrNone(scope.Description)},
		},
		Hidden: []projects.Pair{
			{Name: "revision", Value: rules.APIScopeETag(scope)},
			{Name: "description", Value: typed},
		},
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

func (h *Handler) removeAPIScope(v *visit) (web.Answer, error) {
	p, scope, err := h.apiScopeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	err = v.allowed(p, access.ProjectUpdate)
	if err == nil {
		err = v.confirmed("Tick the box to remove the API scope.")
	}
	if err == nil {
		_, err = h.Projects.RemoveAPIScope(v.ctx(), v.who, p.ID, scope.Name)
	}
	if err == nil {
		return v.done("api_scope_gone", apiScopesPath(p), scope.Name)
	}
	return h.refusedAPIScope(v, err, func(m *projects.APIScope, wrong *formErrors) { v.mark(m.Remove, wrong) })
}

// refusedAPIScope shows the API scope's page as it is now, with what mark adds to it.
func (h *Handler) refusedAPIScope(
	v *visit, err error, mark func(*projects.APIScope, *formErrors),
) (web.Answer, error) {
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, scope, err := h.apiScopeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return h.apiScopeWith(v, p, scope, func(m *projects.APIScope) { mark(m, wrong) }, wrong.status)
}
