package pages

import (
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"postern/handlers/web"
	rules "postern/service/projects"
	"postern/service/usage"
	"postern/views/projects"
	"postern/views/ui"
)

// rowsPerUsage is the number of groups that the page lists.
const rowsPerUsage = 50

func usagePath(p rules.Project) string { return projectPath(p.Name) + "/usage" }

// period is a period of the chart, with one bar for each step.
type period struct {
	name, text, title string
	by                string
	step              time.Duration
	steps             int
	layout            string // of a bar's time
}

var periods = []period{
	{"24h", "24 hours", "Calls by the hour", usage.ByHour, time.Hour, 24, "2 Jan, 15:04"},
	{"30d", "30 days", "Calls by the day", usage.ByDay, 24 * time.Hour, 30, "2 Jan 2006"},
}

// from returns the start of the first bar, so that the last bar includes now.
func (p period) from(now time.Time) time.Time {
	return now.UTC().Truncate(p.step).Add(-p.step * time.Duration(p.steps-1))
}

// grouping is a way to group calls.
type grouping struct {
	name, text string
	by         []string
}

var groupings = []grouping{
	{"key", "Key", []string{usage.ByKey, usage.ByOwner}},
	{"owner", "Owner", []string{usage.ByOwner}},
	{"environment", "Environment", []string{usage.ByEnvironment}},
	{"status", "Status", []string{usage.ByStatusClass}},
	{"route", "Route", []string{usage.ByRoute}},
}

// showUsage shows the first period and grouping if the query names others that are
// unknown.
func (h *Handler) showUsage(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	shown := periods[max(0, slices.IndexFunc(periods, func(p period) bool { return p.name == v.c.Query("period") }))]
	by := groupings[max(0, slices.IndexFunc(groupings, func(g grouping) bool { return g.name == v.c.Query("by") }))]
	from := shown.from(time.Now())
	series, err := h.Usage.Usage(v.ctx(), v.who, p.ID, usage.Query{
		From:    from,
		GroupBy: []string{shown.by, usage.ByStatusClass},
	})
	if err != nil {
		return web.Answer{}, err
	}
	groups, err := h.Usage.Usage(v.ctx(), v.who, p.ID, usage.Query{From: from, GroupBy: by.by, Top: rowsPerUsage})
	if err != nil {
		return web.Answer{}, err
	}
	here := func(period, by string) string { return usagePath(p) + "?period=" + period + "&by=" + by }
	m := projects.Usage{
		Page: v.shell(
			"Usage of "+p.DisplayName, here(shown.name, by.name), projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Usage"},
		),
		Head:   v.headOf(p),
		Chart:  chartOf(shown, from, series),
		Facts:  usageFacts(series.Total),
		Column: by.text,
	}
	for _, other := range periods {
		m.Periods = append(m.Periods, projects.Choice{
			Text:    other.text,
			URL:     here(other.name, by.name),
			Current: other.name == shown.name,
		})
	}
	for _, other := range groupings {
		m.By = append(m.By, projects.Choice{
			Text:    other.text,
			URL:     here(shown.name, other.name),
			Current: other.name == by.name,
		})
	}
	for _, g := range groups.Groups {
		m.Rows = append(m.Rows, usageRow(p, by.name, g, series.Total.Calls))
	}
	if groups.More {
		m.More = "Only the " + humanize.Comma(rowsPerUsage) + " with the most calls are shown. The API and the " +
			"command line have all."
	}
	return web.Show(projects.UsagePage(m)), nil
}

func usageFacts(total usage.Sums) []ui.Fact {
	return []ui.Fact{
		{Label: "Calls", Value: humanize.Comma(total.Calls)},
		{Label: "Bytes in", Value: bytesText(total.BytesIn)},
		{Label: "Bytes out", Value: bytesText(total.BytesOut)},
	}
}

func bytesText(n int64) string { return humanize.Bytes(uint64(n)) }

// chartOf has a bar for every step, including steps without a call.
func chartOf(shown period, from time.Time, series usage.Usage) projects.Chart {
	bars := make([]projects.Bar, shown.steps)
	for i := range bars {
		bars[i].Label = from.Add(shown.step * time.Duration(i)).Format(shown.layout)
	}
	most := int64(0)
	for _, g := range series.Groups {
		i := int(g.Since.Sub(from) / shown.step)
		if i < 0 || i >= len(bars) {
			continue // the clock went on to the next step meanwhile
		}
		bar := &bars[i]
		switch g.StatusClass {
		case "4xx":
			bar.Client += g.Calls
		case "5xx":
			bar.Server += g.Calls
		default:
			bar.Good += g.Calls
		}
		most = max(most, bar.Good+bar.Client+bar.Server)
	}
	return projects.Chart{
		Title: shown.title,
		Most:  "Up to " + humanize.Comma(most),
		First: bars[0].Label,
		Last:  bars[len(bars)-1].Label,
		Bars:  bars,
	}
}

func usageRow(p rules.Project, by string, g usage.Group, total int64) projects.UsageRow {
	row := projects.UsageRow{
		Calls:    humanize.Comma(g.Calls),
		BytesIn:  bytesText(g.BytesIn),
		BytesOut: bytesText(g.BytesOut),
	}
	if total > 0 {
		row.Share = min(100, (g.Calls*100+total-1)/total)
	}
	switch {
	case by == "key" && g.Key != "":
		row.Label, row.Detail, row.URL = g.Owner, g.Key, keyPath(p, g.Key)
	case by == "key":
		row.Label = "without a valid key"
		if g.Owner != "" {
			row.Label = g.Owner + ", without a key"
		}
	case by == "owner" && g.Owner == "":
		row.Label = "none"
	case by == "owner":
		row.Label = g.Owner
	case by == "environment":
		row.Label = g.Environment.Version + " " + g.Environment.Name
	case by == "status" && g.StatusClass == "":
		row.Label = "broken off"
	case by == "status":
		row.Label = g.StatusClass
	default:
		row.Label, row.Mono = g.Route, true
	}
	return row
}
