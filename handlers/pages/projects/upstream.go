package projects

import (
	"net/http"
	"net/url"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func upstreamHeadersPath(p rules.Project, version rules.Version, e contract.Environment) string {
	return environmentPath(p, version, e) + "/upstream-headers"
}

func (h *Handler) showUpstreamHeaders(v *page.Visit) (web.Answer, error) {
	return h.upstreamHeadersWith(v, "", &page.Errors{})
}

// upstreamHeadersWith shows the headers of an environment, with the form's name as typed.
func (h *Handler) upstreamHeadersWith(v *page.Visit, name string, wrong *page.Errors) (web.Answer, error) {
	at, err := h.placeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	headers, err := h.Projects.UpstreamHeaders(v.Ctx(), v.Who, at.environmentPath())
	if err != nil {
		return web.Answer{}, err
	}
	p, version, environment := at.project, at.version, *at.environment
	path := upstreamHeadersPath(p, version, environment)
	m := projects.UpstreamHeaders{
		Page: v.Shell("Upstream headers", path, page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Upstream headers"}),
		Title:   version.Name + "/" + environment.Name,
		Target:  environment.Target,
		BackURL: page.ProjectPath(p.Name) + "#" + version.ID,
	}
	may := v.MayChange(p, access.ProjectUpdate)
	for _, one := range headers.Items {
		row := projects.UpstreamHeaderRow{Name: one.Name, Since: one.UpdatedAt}
		if may {
			row.RemoveURL = path + "/" + url.PathEscape(one.Name)
		}
		m.Rows = append(m.Rows, row)
	}
	if may {
		m.Set = &projects.UpstreamHeaderForm{Action: path, Name: wrong.Value("/name", name)}
		m.Set.ValueError = wrong.Value("/value", "").Error
		m.Set.Error = wrong.Rest()
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.UpstreamHeadersPage(m)}, nil
}

func (h *Handler) setUpstreamHeader(v *page.Visit) (web.Answer, error) {
	in := contract.UpstreamHeaderUpdate{UpstreamHeaderPath: contract.UpstreamHeaderPath{
		EnvironmentPath: environmentPathIn(v), Name: strings.TrimSpace(v.Posted("name")),
	}}
	in.Body.Value = contract.Secret(v.Posted("secret_value"))
	_, err := h.Projects.SetUpstreamHeader(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("upstream_header", upstreamHeadersOf(v), in.Name)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.upstreamHeadersWith(v, in.Name, wrong)
}

func (h *Handler) showUpstreamHeader(v *page.Visit) (web.Answer, error) {
	return h.upstreamHeaderRemoval(v, &page.Errors{})
}

// upstreamHeaderRemoval asks before a header is removed: its value cannot be read back.
func (h *Handler) upstreamHeaderRemoval(v *page.Visit, wrong *page.Errors) (web.Answer, error) {
	at, err := h.placeOf(v)
	if err == nil {
		err = v.Allowed(at.project, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	header, err := h.Projects.UpstreamHeader(v.Ctx(), v.Who, contract.UpstreamHeaderPath{
		EnvironmentPath: at.environmentPath(), Name: v.Param("name"),
	})
	if err != nil {
		return web.Answer{}, err
	}
	p, version, environment := at.project, at.version, *at.environment
	list := upstreamHeadersPath(p, version, environment)
	path := list + "/" + url.PathEscape(header.Name)
	m := projects.UpstreamHeaderRemoval{
		Page: v.Shell("Remove "+header.Name, path, page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Upstream headers", URL: list}, ui.Crumb{Text: header.Name}),
		Name: header.Name,
		Facts: []ui.Fact{
			{Label: "Environment", Value: version.Name + "/" + environment.Name, Mono: true},
			{Label: "Upstream", Value: environment.Target, Mono: true},
			{Label: "Value last set", Time: header.UpdatedAt},
		},
		Confirm: ui.Confirmation{
			ID:     "header-remove",
			Action: path + "/remove",
			Verb:   "Remove",
			Kind:   "header",
			Name:   header.Name,
			Impact: append(h.callersOf(v, p, environment.ID, ""),
				"An upstream that checks the header will refuse calls without it."),
			Undo:  "The value can't be recovered. You can set the header again.",
			Error: wrong.Rest(),
		},
		BackURL: list,
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.UpstreamHeaderRemovalPage(m)}, nil
}

func (h *Handler) removeUpstreamHeader(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err == nil {
		err = v.Confirmed("Check the box to remove the header.")
	}
	if err == nil {
		_, err = h.Projects.RemoveUpstreamHeader(v.Ctx(), v.Who, contract.UpstreamHeaderPath{
			EnvironmentPath: environmentPathIn(v), Name: v.Param("name"),
		})
	}
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.upstreamHeaderRemoval(v, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("upstream_header_gone", upstreamHeadersOf(v), v.Param("name"))
}

func upstreamHeadersOf(v *page.Visit) string { return environmentHere(v) + "/upstream-headers" }
