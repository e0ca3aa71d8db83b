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

// diagnosisTones are the tones of the outcomes of a step.
var diagnosisTones = map[contract.TestOutcome]ui.Tone{
	contract.TestPass: ui.Good,
	contract.TestWarn: ui.Warn,
	contract.TestFail: ui.Bad,
	contract.TestSkip: ui.Cold,
}

func diagnosisBadge(outcome contract.TestOutcome) ui.Badge {
	return ui.Badge{Tone: diagnosisTones[outcome], Text: outcome.Name()}
}

// Diagnosed shows a report, or why there is none. status is the page's status. An error that isn't a refusal of the
// test itself is returned.
func Diagnosed(id, title string, r contract.Diagnosis, err error) (m projects.Diagnosis, status int, _ error) {
	m = projects.Diagnosis{ID: id, Title: title, Outcome: diagnosisBadge(r.Outcome)}
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
			Name:    s.Name(),
			Outcome: diagnosisBadge(s.Outcome),
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
