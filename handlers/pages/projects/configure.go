package projects

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// configuredPage is one of the pages that show and change the settings of a project.
type configuredPage struct {
	title string // "" is the project's name
	path  func(v *page.Visit) string
	fill  func(h *Handler, v *page.Visit, p rules.Project, m *projects.Configure) error
	show  func(projects.Configure) templ.Component
}

// The pages of a project's settings.
var (
	overviewPage = &configuredPage{"", projectHere, (*Handler).fillOverview, projects.OverviewPage}
	accessPage   = &configuredPage{"Access", accessHere, (*Handler).fillAccess, projects.AccessPage}
	limitsPage   = &configuredPage{"Limits and CORS", projectPage("/limits"), (*Handler).fillLimits,
		projects.LimitsPage}
	settingsPage = &configuredPage{"Settings", projectPage("/settings"), (*Handler).fillSettings, projects.SettingsPage}
)

func projectHere(v *page.Visit) string { return page.ProjectPath(v.Param("project")) }

func projectPage(shown string) func(*page.Visit) string {
	return func(v *page.Visit) string { return projectHere(v) + shown }
}

// accessHere returns the path of the access page of the version in the address.
func accessHere(v *page.Visit) string {
	return projectHere(v) + "/versions/" + url.PathEscape(v.Param("version")) + "/access"
}

// handler serves the page.
func (on *configuredPage) handler(h *Handler) page.Handler {
	return func(v *page.Visit) (web.Answer, error) {
		p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
		if err != nil {
			return web.Answer{}, err
		}
		m, err := h.configuration(v, p, on)
		if err != nil {
			return web.Answer{}, err
		}
		return web.Show(on.show(m)), nil
	}
}

// showOverview shows a project's addresses and targets. Its page had all settings before;
// addresses of its list of keys lead to the page of keys.
func (h *Handler) showOverview(v *page.Visit) (web.Answer, error) {
	for name := range v.Gin.Request.URL.Query() {
		if strings.HasPrefix(name, "keys_") {
			to := projectHere(v) + "/keys?" + v.Gin.Request.URL.RawQuery
			return web.Answer{Status: http.StatusMovedPermanently, To: to}, nil
		}
	}
	return overviewPage.handler(h)(v)
}

// configuration is the content of a settings page.
func (h *Handler) configuration(v *page.Visit, p rules.Project, on *configuredPage) (projects.Configure, error) {
	m := page.ConfigureOf(v, p, on.title, on.path(v))
	if err := on.fill(h, v, p, &m); err != nil {
		return m, err
	}
	if !v.MayChange(p, access.ProjectUpdate) {
		m.RemoveActions()
	}
	return m, nil
}

func (h *Handler) fillOverview(v *page.Visit, p rules.Project, m *projects.Configure) (err error) {
	found, err := h.Projects.Warnings(v.Ctx(), v.Who, p.ID)
	if err != nil {
		return err
	}
	m.Warnings = accessNotices(p, found)
	for _, version := range p.Versions {
		m.Versions = append(m.Versions, h.versionSection(p, version))
	}
	if m.Overview, err = h.overview(v, p); err != nil {
		return err
	}
	if v.MayChange(p, access.KeyCreate) {
		m.NewKeyURL = page.KeysPath(p) + "?" + page.CreateOpen + "=true"
	}
	m.AddVersion = versionForm{}.view(p, &page.Errors{})
	return nil
}

func (h *Handler) fillAccess(v *page.Visit, p rules.Project, m *projects.Configure) error {
	for _, version := range p.Versions {
		if ref := v.Param("version"); version.ID == ref || version.Name == ref {
			m.Versions = []projects.Version{h.versionSection(p, version)}
			return nil
		}
	}
	return web.NotFound()
}

func (h *Handler) fillLimits(v *page.Visit, p rules.Project, m *projects.Configure) (err error) {
	m.Limits = limitsSection(p)
	m.CORS, err = h.corsSection(v, p)
	return err
}

func (h *Handler) fillSettings(v *page.Visit, p rules.Project, m *projects.Configure) (err error) {
	m.General = projects.General{
		Name:        p.Name,
		Action:      page.ProjectPath(p.Name) + "/settings",
		Revision:    p.SettingsETag,
		DisplayName: ui.Value{Text: p.DisplayName},
	}
	if m.Product, err = h.productSection(v, p); err != nil {
		return err
	}
	m.SigningURL = callSigningPath(p)
	m.Move, err = h.moveSection(v, p)
	return err
}

func (h *Handler) versionSection(p rules.Project, version rules.Version) projects.Version {
	auth := version.RequestsAuth
	out := projects.Version{
		ID:         version.ID,
		Name:       version.Name,
		AccessURL:  accessAction(p, version),
		ExplainURL: page.ExplainPath(p) + "?version=" + url.QueryEscape(version.Name),
		Access: projects.Access{
			Action:        accessAction(p, version),
			Revision:      version.ETag,
			RequestsAuth:  auth,
			KeyPlaces:     keyPlaceRows(version.ID, keyPlacesAsForm(auth.APIKey), &page.Errors{}),
			SendMetadata:  auth.SendsMetadata(),
			Issuers:       issuerRows(version.ID, issuersAsForm(auth.Issuers()), &page.Errors{}),
			Introspection: introspectionOf(auth.Opaque),
			FallbackOwner: ui.Value{Text: p.FallbackOwner},
		},
		Ranges: rangesSection(p, version),

		ManageURL:      versionPath(p, version),
		AddEnvironment: environmentForm{}.view(p, version, &page.Errors{}),
	}
	for _, e := range version.Environments {
		action := targetAction(p, version, e)
		if len(e.Upstream.Targets) > 0 {
			action = "" // the form would replace all targets by one
		}
		out.Environments = append(out.Environments, projects.Environment{
			ID:       e.ID,
			Name:     e.Name,
			Action:   action,
			URL:      e.URL,
			Revision: e.ETag,
			Target:   ui.Value{Text: e.Target},
			Forwards: forwardsTo(e),

			ManageURL:      environmentPath(p, version, e),
			CheckAction:    targetCheckPath(p, version, e),
			HeadersURL:     upstreamHeadersPath(p, version, e),
			CertificateURL: clientCertificatePath(p, version, e),
			TimeoutsURL:    environmentPath(p, version, e) + "#timeouts",
			TargetsURL:     environmentPath(p, version, e),
		})
	}
	return out
}

func accessAction(p rules.Project, version rules.Version) string {
	return page.ProjectPath(p.Name) + "/versions/" + version.ID + "/access"
}

func targetAction(p rules.Project, version rules.Version, e contract.Environment) string {
	return environmentPath(p, version, e) + "/target"
}

// configurationForm is one of the forms on these pages: which page it is on, how the page
// looks when it is refused, and how it compares with what was saved since.
type configurationForm interface {
	page() *configuredPage
	mark(*projects.Configure, *page.Errors)
	compare(*projects.Conflict, rules.Project) error
}

// saved answers a form. Success redirects to the form's page, a mistake shows the page again with what was typed, and a
// lost update shows both states. name is the name in the flash.
func (h *Handler) saved(
	v *page.Visit, err error, flash, name string, form configurationForm,
) (web.Answer, error) {
	if err == nil {
		return v.Done(flash, form.page().path(v), name)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.conflict(v, form)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.configuration(v, p, form.page())
	if err != nil {
		return web.Answer{}, err
	}
	form.mark(&m, wrong)
	return web.Answer{Status: wrong.Status, Page: form.page().show(m)}, nil
}

func (h *Handler) conflict(v *page.Visit, form configurationForm) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	path := form.page().path(v)
	m := projects.Conflict{
		Page:    v.Shell("Changed since you opened this page", path, page.ProjectsCrumb(), page.ProjectCrumb(p)),
		BackURL: path,
	}
	if err := form.compare(&m, p); err != nil {
		return web.Answer{}, err
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

func (h *Handler) corsSection(v *page.Visit, p rules.Project) (ui.CORS, error) {
	m := ui.CORS{
		Action: page.ProjectPath(p.Name) + "/cors",
		Hint: "Browsers let pages from these origins call this project (CORS). Postern answers preflights before it " +
			"checks credentials. If you don't list any origins, your upstreams handle CORS.",
		Apps: "project's",
	}
	tenants, err := h.Projects.CORSOverrides(v.Ctx(), v.Who, p.ID)
	for i, t := range tenants {
		if i == maxOverrides {
			m.MoreOverrides = len(tenants) - i
			break
		}
		m.Overrides = append(m.Overrides, ui.Link{URL: page.TenantPath(t.ID), Text: t.DisplayName})
	}
	page.CORSFormOf(p.CORS).Fill(&m, p.CORS.FromApps, &page.Errors{})
	return m, err
}

// projectCORS is the form for the cross-origin calls of a project.
type projectCORS struct{ posted page.CORSForm }

func (projectCORS) page() *configuredPage { return limitsPage }

func (f projectCORS) mark(m *projects.Configure, wrong *page.Errors) {
	f.posted.Fill(&m.CORS, m.CORS.FromApps, wrong)
}

func (f projectCORS) compare(m *projects.Conflict, p rules.Project) error {
	m.What, m.Action = "The CORS settings", page.ProjectPath(p.Name)+"/cors"
	f.posted.CompareWith(m, p.CORS)
	return nil
}

func (h *Handler) saveCORS(v *page.Visit) (web.Answer, error) {
	form := page.PostedCORS(v)
	_, err := h.Projects.SetCORS(v.Ctx(), v.Who, contract.CORSUpdate{
		ProjectPath: contract.ProjectPath{Project: v.Param("project")},
		Condition:   contract.Condition{IfMatch: form.Revision},
		Body:        form.Value(),
	})
	return h.saved(v, err, "cors", v.Param("project"), projectCORS{form})
}

// maxOverrides is how many tenants with their own settings a project's page names.
const maxOverrides = 20
