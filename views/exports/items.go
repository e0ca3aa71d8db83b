package exports

import (
	"github.com/dustin/go-humanize"

	"postern/views/ui"
)

// Items is the page of an export's ledger: what becomes of the items, and what is left to do.
type Items struct {
	Page        ui.Page
	ID          string // of the export
	Project     string // display name
	Subtitle    string // format, time and requester
	Ledger      Ledger
	Here        string // path of this page
	Tabs        []ui.Tab
	Status      string // "" for all
	Areas       []ui.Option
	Filtered    bool
	Forgotten   bool   // names of keys and people are gone with the zip
	DownloadURL string // of the full ledger; "" after the zip has expired
	Tasks       []Task
	Sections    []Section // without empty ones
}

// Task is something to do after the move.
type Task struct {
	ID     string // unique on the page, the same for each reader
	Status string // of what it concerns, for its mark
	Text   string
	About  string // what it concerns, such as "Routes, Webhooks"
	URL    string // of the first line that it concerns
}

// Names is the page of the items of one line of a ledger.
type Names struct {
	Page      ui.Page
	Title     string
	Line      LedgerLine
	Badge     Section // of its status
	LedgerURL string
	Forgotten bool
}

// known says how many items the page names, "" for all or none.
func (n Names) known() string {
	named := int64(len(n.Line.Names))
	if named == n.Line.Count || named == 0 {
		return ""
	}
	return "Showing the first " + humanize.Comma(named) + " of " + humanize.Comma(n.Line.Count) +
		" items. The full ledger lists all items."
}
