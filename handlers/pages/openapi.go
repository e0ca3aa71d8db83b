package pages

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func openAPIPath(p rules.Project, version string) string {
	return projectPath(p.Name) + "/versions/" + version + "/openapi"
}

func (h *Handler) showOpenAPI(v *visit) (web.Answer, error) {
	return h.openAPIWith(v, func(*projects.OpenAPI) {}, http.StatusOK)
}

// openAPIWith shows the document of a version with what mark adds to the page.
func (h *Handler) openAPIWith(v *visit, mark func(*projects.OpenAPI), status int) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	found, err := h.Projects.OpenAPI(v.ctx(), v.who, versionIn(v, p))
	none := fault.CodeOf(err) == "no_openapi_document"
	if err != nil && !none {
		return web.Answer{}, err
	}
	name := found.Of
	for _, version := range p.Versions {
		if version.ID == v.param("version") || name == "" && version.Name == v.param("version") {
			name = version.Name
		}
	}
	v.selectTeam(p.Team)
	path := openAPIPath(p, v.param("version"))
	title := "OpenAPI document of " + name
	m := projects.OpenAPI{
		Page:    v.shell(title, path, projectsCrumb(), projectCrumb(p), ui.Crumb{Text: title}),
		Version: name,
		URL:     path,
		BackURL: projectPath(p.Name),
	}
	mayChange := v.mayChange(p, access.ProjectUpdate)
	if !none {
		m.Facts, m.Search, m.Total = openAPIFacts(found), v.c.Query("q"), len(found.Operations)
		m.Warnings = noticesOf(found.Warnings)
		addOperations(&m, found, v.c.Query("page"))
		if mayChange {
			m.RulesURL = rulesPath(p, v.param("version")) + "?proposed=true#change"
			m.Remove = &ui.Confirmation{
				Action: path + "/remove",
				ID:     "remove-openapi",
				Verb:   "Remove",
				Kind:   "document",
				Name:   found.Title + " " + found.Version,
				Impact: append(h.callersOf(v, p, "", ""), "Requests are no longer checked against it, and callers "+
					"can no longer read it. Exports will contain a generated document again. Rules don't change."),
				Undo: "You can add a document again.",
			}
		}
	}
	if err := h.addOpenAPISettings(v, p, &m, mayChange, path); err != nil {
		return web.Answer{}, err
	}
	if mayChange {
		m.Form = &projects.OpenAPIForm{Action: path, Revision: found.ETag}
		mark(&m)
	}
	return web.Answer{Status: status, Page: projects.OpenAPIPage(m)}, nil
}

func openAPIFacts(found contract.OpenAPI) []ui.Fact {
	facts := []ui.Fact{
		{Label: "Title", Value: found.Title + " " + found.Version},
		{Label: "OpenAPI", Value: found.OpenAPI},
		{Label: "Operations", Value: strconv.Itoa(len(found.Operations))},
	}
	for i, server := range found.Servers {
		if i == maxServers {
			return append(facts, ui.Fact{Label: "Server", Value: fmt.Sprintf("and %d more", len(found.Servers)-i)})
		}
		facts = append(facts, ui.Fact{Label: "Server", Value: server.URL, Mono: true})
	}
	return facts
}

// maxServers bounds the servers that a page shows.
const maxServers = 20

func (h *Handler) saveOpenAPI(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err == nil {
		err = v.allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	in := contract.OpenAPIUpdate{VersionPath: versionIn(v, p), Condition: v.condition()}
	url, document := strings.TrimSpace(v.posted("openapi_url")), v.posted("openapi_document")
	switch {
	case url != "":
		in.SetURL(url)
	case strings.TrimSpace(document) != "":
		in.SetText(document)
	default:
		err = fault.InvalidField("/url", "required", "Enter the URL of a document, or the document itself.")
	}
	if err == nil {
		_, err = h.Projects.SetOpenAPI(v.ctx(), v.who, in)
	}
	if err == nil {
		return v.done("openapi", openAPIPath(p, v.param("version")), p.DisplayName)
	}
	shown := func(problem string, wrong *formErrors, status int) (web.Answer, error) {
		return h.openAPIWith(v, func(m *projects.OpenAPI) {
			f := m.Form
			f.URL, f.Error = wrong.value("/url", url), problem
			f.Document = ui.Value{Text: document}
			if problem == "" {
				f.Revision = in.IfMatch
				f.Document.Error = wrong.rest()
			}
		}, status)
	}
	if fault.KindOf(err) == fault.Stale {
		return shown("The document has changed since you opened this page. The current version is shown above. To "+
			"replace it with yours, save again.", &formErrors{}, http.StatusPreconditionFailed)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return shown("", wrong, wrong.status)
}

func (h *Handler) removeOpenAPI(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err == nil {
		err = v.allowed(p, access.ProjectUpdate)
	}
	if err == nil {
		err = v.confirmed("Tick the box to remove the document.")
	}
	if err == nil {
		_, err = h.Projects.RemoveOpenAPI(v.ctx(), v.who, contract.OpenAPIRemoval{VersionPath: versionIn(v, p)})
	}
	if wrong, ok := formErrorsIn(err); ok {
		return h.openAPIWith(v, func(m *projects.OpenAPI) {
			if m.Remove != nil {
				m.Remove.Error = wrong.rest()
			}
		}, wrong.status)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("openapi_gone", openAPIPath(p, v.param("version")), p.DisplayName)
}
