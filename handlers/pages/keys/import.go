package keys

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/core/keyfile"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

const (
	shownRows      = 10        // of a file, with what was read
	shownErrors    = 100       // of a file
	maxImportField = 256 << 10 // bytes of a field of the form
)

// importFields are the fields of the form of an import. The file is the last of them: it is read as it arrives.
const importFields = "allow_weak key_type map update watch file"

func importPath(p rules.Project) string { return page.KeysPath(p) + "/import" }

// showImport shows the page of imports, or streams the progress of one to the page's script.
func (h *Handler) showImport(v *page.Visit) (web.Answer, error) {
	if web.WantsEvents(v.Gin.Request) {
		h.followImport(v)
		return web.Answer{}, nil
	}
	m, err := h.importPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(projects.KeyImportPage(m)), nil
}

// followImport streams how far an import has come as events with the progress as HTML: rows while it is written, and
// done at its end.
func (h *Handler) followImport(v *page.Visit) {
	in := keys.ImportWatch{Project: v.Param("project"), Watch: v.Gin.Query("watch")}
	event := func(now keys.ImportProgress) (web.Event, error) {
		name := "rows"
		if now.Done {
			name = "done"
		}
		var out bytes.Buffer
		err := projects.KeyImportRows(now.KeyImportCounts).Render(v.Ctx(), &out)
		return web.Event{Name: name, Data: out.Bytes()}, err
	}
	web.StreamEvents(h.Web, v.Gin, in, h.Keys.FollowImport, h.Keys.MayFollow, event)
}

// importPage is the page of imports with the form as it was sent.
func (h *Handler) importPage(v *page.Visit) (projects.KeyImport, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return projects.KeyImport{}, err
	}
	v.SelectTeam(p.Team)
	path := importPath(p)
	m := projects.KeyImport{
		Page:    v.Shell("Import keys", path, keyCrumbs(p, ui.Crumb{Text: "Import"})...),
		BackURL: page.KeysPath(p),
	}
	if v.MayChange(p, access.KeyCreate) {
		m.Form = &projects.KeyImportForm{
			Action:    path,
			Types:     []ui.Option{{Title: "None (refuse these rows)"}},
			Mapping:   ui.Value{Text: v.Posted("map")},
			AllowWeak: v.Posted("allow_weak") == "true",
			Update:    v.Posted("update") == "true",
		}
		for _, t := range p.KeyTypes {
			m.Form.Types = append(m.Form.Types, ui.Option{Value: t.Name, Title: t.Name})
		}
		page.Choose(m.Form.Types, v.Posted("key_type"))
	}
	if v.MayChange(p, access.KeyChange) {
		m.Check = &projects.KeyCheck{Action: page.KeysPath(p) + "/check"}
	}
	return m, nil
}

// previewImport shows what an import of the posted file would do.
func (h *Handler) previewImport(v *page.Visit) (web.Answer, error) { return h.importFile(v, true) }

// importKeys imports the keys of the posted file. To send it again is harmless: its keys exist then.
func (h *Handler) importKeys(v *page.Visit) (web.Answer, error) { return h.importFile(v, false) }

func (h *Handler) importFile(v *page.Visit, dryRun bool) (web.Answer, error) {
	in := contract.KeyImport{ProjectPath: contract.ProjectPath{Project: v.Param("project")}, DryRun: dryRun}
	if err := h.Keys.CheckImport(v.Ctx(), v.Who, in); err != nil {
		return web.Answer{}, err
	}
	body, leave, err := h.Web.ReceiveKeys(v.Gin.Writer, v.Gin.Request)
	if err != nil {
		return h.importRefused(v, err)
	}
	defer leave()
	v.Gin.Request.Body = io.NopCloser(body)
	var first firstRows
	done, err := h.importPosted(v, in, &first)
	if err != nil {
		_, _ = io.Copy(io.Discard, body) // browsers show no answer until they have sent the file
		return h.importRefused(v, err)
	}
	m, err := h.importPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	m.Done = importDone(done, dryRun, first.rows)
	return web.Show(projects.KeyImportPage(m)), nil
}

// importPosted reads the form of an import, and imports its file. The form is not parsed as others are, which would
// write the keys into a temporary file: its fields come before the file, and are posted fields for what follows.
func (h *Handler) importPosted(
	v *page.Visit, in contract.KeyImport, first *firstRows,
) (contract.KeysImported, error) {
	parts, err := v.Gin.Request.MultipartReader()
	if err != nil { // the fields are parsed already
		_, err := keys.ReadMapping(page.Lines(v.Posted("map")))
		return contract.KeysImported{}, errors.Join(err, noFile())
	}
	v.Gin.Request.PostForm = url.Values{}
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return contract.KeysImported{}, noFile()
		case err != nil:
			return contract.KeysImported{}, unreadableForm(err)
		case part.FormName() == "file" && part.FileName() == "":
			return contract.KeysImported{}, noFile()
		case part.FormName() == "file":
			in.KeyType, in.Map = v.Posted("key_type"), page.Lines(v.Posted("map"))
			in.AllowWeak, in.Update = v.Posted("allow_weak") == "true", v.Posted("update") == "true"
			file := keys.ImportFile{Read: first.read, Line: first.line, Again: keys.Watched(v.Who, v.Posted("watch"))}
			return h.Keys.ImportFrom(v.Ctx(), v.Who, in, file, lastPart{part, parts})
		}
		if err := readImportField(part, v.Gin.Request.PostForm); err != nil {
			return contract.KeysImported{}, err
		}
	}
}

func noFile() error { return fault.InvalidField("/file", "no_file", "Choose a file.") }

// unreadableForm is the error of a form that can't be read. Those of an upload say themselves what happened.
func unreadableForm(err error) error {
	if _, known := errors.AsType[*fault.Error](err); known {
		return err
	}
	return fault.New(fault.Malformed, "malformed", "The form couldn't be read.").Because(err)
}

func readImportField(part *multipart.Part, form url.Values) error {
	raw, err := io.ReadAll(io.LimitReader(part, maxImportField+1))
	name, text := part.FormName(), string(raw)
	switch {
	case err != nil:
		return unreadableForm(err)
	case len(raw) > maxImportField || !web.ValidText(text):
		return fault.New(fault.Malformed, "malformed", "The form couldn't be read.")
	case form.Has(name) || name == "file" || !slices.Contains(strings.Fields(importFields), name):
		return fault.New(fault.Malformed, "malformed",
			"The form couldn't be read because a field is unknown or repeated.")
	}
	form.Set(name, text)
	return nil
}

// lastPart reads a part of a form, and refuses the form if another one follows.
type lastPart struct {
	part  io.Reader
	parts *multipart.Reader
}

// Read implements io.Reader.
func (r lastPart) Read(b []byte) (int, error) {
	n, err := r.part.Read(b)
	if errors.Is(err, io.EOF) {
		if _, more := r.parts.NextPart(); !errors.Is(more, io.EOF) {
			err = fault.New(fault.Malformed, "malformed",
				"The form couldn't be read because it has extra fields after the file.")
		}
	}
	return n, err
}

// firstRows are the first rows of a file, with what was read that isn't secret.
type firstRows struct {
	rows  []projects.KeyImportRow
	lines int
}

func (f *firstRows) read(row keyfile.Row) {
	if len(f.rows) < shownRows {
		f.rows = append(f.rows, projects.KeyImportRow{
			Row: row.Number, Owner: withoutKey(row.Owner), Name: withoutKey(row.Name),
		})
	}
}

// line is called for the rows in their order.
func (f *firstRows) line(of contract.KeyImportRow) error {
	if f.lines < len(f.rows) {
		f.rows[f.lines].Result = of.Result
		f.lines++
	}
	return nil
}

// withoutKey hides a text that may be a key.
func withoutKey(text string) string {
	if keyfile.MayBeKey(text) {
		return "(hidden, because it may be a key)"
	}
	return text
}

func importDone(done contract.KeysImported, dryRun bool, first []projects.KeyImportRow) *projects.KeysImported {
	wrong := done.ErrorsOfRows()
	m := &projects.KeysImported{DryRun: dryRun, Rows: first,
		MoreErrors: len(wrong) > shownErrors || done.Unlisted() > 0}
	labels := [4]string{"Created", "Updated", "Unchanged", "Refused"}
	if dryRun {
		labels = [4]string{"To create", "To update", "Unchanged", "Refused"}
	}
	m.Facts = []ui.Fact{{Label: "File format", Value: sourceNames[done.Source]}}
	for i, n := range []int64{done.Created, done.Updated, done.Unchanged, done.Refused} {
		m.Facts = append(m.Facts, ui.Fact{Label: labels[i], Value: humanize.Comma(n)})
	}
	for _, note := range done.Notes {
		m.Notes = append(m.Notes, english.Plural(int(note.Rows), "row", "")+", starting at row "+
			humanize.Comma(note.Row)+": "+asFormText(note.Detail))
	}
	for _, one := range wrong[:min(len(wrong), shownErrors)] {
		m.Errors = append(m.Errors, projects.KeyImportError{
			Row: one.Row, Rows: one.Rows, Column: strings.TrimPrefix(one.Pointer, "/"), Detail: asFormText(one.Detail),
		})
	}
	return m
}

// sourceNames are the systems that files are of.
var sourceNames = map[string]string{
	string(keyfile.Native): "Postern or custom", string(keyfile.Unkey): "Unkey", string(keyfile.Kong): "Kong",
	string(keyfile.AWS): "AWS API Gateway", string(keyfile.Tyk): "Tyk",
}

// asFormText has the form's way to do what a text says the command's way to do.
func asFormText(text string) string {
	return strings.NewReplacer("--map ", "", "with postern keys check", "with the form below").Replace(text)
}

// importRefused shows the form with what was wrong, and with a mapping for columns that no field takes.
func (h *Handler) importRefused(v *page.Visit, err error) (web.Answer, error) {
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || refused.Kind == fault.Internal || refused.Kind == fault.Unauthenticated ||
		refused.Kind == fault.Forbidden || refused.Kind == fault.NotFound {
		return web.Answer{}, err
	}
	m, missing := h.importPage(v)
	if missing != nil || m.Form == nil {
		return web.Answer{}, errors.Join(missing, err)
	}
	wrong := &page.Errors{Status: web.StatusOf(refused.Kind), Public: refused.Public}
	if known, ok := page.ErrorsIn(err); ok {
		wrong = known
	}
	m.Form.Mapping.Error, m.Form.FileError = asFormText(wrong.Take("/map")), wrong.Take("/file")
	m.Form.Error = asFormText(wrong.Rest())
	if file, ok := errors.AsType[*keyfile.Error](err); ok && len(file.Proposals) > 0 {
		m.Form.Mapping.Text = withProposals(m.Form.Mapping.Text, file.Proposals)
		m.Form.Error += " The mapping below suggests a field for each column. Check the mapping, then choose the " +
			"file again."
	}
	return web.Answer{Status: max(wrong.Status, http.StatusBadRequest), Page: projects.KeyImportPage(m)}, nil
}

// withProposals adds a line for each column to a mapping.
func withProposals(mapping string, proposals []keyfile.Proposal) string {
	lines := page.Lines(mapping)
	for _, one := range proposals {
		line := one.Column + "=" + one.Field
		if strings.ContainsAny(line, `,"`) {
			var quoted strings.Builder
			w := csv.NewWriter(&quoted)
			_ = w.Write([]string{line}) // a strings.Builder takes everything
			w.Flush()
			line = strings.TrimSpace(quoted.String())
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// checkKey says whether a key is one of the project. What was typed is in no page.
func (h *Handler) checkKey(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.KeyChange)
	}
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.importPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	status := http.StatusOK
	in := contract.KeyCheck{ProjectPath: contract.ProjectPath{Project: p.ID}}
	in.Body.Key = contract.Secret(strings.TrimSpace(v.Posted("secret")))
	if in.Body.Key.Reveal() == "" {
		m.Check.Error = "Enter a key."
		return web.Answer{Status: http.StatusUnprocessableEntity, Page: projects.KeyImportPage(m)}, nil
	}
	found, err := h.Keys.Check(v.Ctx(), v.Who, in)
	refused, _ := errors.AsType[*fault.Error](err)
	switch {
	case refused != nil && refused.Kind == fault.TooMany:
		status, m.Check.Error = http.StatusTooManyRequests, refused.Public
	case err != nil:
		return web.Answer{}, err
	case found.Match == nil:
		m.Check.NoMatch = true
	default:
		home := keys.Home{ID: p.ID, Team: p.Team, Limits: p.Limits.Key}
		k, err := h.Keys.GetFrom(v.Ctx(), v.Who, home, *found.Match)
		if err != nil {
			return web.Answer{}, err
		}
		row := keyRow(p, k)
		m.Check.Match = &row
	}
	return web.Answer{Status: status, Page: projects.KeyImportPage(m)}, nil
}
