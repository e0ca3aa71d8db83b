package calls

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	rules "postern/service/projects"
	"postern/service/usage"
	"postern/views/projects"
	"postern/views/ui"
)

// rowsPerUsage is the number of groups that the page lists.
const rowsPerUsage = 50

func usagePath(p rules.Project) string { return page.ProjectPath(p.Name) + "/usage" }

// period is a period of the charts, with one bar for each step.
type period struct {
	name, text, title string
	Step              time.Duration
	steps             int
	layout, tick      string // of a bar's time, in full and on the axis
}

// Periods are the periods of the charts. The first one is the usual one.
var Periods = []period{
	{"24h", "24 hours", "Calls per hour", time.Hour, 24, "2 Jan, 15:04", "15:04"},
	{"1h", "1 hour", "Calls per minute", time.Minute, 60, "2 Jan, 15:04", "15:04"},
	{"7d", "7 days", "Calls per hour", time.Hour, 7 * 24, "2 Jan, 15:04", "2 Jan"},
	{"30d", "30 days", "Calls per day", 24 * time.Hour, 30, "2 Jan 2006", "2 Jan"},
}

// From returns the start of the first bar, so that the last bar includes now.
func (p period) From(now time.Time) time.Time {
	return now.UTC().Truncate(p.Step).Add(-p.Step * time.Duration(p.steps-1))
}

// grouping is a way to group calls.
type grouping struct {
	name, text string
	by         []string
}

var groupings = []grouping{
	{"key", "Key", []string{contract.ByKey, contract.ByOwner}},
	{"owner", "Owner", []string{contract.ByOwner}},
	{"tenant", "Tenant", []string{contract.ByTenant}},
	{"environment", "Environment", []string{contract.ByEnvironment}},
	{"route", "Route", []string{contract.ByRoute}},
	{"status", "Status", []string{contract.ByStatusClass}},
}

// isTimed reports whether latencies are measured by what is grouped by.
func (g grouping) isTimed() bool { return g.name == "route" || g.name == "environment" }

// chosenUsage returns the period and grouping that the query names, the first ones if it names others.
func chosenUsage(query url.Values) (period, grouping) {
	shown := slices.IndexFunc(Periods, func(p period) bool { return p.name == query.Get("period") })
	by := slices.IndexFunc(groupings, func(g grouping) bool { return g.name == query.Get("by") })
	return Periods[max(0, shown)], groupings[max(0, by)]
}

// showUsage shows a project's calls and latencies over time, and by something.
func (h *Handler) showUsage(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	shown, by := chosenUsage(v.Gin.Request.URL.Query())
	from := shown.From(time.Now())
	series, err := h.Usage.Traffic(v.Ctx(), v.Who, p.ID, shown.Step, from)
	if err != nil {
		return web.Answer{}, err
	}
	groups, err := h.Usage.Usage(v.Ctx(), v.Who, contract.UsageQuery{
		ProjectPath: contract.ProjectPath{Project: p.ID}, From: from, GroupBy: by.by, Top: rowsPerUsage,
	})
	if err != nil {
		return web.Answer{}, err
	}
	here := func(page, period, by string) string { return usagePath(p) + page + "?period=" + period + "&by=" + by }
	m := projects.Usage{
		Page: v.Shell(
			"Usage for "+p.DisplayName,
			here("", shown.name, by.name),
			page.ProjectsCrumb(),
			page.ProjectCrumb(p),
			ui.Crumb{Text: "Usage"},
		),
		Head:   v.HeadOf(p),
		Curl:   page.CallOf(p),
		Chart:  ChartOf(shown, from, series),
		Facts:  usageFacts(series.Sum),
		Column: by.text,
		Timed:  by.isTimed(),
		CSVURL: here(".csv", shown.name, by.name),
	}
	if !groups.From.Equal(from) {
		m.Since = groups.From.Format("15:04")
	}
	for _, name := range []string{"1h", "24h", "7d", "30d"} {
		i := slices.IndexFunc(Periods, func(p period) bool { return p.name == name })
		m.Periods = append(m.Periods, projects.Choice{
			Text:    Periods[i].text,
			URL:     here("", name, by.name),
			Current: name == shown.name,
		})
	}
	for _, other := range groupings {
		m.By = append(m.By, projects.Choice{
			Text:    other.text,
			URL:     here("", shown.name, other.name),
			Current: other.name == by.name,
		})
	}
	for _, g := range groups.Items {
		m.Rows = append(m.Rows, usageRow(p, by.name, g, series.Sum.Calls()))
	}
	if groups.More {
		m.More = "Showing the " + humanize.Comma(rowsPerUsage) + " rows with the most calls. The CSV file contains " +
			"all rows."
	}
	return web.Show(projects.UsagePage(m)), nil
}

func usageFacts(sum usage.Traffic) []ui.Fact {
	return []ui.Fact{
		{Label: "Calls", Value: humanize.Comma(sum.Calls())},
		{Label: "4xx", Value: ShareText(sum.Rejected, sum.Calls())},
		{Label: "5xx", Value: ShareText(sum.Failed, sum.Calls())},
		{Label: "Latency p50", Value: projects.LatencyText(sum.Total.P50)},
		{Label: "Latency p95", Value: projects.LatencyText(sum.Total.P95)},
		{Label: "First byte p95", Value: projects.LatencyText(sum.FirstByte.P95)},
		{Label: "Bytes in", Value: bytesText(sum.BytesIn)},
		{Label: "Bytes out", Value: bytesText(sum.BytesOut)},
	}
}

func bytesText(n int64) string { return humanize.Bytes(uint64(n)) }

// ShareText returns a part of calls in percent, from 0% to 100%.
func ShareText(part, all int64) string {
	if part == 0 || all == 0 {
		return "0%"
	}
	percent := float64(part) * 100 / float64(all)
	digits := 1
	switch {
	case percent < 0.01:
		return "< 0.01%"
	case percent > 99.9 && part < all:
		return "> 99.9%"
	case percent < 1:
		digits = 2
	}
	text := strconv.FormatFloat(percent, 'f', digits, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "%"
}

// ChartOf has a bar for every step, including steps without a call.
func ChartOf(shown period, from time.Time, series usage.Series) projects.Chart {
	bars := make([]projects.Bar, shown.steps)
	for i := range bars {
		at := from.Add(shown.Step * time.Duration(i))
		bars[i].Label, bars[i].Tick = at.Format(shown.layout), at.Format(shown.tick)
	}
	for _, t := range series.Points {
		i := int(t.Since.Sub(from) / shown.Step)
		if i < 0 || i >= len(bars) {
			continue // the clock has gone on to the next step
		}
		bar := &bars[i]
		bar.Good, bar.Client, bar.Server = t.Answered, t.Rejected, t.Failed
		bar.P50, bar.P95 = t.Total.P50, t.Total.P95
	}
	return projects.Chart{Title: shown.title, Bars: bars}
}

func usageRow(p rules.Project, by string, g contract.UsageGroup, total int64) projects.UsageRow {
	row := projects.UsageRow{
		Calls:    humanize.Comma(g.Calls),
		BytesIn:  bytesText(g.BytesIn),
		BytesOut: bytesText(g.BytesOut),
	}
	latency := cmp.Or(g.Latency, &contract.UsageLatency{}).Total
	row.P50, row.P95 = projects.LatencyText(latency.P50.Duration()), projects.LatencyText(latency.P95.Duration())
	if total > 0 {
		row.Share = min(100, (g.Calls*100+total-1)/total)
	}
	switch {
	case by == "key" && *g.Key != "":
		row.Label, row.Detail, row.URL = *g.Owner, *g.Key, page.KeyPath(p, *g.Key)
	case by == "key":
		row.Label = "without a valid key"
		if *g.Owner != "" {
			row.Label = *g.Owner + ", without a key"
		}
	case by == "owner":
		row.Label = cmp.Or(*g.Owner, "none")
	case by == "tenant":
		row.Label = cmp.Or(g.Tenant.Name, "none")
	case by == "environment":
		row.Label = g.Environment.Version + " " + g.Environment.Name
	case by == "status":
		row.Label = cmp.Or(*g.StatusClass, "interrupted")
	case by == "route":
		row.Label, row.Mono = *g.Route, true
	}
	return row
}

// UsageForCode returns when the usage that a query requests begins, and what it is grouped by.
func UsageForCode(query url.Values) (from time.Time, by []string) {
	shown, grouped := chosenUsage(query)
	return shown.From(time.Now()), grouped.by
}
