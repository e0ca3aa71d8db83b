package projects

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
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
		"owner", "Each owner", "each owner, across all keys",
		func(l contract.ProjectLimits) contract.Limits { return l.Owner },
	},
	{
		"ip", "Each address", "each address, with or without a key",
		func(l contract.ProjectLimits) contract.Limits { return l.IP },
	},
	{
		"project", "Entire project", "the entire project",
		func(l contract.ProjectLimits) contract.Limits { return l.Project },
	},
}

// limitPresets are limits that many APIs begin with.
var limitPresets = []limitForm{
	{of: "key", window: "minute", calls: "100"},
	{of: "ip", window: "minute", calls: "60"},
	{of: "owner", window: "day", calls: "10000"},
}

func limitsSection(p rules.Project) projects.Limits {
	m := projects.Limits{
		Action:   page.ProjectPath(p.Name) + "/limits",
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

// sentence says what the limit does: 100 per minute for each key.
func (f limitForm) sentence() string {
	i := slices.IndexFunc(countedRows, func(c counted) bool { return c.name == f.of })
	return page.LimitsText(map[string]string{f.window: f.calls}) + " for " + strings.ToLower(countedRows[i].title)
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
		typed := page.TypedLimits(c.of(saved))
		for _, window := range page.WindowTitles() {
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
		for _, window := range page.WindowTitles() {
			shown.Windows = append(shown.Windows, ui.Option{Value: window, Title: window, Chosen: window == row.window})
		}
		for _, c := range countedRows {
			shown.Subjects = append(shown.Subjects, ui.Option{Value: c.name, Title: c.inRow, Chosen: c.name == row.of})
		}
		out = append(out, shown)
	}
	return out
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
		if of == nil || !slices.Contains(page.WindowTitles(), row.window) {
			wrong[i] = "Choose a window and the calls that the limit applies to."
			continue
		}
		if row.calls == "" {
			continue
		}
		if _, twice := of[row.window]; twice {
			wrong[i] = "Another limit for " + subjectOf(row.of) + " has the same window. Remove one of the two."
			continue
		}
		of[row.window] = row.calls
	}
	return typed, wrong
}

// saveLimits saves the form, or does what one of its other buttons asks for.
func (h *Handler) saveLimits(v *page.Visit) (web.Answer, error) {
	form := limitsForm{revision: v.Posted("revision"), rows: postedLimitRows(v.Gin.Request.PostForm)}
	if do := v.Posted("do"); do != "" {
		return h.changeLimits(v, form, do)
	}
	typed, wrong := form.byCounted()
	if len(wrong) > 0 {
		return h.saved(v, otherMistakes(typed), "limits", v.Param("project"), form)
	}
	_, err := h.Projects.Update(v.Ctx(), v.Who, contract.ProjectUpdate{
		ProjectPath: projectIn(v),
		Condition:   v.Condition(),
		Body: contract.ProjectChange{Limits: contract.ProjectLimitsChange{
			Key:     (*contract.Limits)(page.ReadLimits(typed["key"])),
			Owner:   (*contract.Limits)(page.ReadLimits(typed["owner"])),
			IP:      (*contract.Limits)(page.ReadLimits(typed["ip"])),
			Project: (*contract.Limits)(page.ReadLimits(typed["project"])),
		}},
	})
	return h.saved(v, err, "limits", v.Param("project"), form)
}

// subjectOf is what a limit counts, in a sentence: each owner.
func subjectOf(name string) string {
	i := slices.IndexFunc(countedRows, func(c counted) bool { return c.name == name })
	subject, _, _ := strings.Cut(countedRows[i].inRow, ",")
	return subject
}

// otherMistakes returns an error with what is wrong with the limits of a form that can't be sent, because some of its
// rows are wrong, so that the form shows all mistakes at once.
func otherMistakes(typed map[string]map[string]string) error {
	err := fault.New(fault.Invalid, "invalid_limits", "Nothing has been saved yet.")
	for _, c := range countedRows {
		err.Fields = append(err.Fields, keys.CheckLimits("/limits/"+c.name, *page.ReadLimits(typed[c.name]))...)
	}
	return err
}

// changeLimits adds and removes rows of the form, without saving anything.
func (h *Handler) changeLimits(v *page.Visit, form limitsForm, do string) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
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
	form.mark(&m, &page.Errors{})
	return web.Show(limitsPage.show(m)), nil
}

func (limitsForm) page() *configuredPage { return limitsPage }

func (f limitsForm) mark(m *projects.Configure, wrong *page.Errors) {
	m.Limits.Revision = f.revision
	_, mistakes := f.byCounted()
	for i, row := range f.rows {
		if row.calls == "" {
			continue // it is not sent, so the error is another row's
		}
		if detail := wrong.Limit("/limits/"+row.of+"/"+row.window, row.calls).Error; detail != "" {
			mistakes[i] = strings.TrimSpace(mistakes[i] + " " + detail)
		}
	}
	m.Limits.Rows = limitRows(f.rows, mistakes)
	m.Limits.Error = wrong.Rest()
}

func (f limitsForm) compare(m *projects.Conflict, p rules.Project) error {
	m.What, m.Action = "Limits or other settings", page.ProjectPath(p.Name)+"/limits"
	m.Hidden = []projects.Pair{{Name: "revision", Value: p.SettingsETag}}
	typed, _ := f.byCounted()
	for _, c := range countedRows {
		m.Rows = append(m.Rows, projects.Difference{
			Label:  c.title,
			Yours:  page.TextOrNone(page.LimitsText(typed[c.name])),
			Theirs: page.TextOrNone(page.LimitsText(page.TypedLimits(c.of(p.Limits)))),
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
