package pages

import (
	"net/http"
	"net/url"
	"slices"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// configure shows a project's settings.
func (h *Handler) configure(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.configuration(v, p)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.ConfigurePage(m)), nil
}

// configuration is the settings page of a project.
func (h *Handler) configuration(v *visit, p rules.Project) (m projects.Configure, err error) {
	v.selectTeam(p.Team)
	path := projectPath(p.Name)
	m = projects.Configure{
		Page: v.shell(p.DisplayName, path, projectsCrumb(), projectCrumb(p)),
		Head: v.headOf(p),
		General: projects.General{
			Action:      path + "/settings",
			Revision:    p.SettingsETag,
			DisplayName: ui.Value{Text: p.DisplayName},
		},
	}
	if m.Warnings, err = warningTexts(h.Projects.Warnings(v.ctx(), v.who, p.ID)); err != nil {
		return m, err
	}
	m.Limits, m.CORS = limitsSection(p), corsSection(p)
	if m.Product, err = h.productSection(v, p); err != nil {
		return m, err
	}
	for _, version := range p.Versions {
		m.Versions = append(m.Versions, h.versionSection(p, version))
	}
	m.AddVersion = versionForm{}.view(p, &formErrors{})
	if !v.mayChange(p, access.ProjectUpdate) {
		m.ReadOnly()
	}
	if m.Move, err = h.moveSection(v, p); err != nil {
		return m, err
	}
	m.Keys, err = h.keySection(v, p)
	return m, err
}

func (v *visit) headOf(p rules.Project) projects.Head {
	return projects.Head{
		Name:        p.Name,
		DisplayName: p.DisplayName,
		Access:      accessBadge(p.Versions),
		HistoryURL:  v.historyOf(p, ""),
		Frozen:      frozenText(p),
		Deleted:     deletedText(p),
		DeleteURL:   deletePath(p),
	}
}

func frozenText(p rules.Project) string {
	if p.Frozen == nil {
		return ""
	}
	return "Taken down by the operators on " + moment(p.Frozen.Since) + ". All calls are answered 403. Reason: " +
		p.Frozen.Reason + " You can still export the project."
}

func deletedText(p rules.Project) string {
	if p.Deleted == nil {
		return ""
	}
	return "Deleted on " + moment(p.Deleted.Since) + ". All calls are answered 410. The project can be exported, and " +
		"restored until " + moment(p.Deleted.PurgeAt) + "."
}

func (h *Handler) versionSection(p rules.Project, version rules.Version) projects.Version {
	out := projects.Version{
		ID:       version.ID,
		Name:     version.Name,
		RulesURL: rulesPath(p, version.ID),

		TransformsURL: transformsPath(p, version.ID),
		OpenAPIURL:    openAPIPath(p, version.ID),
		ExplainURL:    explainPath(p) + "?version=" + url.QueryEscape(version.Name),
		Access: projects.Access{
			Action:        accessAction(p, version),
			Revision:      version.ETag,
			Mode:          version.Mode,
			APIKey:        slices.Contains(version.Methods, string(snapshot.APIKey)),
			JWT:           slices.Contains(version.Methods, string(snapshot.JWT)),
			Issuers:       ui.Value{Text: issuerLines(version.Issuers)},
			Keyless:       version.Keyless,
			Opaque:        slices.Contains(version.Methods, string(snapshot.Opaque)),
			Endpoint:      ui.Value{Text: introspectionLine(version.Opaque)},
			HasSecret:     version.Opaque != nil && version.Opaque.HasSecret,
			FallbackOwner: ui.Value{Text: p.FallbackOwner},
		},
		Ranges: rangesSection(p, version),

		ManageURL:      versionPath(p, version),
		AddEnvironment: environmentForm{}.view(p, version, &formErrors{}),
	}
	for _, e := range version.Environments {
		out.Environments = append(out.Environments, projects.Environment{
			ID:       e.ID,
			Name:     e.Name,
			Action:   targetAction(p, e),
			URL:      h.Web.Config.Address(p.Name, version.Name, e.Name),
			Revision: e.ETag,
			Target:   ui.Value{Text: e.Target},

			ManageURL:      environmentPath(p, version, e),
			HeadersURL:     upstreamHeadersPath(p, e),
			CertificateURL: clientCertificatePath(p, e),
			SigningURL:     callSigningPath(p),
		})
	}
	return out
}

func accessAction(p rules.Project, version rules.Version) string {
	return projectPath(p.Name) + "/versions/" + version.ID + "/access"
}

func targetAction(p rules.Project, e rules.Environment) string {
	return projectPath(p.Name) + "/environments/" + e.ID
}

// configurationForm is one of the forms on the page: how the page looks when it is
// refused, and how it compares with what was saved meanwhile.
type configurationForm interface {
	mark(*projects.Configure, *formErrors)
	compare(*projects.Conflict, rules.Project) error
}

// saved answers a form. Success redirects to the page, a mistake shows the page again with
// what was typed, and a lost update shows both states.
func (h *Handler) saved(v *visit, err error, flash string, form configurationForm) (web.Answer, error) {
	if err == nil {
		return v.done(flash, projectPath(v.param("project")))
	}
	if fault.KindOf(err) == fault.Stale {
		return h.conflict(v, form)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err == nil {
		err = v.allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.configuration(v, p)
	if err != nil {
		return web.Answer{}, err
	}
	form.mark(&m, wrong)
	return web.Answer{Status: wrong.status, Page: projects.ConfigurePage(m)}, nil
}

func (h *Handler) conflict(v *visit, form configurationForm) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	path := projectPath(p.Name)
	m := projects.Conflict{Page: v.shell("Changed meanwhile", path, projectsCrumb(), projectCrumb(p)), BackURL: path}
	if err := form.compare(&m, p); err != nil {
		return web.Answer{}, err
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}
