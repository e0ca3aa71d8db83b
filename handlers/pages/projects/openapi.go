package projects

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func openAPIPath(p rules.Project, version string) string {
	return page.ProjectPath(p.Name) + "/versions/" + version + "/openapi"
}

func (h *Handler) showOpenAPI(v *page.Visit) (web.Answer, error) {
	return h.openAPIWith(v, func(*projects.OpenAPI) {}, http.StatusOK)
}

// openAPIWith shows the document of a version with what mark adds to the page.
func (h *Handler) openAPIWith(v *page.Visit, mark func(*projects.OpenAPI), status int) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	found, err := h.Projects.OpenAPI(v.Ctx(), v.Who, versionIn(v, p))
	none := fault.CodeOf(err) == "no_openapi_document"
	if err != nil && !none {
		return web.Answer{}, err
	}
	name := found.Of
	for _, version := range p.Versions {
		if version.ID == v.Param("version") || name == "" && version.Name == v.Param("version") {
			name = version.Name
		}
	}
	v.SelectTeam(p.Team)
	path := openAPIPath(p, v.Param("version"))
	title := "OpenAPI document for " + name
	m := projects.OpenAPI{
		Page:    v.Shell(title, path, page.ProjectsCrumb(), page.ProjectCrumb(p), ui.Crumb{Text: "OpenAPI"}),
		Version: name,
		URL:     path,
	}
	mayChange := v.MayChange(p, access.ProjectUpdate)
	if !none {
		m.Facts, m.Search, m.Total = openAPIFacts(found), v.Gin.Query("q"), len(found.Operations)
		m.Warnings = page.NoticesOf(found.Warnings)
		addOperations(&m, found, v.Gin.Query("page"))
		if mayChange {
			m.RulesURL = rulesPath(p, v.Param("version")) + "?proposed=true#change"
			m.Remove = &ui.Confirmation{
				Action: path + "/remove",
				ID:     "remove-openapi",
				Verb:   "Remove",
				Kind:   "document",
				Name:   found.Title + " " + found.Version,
				Impact: append(h.callersOf(v, p, "", ""), "Requests won't be validated against the document, and "+
					"callers won't be able to read it. Exports will contain a generated document again. Rules won't "+
					"change."),
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
		{Label: "Operations", Value: humanize.Comma(int64(len(found.Operations)))},
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

func (h *Handler) saveOpenAPI(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	in := contract.OpenAPIUpdate{VersionPath: versionIn(v, p), Condition: v.Condition()}
	url, document := strings.TrimSpace(v.Posted("openapi_url")), v.Posted("openapi_document")
	switch {
	case url != "":
		in.SetURL(url)
	case strings.TrimSpace(document) != "":
		in.SetText(document)
	default:
		err = fault.InvalidField("/url", "required", "Enter the URL of a document, or the document itself.")
	}
	if err == nil {
		_, err = h.Projects.SetOpenAPI(v.Ctx(), v.Who, in)
	}
	if err == nil {
		return v.Done("openapi", openAPIPath(p, v.Param("version")), p.DisplayName)
	}
	shown := func(problem string, wrong *page.Errors, status int) (web.Answer, error) {
		return h.openAPIWith(v, func(m *projects.OpenAPI) {
			f := m.Form
			f.URL, f.Error = wrong.Value("/url", url), problem
			f.Document = ui.Value{Text: document}
			if problem == "" {
				f.Revision = in.IfMatch
				f.Document.Error = wrong.Rest()
			}
		}, status)
	}
	if fault.KindOf(err) == fault.Stale {
		return shown("The document has changed since you opened this page. The current version is shown above. To "+
			"replace it with yours, save again.", &page.Errors{}, http.StatusPreconditionFailed)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return shown("", wrong, wrong.Status)
}

func (h *Handler) removeOpenAPI(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err == nil {
		err = v.Confirmed("Check the box to remove the document.")
	}
	if err == nil {
		_, err = h.Projects.RemoveOpenAPI(v.Ctx(), v.Who, contract.OpenAPIRemoval{VersionPath: versionIn(v, p)})
	}
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.openAPIWith(v, func(m *projects.OpenAPI) {
			if m.Remove != nil {
				m.Remove.Error = wrong.Rest()
			}
		}, wrong.Status)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("openapi_gone", openAPIPath(p, v.Param("version")), p.DisplayName)
}
