package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"postern/handlers/web"
	"postern/platform/secrets"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func upstreamHeadersPath(p rules.Project, e rules.Environment) string {
	return targetAction(p, e) + "/upstream-headers"
}

func (h *Handler) showUpstreamHeaders(v *visit) (web.Answer, error) {
	return h.upstreamHeadersWith(v, "", &formErrors{})
}

// upstreamHeadersWith shows the headers of an environment, with the form's name as typed.
func (h *Handler) upstreamHeadersWith(v *visit, name string, wrong *formErrors) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	version, environment, ok := environmentIn(p, v.param("environment"))
	if !ok {
		return web.Answer{}, web.NotFound()
	}
	headers, err := h.Projects.UpstreamHeaders(v.ctx(), v.who, p.ID, environment.ID)
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	path := upstreamHeadersPath(p, environment)
	m := projects.UpstreamHeaders{
		Page: v.shell("Upstream headers", path, projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Upstream headers"}),
		Title:   version.Name + "/" + environment.Name,
		Target:  environment.Target,
		BackURL: projectPath(p.Name) + "#" + version.ID,
	}
	may := v.mayChange(p, access.ProjectUpdate)
	for _, one := range headers {
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

func environmentIn(p rules.Project, id string) (rules.Version, rules.Environment, bool) {
	for _, version := range p.Versions {
		for _, e := range version.Environments {
			if e.ID == id {
				return version, e, true
			}
		}
	}
	return rules.Version{}, rules.Environment{}, false
}

func (h *Handler) setUpstreamHeader(v *visit) (web.Answer, error) {
	name := strings.TrimSpace(v.posted("name"))
	_, err := h.Projects.SetUpstreamHeader(
		v.ctx(), v.who, v.param("project"), v.param("environment"), name, secrets.Given(v.posted("secret_value")),
	)
	if err == nil {
		return v.done("upstream_header", upstreamHeadersOf(v), name)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.upstreamHeadersWith(v, name, wrong)
}

func (h *Handler) showUpstreamHeader(v *visit) (web.Answer, error) {
	return h.upstreamHeaderRemoval(v, &formErrors{})
}

// upstreamHeaderRemoval asks before a header is removed: its value cannot be read back.
func (h *Handler) upstreamHeaderRemoval(v *visit, wrong *formErrors) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err == nil {
		err = v.allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	version, environment, ok := environmentIn(p, v.param("environment"))
	if !ok {
		return web.Answer{}, web.NotFound()
	}
	headers, err := h.Projects.UpstreamHeaders(v.ctx(), v.who, p.ID, environment.ID)
	if err != nil {
		return web.Answer{}, err
	}
	i := slices.IndexFunc(headers, func(one rules.UpstreamHeader) bool {
		return strings.EqualFold(one.Name, v.param("name"))
	})
	if i < 0 {
		return web.Answer{}, web.NotFound()
	}
	v.selectTeam(p.Team)
	list := upstreamHeadersPath(p, environment)
	path := list + "/" + url.PathEscape(headers[i].Name)
	m := projects.UpstreamHeaderRemoval{
		Page: v.shell("Remove "+headers[i].Name, path, projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Upstream headers", URL: list}, ui.Crumb{Text: headers[i].Name}),
		Name: headers[i].Name,
		Facts: []ui.Fact{
			{Label: "Environment", Value: version.Name + "/" + environment.Name, Mono: true},
			{Label: "Upstream", Value: environment.Target, Mono: true},
			{Label: "Value set", Value: moment(headers[i].UpdatedAt)},
		},
		Confirm: ui.Confirmation{
			ID:     "header-remove",
			Action: path + "/remove",
			Verb:   "Remove",
			Kind:   "header",
			Name:   headers[i].Name,
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
		err = h.Projects.RemoveUpstreamHeader(v.ctx(), v.who, p.ID, v.param("environment"), v.param("name"))
	}
	if wrong, ok := formErrorsIn(err); ok {
		return h.upstreamHeaderRemoval(v, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("upstream_header_gone", upstreamHeadersOf(v), v.param("name"))
}

func upstreamHeadersOf(v *visit) string {
	return projectPath(v.param("project")) + "/environments/" + url.PathEscape(v.param("environment")) +
		"/upstream-headers"
}
