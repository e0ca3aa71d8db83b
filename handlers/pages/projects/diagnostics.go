package projects

import (
	"time"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/pages/ascode"
	"postern/handlers/web"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func targetCheckPath(p rules.Project, version rules.Version, e contract.Environment) string {
	return environmentPath(p, version, e) + "/check"
}

// checkTarget checks an environment's target and shows the report.
func (h *Handler) checkTarget(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	version, environment, ok := page.EnvironmentIn(p, v.Param("environment"))
	if !ok {
		return web.Answer{}, web.NotFound()
	}
	report, err := h.Diagnostics.Target(v.Ctx(), v.Who, contract.EnvironmentPath{
		VersionPath: versionIn(v, p), Environment: environment.ID,
	})
	shown, status, err := page.Diagnosed("check-report", environment.Target, report, err)
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	return web.Answer{Status: status, Page: projects.TargetCheckPage(projects.TargetCheck{
		Page: v.Shell(
			"Target check for "+environment.Name,
			page.ProjectPath(p.Name),
			page.ProjectsCrumb(),
			page.ProjectCrumb(p),
			ui.Crumb{Text: "Target check for " + environment.Name},
		),
		Title:   version.Name + "/" + environment.Name,
		Target:  environment.Target,
		Action:  targetCheckPath(p, version, environment),
		Report:  shown,
		Command: ascode.Command("upstreams", "check", p.Name, version.Name, environment.Name),
		Offer:   caOffer(environmentPath(p, version, environment)+"/tls", environment, report.Target),
		BackURL: page.ProjectPath(p.Name) + "#" + version.ID,
	})}, nil
}

// caOffer offers to trust the certificate that a check found, in addition to the environment's authorities. It returns
// nil if there is none.
func caOffer(action string, e contract.Environment, found *contract.TestedTarget) *projects.CAOffer {
	if found == nil || found.CA == nil {
		return nil
	}
	set := e.Upstream.Stated()
	return &projects.CAOffer{
		Action:     action,
		Revision:   e.ETag,
		PEM:        *set.CA.PEM + found.CA.PEM,
		System:     *set.CA.System,
		ServerName: *set.ServerName,
		Facts: []ui.Fact{
			{Label: "Subject", Value: found.CA.Subject},
			{Label: "SHA-256", Value: found.CA.SHA256, Mono: true},
			{Label: "Valid until", Value: found.CA.ExpiresAt.Format(time.DateOnly)},
		},
	}
}
