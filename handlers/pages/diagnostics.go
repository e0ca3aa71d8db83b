package pages

import (
	"cmp"
	"net/http"

	"postern/core/contract"
	"postern/handlers/pages/ascode"
	"postern/handlers/web"
	"postern/platform/fault"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// diagnosisBadges name the outcomes of a step.
var diagnosisBadges = map[contract.TestOutcome]ui.Badge{
	contract.TestPass: {Tone: ui.Good, Text: "passed"},
	contract.TestWarn: {Tone: ui.Warn, Text: "warning"},
	contract.TestFail: {Tone: ui.Bad, Text: "failed"},
	contract.TestSkip: {Tone: ui.Cold, Text: "skipped"},
}

// diagnosisSteps name the steps of reports for people.
var diagnosisSteps = map[string]string{
	"connect":     "Connection",
	"tls":         "TLS",
	"credentials": "Credentials",
	"answer":      "Response",
	"discovery":   "Discovery",
	"endpoints":   "Endpoints",
	"endpoint":    "Endpoint",
	"keys":        "Keys",
	"cache":       "Last fetch",
	"token":       "Token",
	"decision":    "Decision",
	"client":      "Client",
	"callback":    "Callback URL",
}

// diagnosed shows a report, or why there is none. status is that of the page. An error that isn't a refusal of the test
// itself is returned.
func diagnosed(id, title string, r contract.Diagnosis, err error) (m projects.Diagnosis, status int, _ error) {
	m = projects.Diagnosis{ID: id, Title: title, Outcome: diagnosisBadges[r.Outcome]}
	switch fault.KindOf(err) {
	case fault.Conflict, fault.TooMany:
		m.Problem = web.ProblemOf(err, "").Detail
		return m, web.StatusOf(fault.KindOf(err)), nil
	}
	if err != nil {
		return m, 0, err
	}
	for _, s := range r.Steps {
		m.Steps = append(m.Steps, projects.ExplainedStep{
			Name:    cmp.Or(diagnosisSteps[s.Step], s.Step),
			Outcome: diagnosisBadges[s.Outcome],
			Detail:  s.Detail,
		})
	}
	for _, k := range r.Keys {
		m.Facts = append(m.Facts, ui.Fact{
			Label: cmp.Or(k.ID, "no kid"),
			Value: cmp.Or(k.Algorithm, "any algorithm") + ", " + k.Type,
		})
	}
	return m, http.StatusOK, nil
}

func targetCheckPath(p rules.Project, version rules.Version, e contract.Environment) string {
	return environmentPath(p, version, e) + "/check"
}

// checkTarget checks an environment's target and shows the report.
func (h *Handler) checkTarget(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	version, environment, ok := environmentIn(p, v.param("environment"))
	if !ok {
		return web.Answer{}, web.NotFound()
	}
	report, err := h.Diagnostics.Target(v.ctx(), v.who, contract.EnvironmentPath{
		VersionPath: versionIn(v, p), Environment: environment.ID,
	})
	shown, status, err := diagnosed("check-report", environment.Target, report, err)
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	return web.Answer{Status: status, Page: projects.TargetCheckPage(projects.TargetCheck{
		Page: v.shell("Target check of "+environment.Name, projectPath(p.Name), projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Target check of " + environment.Name}),
		Title:   version.Name + "/" + environment.Name,
		Target:  environment.Target,
		Action:  targetCheckPath(p, version, environment),
		Report:  shown,
		Command: ascode.Command("upstreams", "check", p.Name, version.Name, environment.Name),
		BackURL: projectPath(p.Name) + "#" + version.ID,
	})}, nil
}
