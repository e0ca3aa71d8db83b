package projects

import (
	"fmt"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/views/projects"
	"postern/views/ui"
)

// retryMembers are the fields of the form for when calls are sent to an environment's upstream again.
var retryMembers = contract.MembersWithin(contract.UpdateEnvironment, "upstream.retries")

// retryTitles say what each condition is.
var retryTitles = map[contract.RetryCondition]string{
	"502": "502 Bad Gateway", "503": "503 Service Unavailable", "504": "504 Gateway Timeout",
	contract.RetryOnTimeout: "No response in time",
}

func retriesModel(r contract.UpstreamRetries) *projects.Retries {
	r = r.Stated()
	m := &projects.Retries{
		Max: ui.Field{
			ID:           "max",
			Name:         "max",
			Label:        page.FieldLabel("max"),
			Value:        ui.Value{Text: strconv.Itoa(*r.Max)},
			Numeric:      true,
			Autocomplete: "off",
			Hint: fmt.Sprintf("The maximum number of retries per call. POST and PATCH calls are retried only if "+
				"nothing was sent to the upstream. Default: %d.", *contract.UpstreamRetries{}.Stated().Max),
		},
		On: ui.Group{
			ID:     "on",
			Name:   "on",
			Legend: page.FieldLabel("on"),
			Hint:   "Applies to GET, HEAD, OPTIONS, PUT and DELETE, with a body of up to 64 KB.",
		},
	}
	var chosen []string
	for _, c := range contract.RetryConditions {
		m.On.Options = append(m.On.Options, ui.Option{
			Value: string(c), Title: retryTitles[c], Chosen: r.Include(c),
		})
		if r.Include(c) {
			chosen = append(chosen, retryTitles[c])
		}
	}
	m.Facts = []ui.Fact{
		{Label: m.Max.Label, Value: m.Max.Value.Text},
		{Label: m.On.Legend, Value: strings.Join(chosen, ", ")},
	}
	return m
}

// saveRetries saves the form. An empty number is the default.
func (h *Handler) saveRetries(v *page.Visit) (web.Answer, error) {
	in := contract.EnvironmentUpdate{EnvironmentPath: environmentPathIn(v), Condition: v.Condition()}
	set := &in.Body.Upstream.Retries
	v.Fill(set, retryMembers...)
	*set = set.Stated()
	saved, err := h.Projects.UpdateEnvironment(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("retries", environmentHere(v), saved.Name)
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *page.Errors) {
		if m.Retries == nil {
			return
		}
		form := retriesModel(*set)
		form.Open, form.Action, form.Revision = true, m.Retries.Action, m.Retries.Revision
		form.Max.Value = wrong.Number("/upstream/retries/max", v.Posted("max"))
		form.Error = wrong.Rest()
		m.Retries = form
	})
}
