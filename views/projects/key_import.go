package projects

import (
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/views/ui"
)

// KeyImport is the page that imports API keys from a file, and checks one of them.
type KeyImport struct {
	Page    ui.Page
	Form    *KeyImportForm // nil for viewers
	Done    *KeysImported  // nil before a file was read
	Check   *KeyCheck      // nil for viewers
	BackURL string
}

// announced is what screen readers say when the part is replaced.
func (m KeyImport) announced() string {
	switch {
	case m.Done != nil:
		return m.Done.heading()
	case m.Form.Error != "" || m.Form.FileError != "" || m.Form.Mapping.Error != "":
		return "The file wasn't imported"
	}
	return ""
}

// rowsDone says how many rows are done; "" before the first.
func rowsDone(n contract.KeyImportCounts) string {
	rows := n.Created + n.Updated + n.Unchanged + n.Refused
	if rows == 0 {
		return ""
	}
	text := english.PluralWord(int(rows), humanize.Comma(rows)+" row", humanize.Comma(rows)+" rows") + " done"
	if n.Refused > 0 {
		text += ", " + humanize.Comma(n.Refused) + " refused"
	}
	return text
}

// KeyImportForm posts allow_weak, update, key_type, map (column=field on each line) and, as the last field, file: to
// Action, or to preview below it to be told what an import would do.
type KeyImportForm struct {
	Action    string
	Types     []ui.Option // for rows without one
	Mapping   ui.Value
	AllowWeak bool
	Update    bool
	FileError string
	Error     string
}

func (m KeyImportForm) preview() string { return m.Action + "/preview" }

// KeysImported says what an import of a file did, or would do.
type KeysImported struct {
	DryRun     bool
	Facts      []ui.Fact
	Notes      []string
	Rows       []KeyImportRow // the first ones
	Errors     []KeyImportError
	MoreErrors bool
}

// KeyImportRow is a row of a file, without its key.
type KeyImportRow struct {
	Row                 int64
	Owner, Name, Result string
}

// KeyImportError is why rows weren't imported.
type KeyImportError struct {
	Row, Rows      int64 // the first, and how many
	Column, Detail string
}

// rows names the rows of an error.
func (e KeyImportError) rows() string {
	if e.Rows == 1 {
		return strconv.FormatInt(e.Row, 10)
	}
	return english.Plural(int(e.Rows), "row", "") + ", starting at " + strconv.FormatInt(e.Row, 10)
}

// heading says in a line what happened.
func (m KeysImported) heading() string {
	if m.DryRun {
		return "Result of the check"
	}
	return "Result of the import"
}

// KeyCheck posts secret to Action, which says whether a key of the project has this plaintext.
type KeyCheck struct {
	Action  string
	Error   string
	NoMatch bool
	Match   *KeyRow
}
