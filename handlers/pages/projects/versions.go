package projects

import (
	"net/http"
	"net/url"
	"slices"
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

func versionsPath(p rules.Project) string { return page.ProjectPath(p.Name) + "/versions" }

func versionPath(p rules.Project, version rules.Version) string {
	return versionsPath(p) + "/" + version.ID
}

func environmentPath(p rules.Project, version rules.Version, e contract.Environment) string {
	return versionPath(p, version) + "/environments/" + e.ID
}

// projectIn is the project in the address.
func projectIn(v *page.Visit) contract.ProjectPath {
	return contract.ProjectPath{Project: v.Param("project")}
}

// environmentPathIn is the environment in the address.
func environmentPathIn(v *page.Visit) contract.EnvironmentPath {
	return contract.EnvironmentOf(v.Param("project"), v.Param("version"), v.Param("environment"))
}

// environmentHere returns the path of the environment in the address.
func environmentHere(v *page.Visit) string {
	return projectHere(v) + "/versions/" + url.PathEscape(v.Param("version")) + "/environments/" +
		url.PathEscape(v.Param("environment"))
}

// versionForm is the form that adds a version, as typed.
type versionForm struct{ contract.NewVersion }

func (h *Handler) createVersion(v *page.Visit) (web.Answer, error) {
	var form versionForm
	v.Fill(&form.NewVersion, "name", "copy_from")
	_, err := h.Projects.CreateVersion(v.Ctx(), v.Who, form.In(v.Param("project")))
	return h.saved(v, err, "version_made", form.Name, form)
}

// view offers every version to copy; the newest, which the rule copies by default, is last
// in the project's list unless the form says another one.
func (f versionForm) view(p rules.Project, wrong *page.Errors) *projects.VersionForm {
	m := &projects.VersionForm{
		Open:   wrong.Status != 0,
		Action: versionsPath(p),
		Name:   wrong.Value("/name", f.Name),
	}
	for i, version := range p.Versions {
		chosen := version.Name == f.CopyFrom || (f.CopyFrom == "" && i == len(p.Versions)-1)
		m.CopyFrom = append(m.CopyFrom, ui.Option{Value: version.Name, Title: version.Name, Chosen: chosen})
	}
	m.Error = wrong.Rest()
	return m
}

func (versionForm) page() *configuredPage { return overviewPage }

func (f versionForm) mark(m *projects.Configure, wrong *page.Errors) {
	open := *m.AddVersion
	open.Open, open.Name = true, wrong.Value("/name", f.Name)
	for i := range open.CopyFrom {
		open.CopyFrom[i].Chosen = open.CopyFrom[i].Value == f.CopyFrom
	}
	open.Error = wrong.Rest()
	m.AddVersion = &open
}

func (versionForm) compare(*projects.Conflict, rules.Project) error { return web.NotFound() }

// environmentForm is the form that adds an environment, as typed.
type environmentForm struct {
	contract.NewEnvironment

	version string
}

func (h *Handler) createEnvironment(v *page.Visit) (web.Answer, error) {
	form := environmentForm{version: v.Param("version")}
	v.Fill(&form.NewEnvironment, "name", "target")
	_, err := h.Projects.CreateEnvironment(v.Ctx(), v.Who, form.In(v.Param("project"), form.version))
	return h.saved(v, err, "environment_made", form.Name, form)
}

func (f environmentForm) view(p rules.Project, version rules.Version, wrong *page.Errors) *projects.EnvironmentForm {
	return &projects.EnvironmentForm{
		Open:   wrong.Status != 0,
		ID:     version.ID,
		Action: versionPath(p, version) + "/environments",
		Name:   wrong.Value("/name", f.Name),
		Target: f.targetValue(wrong),
		Error:  wrong.Rest(),
	}
}

func (f environmentForm) targetValue(wrong *page.Errors) ui.Value {
	return wrong.Target("/target", f.Target, "Add environment")
}

func (environmentForm) page() *configuredPage { return overviewPage }

func (f environmentForm) mark(m *projects.Configure, wrong *page.Errors) {
	for i := range m.Versions {
		version := &m.Versions[i]
		if version.ID != f.version && version.Name != f.version {
			continue
		}
		open := *version.AddEnvironment
		open.Open, open.Name, open.Target = true, wrong.Value("/name", f.Name), f.targetValue(wrong)
		open.Error = wrong.Rest()
		version.AddEnvironment = &open
	}
}

func (environmentForm) compare(*projects.Conflict, rules.Project) error { return web.NotFound() }

// place is the version in an address, or one of its environments.
type place struct {
	project     rules.Project
	version     rules.Version
	environment *contract.Environment // nil: the whole version
}

// placeOf finds what the address names.
func (h *Handler) placeOf(v *page.Visit) (at place, err error) {
	if at.project, err = h.Projects.Get(v.Ctx(), v.Who, v.Param("project")); err != nil {
		return at, err
	}
	v.SelectTeam(at.project.Team)
	ref := v.Param("version")
	i := slices.IndexFunc(at.project.Versions, func(version rules.Version) bool {
		return version.ID == ref || version.Name == ref
	})
	if i < 0 {
		return at, web.NotFound()
	}
	at.version = at.project.Versions[i]
	ref = v.Param("environment")
	if ref == "" {
		return at, nil
	}
	i = slices.IndexFunc(at.version.Environments, func(e contract.Environment) bool {
		return e.ID == ref || e.Name == ref
	})
	if i < 0 {
		return at, web.NotFound()
	}
	at.environment = &at.version.Environments[i]
	return at, nil
}

func (at place) path() string {
	if at.environment == nil {
		return versionPath(at.project, at.version)
	}
	return environmentPath(at.project, at.version, *at.environment)
}

func (at place) kind() string {
	if at.environment != nil {
		return "environment"
	}
	return "version"
}

// name is that of the environment or version.
func (at place) name() string {
	if at.environment != nil {
		return at.environment.Name
	}
	return at.version.Name
}

func (at place) versionPath() contract.VersionPath {
	return contract.VersionOf(at.project.ID, at.version.ID)
}

// environmentPath is that of a place with an environment.
func (at place) environmentPath() contract.EnvironmentPath {
	return contract.EnvironmentPath{VersionPath: at.versionPath(), Environment: at.environment.ID}
}

// callers returns what removing the place stops.
func (h *Handler) callers(v *page.Visit, at place) (contract.Callers, error) {
	if at.environment != nil {
		return h.Projects.EnvironmentCallers(v.Ctx(), v.Who, at.environmentPath())
	}
	return h.Projects.VersionCallers(v.Ctx(), v.Who, at.versionPath())
}

func (h *Handler) showPlace(v *page.Visit) (web.Answer, error) {
	at, err := h.placeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.placeModel(v, at)
	return web.Show(projects.PlacePage(m)), err
}

func (h *Handler) placeModel(v *page.Visit, at place) (projects.Place, error) {
	m := projects.Place{
		Kind:    "version",
		Heading: "Version " + at.version.Name,
		BackURL: page.ProjectPath(at.project.Name) + "#" + at.version.ID,
		Facts:   []ui.Fact{{Label: "Environments", Value: namesOf(at.version.Environments)}},
	}
	form := projects.RenameForm{Action: at.path(), Revision: at.version.ETag, Name: ui.Value{Text: at.version.Name}}
	form.Hint = "Renaming a version immediately changes the gateway URLs of all environments in it."
	if e := at.environment; e != nil {
		m.Kind, m.Heading = "environment", "Environment "+e.Name
		m.Facts = []ui.Fact{
			{Label: "Version", Value: at.version.Name},
			{Label: "Gateway URL", Value: e.URL, Mono: true},
		}
		m.Facts = append(m.Facts, targetFacts(e)...)
		form.Revision, form.Name, form.Slug = e.ETag, ui.Value{Text: e.Name}, true
		form.Hint = "Renaming an environment immediately changes its gateway URL. API keys limited to the " +
			"environment remain valid."
		var err error
		if m.Health, err = h.targetHealth(v, at); err != nil {
			return m, err
		}
		m.Timeouts = timeoutsModel(e.Upstream.Timeouts)
		m.Retries = retriesModel(e.Upstream.Retries)
		m.TLS = tlsModel(e)
		m.HTTP = httpModel(e.Upstream.Stated().HTTP)
		m.Host = &projects.HostHeader{Value: ui.Value{Text: *e.Upstream.Stated().HostHeader}}
	}
	m.Page = v.Shell(
		m.Heading,
		at.path(),
		page.ProjectsCrumb(),
		page.ProjectCrumb(at.project),
		ui.Crumb{Text: m.Heading},
	)
	stops, err := h.callers(v, at)
	if err != nil {
		return m, err
	}
	m.Removal = removalModel(stops)
	if !v.Who.May(at.project.Team, access.ProjectUpdate) {
		return m, nil
	}
	m.Rename = &form
	if e := at.environment; e != nil {
		m.Targets = targetsAsForm(e).view(&page.Errors{})
		m.Targets.Action, m.Targets.Revision = at.path()+"/targets", form.Revision
		m.Checks, m.Breaker = checksModel(e.Upstream.Checks), breakerModel(e.Upstream.Breaker)
		m.Checks.Action, m.Checks.Revision = at.path()+"/checks", form.Revision
		m.Breaker.Action, m.Breaker.Revision = at.path()+"/breaker", form.Revision
	}
	if m.Timeouts != nil {
		m.Timeouts.Action, m.Timeouts.Revision = at.path()+"/timeouts", form.Revision
	}
	if m.Retries != nil {
		m.Retries.Action, m.Retries.Revision = at.path()+"/retries", form.Revision
	}
	if m.HTTP != nil {
		m.HTTP.Action, m.HTTP.Revision = at.path()+"/http", form.Revision
	}
	if m.TLS != nil {
		m.TLS.Action, m.TLS.Revision = at.path()+"/tls", form.Revision
	}
	if m.Host != nil {
		m.Host.Action, m.Host.Revision = at.path()+"/host-header", form.Revision
	}
	if m.Removal.Last = at.lastText(); m.Removal.Last == "" {
		m.Removal.Confirm = at.confirmation(m.Kind, stops)
	}
	return m, nil
}

// lastText says why the place cannot be removed, "" if it can.
func (at place) lastText() string {
	switch {
	case at.environment == nil && len(at.project.Versions) == 1:
		return "This is the project's only version, so it can't be removed."
	case at.environment != nil && len(at.version.Environments) == 1:
		return "This is the only environment in version " + at.version.Name + ", so it can't be removed. Remove the " +
			"version instead."
	}
	return ""
}

func removalModel(stops contract.Callers) projects.Removal {
	m := projects.Removal{Since: page.Moment(stops.Since)}
	if stops.Calls > 0 {
		m.Total = page.CountText(stops.Calls, "call")
	}
	for _, caller := range stops.Items {
		m.Callers = append(m.Callers, projects.CallerRow{Owner: caller.Owner, Calls: humanize.Comma(caller.Calls)})
	}
	if more := stops.Owners - int64(len(stops.Items)); more > 0 {
		m.More = "And " + page.CountText(more, "more owner") + "."
	}
	return m
}

// confirmation asks before the place is removed: for its name if that stops something.
func (at place) confirmation(kind string, stops contract.Callers) *ui.Confirmation {
	c := &ui.Confirmation{
		ID:     "place-confirm",
		Action: at.path() + "/delete",
		Verb:   "Remove",
		Kind:   kind,
		Name:   at.name(),
	}
	c.Impact = []string{"Calls to this " + kind + " will get 404."}
	if stops.Calls > 0 {
		c.Impact = []string{"Calls from the callers listed above will get 404."}
	}
	if stops.Keys > 0 {
		c.Impact = append(c.Impact, "This will revoke "+page.CountText(stops.Keys, "API key")+
			" that can't be used anywhere else.")
	}
	if len(stops.Hosts) > 0 {
		c.Impact = append(c.Impact, "These custom domains will also be removed: "+strings.Join(stops.Hosts, ", ")+".")
	}
	if !stops.Idle() {
		c.Type = at.name()
	}
	return c
}

func namesOf(environments []contract.Environment) string {
	var names []string
	for _, e := range environments {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}

func (h *Handler) renamePlace(v *page.Visit) (web.Answer, error) {
	var name *string
	var err error
	if v.Param("environment") == "" {
		in := contract.VersionUpdate{
			VersionPath: contract.VersionOf(v.Param("project"), v.Param("version")), Condition: v.Condition(),
		}
		v.Fill(&in.Body, "name")
		name = in.Body.Name
		_, err = h.Projects.UpdateVersion(v.Ctx(), v.Who, in)
	} else {
		in := contract.EnvironmentUpdate{EnvironmentPath: environmentPathIn(v), Condition: v.Condition()}
		v.Fill(&in.Body, "name")
		name = in.Body.Name
		_, err = h.Projects.UpdateEnvironment(v.Ctx(), v.Who, in)
	}
	if err == nil {
		return v.Done("renamed", projectHere(v), *name)
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *page.Errors) {
		m.Rename.Name = wrong.Value("/name", *name)
		m.Rename.Error = wrong.Rest()
	})
}

func (h *Handler) removePlace(v *page.Visit) (web.Answer, error) {
	at, err := h.placeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	if err := v.Allowed(at.project, access.ProjectUpdate); err != nil {
		return web.Answer{}, err
	}
	var how contract.Removal
	if v.Posted("typed_name") != "" {
		err, how.Confirm = v.Named(at.kind(), at.name()), true
	} else {
		err = v.Confirmed("Check the box, or type the name, to confirm the removal.")
	}
	if err == nil {
		err = h.remove(v, at, how)
	}
	if err == nil {
		return v.Done("place_gone", page.ProjectPath(at.project.Name), at.name())
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *page.Errors) {
		v.Mark(m.Removal.Confirm, wrong)
	})
}

func (h *Handler) remove(v *page.Visit, at place, how contract.Removal) (err error) {
	if at.environment != nil {
		in := contract.EnvironmentRemoval{EnvironmentPath: at.environmentPath(), Removal: how}
		_, err = h.Projects.DeleteEnvironment(v.Ctx(), v.Who, in)
		return err
	}
	in := contract.VersionRemoval{VersionPath: at.versionPath(), Removal: how}
	_, err = h.Projects.DeleteVersion(v.Ctx(), v.Who, in)
	return err
}

// refusedPlace shows the page as it is now, with what mark adds to it.
func (h *Handler) refusedPlace(
	v *page.Visit, err error, mark func(*projects.Place, *page.Errors),
) (web.Answer, error) {
	wrong, ok := page.ErrorsIn(err)
	if fault.KindOf(err) == fault.Stale {
		wrong, ok = &page.Errors{
			Status: http.StatusPreconditionFailed,
			Public: "This page has changed since you opened it. It now shows the current state.",
		}, true
	}
	if !ok {
		return web.Answer{}, err
	}
	at, err := h.placeOf(v)
	if err == nil {
		err = v.Allowed(at.project, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.placeModel(v, at)
	if err != nil {
		return web.Answer{}, err
	}
	mark(&m, wrong)
	return web.Answer{Status: wrong.Status, Page: projects.PlacePage(m)}, nil
}

// callersOf says who called a project lately, or one of its environments (an id), or either
// with keys and users of a tenant (an id).
func (h *Handler) callersOf(v *page.Visit, p rules.Project, environment, tenant string) []string {
	c, err := h.Projects.Callers(v.Ctx(), v.Who, p.ID, environment, tenant)
	return v.Figure(page.CallersText(c), err)
}
