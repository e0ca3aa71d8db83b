package page

import (
	"cmp"
	"net/http"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
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

// Diagnosed shows a report, or why there is none. status is the page's status. An error that isn't a refusal of the
// test itself is returned.
func Diagnosed(id, title string, r contract.Diagnosis, err error) (m projects.Diagnosis, status int, _ error) {
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
