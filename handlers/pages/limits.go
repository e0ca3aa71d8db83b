package pages

import (
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/models"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// counted is one of the subjects that a project's limits apply to, as the form shows it.
type counted struct {
	name, title, text string
	of                func(models.ProjectLimits) models.Limits
}

var countedRows = []counted{
	{
		"key", "Each key", "Alone, unless it or its type has limits of its own.",
		func(l models.ProjectLimits) models.Limits { return l.Key },
	},
	{
		"owner", "Each owner", "With all of their keys together.",
		func(l models.ProjectLimits) models.Limits { return l.Owner },
	},
	{
		"ip", "Each address", "That calls come from, with or without a key.",
		func(l models.ProjectLimits) models.Limits { return l.IP },
	},
	{
		"project", "Whole project", "All calls together.",
		func(l models.ProjectLimits) models.Limits { return l.Project },
	},
}

func windowTitles() []string {
	var out []string
	for window := snapshot.Second; window < snapshot.Windows; window++ {
		out = append(out, window.String())
	}
	return out
}

func limitsSection(p rules.Project) projects.Limits {
	m := projects.Limits{Action: projectPath(p.Name) + "/limits", Revision: p.SettingsETag, Windows: windowTitles()}
	for _, c := range countedRows {
		m.Rows = append(m.Rows, limitRow("limits-", c.name+".", c.title, c.text, typedLimits(c.of(p.Limits)), nil, ""))
	}
	return m
}

// typedLimits formats limits as the form shows them, by window.
func typedLimits(l models.Limits) map[string]string {
	out := map[string]string{}
	for window, calls := range l {
		out[window] = strconv.FormatInt(calls, 10)
	}
	return out
}

// limitRow is a row of inputs for limits. The names of its fields begin with prefix; their
// mistakes are those below pointer. wrong may be nil.
func limitRow(
	id, prefix, title, text string, typed map[string]string, wrong *formErrors, pointer string,
) projects.LimitRow {
	id += strings.TrimSuffix(prefix, ".")
	row := projects.LimitRow{ID: id, Title: title, Text: text}
	for _, window := range windowTitles() {
		cell := projects.LimitCell{
			ID:     id + "-" + window,
			Name:   prefix + window,
			Window: window,
			Calls:  ui.Value{Text: typed[window]},
		}
		if wrong != nil {
			cell.Calls.Error = wrong.take(pointer + "/" + window)
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// postedLimits returns the limits of a form as typed, without empty ones.
func (v *visit) postedLimits(prefix string) map[string]string {
	out := map[string]string{}
	for _, window := range windowTitles() {
		if typed := strings.TrimSpace(v.posted(prefix + window)); typed != "" {
			out[window] = typed
		}
	}
	return out
}

// readLimits parses limits. Text that is no whole number becomes 0, which the rule refuses
// together with other invalid fields.
func readLimits(typed map[string]string) *map[string]int64 {
	out := map[string]int64{}
	for window, text := range typed {
		calls, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			calls = 0
		}
		out[window] = calls
	}
	return &out
}

// limitsText lists limits as typed, shortest window first: "10 a second, 1,000 a day", ""
// for none. They need not be numbers.
func limitsText(typed map[string]string) string {
	var parts []string
	for _, window := range windowTitles() {
		if calls, ok := typed[window]; ok {
			if n, err := strconv.ParseInt(calls, 10, 64); err == nil {
				calls = humanize.Comma(n)
			}
			parts = append(parts, calls+" "+aWindow(window))
		}
	}
	return strings.Join(parts, ", ")
}

type limitsForm struct {
	revision string
	typed    map[string]map[string]string // by what is counted, then by window
}

func (h *Handler) saveLimits(v *visit) (web.Answer, error) {
	form := limitsForm{revision: v.posted("revision"), typed: map[string]map[string]string{}}
	for _, c := range countedRows {
		form.typed[c.name] = v.postedLimits(c.name + ".")
	}
	_, err := h.Projects.UpdateSettings(v.ctx(), v.who, v.param("project"), form.revision, rules.Settings{
		Limits: rules.LimitsChange{
			Key:     readLimits(form.typed["key"]),
			Owner:   readLimits(form.typed["owner"]),
			IP:      readLimits(form.typed["ip"]),
			Project: readLimits(form.typed["project"]),
		},
	})
	return h.saved(v, err, "limits", v.param("project"), form)
}

func (limitsForm) page() *configuredPage { return limitsPage }

func (f limitsForm) mark(m *projects.Configure, wrong *formErrors) {
	m.Limits.Revision = f.revision
	for i, c := range countedRows {
		m.Limits.Rows[i] = limitRow("limits-", c.name+".", c.title, c.text, f.typed[c.name], wrong, "/limits/"+c.name)
	}
	m.Limits.Error = wrong.rest()
}

func (f limitsForm) compare(m *projects.Conflict, p rules.Project) error {
	m.What, m.Action = "Limits or other settings", projectPath(p.Name)+"/limits"
	m.Hidden = []projects.Pair{{Name: "revision", Value: p.SettingsETag}}
	for _, c := range countedRows {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  c.title,
			Yours:  textOrNone(limitsText(f.typed[c.name])),
			Theirs: textOrNone(limitsText(typedLimits(c.of(p.Limits)))),
		})
		for _, window := range windowTitles() {
			m.Hidden = append(m.Hidden, projects.Pair{Name: c.name + "." + window, Value: f.typed[c.name][window]})
		}
	}
	return nil
}
