package exports

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/exports"
	"postern/service/projects"
	"postern/views/exports"
	"postern/views/ui"
)

// downloadLedger answers with the whole ledger, or with a page if there is none.
func (h *Handler) downloadLedger(v *page.Visit) (web.Answer, error) {
	web.ServeFile(h.Web, v.Gin, contract.DownloadExportLedger, exportIn(v), h.Exports.OpenLedger,
		h.Exports.MayDownloadLedger)
	return web.Answer{}, nil
}

// showLedger shows the ledger of a finished export, or the names of the items of one of its
// lines.
func (h *Handler) showLedger(v *page.Visit) (web.Answer, error) {
	e, err := h.Exports.Get(v.Ctx(), v.Who, exportIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	p, err := h.Projects.Get(v.Ctx(), v.Who, e.Project)
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	all, err := h.Exports.Ledger(v.Ctx(), v.Who, e.Path())
	switch {
	case fault.CodeOf(err) == "no_ledger":
		return web.Redirect(page.ExportPath(e.ID)), nil
	case err != nil:
		return web.Answer{}, err
	}
	if code := v.Gin.Query("code"); code != "" {
		return h.showNames(v, p, all, code)
	}
	return web.Show(exports.ItemsPage(h.ledgerModel(v, p, e, all))), nil
}

func (h *Handler) ledgerModel(v *page.Visit, p projects.Project, e contract.Export, all rules.Ledger) exports.Items {
	path, lines := page.LedgerPath(e.ID), all.Lines
	filter := ledgerFilter{Status: v.Gin.Query("status"), Area: v.Gin.Query("area")}
	m := exports.Items{
		Page:      v.Shell("Ledger for "+p.DisplayName, path, append(exportCrumbs(p, e), ui.Crumb{Text: "Ledger"})...),
		ID:        e.ID,
		Project:   p.DisplayName,
		Subtitle:  formatText(e.Format) + ", exported " + page.Moment(e.CreatedAt) + byText(e),
		Ledger:    exports.Ledger{LedgerTotals: e.Ledger, Format: e.Format},
		Here:      path,
		Status:    filter.Status,
		Filtered:  filter != (ledgerFilter{}),
		Forgotten: all.Forgotten,
		Tabs:      statusTabs(path, filter, lines),
		Areas:     areaOptions(filter, lines),
		Tasks:     tasksOf(path, lines),
	}
	if e.State == contract.ExportReady && v.Who.May(p.Team, access.ExportDownload) {
		m.DownloadURL = path + "/download"
	}
	m.Sections = ledgerSections(slices.DeleteFunc(slices.Clone(lines), func(l contract.LedgerLine) bool {
		return !filter.selects(l)
	}), false)
	for s := range m.Sections {
		section := &m.Sections[s]
		section.Open = section.Open || filter.Status != "" || filter.Area != ""
		for l := range section.Lines {
			line := &section.Lines[l]
			if len(line.Names) > 0 && line.Count > int64(len(line.Names)) {
				line.AllURL = path + "?code=" + url.QueryEscape(line.Code)
			}
		}
	}
	return m
}

// showNames shows the names that are kept of the items of one line.
func (h *Handler) showNames(v *page.Visit, p projects.Project, all rules.Ledger, code string) (web.Answer, error) {
	at := slices.IndexFunc(all.Lines, func(l contract.LedgerLine) bool { return l.Code == code })
	if at < 0 {
		return web.Redirect(page.LedgerPath(all.Export.ID)), nil
	}
	line, path := all.Lines[at], page.LedgerPath(all.Export.ID)
	title := line.Title
	crumbs := append(exportCrumbs(p, all.Export), ui.Crumb{Text: "Ledger", URL: path}, ui.Crumb{Text: title})
	m := exports.Names{
		Page:      v.Shell(title, path+"?code="+url.QueryEscape(code), crumbs...),
		Title:     title,
		Line:      exports.LedgerLine{LedgerLine: line},
		LedgerURL: path,
		Forgotten: all.Nameless(code),
	}
	m.Line.Names = itemNames(line, len(line.Names))
	sections := statusSections()
	if at := slices.IndexFunc(sections, func(s exports.Section) bool { return s.ID == line.Status }); at >= 0 {
		m.Badge = sections[at]
	}
	return web.Show(exports.NamesPage(m)), nil
}

func exportCrumbs(p projects.Project, e contract.Export) []ui.Crumb {
	return []ui.Crumb{page.ProjectsCrumb(), page.ProjectCrumb(p), {Text: "Export", URL: page.ExportPath(e.ID)}}
}

// ofEveryProject is the status in the query that selects what is the same for every project.
const ofEveryProject = "everywhere"

// ledgerFilter is what the query of a ledger's page selects. A status selects lines that the team configured.
type ledgerFilter struct{ Status, Area string }

func (f ledgerFilter) selects(l contract.LedgerLine) bool {
	switch {
	case f.Area != "" && f.Area != l.Area:
		return false
	case f.Status == ofEveryProject:
		return !l.Configured
	}
	return f.Status == "" || l.Configured && f.Status == l.Status
}

// statusTabs leads to the lines of each status within the area that is chosen, with the numbers of the page's totals.
func statusTabs(path string, filter ledgerFilter, lines []contract.LedgerLine) []ui.Tab {
	var tabs []ui.Tab
	for _, t := range []struct{ status, text string }{
		{"", "All"}, {"skipped", "Skipped"}, {"lossy", "Lossy"}, {"approximate", "Approximate"}, {"exact", "Exact"},
		{ofEveryProject, "The same for every project"},
	} {
		var count int64
		for _, l := range lines {
			if (ledgerFilter{t.status, filter.Area}).selects(l) {
				count += l.Count
			}
		}
		query := url.Values{}
		if t.status != "" {
			query.Set("status", t.status)
		}
		if filter.Area != "" {
			query.Set("area", filter.Area)
		}
		tabs = append(tabs, ui.Tab{
			URL:     strings.TrimSuffix(path+"?"+query.Encode(), "?"),
			Text:    t.text + " " + humanize.Comma(count),
			Current: t.status == filter.Status,
		})
	}
	return tabs
}

// areaOptions lists the areas that the ledger has lines of.
func areaOptions(filter ledgerFilter, lines []contract.LedgerLine) []ui.Option {
	options := []ui.Option{{Title: "All areas", Chosen: filter.Area == ""}}
	for _, a := range snapshot.Areas() {
		of := ledgerFilter{Area: string(a.Area)}
		if of.Area == filter.Area || slices.ContainsFunc(lines, of.selects) {
			options = append(options, ui.Option{Value: of.Area, Title: a.Title, Chosen: of.Area == filter.Area})
		}
	}
	return options
}

// tasksOf lists what is left to do about what the team configured, once where it is the same for several lines: first
// what was not moved. path is that of the ledger.
func tasksOf(path string, lines []contract.LedgerLine) []exports.Task {
	order := []bundle.Status{bundle.Skipped, bundle.Lossy, bundle.Approximate, bundle.Exact}
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, func(a, b contract.LedgerLine) int {
		return cmp.Compare(slices.Index(order, bundle.Status(a.Status)), slices.Index(order, bundle.Status(b.Status)))
	})
	var tasks []exports.Task
	for _, l := range sorted {
		if l.Remedy == nil || !l.Configured {
			continue
		}
		at := slices.IndexFunc(tasks, func(t exports.Task) bool { return t.Text == *l.Remedy })
		switch {
		case at < 0:
			tasks = append(tasks, exports.Task{
				ID:     "task-" + l.Code,
				Status: l.Status,
				Text:   *l.Remedy,
				About:  l.Title,
				URL:    path + "?code=" + url.QueryEscape(l.Code),
			})
		case !slices.Contains(strings.Split(tasks[at].About, ", "), l.Title):
			tasks[at].About += ", " + l.Title
		}
	}
	return tasks
}
