package pages

import (
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/page"
	"postern/handlers/web"
	rules "postern/service/projects"
	"postern/views/projects"
)

// A refused form keeps the revision that it was opened with. With a newer one, the next
// attempt would overwrite what was saved meanwhile.

type settingsForm struct{ revision, displayName string }

func (h *Handler) saveSettings(v *page.Visit) (web.Answer, error) {
	in := contract.ProjectUpdate{ProjectPath: projectIn(v), Condition: v.Condition()}
	v.Fill(&in.Body, "display_name")
	form := settingsForm{revision: in.IfMatch, displayName: *in.Body.DisplayName}
	_, err := h.Projects.Update(v.Ctx(), v.Who, in)
	return h.saved(v, err, "settings", v.Param("project"), form)
}

func (settingsForm) page() *configuredPage { return settingsPage }

func (f settingsForm) mark(m *projects.Configure, wrong *page.Errors) {
	m.General.Revision = f.revision
	m.General.DisplayName = wrong.Value("/display_name", f.displayName)
	m.General.Error = wrong.Rest()
}

func (f settingsForm) compare(m *projects.Conflict, p rules.Project) error {
	m.What, m.Action = "The display name", page.ProjectPath(p.Name)+"/settings"
	m.Rows = []projects.Difference{{Label: "Display name", Yours: f.displayName, Theirs: p.DisplayName}}
	m.Hidden = []projects.Pair{{Name: "revision", Value: p.SettingsETag}, {Name: "display_name", Value: f.displayName}}
	return nil
}

type accessForm struct {
	version, revision, mode, keyless, fallbackOwner string

	methods       []string
	issuers       []issuerForm
	introspection introspectionForm
}

// saveAccess saves the form, or does what one of its other buttons asks for.
func (h *Handler) saveAccess(v *page.Visit) (web.Answer, error) {
	form := accessForm{
		version:       v.Param("version"),
		revision:      v.Posted("revision"),
		mode:          v.Posted("mode"),
		keyless:       v.Posted("keyless"),
		fallbackOwner: strings.TrimSpace(v.Posted("fallback_owner")),
		methods:       v.Gin.Request.PostForm["methods"],
		issuers:       postedIssuers(v.Gin.Request.PostForm),
		introspection: postedIntrospection(v.Gin.Request.PostForm),
	}
	if do := v.Posted("do"); do != "" {
		return h.changeIssuers(v, form, do)
	}
	in := form.change().Of(v.Param("project"), form.version)
	in.Condition = v.Condition()
	var fallbackOwner *string
	if form.falls() {
		fallbackOwner = &form.fallbackOwner
	}
	_, err := h.Projects.UpdateAccess(v.Ctx(), v.Who, in, fallbackOwner)
	return h.saved(v, err, "access", v.Param("project"), form)
}

// change leaves out fields that the form hides: issuers and introspection without their method.
func (f accessForm) change() contract.VersionChange {
	methods := append([]string{}, f.methods...) // none chosen is an empty list, not an absent one
	out := contract.RequestsAuthChange{Mode: &f.mode, Methods: &methods, Keyless: &f.keyless}
	if slices.Contains(methods, string(snapshot.Opaque)) {
		out.Opaque = f.introspection.input()
	}
	if slices.Contains(methods, string(snapshot.JWT)) {
		out.JWT = &contract.JWT{AllowedPairs: kept(f.issuers)}
	}
	return contract.VersionChange{RequestsAuth: out}
}

func (f accessForm) falls() bool { return f.keyless == string(snapshot.OwnerFallback) }

func (accessForm) page() *configuredPage { return accessPage }

func (f accessForm) mark(m *projects.Configure, wrong *page.Errors) {
	for i := range m.Versions {
		if m.Versions[i].ID != f.version {
			continue
		}
		shown := &m.Versions[i].Access
		shown.Revision, shown.Mode, shown.Keyless = f.revision, f.mode, f.keyless
		shown.JWT = slices.Contains(f.methods, string(snapshot.JWT))
		shown.Issuers = issuerRows(f.version, f.issuers, wrong)
		shown.IssuersError = wrong.Take(issuersPointer)
		shown.Opaque = slices.Contains(f.methods, string(snapshot.Opaque))
		f.introspection.mark(&shown.Introspection, wrong, "/requests_auth/opaque")
		shown.APIKey = slices.Contains(f.methods, string(snapshot.APIKey))
		shown.FallbackOwner = wrong.Value("/fallback_owner", f.fallbackOwner)
		shown.ModeError = wrong.Take("/requests_auth/mode")
		shown.MethodsError = wrong.Take("/requests_auth/methods")
		shown.KeylessError = wrong.Take("/requests_auth/keyless")
		shown.Error = wrong.Rest()
	}
}

func (f accessForm) compare(m *projects.Conflict, p rules.Project) error {
	i := slices.IndexFunc(p.Versions, func(v rules.Version) bool { return v.ID == f.version })
	if i < 0 {
		return web.NotFound()
	}
	now := p.Versions[i]
	auth := now.RequestsAuth
	m.What, m.Action = "The access of version "+now.Name, accessAction(p, now)
	m.Rows = []projects.Difference{
		{Label: "Who can call", Yours: projects.ModeTitle(f.mode), Theirs: projects.ModeTitle(auth.Mode)},
		{Label: "Allowed methods", Yours: methodsText(f.methods), Theirs: methodsText(auth.Methods)},
		{Label: "Token issuers", Yours: issuerLines(kept(f.issuers)), Theirs: issuerLines(issuersOf(auth))},
		{
			Label:  "Introspection",
			Yours:  f.introspection.line(),
			Theirs: introspectionFormOf(auth.Opaque).line(),
		},
		{
			Label:  "A call without an API key",
			Yours:  projects.KeylessTitle(f.keyless),
			Theirs: projects.KeylessTitle(auth.Keyless),
		},
	}
	m.Hidden = []projects.Pair{
		{Name: "revision", Value: now.ETag},
		{Name: "mode", Value: f.mode},
		{Name: "keyless", Value: f.keyless},
	}
	m.Hidden = append(append(m.Hidden, issuerPairs(kept(f.issuers))...), f.introspection.pairs()...)
	for _, method := range f.methods {
		m.Hidden = append(m.Hidden, projects.Pair{Name: "methods", Value: method})
	}
	if f.falls() {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  "Fallback owner",
			Yours:  f.fallbackOwner,
			Theirs: p.FallbackOwner,
		})
		m.Hidden = append(m.Hidden, projects.Pair{Name: "fallback_owner", Value: f.fallbackOwner})
	}
	return nil
}

func methodsText(methods []string) string {
	if len(methods) == 0 {
		return "none"
	}
	var titles []string
	for _, method := range methods {
		titles = append(titles, projects.MethodTitle(method))
	}
	return strings.Join(titles, ", ")
}

type targetForm struct{ environment, revision, target string }

func (h *Handler) saveTarget(v *page.Visit) (web.Answer, error) {
	in := contract.EnvironmentUpdate{EnvironmentPath: environmentPathIn(v), Condition: v.Condition()}
	v.Fill(&in.Body, "target")
	form := targetForm{environment: in.Environment, revision: in.IfMatch, target: *in.Body.Target}
	_, err := h.Projects.UpdateEnvironment(v.Ctx(), v.Who, in)
	return h.saved(v, err, "target", v.Param("project"), form)
}

func (targetForm) page() *configuredPage { return overviewPage }

func (f targetForm) mark(m *projects.Configure, wrong *page.Errors) {
	for i := range m.Versions {
		for j := range m.Versions[i].Environments {
			if e := &m.Versions[i].Environments[j]; e.ID == f.environment {
				e.Revision, e.Target = f.revision, wrong.Value("/target", f.target)
				e.Error = wrong.Rest()
			}
		}
	}
}

func (f targetForm) compare(m *projects.Conflict, p rules.Project) error {
	for _, version := range p.Versions {
		for _, e := range version.Environments {
			if e.ID != f.environment {
				continue
			}
			m.What, m.Action = "The target of "+e.Name+" in version "+version.Name, targetAction(p, version, e)
			m.Rows = []projects.Difference{{Label: "Target", Yours: f.target, Theirs: e.Target}}
			m.Hidden = []projects.Pair{{Name: "revision", Value: e.ETag}, {Name: "target", Value: f.target}}
			return nil
		}
	}
	return web.NotFound()
}
