package exports

import (
	"bytes"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/bundle"
	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	rules "postern/service/exports"
	"postern/service/projects"
	"postern/views/exports"
	"postern/views/ui"
)

// exportIn is the export in the address.
func exportIn(v *page.Visit) contract.ExportPath {
	return contract.ExportPath{Export: v.Param("export")}
}

func (h *Handler) showExportForm(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.exportForm(v, p)
	return web.Show(exports.ChoicePage(m)), err
}

func (h *Handler) exportForm(v *page.Visit, p projects.Project) (exports.Choice, error) {
	path := page.ProjectPath(p.Name) + "/export"
	v.SelectTeam(p.Team)
	history, err := h.history(v, p.ID, "", path)
	m := exports.Choice{
		Page: v.Shell(
			"Export "+p.DisplayName,
			path,
			page.ProjectsCrumb(),
			page.ProjectCrumb(p),
			ui.Crumb{Text: "Export"},
		),
		Project:    p.DisplayName,
		PreviewURL: path + "/preview",
		Consumers:  true,
		History:    history,
	}
	if v.Who.May(p.Team, access.ExportCreate) {
		m.Action = path
	}
	m.Secrets.May = v.Who.May(p.Team, access.ExportSecrets)
	return m, err
}

func (h *Handler) startExport(v *page.Visit) (web.Answer, error) {
	in := contract.NewExport{Password: contract.Secret(v.Posted("password"))}
	v.Fill(&in, "format", "keys", "consumers", "secrets", "recipient")
	e, err := h.Exports.Create(v.Ctx(), v.Who, in.In(v.Param("project")))
	if err == nil {
		return web.Redirect(page.ExportPath(e.ID)), nil
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.exportForm(v, p)
	m.Format, m.Keys, m.Consumers = in.Format, in.Keys, *in.Consumers
	m.Secrets.On = in.Secrets
	m.KeysError = wrong.Take("/keys")
	m.Secrets.Recipient = wrong.Value("/recipient", in.Recipient)
	m.Secrets.PasswordError = wrong.Take("/password")
	m.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: exports.ChoicePage(m)}, err
}

// showExport shows an export, or streams its progress to the page's script.
func (h *Handler) showExport(v *page.Visit) (web.Answer, error) {
	if web.WantsEvents(v.Gin.Request) {
		h.followExport(v)
		return web.Answer{}, nil
	}
	e, err := h.Exports.Get(v.Ctx(), v.Who, exportIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.exportModel(v, e)
	return web.Show(exports.ShowPage(m)), err
}

// followExport streams an export as events that have the names of its states. Events of a running export have the
// progress as HTML; the page is fetched again when the state changes.
func (h *Handler) followExport(v *page.Visit) {
	event := func(e contract.Export) (web.Event, error) {
		var out bytes.Buffer
		err := exports.ProgressOf(progressOf(e)).Render(v.Ctx(), &out)
		return web.Event{Name: e.State, Data: out.Bytes()}, err
	}
	web.StreamEvents(h.Web, v.Gin, exportIn(v), h.Exports.Follow, h.Exports.MayRead, event)
}

func progressOf(e contract.Export) exports.Progress {
	return exports.Progress{
		Part:  partText(e),
		Done:  e.Progress.RowsDone,
		Total: e.Progress.RowsTotal,
		Rows:  rowsText(e),
	}
}

func (h *Handler) cancelExport(v *page.Visit) (web.Answer, error) {
	id := v.Param("export")
	if !v.HasConfirmed() {
		return h.askCancelExport(v, id)
	}
	_, err := h.Exports.Cancel(v.Ctx(), v.Who, exportIn(v))
	if _, finished := page.ErrorsIn(err); finished {
		return web.Redirect(page.ExportPath(id)), nil // which shows how it ended
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("cancelled", page.ExportPath(id))
}

// askCancelExport asks before an export that is not finished is canceled.
func (h *Handler) askCancelExport(v *page.Visit, id string) (web.Answer, error) {
	e, err := h.Exports.Get(v.Ctx(), v.Who, exportIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	p, err := h.Projects.Get(v.Ctx(), v.Who, e.Project)
	if err == nil {
		err = v.Allowed(p, access.ExportCreate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	if e.State != contract.ExportQueued && e.State != contract.ExportBuilding {
		return web.Redirect(page.ExportPath(id)), nil // which shows how it ended
	}
	v.SelectTeam(p.Team)
	title := "Cancel the export of " + p.DisplayName
	return v.AskConfirmation(ui.ConfirmationView{
		Page: v.Shell(title, page.ExportPath(id), page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Export", URL: page.ExportPath(id)}, ui.Crumb{Text: title}),
		Title: title,
		Facts: []ui.Fact{{Label: "Started", Time: e.CreatedAt}, {Label: "Progress", Value: partText(e)}},
		Confirm: ui.Confirmation{
			Verb: "Cancel",
			Kind: "export",
			Impact: []string{"The export will stop, and its unfinished zip will be deleted. The project and earlier " +
				"exports won't be affected."},
			Undo:     "You can start a new export.",
			ByButton: true,
		},
		BackURL: page.ExportPath(id),
		Back:    "Back to the export",
	})
}

func (h *Handler) exportModel(v *page.Visit, e contract.Export) (exports.Show, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, e.Project)
	if err != nil {
		return exports.Show{}, err
	}
	v.SelectTeam(p.Team)
	path := page.ExportPath(e.ID)
	m := exports.Show{
		Page: v.Shell(
			"Export of "+p.DisplayName,
			path,
			page.ProjectsCrumb(),
			page.ProjectCrumb(p),
			ui.Crumb{Text: "Export"},
		),
		ID: e.ID, Project: p.DisplayName, URL: path, AgainURL: page.ProjectPath(p.Name) + "/export",
		State: exports.State(e.State), Badge: exportBadge(e.State), Error: e.Error, Options: exportFacts(e),
	}
	switch e.State {
	case contract.ExportQueued, contract.ExportBuilding:
		m.Page.Refresh = page.RefreshSeconds
		if v.Who.May(p.Team, access.ExportCreate) {
			m.CancelAction = path + "/cancel"
		}
		m.Progress = progressOf(e)
	case contract.ExportReady:
		m.File = &exports.File{
			Name:    rules.FileName(e),
			Size:    humanize.Bytes(uint64(e.SizeBytes)),
			SHA256:  e.SHA256,
			Expires: page.TimeOf(e.ExpiresAt),
			Run:     runLines(e),
		}
		if mayDownload(v, p.Team, e) {
			m.File.DownloadURL = path + "/download"
		}
	}
	if e.State == contract.ExportReady || e.State == contract.ExportExpired {
		m.LedgerURL = page.LedgerPath(e.ID)
		m.Ledger = &exports.Ledger{LedgerTotals: e.Ledger, Format: e.Format}
	}
	m.History, err = h.history(v, e.Project, e.ID, m.AgainURL)
	return m, err
}

func partText(e contract.Export) string {
	switch {
	case e.Progress.Part == rules.WaitingForStore:
		return "Waiting for the export storage, which isn't responding"
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
	consumers, known := "Included, with their identities", "Not included"
	if !e.Consumers {
		consumers = "Not included"
	}
	switch {
	case e.Secrets && e.Recipient != "":
		known = "Encrypted to " + e.Recipient
	case e.Secrets:
		known = "Included, in plaintext"
	}
	return []ui.Fact{
		{Label: "Format", Value: formatText(e.Format)},
		{Label: "API keys", Value: keysText(e.Keys)},
		{Label: "Users and groups", Value: consumers},
		{Label: "Secrets", Value: known},
		{Label: "Started", Time: e.CreatedAt, Value: byText(e)},
	}
}

// mayDownload reports whether the visitor may have the zip: new keys and secrets are for those who may create them.
func mayDownload(v *page.Visit, team string, e contract.Export) bool {
	if e.Secrets && !v.Who.May(team, access.ExportSecrets) {
		return false
	}
	return e.Keys != string(bundle.KeysMint) || v.Who.May(team, access.ExportMinted)
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
func (h *Handler) downloadPage(v *page.Visit) (web.Answer, error) {
	web.ServeFile(h.Web, v.Gin, contract.DownloadExport, exportIn(v), h.Exports.Open, h.Exports.MayDownload)
	return web.Answer{}, nil
}
