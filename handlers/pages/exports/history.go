package exports

import (
	"strings"

	"github.com/dustin/go-humanize"

	"postern/bundle"
	"postern/core/contract"
	"postern/handlers/page"
	"postern/service/access"
	"postern/views/exports"
	"postern/views/ui"
)

// historyLength is the number of exports that a page lists.
const historyLength = 10

// history lists a project's exports, from the newest or from the one that the address names.
// form is the path of the page that starts one.
func (h *Handler) history(v *page.Visit, project, current, form string) (exports.History, error) {
	list := exportList(form).Read(v)
	found, err := h.Exports.List(v.Ctx(), v.Who, contract.ExportList{
		ProjectPath: contract.ProjectPath{Project: project},
		Page:        list.Request(),
		State:       list.Get("state"),
		Format:      list.Get("format"),
		Sort:        list.Sorting(),
	})
	if err != nil {
		return exports.History{}, err
	}
	out := exports.History{List: page.ListView(list, found)}
	for _, e := range found.Items {
		line := exports.Line{
			URL:      page.ExportPath(e.ID),
			Format:   formatText(e.Format),
			Contents: e.Contents(),
			Badge:    exportBadge(e.State),
			Created:  e.CreatedAt,
			By:       requesterText(e),
			Current:  e.ID == current,
		}
		if e.SizeBytes > 0 {
			line.Size = humanize.Bytes(uint64(e.SizeBytes))
		}
		if e.State == contract.ExportReady || e.State == contract.ExportExpired {
			line.LedgerURL = page.LedgerPath(e.ID)
			line.Ledger = &exports.Ledger{LedgerTotals: e.Ledger, Format: e.Format}
		}
		out.Lines = append(out.Lines, line)
	}
	return out, nil
}

// exportList is the list of exports, on the page of which form is the path. The page of an export has one of the items
// of its ledger as well.
func exportList(form string) *page.Listing {
	return &page.Listing{
		Path:    form,
		Prefix:  "exports_",
		Section: "export-history",
		One:     "export",
		Size:    historyLength,
		Orders:  []page.ListOrder{{By: "created", Desc: true}, {By: "size", Desc: true}},
		Filters: []page.ListFilter{
			{Name: "state", Title: "State", Options: []ui.Option{
				{Value: contract.ExportReady, Title: "Ready"},
				{Value: contract.ExportFailed, Title: "Failed"},
				{Value: contract.ExportExpired, Title: "Expired"},
				{Value: contract.ExportCancelled, Title: "Canceled"},
			}},
			{Name: "format", Title: "Format", Options: []ui.Option{
				{Value: string(bundle.FormatData), Title: formatText(string(bundle.FormatData))},
				{Value: string(bundle.FormatGateway), Title: formatText(string(bundle.FormatGateway))},
			}},
		},
	}
}

// byText names who requested an export, as the end of a sentence.
func byText(e contract.Export) string {
	if who := requesterText(e); who != "" {
		return " by " + who
	}
	return ""
}

// requesterText names who requested an export, "" where that is not recorded.
func requesterText(e contract.Export) string {
	switch by := e.RequestedBy; {
	case by.Email != nil:
		return *by.Email
	case by.ID == "":
		return ""
	case strings.HasPrefix(by.ID, access.ActorWorkspaceKey):
		return "the workspace key"
	}
	return "an account outside this team"
}
