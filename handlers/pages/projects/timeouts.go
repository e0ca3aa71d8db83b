package projects

import (
	"fmt"
	"strconv"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/views/projects"
	"postern/views/ui"
)

// timeoutMembers are the fields of the form for the timeouts of an environment's upstream.
var timeoutMembers = contract.MembersWithin(contract.UpdateEnvironment, "upstream.timeouts")

// timeoutHints say what each timeout is about.
var timeoutHints = map[string]string{
	"connect_ms": "How long connecting to the upstream can take. The same limit applies separately to the TLS " +
		"handshake.",
	"response_ms": "How long the upstream can take from the end of the request to the first byte of its response. " +
		"After that, the caller gets 504.",
	"idle_ms":        "How long the upstream can pause in the middle of a response, or while it reads a request.",
	"stream_idle_ms": "How long an event stream or a WebSocket can be silent.",
	"reuse_idle_ms": "How long a connection can be idle and still be used for another call. Use a value below the " +
		"upstream's keep-alive timeout.",
}

func timeoutsModel(t contract.UpstreamTimeouts) *projects.Timeouts {
	m := &projects.Timeouts{}
	for _, one := range t.Stated().Numbers() {
		label := page.FieldLabel(one.Name)
		m.Fields = append(m.Fields, ui.Field{
			ID:           one.Name,
			Name:         one.Name,
			Label:        label,
			Value:        ui.Value{Text: strconv.Itoa(*one.Value)},
			Numeric:      true,
			Conditional:  true,
			Autocomplete: "off",
			Hint:         fmt.Sprintf("%s Default: %s.", timeoutHints[one.Name], humanize.Comma(int64(one.Default))),
		})
		m.Facts = append(m.Facts, ui.Fact{Label: label, Value: humanize.Comma(int64(*one.Value))})
	}
	return m
}

// saveTimeouts saves the form. An empty field is the default.
func (h *Handler) saveTimeouts(v *page.Visit) (web.Answer, error) {
	in := contract.EnvironmentUpdate{EnvironmentPath: environmentPathIn(v), Condition: v.Condition()}
	v.Fill(&in.Body.Upstream.Timeouts, timeoutMembers...)
	in.Body.Upstream = in.Body.Upstream.Stated()
	saved, err := h.Projects.UpdateEnvironment(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("timeouts", environmentHere(v), saved.Name)
	}
	return h.refusedPlace(v, err, func(m *projects.Place, wrong *page.Errors) {
		if m.Timeouts == nil {
			return
		}
		m.Timeouts.Open = true
		for i := range m.Timeouts.Fields {
			f := &m.Timeouts.Fields[i]
			f.Value = wrong.Number("/upstream/timeouts/"+f.Name, v.Posted(f.Name))
		}
		m.Timeouts.Error = wrong.Rest()
	})
}
