package pages

import (
	"net/http"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func versionsPath(p rules.Project) string { return projectPath(p.Name) + "/versions" }

func versionPath(p rules.Project, version rules.Version) string {
	return versionsPath(p) + "/" + version.ID
}

func environmentPath(p rules.Project, version rules.Version, e rules.Environment) string {
	return versionPath(p, version) + "/environments/" + e.ID
}

// versionForm is the form that adds a version, as typed.
type versionForm struct{ name, copyFrom string }

func (h *Handler) createVersion(v *visit) (web.Answer, error) {
	form := versionForm{name: strings.TrimSpace(v.posted("version")), copyFrom: v.posted("copy_from")}
	in := rules.VersionInput{Name: form.name, CopyFrom: form.copyFrom}
	_, err := h.Projects.CreateVersion(v.ctx(), v.who, v.param("project"), in)
	return h.saved(v, err, "version_made", form.name, form)
}

// view offers every version to copy; the newest, which the rule copies by default, is last
// in the project's list unless the form says another one.
func (f versionForm) view(p rules.Project, wrong *formErrors) *projects.VersionForm {
	m := &projects.VersionForm{
		Open:   wrong.status != 0,
		Action: versionsPath(p),
		Name:   wrong.value("/version", f.name),
	}
	for i, version := range p.Versions {
		chosen := version.Name == f.copyFrom || (f.copyFrom == "" && i == len(p.Versions)-1)
		m.CopyFrom = append(m.CopyFrom, ui.Option{Value: version.Name, Title: version.Name, Chosen: chosen})
	}
	m.Error = wrong.rest()
	return m
}

func (versionForm) page() *configuredPage { return overviewPage }

func (f versionForm) mark(m *projects.Configure, wrong *formErrors) {
	open := *m.AddVersion
	open.Open, open.Name = true, wrong.value("/version", f.name)
	for i := range open.CopyFrom {
		open.CopyFrom[i].Chosen = open.CopyFrom[i].Value == f.copyFrom
	}
	open.Error = wrong.rest()
	m.AddVersion = &open
}

func (versionForm) compare(*projects.Conflict, rules.Project) error { return web.NotFound() }

// environmentForm is the form that adds an environment, as typed.
type environmentForm struct{ version, name, target string }

func (h *Handler) createEnvironment(v *visit) (web.Answer, error) {
	form := environmentForm{
		version: v.param("version"),
		name:    strings.TrimSpace(v.posted("name")),
		target:  strings.TrimSpace(v.posted("target")),
	}
	in := rules.EnvironmentInput{Name: form.name, Target: form.target}
	_, err := h.Projects.CreateEnvironment(v.ctx(), v.who, v.param("project"), form.version, in)
	return h.saved(v, err, "environment_made", form.name, form)
}

func (f environmentForm) view(p rules.Project, version rules.Version, wrong *formErrors) *projects.EnvironmentForm {
	return &projects.EnvironmentForm{
		Open:   wrong.status != 0,
		ID:     version.ID,
		Action: versionPath(p, version) + "/environments",
		Name:   wrong.value("/name", f.name),
		Target: wrong.value("/target", f.target),
		Error:  wrong.rest(),
	}
}

func (environmentForm) page() *configuredPage { return overviewPage }

func (f environmentForm) mark(m *projects.Configure, wrong *formErrors) {
	for i := range m.Versions {
		version := &m.Versions[i]
		if version.ID != f.version && version.Name != f.version {
			continue
		}
		open := *version.AddEnvironment
		open.Open, open.Name, open.Target = true, wrong.value("/name", f.name), wrong.value("/target", f.target)
		open.Error = wrong.rest()
		version.AddEnvironment = &open
	}
}

func (environmentForm) compare(*projects.Conflict, rules.Project) error { return web.NotFound() }

// place is the version in an address, or one of its environments.
type place struct {
	project     rules.Project
	version     rules.Version
	environment *rules.Environment // nil: the whole version
}

// placeOf finds what the address names.
func (h *Handler) placeOf(v *visit) (at place, err error) {
	if at.project, err = h.Projects.Get(v.ctx(), v.who, v.param("project")); err != nil {
		return at, err
	}
	v.selectTeam(at.project.Team)
	ref := v.param("version")
	i := slices.IndexFunc(at.project.Versions, func(version rules.Version) bool {
		return version.ID == ref || version.Name == ref
	})
	if i < 0 {
		return at, web.NotFound()
	}
	at.version = at.project.Versions[i]
	ref = v.param("environment")
	if ref == "" {
		return at, nil
	}
	i = slices.IndexFunc(at.version.Environments, func(e rules.Environment) bool {
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

func (at place) removal() rules.RemovalInput {
	in := rules.RemovalInput{Version: at.version.ID}
	if at.environment != nil {
		in.Environment = at.environment.ID
	}
	return in
}

func (h *Handler) showPlace(v *visit) (web.Answer, error) {
	at, err := h.placeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.placeModel(v, at)
	return web.Show(projects.PlacePage(m)), err
}

func (h *Handler) placeModel(v *visit, at place) (projects.Place, error) {
	m := projects.Place{
		Kind:    "version",
		Heading: "Version " + at.version.Name,
		BackURL: projectPath(at.project.Name) + "#" + at.version.ID,
		Facts:   []ui.Fact{{Label: "Environments", Value: namesOf(at.version.Environments)}},
	}
	form := projects.RenameForm{Action: at.path(), Revision: at.version.ETag, Name: ui.Value{Text: at.version.Name}}
	form.Hint = "The gateway URLs of its environments change immediately."
	if e := at.environment; e != nil {
		m.Kind, m.Heading = "environment", "Environment "+e.Name
		m.Facts = []ui.Fact{
			{Label: "Version", Value: at.version.Name},
			{Label: "Gateway URL", Value: h.Web.Config.Address(e.Project, e.Version, e.Name), Mono: true},
			{Label: "Forwards to", Value: e.Target, Mono: true},
		}
		form.Revision, form.Name = e.ETag, ui.Value{Text: e.Name}
		form.Hint = "Its gateway URL changes immediately. API keys that are limited to it stay valid."
	}
	m.Page = v.shell(m.Heading, at.path(), projectsCrumb(), projectCrumb(at.project), ui.Crumb{Text: m.Heading})
	stops, err := h.Projects.Removal(v.ctx(), v.who, at.project.ID, at.removal())
	if err != nil {
		return m, err
	}
	m.Removal = removalModel(stops)
	if !v.who.May(at.project.Team, access.ProjectUpdate) {
		return m, nil
	}
	m.Rename = &form
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
		return "This is the only environment of version " + at.version.Name + ", so you can only remove the whole " +
			"version."
	}
	return ""
}

func removalModel(stops rules.Removal) projects.Removal {
	m := projects.Removal{Since: stops.Since.Format("15:04 MST")}
	if stops.Calls > 0 {
		m.Total = countText(stops.Calls, "call")
	}
	for _, caller := range stops.Callers {
		m.Callers = append(m.Callers, projects.CallerRow{Owner: caller.Owner, Calls: humanize.Comma(caller.Calls)})
	}
	if more := stops.Owners - int64(len(stops.Callers)); more > 0 {
		m.More = "And " + countText(more, "more owner") + "."
	}
	return m
}

// confirmation asks before the place is removed: for its name if that stops something.
func (at place) confirmation(kind string, stops rules.Removal) *ui.Confirmation {
	c := &ui.Confirmation{
		ID:     "place-confirm",
		Action: at.path() + "/delete",
		Verb:   "Remove",
		Kind:   kind,
		Name:   at.name(),
	}
	c.Impact = []string{"No calls since " + stops.Since.Format("15:04 MST") + "."}
	if stops.Calls > 0 {
		c.Impact = []string{"Calls like those above will get 404."}
	}
	if stops.Keys > 0 {
		c.Impact = append(c.Impact, "Removing it revokes "+countText(stops.Keys, "API key")+" with no other use.")
	}
	if len(stops.Hosts) > 0 {
		c.Impact = append(c.Impact, "These custom domains are removed with it: "+strings.Join(stops.Hosts, ", ")+".")
	}
	if !stops.Idle() {
		c.Type = at.name()
	}
	return c
}

func countText(n int64, one string) string {
	return someText(n) + " " + english.PluralWord(int(n), one, "")
}

// someText returns a number that was counted up to models.MaxTotal+1.
func someText(n int64) string {
	if n == models.MaxTotal+1 {
		return "more than " + humanize.Comma(models.MaxTotal)
	}
	return humanize.Comma(n)
}

func namesOf(environments []rules.Environment) string {
	var names []string
	for _, e := range environments {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}

func (h *Handler) renamePlace(v *visit) (web.Answer, error) {
	name, revision := strings.TrimSpace(v.posted("name")), v.posted("revision")
	project, environment := v.param("project"), v.param("environment")
	var err error
	if environment == "" {
		change := rules.AccessChange{Name: &name}
		_, err = h.Projects.UpdateAccess(v.ctx(), v.who, project, v.param("version"), revision, change)
	} else {
		change := rules.EnvironmentChange{Name: &name}
		_, err = h.Projects.UpdateEnvironment(v.ctx(), v.who, project, environment, revision, change)
	}
	if err == nil {
		return v.done("renamed", projectPath(project), name)
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *formErrors) {
		m.Rename.Name = wrong.value("/name", name)
		m.Rename.Error = wrong.rest()
	})
}

func (h *Handler) removePlace(v *visit) (web.Answer, error) {
	at, err := h.placeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	if err := v.allowed(at.project, access.ProjectUpdate); err != nil {
		return web.Answer{}, err
	}
	in := at.removal()
	if v.posted("typed_name") != "" {
		err, in.Confirmed = v.named(at.kind(), at.name()), true
	} else {
		err = v.confirmed("Tick the box, or type the name, to confirm the removal.")
	}
	if err == nil {
		err = h.Projects.Remove(v.ctx(), v.who, at.project.ID, in)
	}
	if err == nil {
		return v.done("place_gone", projectPath(at.project.Name), at.name())
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *formErrors) {
		v.mark(m.Removal.Confirm, wrong)
	})
}

// refusedPlace shows the page as it is now, with what mark adds to it.
func (h *Handler) refusedPlace(
	v *visit, err error, mark func(*projects.Place, *formErrors),
) (web.Answer, error) {
	wrong, ok := formErrorsIn(err)
	if fault.KindOf(err) == fault.Stale {
		wrong, ok = &formErrors{
			status: http.StatusPreconditionFailed,
			public: "This was changed after you opened the page. The page now shows the current state.",
		}, true
	}
	if !ok {
		return web.Answer{}, err
	}
	at, err := h.placeOf(v)
	if err == nil {
		err = v.allowed(at.project, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.placeModel(v, at)
	if err != nil {
		return web.Answer{}, err
	}
	mark(&m, wrong)
	return web.Answer{Status: wrong.status, Page: projects.PlacePage(m)}, nil
}
