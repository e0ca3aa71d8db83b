package pages

import (
	"bytes"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/bundle"
	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	rules "postern/service/exports"
	"postern/service/projects"
	"postern/views/exports"
	"postern/views/ui"
)

// refreshSeconds is how often a browser without scripts reloads the page.
const refreshSeconds = 2

// exportIn is the export in the address.
func exportIn(v *visit) contract.ExportPath { return contract.ExportPath{Export: v.param("export")} }

func exportPath(id string) string { return "/exports/" + id }

func (h *Handler) showExportForm(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.exportForm(v, p)
	return web.Show(exports.AskPage(m)), err
}

func (h *Handler) exportForm(v *visit, p projects.Project) (exports.Ask, error) {
	path := projectPath(p.Name) + "/export"
	v.selectTeam(p.Team)
	history, err := h.history(v, p.ID, "", path)
	m := exports.Ask{
		Page:       v.shell("Export "+p.DisplayName, path, projectsCrumb(), projectCrumb(p), ui.Crumb{Text: "Export"}),
		Project:    p.DisplayName,
		PreviewURL: path + "/preview",
		Consumers:  true,
		History:    history,
	}
	if v.who.May(p.Team, access.ExportCreate) {
		m.Action = path
	}
	m.Secrets.May = v.who.May(p.Team, access.ExportSecrets)
	return m, err
}

func (h *Handler) startExport(v *visit) (web.Answer, error) {
	in := contract.NewExport{Password: contract.Secret(v.posted("password"))}
	v.fill(&in, "format", "keys", "consumers", "secrets", "recipient")
	e, err := h.Exports.Create(v.ctx(), v.who, in.In(v.param("project")))
	if err == nil {
		return web.Redirect(exportPath(e.ID)), nil
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.exportForm(v, p)
	m.Format, m.Keys, m.Consumers = in.Format, in.Keys, *in.Consumers
	m.Secrets.On = in.Secrets
	m.KeysError = wrong.take("/keys")
	m.Secrets.Recipient = wrong.value("/recipient", in.Recipient)
	m.Secrets.PasswordError = wrong.take("/password")
	m.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: exports.AskPage(m)}, err
}

// showExport shows an export, or streams its progress to the page's script.
func (h *Handler) showExport(v *visit) (web.Answer, error) {
	if web.WantsEvents(v.c.Request) {
		h.followExport(v)
		return web.Answer{}, nil
	}
	e, err := h.Exports.Get(v.ctx(), v.who, exportIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.exportModel(v, e)
	return web.Show(exports.ShowPage(m)), err
}

// followExport streams an export as events that have the names of its states. Those of a running
// one have the progress as HTML; the page is fetched again when the state changes.
func (h *Handler) followExport(v *visit) {
	h.Web.StreamExport(v.c, h.Exports, func(e contract.Export) (string, []byte, error) {
		var out bytes.Buffer
		err := exports.ProgressOf(progressOf(e)).Render(v.ctx(), &out)
		return e.State, out.Bytes(), err
	})
}

func progressOf(e contract.Export) exports.Progress {
	return exports.Progress{
		Part:  partText(e),
		Done:  e.Progress.RowsDone,
		Total: e.Progress.RowsTotal,
		Rows:  rowsText(e),
	}
}

func (h *Handler) cancelExport(v *visit) (web.Answer, error) {
	id := v.param("export")
	if !v.asked() {
		return h.askCancelExport(v, id)
	}
	_, err := h.Exports.Cancel(v.ctx(), v.who, exportIn(v))
	if _, finished := formErrorsIn(err); finished {
		return web.Redirect(exportPath(id)), nil // which shows how it ended
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("cancelled", exportPath(id))
}

// askCancelExport asks before an export that is not finished is cancelled.
func (h *Handler) askCancelExport(v *visit, id string) (web.Answer, error) {
	e, err := h.Exports.Get(v.ctx(), v.who, exportIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	p, err := h.Projects.Get(v.ctx(), v.who, e.Project)
	if err == nil {
		err = v.allowed(p, access.ExportCreate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	if e.State != contract.ExportQueued && e.State != contract.ExportBuilding {
		return web.Redirect(exportPath(id)), nil // which shows how it ended
	}
	title := "Cancel the export of " + p.DisplayName
	return v.ask(ui.Asked{
		Page: v.shell(title, exportPath(id), projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Export", URL: exportPath(id)}, ui.Crumb{Text: title}),
		Title: title,
		Facts: []ui.Fact{{Label: "Started", Value: humanize.Time(e.CreatedAt)}, {Label: "Now", Value: partText(e)}},
		Confirm: ui.Confirmation{
			Verb: "Cancel",
			Kind: "export",
			Impact: []string{"The export stops, and what it has written so far is deleted. The project and earlier " +
				"exports stay."},
			Undo:     "You can start a new export.",
			ByButton: true,
		},
		BackURL: exportPath(id),
		Back:    "Back to the export",
	})
}

func (h *Handler) exportModel(v *visit, e contract.Export) (exports.Show, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, e.Project)
	if err != nil {
		return exports.Show{}, err
	}
	path := exportPath(e.ID)
	m := exports.Show{
		Page: v.shell("Export of "+p.DisplayName, path, projectsCrumb(), projectCrumb(p), ui.Crumb{Text: "Export"}),
		ID:   e.ID, Project: p.DisplayName, URL: path, AgainURL: projectPath(p.Name) + "/export",
		State: exports.State(e.State), Badge: exportBadge(e.State), Error: e.Error, Options: exportFacts(e),
	}
	switch e.State {
	case contract.ExportQueued, contract.ExportBuilding:
		m.Page.Refresh = refreshSeconds
		if v.who.May(p.Team, access.ExportCreate) {
			m.CancelAction = path + "/cancel"
		}
		m.Progress = progressOf(e)
	case contract.ExportReady:
		m.File = &exports.File{
			Name:    rules.FileName(e),
			Size:    humanize.Bytes(uint64(e.SizeBytes)),
			SHA256:  e.SHA256,
			Expires: momentOrNever(e.ExpiresAt),
			Run:     runLines(e),
		}
		if mayDownload(v, p.Team, e) {
			m.File.DownloadURL = path + "/download"
		}
	}
	if e.State == contract.ExportReady || e.State == contract.ExportExpired {
		m.LedgerURL = ledgerPath(e.ID)
		m.Ledger = &exports.Ledger{
			Exact:       e.Ledger.Exact,
			Approximate: e.Ledger.Approximate,
			Lossy:       e.Ledger.Lossy,
			Skipped:     e.Ledger.Skipped,
		}
		kept, err := h.Exports.Ledger(v.ctx(), v.who, e.ID, rules.LedgerFilter{})
		if err != nil {
			return exports.Show{}, err
		}
		m.OfHTTP = ofHTTP(e.Format, kept.Lines)
	}
	m.History, err = h.history(v, e.Project, e.ID, m.AgainURL)
	return m, err
}

func partText(e contract.Export) string {
	switch {
	case e.Progress.Part == rules.WaitingForStore:
		return "Waiting for the export store, which isn't responding"
	case e.State == contract.ExportQueued:
		return "Starts in a moment"
	case e.Progress.Part == "":
		return "Reading the project"
	}
	return "Writing " + e.Progress.Part
}

func rowsText(e contract.Export) string {
	if e.Progress.RowsTotal == 0 {
		return ""
	}
	unit := " keys"
	if strings.Contains(e.Progress.Part, "/users/") || strings.HasPrefix(e.Progress.Part, "auth/") {
		unit = " users"
	}
	return humanize.Comma(e.Progress.RowsDone) + " of " + humanize.Comma(e.Progress.RowsTotal) + unit
}

func exportFacts(e contract.Export) []ui.Fact {
	consumers, known := "Included: users, groups and their identities", "Left out"
	if !e.Consumers {
		consumers = "Left out"
	}
	switch {
	case e.Secrets && e.Recipient != "":
		known = "Encrypted to " + e.Recipient
	case e.Secrets:
		known = "Included, in plain text"
	}
	return []ui.Fact{
		{Label: "Format", Value: formatText(e.Format)},
		{Label: "API keys", Value: keysText(e.Keys)},
		{Label: "Consumers", Value: consumers},
		{Label: "Secrets", Value: known},
		{Label: "Started", Value: moment(e.CreatedAt) + byText(e)},
	}
}

// mayDownload reports whether the visitor may have the zip: new keys and secrets are for
// those who may make them.
func mayDownload(v *visit, team string, e contract.Export) bool {
	if e.Secrets && !v.who.May(team, access.ExportSecrets) {
		return false
	}
	return e.Keys != string(bundle.KeysMint) || v.who.May(team, access.ExportMinted)
}

// runLines are the commands that start the gateway in a zip, which is named so that a shell needs no quotes.
func runLines(e contract.Export) string {
	if e.Format != string(bundle.FormatGateway) {
		return ""
	}
	folder := strings.TrimSuffix(rules.FileName(e), ".zip")
	return "unzip " + rules.FileName(e) + " -d " + folder + "\n" + folder + "/gateway/start.sh"
}

func formatText(format string) string {
	if format == string(bundle.FormatGateway) {
		return "Kong gateway"
	}
	return "Data only"
}

func keysText(option string) string {
	switch bundle.KeysOption(option) {
	case bundle.KeysMint:
		return "New keys"
	case bundle.KeysNone:
		return "None"
	}
	return "Hashes: existing keys keep working"
}

func exportBadge(state string) ui.Badge {
	switch state {
	case contract.ExportBuilding:
		return ui.Badge{Tone: ui.Accent, Text: "Building"}
	case contract.ExportReady:
		return ui.Badge{Tone: ui.Good, Text: "Ready"}
	case contract.ExportFailed:
		return ui.Badge{Tone: ui.Bad, Text: "Failed"}
	case contract.ExportExpired:
		return ui.Badge{Text: "Expired"}
	case contract.ExportCancelled:
		return ui.Badge{Text: "Canceled"}
	}
	return ui.Badge{Text: "Queued"}
}

// downloadPage answers with the zip, or with a page if there is none.
func (h *Handler) downloadPage(v *visit) (web.Answer, error) {
	h.Web.ServeExport(v.c, h.Exports)
	return web.Answer{}, nil
}
