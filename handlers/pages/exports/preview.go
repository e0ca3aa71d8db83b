package exports

import (
	"errors"
	"slices"

	"postern/bundle"
	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/exports"
	"postern/views/ui"
)

// previewExport shows what an export with the usual options would move.
func (h *Handler) previewExport(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	ask := page.ProjectPath(p.Name) + "/export"
	path := ask + "/preview"
	options := contract.ExportPreviewOptions{
		ProjectPath: contract.ProjectPath{Project: p.ID}, Format: string(bundle.FormatGateway), Consumers: true,
	}
	if v.Gin.Query("format") == string(bundle.FormatData) {
		options.Format = string(bundle.FormatData)
	}
	m := exports.Preview{
		Page: v.Shell("Export preview for "+p.DisplayName, path, page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Export", URL: ask}, ui.Crumb{Text: "Preview"}),
		Project: p.DisplayName,
	}
	for _, format := range []bundle.Format{bundle.FormatGateway, bundle.FormatData} {
		m.Formats = append(m.Formats, ui.Tab{
			URL:     path + "?format=" + string(format),
			Text:    formatText(string(format)),
			Current: string(format) == options.Format,
		})
	}
	if v.Who.May(p.Team, access.ExportCreate) {
		m.AskURL = ask
	}
	found, err := h.Exports.Preview(v.Ctx(), v.Who, options)
	late, ok := errors.AsType[*fault.Error](err)
	switch {
	case ok && late.Kind == fault.Unavailable:
		m.Problem = late.Public
	case err != nil:
		return web.Answer{}, err
	}
	m.Partial, m.Ledger = found.Partial, exports.Ledger{LedgerTotals: found.Ledger, Format: found.Format}
	m.Sections = ledgerSections(found.Items, true)
	return web.Show(exports.PreviewPage(m)), nil
}

// statusSections are the sections of a ledger by status. Items that need attention come first, and items that move
// exactly are folded.
func statusSections() []exports.Section {
	return []exports.Section{
		{ID: string(bundle.Skipped), Title: "Not moved", Text: "These items aren't included.", Open: true},
		{ID: string(bundle.Lossy), Title: "Moves partially", Text: "Part of each item is lost.", Open: true},
		{ID: string(bundle.Approximate), Title: "Moves with differences",
			Text: "Each line describes the differences.", Open: true},
		{ID: string(bundle.Exact), Title: "Moves unchanged", Text: "Nothing is lost or different."},
	}
}

// ledgerSections divides lines into sections: to-dos first, then the others that the team configured by their status,
// and last what is the same for every project, folded. With listsTodos false, to-dos are in the section of their
// status, for a page that has a checklist of them.
func ledgerSections(lines []contract.LedgerLine, listsTodos bool) []exports.Section {
	todo := exports.Section{ID: "todo", Title: "To do", Text: "Each line describes a step that you still need to " +
		"take.", Open: true,
		Mixed: true}
	everywhere := exports.Section{ID: ofEveryProject, Title: "The same for every project",
		Text: "Every project has these items.", Mixed: true}
	byStatus := statusSections()
	for i := range byStatus {
		for _, line := range lines {
			if line.Status != byStatus[i].ID {
				continue
			}
			into := &byStatus[i]
			switch {
			case !line.Configured:
				into = &everywhere
			case line.Remedy != nil && listsTodos:
				into = &todo
			}
			line.Names = itemNames(line, shownNames)
			into.Lines = append(into.Lines, exports.LedgerLine{LedgerLine: line})
		}
	}
	return slices.DeleteFunc(slices.Concat([]exports.Section{todo}, byStatus, []exports.Section{everywhere}),
		func(s exports.Section) bool { return len(s.Lines) == 0 })
}

// shownNames is the most items that a page names in each of many lines.
const shownNames = 20

// itemNames returns the first names of a line's items, nil where a name only repeats the title.
func itemNames(line contract.LedgerLine, most int) []string {
	if slices.Equal(line.Names, []string{line.Title}) {
		return nil
	}
	return line.Names[:min(len(line.Names), most)]
}
