package exports

import (
	"net/url"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/movein"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/views/exports"
	"postern/views/projects"
	"postern/views/ui"
)

// showApplied shows an import that was applied, and why it couldn't be undone.
func (h *Handler) showApplied(v *page.Visit, status int, problem string) (web.Answer, error) {
	did, err := h.Plans.Applied(v.Ctx(), v.Who, importIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(did.Team)
	path := planPath(did.ID)
	m := exports.MovedIn{
		Page:   v.Shell("Import result", path, page.ProjectsCrumb(), importCrumb(), appliedCrumb(&did, "")),
		Import: &did,
		Error:  problem,
		Facts:  movedFacts(&did),
		ToDo:   ledgerSections(movein.NameSettingsIn(did.ToDo, exports.SettingLabels()), true),
	}
	if did.CannotUndo == "" && v.Who.May(did.Team, access.ProjectErase) {
		m.UndoURL = path + "/undo"
	}
	for _, p := range did.Projects {
		path := page.ProjectPath(p.Name)
		one := exports.MovedProject{MovedProject: p, Page: path, Domains: path + "/domains"}
		for _, version := range p.Closed {
			one.ClosedVersions = append(one.ClosedVersions, ui.Link{
				Text: version, URL: path + "/versions/" + url.PathEscape(version) + "/rules",
			})
		}
		m.Projects = append(m.Projects, one)
	}
	return web.Answer{Status: status, Page: exports.MovedInPage(m)}, nil
}

// appliedCrumb names an import by its time, since several imports can have the same name.
func appliedCrumb(did *contract.MovedIn, url string) ui.Crumb {
	return ui.Crumb{Text: "Import of " + page.Moment(did.CreatedAt), URL: url}
}

func movedFacts(did *contract.MovedIn) (facts []ui.Fact) {
	for _, one := range []struct {
		label string
		of    *contract.MovedCounts
	}{{"created", &did.Created}, {"updated", &did.Updated}} {
		for _, count := range []struct {
			label string
			n     int64
		}{
			{"Projects", one.of.Projects}, {"Versions", one.of.Versions}, {"Environments", one.of.Environments},
			{"Custom domains", one.of.Domains}, {"Groups", one.of.Groups}, {"Owners", one.of.Owners},
			{"API keys", one.of.Keys},
		} {
			if count.n > 0 {
				facts = append(facts, ui.Fact{Label: count.label + " " + one.label, Value: humanize.Comma(count.n)})
			}
		}
	}
	return append(facts, ui.Fact{Label: "Unchanged", Value: humanize.Comma(did.Unchanged)})
}

// undoImport takes an import back.
func (h *Handler) undoImport(v *page.Visit) (web.Answer, error) {
	path := planPath(v.Param("import"))
	if v.HasConfirmed() {
		_, err := h.Plans.Undo(v.Ctx(), v.Who, importIn(v))
		if wrong, ok := page.ErrorsIn(err); ok {
			return h.showApplied(v, wrong.Status, wrong.Rest())
		}
		if err != nil {
			return web.Answer{}, err
		}
		return v.Done("import_undone", projects.ImportPath)
	}
	did, err := h.Plans.Applied(v.Ctx(), v.Who, importIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	return v.AskConfirmation(ui.ConfirmationView{
		Page: v.Shell("Undo the import", path, page.ProjectsCrumb(), importCrumb(),
			appliedCrumb(&did, path), ui.Crumb{Text: "Undo"}),
		Title: "Undo the import",
		Confirm: ui.Confirmation{
			Verb: "Undo", Kind: "import", ByButton: true,
			Impact: []string{
				"All projects, owners and keys that the import created will be permanently deleted. Calls to these " +
					"projects will fail.",
				"If any of them have changed since the import, nothing will be deleted.",
			},
			Undo: "You can import the files again.",
		},
		BackURL: path, Back: "Back to the import",
	})
}
