package projects

import (
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func rangesAction(p rules.Project, version rules.Version) string {
	return page.ProjectPath(p.Name) + "/versions/" + version.ID + "/addresses"
}

func rangesSection(p rules.Project, version rules.Version) projects.Ranges {
	return projects.Ranges{
		Action:   rangesAction(p, version),
		Revision: version.ETag,
		Allow:    ui.Value{Text: strings.Join(version.IP.Allow, "\n")},
		Deny:     ui.Value{Text: strings.Join(version.IP.Deny, "\n")},
	}
}

type rangesForm struct{ version, revision, allow, deny string }

func (h *Handler) saveRanges(v *page.Visit) (web.Answer, error) {
	form := rangesForm{
		version:  v.Param("version"),
		revision: v.Posted("revision"),
		allow:    v.Posted("ip_allow"),
		deny:     v.Posted("ip_deny"),
	}
	allow, deny := page.Lines(form.allow), page.Lines(form.deny)
	change := contract.VersionChange{IP: contract.IPRulesChange{Allow: &allow, Deny: &deny}}
	in := change.Of(v.Param("project"), form.version)
	in.IfMatch = form.revision
	_, err := h.Projects.UpdateVersion(v.Ctx(), v.Who, in)
	return h.saved(v, err, "addresses", v.Param("project"), form)
}

func (rangesForm) page() *configuredPage { return accessPage }

func (f rangesForm) mark(m *projects.Configure, wrong *page.Errors) {
	for i := range m.Versions {
		if m.Versions[i].ID != f.version {
			continue
		}
		section := &m.Versions[i].Ranges
		section.Revision = f.revision
		section.Allow = ui.Value{Text: f.allow, Error: wrong.TakeLines("/ip/allow", page.Lines(f.allow))}
		section.Deny = ui.Value{Text: f.deny, Error: wrong.TakeLines("/ip/deny", page.Lines(f.deny))}
		section.Error = wrong.Rest()
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
			Yours:  page.RangesText(page.Lines(f.allow), "anywhere"),
			Theirs: page.RangesText(now.IP.Allow, "anywhere"),
		},
		{
			Label:  "Denied addresses",
			Yours:  page.RangesText(page.Lines(f.deny), "none"),
			Theirs: page.RangesText(now.IP.Deny, "none"),
		},
	}
	m.Hidden = []projects.Pair{
		{Name: "revision", Value: now.ETag},
		{Name: "ip_allow", Value: f.allow},
		{Name: "ip_deny", Value: f.deny},
	}
	return nil
}
