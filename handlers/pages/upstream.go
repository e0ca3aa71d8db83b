package pages

import (
	"net/http"
	"net/url"
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func upstreamHeadersPath(p rules.Project, version rules.Version, e contract.Environment) string {
	return environmentPath(p, version, e) + "/upstream-headers"
}

func (h *Handler) showUpstreamHeaders(v *visit) (web.Answer, error) {
	return h.upstreamHeadersWith(v, "", &formErrors{})
}

// upstreamHeadersWith shows the headers of an environment, with the form's name as typed.
func (h *Handler) upstreamHeadersWith(v *visit, name string, wrong *formErrors) (web.Answer, error) {
	at, err := h.placeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	headers, err := h.Projects.UpstreamHeaders(v.ctx(), v.who, at.environmentPath())
	if err != nil {
		return web.Answer{}, err
	}
	p, version, environment := at.project, at.version, *at.environment
	path := upstreamHeadersPath(p, version, environment)
	m := projects.UpstreamHeaders{
		Page: v.shell("Upstream headers", path, projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Upstream headers"}),
		Title:   version.Name + "/" + environment.Name,
		Target:  environment.Target,
		BackURL: projectPath(p.Name) + "#" + version.ID,
	}
	may := v.mayChange(p, access.ProjectUpdate)
	for _, one := range headers.Items {
		row := projects.UpstreamHeaderRow{Name: one.Name, Since: moment(one.UpdatedAt)}
		if may {
			row.RemoveURL = path + "/" + url.PathEscape(one.Name)
		}
		m.Rows = append(m.Rows, row)
	}
	if may {
		m.Set = &projects.UpstreamHeaderForm{Action: path, Name: wrong.value("/name", name)}
		m.Set.ValueError = wrong.value("/value", "").Error
		m.Set.Error = wrong.rest()
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: projects.UpstreamHeadersPage(m)}, nil
}

func environmentIn(p rules.Project, id string) (rules.Version, contract.Environment, bool) {
	for _, version := range p.Versions {
		for _, e := range version.Environments {
			if e.ID == id {
				return version, e, true
			}
		}
	}
	return rules.Version{}, contract.Environment{}, false
}

func (h *Handler) setUpstreamHeader(v *visit) (web.Answer, error) {
	in := contract.UpstreamHeaderUpdate{UpstreamHeaderPath: contract.UpstreamHeaderPath{
		EnvironmentPath: environmentPathIn(v), Name: strings.TrimSpace(v.posted("name")),
	}}
	in.Body.Value = contract.Secret(v.posted("secret_value"))
	_, err := h.Projects.SetUpstreamHeader(v.ctx(), v.who, in)
	if err == nil {
		return v.done("upstream_header", upstreamHeadersOf(v), in.Name)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.upstreamHeadersWith(v, in.Name, wrong)
}

func (h *Handler) showUpstreamHeader(v *visit) (web.Answer, error) {
	return h.upstreamHeaderRemoval(v, &formErrors{})
}

// upstreamHeaderRemoval asks before a header is removed: its value cannot be read back.
func (h *Handler) upstreamHeaderRemoval(v *visit, wrong *formErrors) (web.Answer, error) {
	at, err := h.placeOf(v)
	if err == nil {
		err = v.allowed(at.project, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	header, err := h.Projects.UpstreamHeader(v.ctx(), v.who, contract.UpstreamHeaderPath{
		EnvironmentPath: at.environmentPath(), Name: v.param("name"),
	})
	if err != nil {
		return web.Answer{}, err
	}
	p, version, environment := at.project, at.version, *at.environment
	list := upstreamHeadersPath(p, version, environment)
	path := list + "/" + url.PathEscape(header.Name)
	m := projects.UpstreamHeaderRemoval{
		Page: v.shell("Remove "+header.Name, path, projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Upstream headers", URL: list}, ui.Crumb{Text: header.Name}),
		Name: header.Name,
		Facts: []ui.Fact{
			{Label: "Environment", Value: version.Name + "/" + environment.Name, Mono: true},
			{Label: "Upstream", Value: environment.Target, Mono: true},
			{Label: "Value set", Value: moment(header.UpdatedAt)},
		},
		Confirm: ui.Confirmation{
			ID:     "header-remove",
			Action: path + "/remove",
			Verb:   "Remove",
			Kind:   "header",
			Name:   header.Name,
			Impact: append(h.callersOf(v, p, environment.ID, ""),
				"An upstream that compares the header will refuse calls without it."),
			Undo:  "The value can't be recovered. You can set the header again.",
			Error: wrong.rest(),
		},
		BackURL: list,
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: projects.UpstreamHeaderRemovalPage(m)}, nil
}

func (h *Handler) removeUpstreamHeader(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err == nil {
		err = v.allowed(p, access.ProjectUpdate)
	}
	if err == nil {
		err = v.confirmed("Tick the box to remove the header.")
	}
	if err == nil {
		_, err = h.Projects.RemoveUpstreamHeader(v.ctx(), v.who, contract.UpstreamHeaderPath{
			EnvironmentPath: environmentPathIn(v), Name: v.param("name"),
		})
	}
	if wrong, ok := formErrorsIn(err); ok {
		return h.upstreamHeaderRemoval(v, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("upstream_header_gone", upstreamHeadersOf(v), v.param("name"))
}

func upstreamHeadersOf(v *visit) string { return environmentHere(v) + "/upstream-headers" }
