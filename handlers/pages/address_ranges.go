package pages

import (
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func rangesAction(p rules.Project, version rules.Version) string {
	return projectPath(p.Name) + "/versions/" + version.ID + "/addresses"
}

func rangesSection(p rules.Project, version rules.Version) projects.Ranges {
	return projects.Ranges{
		Action:   rangesAction(p, version),
		Revision: version.ETag,
		Allow:    ui.Value{Text: strings.Join(version.IP.Allow, "\n")},
		Deny:     ui.Value{Text: strings.Join(version.IP.Deny, "\n")},
	}
}

// lines returns the lines of a text field, trimmed, without empty ones.
func lines(text string) []string {
	out := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

type rangesForm struct{ version, revision, allow, deny string }

func (h *Handler) saveRanges(v *visit) (web.Answer, error) {
	form := rangesForm{
		version:  v.param("version"),
		revision: v.posted("revision"),
		allow:    v.posted("ip_allow"),
		deny:     v.posted("ip_deny"),
	}
	allow, deny := lines(form.allow), lines(form.deny)
	change := contract.VersionChange{IP: contract.IPRulesChange{Allow: &allow, Deny: &deny}}
	in := change.Of(v.param("project"), form.version)
	in.IfMatch = form.revision
	_, err := h.Projects.UpdateVersion(v.ctx(), v.who, in)
	return h.saved(v, err, "addresses", v.param("project"), form)
}

func (rangesForm) page() *configuredPage { return accessPage }

func (f rangesForm) mark(m *projects.Configure, wrong *formErrors) {
	for i := range m.Versions {
		if m.Versions[i].ID != f.version {
			continue
		}
		section := &m.Versions[i].Ranges
		section.Revision = f.revision
		section.Allow = ui.Value{Text: f.allow, Error: wrong.takeLines("/ip/allow", lines(f.allow))}
		section.Deny = ui.Value{Text: f.deny, Error: wrong.takeLines("/ip/deny", lines(f.deny))}
		section.Error = wrong.rest()
	}
}

func (f rangesForm) compare(m *projects.Conflict, p rules.Project) error {
	i := slices.IndexFunc(p.Versions, func(v rules.Version) bool { return v.ID == f.version })
	if i < 0 {
		return web.NotFound()
	}
	now := p.Versions[i]
	m.What, m.Action = "Version "+now.Name, rangesAction(p, now)
	m.Rows = []projects.Difference{
		{
			Label:  "Allowed addresses",
			Yours:  rangesText(lines(f.allow), "anywhere"),
			Theirs: rangesText(now.IP.Allow, "anywhere"),
		},
		{
			Label:  "Denied addresses",
			Yours:  rangesText(lines(f.deny), "none"),
			Theirs: rangesText(now.IP.Deny, "none"),
		},
	}
	m.Hidden = []projects.Pair{
		{Name: "revision", Value: now.ETag},
		{Name: "ip_allow", Value: f.allow},
		{Name: "ip_deny", Value: f.deny},
	}
	return nil
}

func rangesText(ranges []string, none string) string {
	if len(ranges) == 0 {
		return none
	}
	return strings.Join(ranges, ", ")
}
