package login

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/dustin/go-humanize/english"

	"postern/core/snapshot"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/appclients"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func apiScopesPath(p rules.Project) string { return page.ProjectPath(p.Name) + "/api-scopes" }

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

func (h *Handler) showAPIScopes(v *page.Visit) (web.Answer, error) {
	return h.apiScopesWith(v, func(*projects.APIScopes) {}, http.StatusOK)
}

// apiScopesWith shows a project's API scopes and audience with what mark adds to them.
func (h *Handler) apiScopesWith(v *page.Visit, mark func(*projects.APIScopes), status int) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	path := apiScopesPath(p)
	m := projects.APIScopes{
		Page: v.Shell("API scopes", path, page.ProjectsCrumb(), page.ProjectCrumb(p), loginCrumb(p),
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
	if v.MayChange(p, access.ProjectUpdate) {
		m.Create = &projects.APIScopeForm{Action: path}
		m.Audience.Action = page.ProjectPath(p.Name) + "/api-audience"
	}
	mark(&m)
	return web.Answer{Status: status, Page: projects.APIScopesPage(m)}, nil
}

func (h *Handler) addAPIScope(v *page.Visit) (web.Answer, error) {
	scope := snapshot.APIScope{
		Name:        strings.TrimSpace(v.Posted("name")),
		Description: strings.TrimSpace(v.Posted("description")),
	}
	_, err := h.Projects.AddAPIScope(v.Ctx(), v.Who, v.Param("project"), scope)
	if err == nil {
		return v.Done("api_scope_made", page.ProjectPath(v.Param("project"))+"/api-scopes", scope.Name)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.apiScopesWith(v, func(m *projects.APIScopes) {
		if m.Create == nil {
			return
		}
		place := fmt.Sprintf("/scopes/%d", len(m.Rows))
		m.Create.Open = true
		m.Create.Name = wrong.Value(place+"/name", scope.Name)
		m.Create.Description = wrong.Value(place+"/description", scope.Description)
		m.Create.Error = wrong.Rest()
	}, wrong.Status)
}

func (h *Handler) saveAPIAudience(v *page.Visit) (web.Answer, error) {
	revision, audience := v.Posted("revision"), strings.TrimSpace(v.Posted("audience"))
	_, err := h.Projects.SetAPIAudience(v.Ctx(), v.Who, v.Param("project"), revision, audience)
	if err == nil {
		return v.Done("api_audience", page.ProjectPath(v.Param("project"))+"/api-scopes", audience)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.apiAudienceConflict(v, audience)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.apiScopesWith(v, func(m *projects.APIScopes) {
		m.Audience.Revision = revision
		m.Audience.Audience = wrong.Value("/audience", audience)
		m.Audience.Error = wrong.Rest()
	}, wrong.Status)
}

func (h *Handler) apiAudienceConflict(v *page.Visit, typed string) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	m := projects.Conflict{
		Page: v.Shell("Changed since you opened this page", apiScopesPath(p), page.ProjectsCrumb(),
			page.ProjectCrumb(p),
			apiScopesCrumb(p)),
		What:    "The audience",
		Action:  v.Gin.Request.URL.Path,
		BackURL: apiScopesPath(p),
		Rows: []projects.Difference{
			{Label: "Audience", Yours: page.TextOrNone(typed), Theirs: page.TextOrNone(p.API.Audience)},
		},
		Hidden: []projects.Pair{
			{Name: "revision", Value: rules.AudienceETag(p.API)},
			{Name: "audience", Value: typed},
		},
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

// apiScopeOf finds the API scope in the address and its project.
func (h *Handler) apiScopeOf(v *page.Visit) (rules.Project, snapshot.APIScope, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return p, snapshot.APIScope{}, err
	}
	scope, ok := rules.ScopeOf(p.API, v.Param("scope"))
	if !ok {
		return p, scope, web.NotFound()
	}
	v.SelectTeam(p.Team)
	return p, scope, nil
}

func (h *Handler) showAPIScope(v *page.Visit) (web.Answer, error) {
	p, scope, err := h.apiScopeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return h.apiScopeWith(v, p, scope, func(*projects.APIScope) {}, http.StatusOK)
}

// apiScopeWith shows an API scope with what mark adds to its page.
func (h *Handler) apiScopeWith(
	v *page.Visit, p rules.Project, scope snapshot.APIScope, mark func(*projects.APIScope), status int,
) (web.Answer, error) {
	asking, err := h.AppClients.ClientsAskingFor(v.Ctx(), v.Who, p.ID, scope.Name)
	if err != nil {
		return web.Answer{}, err
	}
	path := apiScopePath(p, scope.Name)
	m := projects.APIScope{
		Page: v.Shell("API scope "+scope.Name, path, page.ProjectsCrumb(), page.ProjectCrumb(p), loginCrumb(p),
			apiScopesCrumb(p), ui.Crumb{Text: scope.Name}),
		Name:        scope.Name,
		Description: scope.Description,
		BackURL:     apiScopesPath(p),
	}
	for _, c := range asking.First {
		m.Clients = append(m.Clients, ui.Link{URL: appClientPath(p, c.ID), Text: c.Name + " (" + c.TenantName + ")"})
	}
	if more := asking.Total - len(asking.First); more > 0 {
		m.MoreClients = fmt.Sprintf("and %d more", more)
	}
	if v.MayChange(p, access.ProjectUpdate) {
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
func removalOfScope(asking appclients.Asking) []string {
	first := "No app clients can request this scope."
	if asking.Total > 0 {
		first = page.CountText(int64(asking.Total), "app client") + " can request this scope. Sign-ins that still " +
			"request it will continue without it."
	}
	return []string{
		first,
		"New and refreshed tokens won't include this scope. Existing tokens keep it until they expire.",
	}
}

func (h *Handler) saveAPIScope(v *page.Visit) (web.Answer, error) {
	revision, typed := v.Posted("revision"), strings.TrimSpace(v.Posted("description"))
	_, err := h.Projects.DescribeAPIScope(v.Ctx(), v.Who, v.Param("project"), revision, snapshot.APIScope{
		Name:        v.Param("scope"),
		Description: typed,
	})
	if err == nil {
		return v.Done("api_scope", page.ProjectPath(v.Param("project"))+"/api-scopes", v.Param("scope"))
	}
	if fault.KindOf(err) == fault.Stale {
		return h.apiScopeConflict(v, typed)
	}
	return h.refusedAPIScope(v, err, func(m *projects.APIScope, wrong *page.Errors) {
		if m.Edit != nil {
			m.Edit.Revision = revision
			m.Edit.Description = wrong.Value("/scopes", typed)
			m.Edit.Error = wrong.Rest()
		}
	})
}

func (h *Handler) apiScopeConflict(v *page.Visit, typed string) (web.Answer, error) {
	p, scope, err := h.apiScopeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path := apiScopePath(p, scope.Name)
	m := projects.Conflict{
		Page: v.Shell(
			"Changed since you opened this page",
			path,
			page.ProjectsCrumb(),
			page.ProjectCrumb(p),
			apiScopesCrumb(p),
		),
		What:    "The API scope " + scope.Name,
		Action:  path,
		BackURL: path,
		Rows: []projects.Difference{
			{Label: "Description", Yours: page.TextOrNone(typed), Theirs: page.TextOrNone(scope.Description)},
		},
		Hidden: []projects.Pair{
			{Name: "revision", Value: rules.APIScopeETag(scope)},
			{Name: "description", Value: typed},
		},
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

func (h *Handler) removeAPIScope(v *page.Visit) (web.Answer, error) {
	p, scope, err := h.apiScopeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	err = v.Allowed(p, access.ProjectUpdate)
	if err == nil {
		err = v.Confirmed("Check the box to remove the API scope.")
	}
	if err == nil {
		_, err = h.Projects.RemoveAPIScope(v.Ctx(), v.Who, p.ID, scope.Name)
	}
	if err == nil {
		return v.Done("api_scope_gone", apiScopesPath(p), scope.Name)
	}
	return h.refusedAPIScope(v, err, func(m *projects.APIScope, wrong *page.Errors) { v.Mark(m.Remove, wrong) })
}

// refusedAPIScope shows the API scope's page as it is now, with what mark adds to it.
func (h *Handler) refusedAPIScope(
	v *page.Visit, err error, mark func(*projects.APIScope, *page.Errors),
) (web.Answer, error) {
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, scope, err := h.apiScopeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return h.apiScopeWith(v, p, scope, func(m *projects.APIScope) { mark(m, wrong) }, wrong.Status)
}
