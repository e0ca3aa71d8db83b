package pages

import (
	"strconv"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/page"
	rules "postern/service/projects"
	"postern/service/usage"
	"postern/views/projects"
	"postern/views/ui"
)

// lastDay is the period of overviews.
var lastDay = periods[0]

// overview sums up a project for its first page.
func (h *Handler) overview(v *page.Visit, p rules.Project) (m projects.Overview, err error) {
	traffic, err := h.Usage.Traffic(v.Ctx(), v.Who, p.ID, lastDay.step, lastDay.from(time.Now()))
	if err != nil {
		return m, err
	}
	latest, err := h.Exports.Latest(v.Ctx(), v.Who, []string{p.ID})
	if err != nil {
		return m, err
	}
	return overviewOf(p.Project, traffic, latest[p.ID]), nil
}

// overviewOf sums up a project: its traffic of the last day, and what its latest export moved.
func overviewOf(p contract.Project, traffic usage.Series, latest contract.Export) projects.Overview {
	sum := traffic.Sum
	m := projects.Overview{
		Calls:      humanize.Comma(sum.Calls()),
		Errors:     shareText(sum.Failed, sum.Calls()),
		P50:        projects.LatencyText(sum.Total.P50),
		P95:        projects.LatencyText(sum.Total.P95),
		Spark:      chartOf(lastDay, lastDay.from(time.Now()), traffic),
		UsageURL:   page.ProjectPath(p.Name) + "/usage",
		LastExport: lastExportText(latest),
		ExportURL:  page.ProjectPath(p.Name) + "/export",
		Leaves:     portability(p, latest),
	}
	if sum.Rejected > 0 {
		m.Rejected = "and " + shareText(sum.Rejected, sum.Calls()) + " rejected"
	}
	if sum.FirstByte.P95 > 0 {
		m.FirstByte = "first byte " + projects.LatencyText(sum.FirstByte.P50) + " / " +
			projects.LatencyText(sum.FirstByte.P95)
	}
	return m
}

// portability says how much of a project its latest export moved exactly or approximately.
func portability(p contract.Project, latest contract.Export) projects.Portability {
	out := projects.Portability{
		Badge: ui.Badge{Text: "not exported yet"},
		Note:  "See what moves",
		URL:   page.ProjectPath(p.Name) + "/export/preview",
	}
	of := latest.Ledger
	all := of.Exact + of.Approximate + of.Lossy + of.Skipped
	if all == 0 {
		return out
	}
	moved := of.Exact + of.Approximate
	out.Badge = ui.Badge{Text: strconv.FormatInt(moved*100/all, 10) + " % portable", Tone: ui.Good}
	if of.Lossy > 0 {
		out.Badge.Tone = ui.Warn
	}
	out.Note = humanize.Comma(of.Exact) + " of " + humanize.Comma(all) + " items exact"
	out.URL = page.LedgerPath(latest.ID)
	return out
}
