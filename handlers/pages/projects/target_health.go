package projects

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/views/projects"
	"postern/views/ui"
)

// healthBadges show the health of a target.
var healthBadges = map[string]ui.Badge{
	contract.HealthHealthy:    {Tone: ui.Good, Text: "healthy"},
	contract.HealthUnhealthy:  {Tone: ui.Bad, Text: "unhealthy"},
	contract.HealthOpen:       {Tone: ui.Bad, Text: "breaker open"},
	contract.HealthNotChecked: {Text: "not checked"},
	contract.HealthUnknown:    {Tone: ui.Warn, Text: "unknown"},
}

// targetHealth lists the targets of an environment with their health.
func (h *Handler) targetHealth(v *page.Visit, at place) ([]projects.TargetHealth, error) {
	all, err := h.Usage.EnvironmentUpstreams(v.Ctx(), v.Who, at.project.ID, *at.environment)
	if err != nil {
		return nil, err
	}
	var rows []projects.TargetHealth
	for _, one := range all {
		row := projects.TargetHealth{
			URL: one.URL, Weight: humanize.Comma(int64(one.Weight)), Health: healthBadges[one.Health],
			Detail: healthDetail(&one),
		}
		if one.Since != nil {
			row.Since = *one.Since
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// healthDetail says for how many gateways a target isn't healthy, and why.
func healthDetail(h *contract.UpstreamTargetHealth) (text string) {
	switch {
	case h.Health == contract.HealthUnknown:
		return "No gateway has reported yet."
	case h.UnhealthyGateways == 0:
		return ""
	case h.Gateways > 1:
		text = fmt.Sprintf("On %d of %d gateways", h.UnhealthyGateways, h.Gateways)
	}
	if h.Reason != nil {
		if text != "" {
			text += ". "
		}
		text += "Last problem: " + *h.Reason
	}
	return text
}
