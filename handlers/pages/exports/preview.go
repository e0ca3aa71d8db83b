package exports

import (
	"errors"
	"slices"

	"postern/bundle"
	"postern/core/contract"
	"postern/core/snapshot"
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
		Page: v.Shell("What leaves "+p.DisplayName, path, page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Export", URL: ask}, ui.Crumb{Text: "What leaves"}),
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
	m.OfHTTP = ofHTTP(options.Format, found.Items)
	m.Partial, m.Ledger, m.Sections = found.Partial, exports.Ledger(found.Ledger), ledgerSections(found.Items)
	return web.Show(exports.PreviewPage(m)), nil
}

// ledgerSections sorts lines by their status: what needs attention comes first, and what
// moves as it is is folded.
func ledgerSections(lines []contract.LedgerLine) []exports.Section {
	all := []exports.Section{
		{ID: string(bundle.Skipped), Title: "Stays behind", Text: "not carried over at all", Open: true},
		{ID: string(bundle.Lossy), Title: "Moves in part", Text: "part of it is gone", Open: true},
		{ID: string(bundle.Approximate), Title: "Moves, with a difference",
			Text: "close; each line states the difference",
			Open: true},
		{ID: string(bundle.Exact), Title: "Moves exactly", Text: "the same call gets the same answer"},
	}
	var present []exports.Section
	for _, section := range all {
		for _, line := range lines {
			if line.Status == section.ID {
				line.Names = itemNames(line, shownNames)
				section.Lines = append(section.Lines, exports.LedgerLine{LedgerLine: line})
			}
		}
		if len(section.Lines) > 0 {
			present = append(present, section)
		}
	}
	return present
}

// ofHTTP counts the items that say how a target treats HTTP where that differs. They are the same for every project.
func ofHTTP(format string, lines []contract.LedgerLine) int64 {
	if format != string(bundle.FormatGateway) {
		return 0
	}
	var n int64
	for _, line := range lines {
		if line.Kind == string(snapshot.FeatureRequestLimits) && line.Status != string(bundle.Exact) {
			n += line.Count
		}
	}
	return n
}

// shownNames is the most items that a page names in each of many lines.
const shownNames = 20

// itemNames returns the first names of a line's items, nil where a name only repeats the kind or
// code.
func itemNames(line contract.LedgerLine, most int) []string {
	if line.Kind == string(snapshot.FeatureRequestLimits) || slices.Equal(line.Names, []string{line.Kind}) {
		return nil
	}
	return line.Names[:min(len(line.Names), most)]
}
