package pages

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// counted is one of the subjects that a project's limits apply to, as the form shows it.
type counted struct {
	name, title, inRow string
	of                 func(contract.ProjectLimits) contract.Limits
}

var countedRows = []counted{
	{"key", "Each key", "each key", func(l contract.ProjectLimits) contract.Limits { return l.Key }},
	{
		"owner", "Each owner", "each owner, all keys together",
		func(l contract.ProjectLimits) contract.Limits { return l.Owner },
	},
	{
		"ip", "Each address", "each address, with or without a key",
		func(l contract.ProjectLimits) contract.Limits { return l.IP },
	},
	{
		"project", "Whole project", "the whole project",
		func(l contract.ProjectLimits) contract.Limits { return l.Project },
	},
}

// limitPresets are limits that many APIs begin with.
var limitPresets = []limitForm{
	{of: "key", window: "minute", calls: "100"},
	{of: "ip", window: "minute", calls: "60"},
	{of: "owner", window: "day", calls: "10000"},
}

func windowTitles() []string {
	var out []string
	for window := snapshot.Second; window < snapshot.Windows; window++ {
		out = append(out, window.String())
	}
	return out
}

func limitsSection(p rules.Project) projects.Limits {
	m := projects.Limits{
		Action:   projectPath(p.Name) + "/limits",
		Revision: p.SettingsETag,
		Rows:     limitRows(limitsAsForm(p.Limits), nil),
	}
	for i, one := range limitPresets {
		m.Presets = append(m.Presets, ui.Option{Value: fmt.Sprintf("preset %d", i+1), Title: one.sentence()})
	}
	return m
}

// limitForm is a row of limits, as typed.
type limitForm struct {
	of, window, calls string

	added bool
}

// sentence says what the limit does: 100 a minute for each key.
func (f limitForm) sentence() string {
	i := slices.IndexFunc(countedRows, func(c counted) bool { return c.name == f.of })
	return limitsText(map[string]string{f.window: f.calls}) + " for " + strings.ToLower(countedRows[i].title)
}

const maxPostedLimits = 100 // rows that are read of a form; there are 24 different limits

// postedLimitRows reads the rows of a form.
func postedLimitRows(form url.Values) []limitForm {
	var out []limitForm
	calls, windows, subjects := form["limit_calls"], form["limit_window"], form["limit_of"]
	for i := range min(len(calls), len(windows), len(subjects), maxPostedLimits) {
		out = append(out, limitForm{of: subjects[i], window: windows[i], calls: strings.TrimSpace(calls[i])})
	}
	return out
}

func limitsAsForm(saved contract.ProjectLimits) []limitForm {
	var out []limitForm
	for _, c := range countedRows {
		typed := typedLimits(c.of(saved))
		for _, window := range windowTitles() {
			if calls, ok := typed[window]; ok {
				out = append(out, limitForm{of: c.name, window: window, calls: calls})
			}
		}
	}
	return out
}

// limitRows shows rows, with what is wrong with them by their place.
func limitRows(rows []limitForm, wrong map[int]string) []projects.LimitRow {
	var out []projects.LimitRow
	for i, row := range rows {
		shown := projects.LimitRow{
			ID:     fmt.Sprintf("limit-%d", i+1),
			Number: strconv.Itoa(i + 1),
			Calls:  row.calls,
			New:    row.added,
			Error:  wrong[i],
		}
		for _, window := range windowTitles() {
			shown.Windows = append(shown.Windows, ui.Option{Value: window, Title: window, Chosen: window == row.window})
		}
		for _, c := range countedRows {
			shown.Subjects = append(shown.Subjects, ui.Option{Value: c.name, Title: c.inRow, Chosen: c.name == row.of})
		}
		out = append(out, shown)
	}
	return out
}

// typedLimits formats limits as the form shows them, by window.
func typedLimits(l map[string]int64) map[string]string {
	out := map[string]string{}
	for window, calls := range l {
		out[window] = strconv.FormatInt(calls, 10)
	}
	return out
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
	rows     []limitForm
}

// byCounted returns the limits of the rows by what is counted, then by window, without rows that have no number. A row
// that repeats another one's subject and window is wrong.
func (f limitsForm) byCounted() (typed map[string]map[string]string, wrong map[int]string) {
	typed, wrong = map[string]map[string]string{}, map[int]string{}
	for _, c := range countedRows {
		typed[c.name] = map[string]string{}
	}
	for i, row := range f.rows {
		of := typed[row.of]
		if of == nil || !slices.Contains(windowTitles(), row.window) {
			wrong[i] = "Choose a window and whose calls are counted."
			continue
		}
		if row.calls == "" {
			continue
		}
		if _, twice := of[row.window]; twice {
			wrong[i] = "There is already a limit for this window. Remove one of the two."
			continue
		}
		of[row.window] = row.calls
	}
	return typed, wrong
}

// saveLimits saves the form, or does what one of its other buttons asks for.
func (h *Handler) saveLimits(v *visit) (web.Answer, error) {
	form := limitsForm{revision: v.posted("revision"), rows: postedLimitRows(v.c.Request.PostForm)}
	if do := v.posted("do"); do != "" {
		return h.changeLimits(v, form, do)
	}
	typed, wrong := form.byCounted()
	if len(wrong) > 0 {
		return h.saved(v, fault.New(fault.Invalid, "invalid_limits", "Nothing has been saved yet."), "limits",
			v.param("project"), form)
	}
	_, err := h.Projects.UpdateSettings(v.ctx(), v.who, v.param("project"), form.revision, rules.Settings{
		Limits: contract.ProjectLimitsChange{
			Key:     (*contract.Limits)(readLimits(typed["key"])),
			Owner:   (*contract.Limits)(readLimits(typed["owner"])),
			IP:      (*contract.Limits)(readLimits(typed["ip"])),
			Project: (*contract.Limits)(readLimits(typed["project"])),
		},
	})
	return h.saved(v, err, "limits", v.param("project"), form)
}

// changeLimits adds and removes rows of the form, without saving anything.
func (h *Handler) changeLimits(v *visit, form limitsForm, do string) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err == nil {
		err = v.allowed(p, access.ProjectUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	what, number, _ := strings.Cut(do, " ")
	n, _ := strconv.Atoi(number)
	switch {
	case what == doAdd && number == "":
		form.rows = append(form.rows, limitForm{of: "key", window: "minute", added: true})
	case what == "preset" && n >= 1 && n <= len(limitPresets):
		one := limitPresets[n-1]
		one.added = true
		form.rows = append(form.rows, one)
	case what == doRemove && n >= 1 && n <= len(form.rows):
		form.rows = slices.Delete(form.rows, n-1, n)
	default:
		return web.Answer{}, web.NotFound()
	}
	m, err := h.configuration(v, p, limitsPage)
	if err != nil {
		return web.Answer{}, err
	}
	form.mark(&m, &formErrors{})
	return web.Show(limitsPage.show(m)), nil
}

func (limitsForm) page() *configuredPage { return limitsPage }

func (f limitsForm) mark(m *projects.Configure, wrong *formErrors) {
	m.Limits.Revision = f.revision
	_, mistakes := f.byCounted()
	for i, row := range f.rows {
		if row.calls == "" {
			continue // it is not sent, so the error is another row's
		}
		if detail := wrong.take("/limits/" + row.of + "/" + row.window); detail != "" {
			mistakes[i] = detail
		}
	}
	m.Limits.Rows = limitRows(f.rows, mistakes)
	m.Limits.Error = wrong.rest()
}

func (f limitsForm) compare(m *projects.Conflict, p rules.Project) error {
	m.What, m.Action = "Limits or other settings", projectPath(p.Name)+"/limits"
	m.Hidden = []projects.Pair{{Name: "revision", Value: p.SettingsETag}}
	typed, _ := f.byCounted()
	for _, c := range countedRows {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  c.title,
			Yours:  textOrNone(limitsText(typed[c.name])),
			Theirs: textOrNone(limitsText(typedLimits(c.of(p.Limits)))),
		})
	}
	for _, row := range f.rows {
		m.Hidden = append(m.Hidden,
			projects.Pair{Name: "limit_calls", Value: row.calls},
			projects.Pair{Name: "limit_window", Value: row.window},
			projects.Pair{Name: "limit_of", Value: row.of})
	}
	return nil
}
