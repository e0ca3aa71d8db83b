// Package exports holds the pages that take a project away: the choice of what
// to export, and one export with its progress, its ledger and its download.
//
// It owns their models and markup; it does not own building an export (exports)
// nor what the ledger's words mean for a target (bundle).
package exports

import (
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/views/ui"
)

// Choice is the choice. It posts format (gateway or data), keys (mint, none, or empty for the
// default, which is hashes with consumers and none without) and consumers (true or absent) to
// Action.
type Choice struct {
	Page       ui.Page
	Project    string // display name
	Action     string // path of the project's export page
	Format     string // gateway or data; "" is gateway
	PreviewURL string // of what an export would move
	Keys       string // hashes, mint or none; "" is hashes
	Consumers  bool
	Secrets    Secrets
	Error      string // what is wrong with the choice as a whole
	KeysError  string
	History    History
}

// Secrets is the part of the choice about secrets. It posts secrets (true or absent),
// recipient and password.
type Secrets struct {
	May           bool // the visitor may take secrets away
	On            bool
	Recipient     ui.Value
	PasswordError string
}

func (a Choice) formats() ui.Group {
	return ui.Group{
		ID: "export-format", Name: "format", Legend: "Format",
		Options: []ui.Option{
			{
				Value: "gateway", Title: "Kong gateway", Chosen: a.Format != "data",
				Text: "Runs on Kong 3.9. Contains the configuration, auth plugin, start script and all data.",
			},
			{
				Value: "data", Title: "Data only", Chosen: a.Format == "data",
				Text: "Settings, keys and the API description as plain JSON, to use anywhere.",
			},
		},
	}
}

func (a Choice) keys() ui.Group {
	return ui.Group{
		ID: "export-keys", Name: "keys", Legend: "API keys", Error: a.KeysError,
		Options: []ui.Option{
			{
				// The default, which an export without consumers does not contradict.
				Value:  "",
				Title:  "Hashes",
				Chosen: a.Keys == "" || a.Keys == "hashes",
				Text:   "Existing keys keep working. The zip contains only their hashes.",
			},
			{
				Value:  "mint",
				Title:  "New keys",
				Chosen: a.Keys == "mint",
				Text: "Adds a file of new keys that you can give to callers. Existing keys also keep working. Only " +
					"members and owners can download the new keys.",
			},
			{
				Value: "none", Title: "None", Chosen: a.Keys == "none",
				Text: "The zip doesn't contain any keys. Every caller needs a new key.",
			},
		},
	}
}

// State is where an export stands.
type State string

// The states of spec section 9.
const (
	Queued    State = "queued"
	Building  State = "building"
	Ready     State = "ready"
	Failed    State = "failed"
	Expired   State = "expired"
	Cancelled State = "cancelled"
)

// Show is one export.
type Show struct {
	Page         ui.Page // Refresh is set while the export runs
	ID           string
	Project      string // display name
	URL          string // of this page, to ask again while it runs
	AgainURL     string // of the project's export page
	State        State
	Badge        ui.Badge
	Options      []ui.Fact // format, keys, consumers, time and requester
	Progress     Progress  // set while it runs
	CancelAction string    // path to post to; set while it runs
	File         *File     // set when ready
	Ledger       *Ledger   // set when ready or expired
	LedgerURL    string    // of its items
	Error        string    // why it failed
	History      History
}

// Progress is how far a running export has come.
type Progress struct {
	Part  string // what is being written
	Done  int64  // rows
	Total int64  // rows; 0: not known yet
	Rows  string // "1,200 of 48,000 keys"
}

// Running reports whether the export is still queued or being built.
func (s Show) Running() bool { return s.State == Queued || s.State == Building }

// heading says in a line where the export stands.
func (s Show) heading() string {
	switch s.State {
	case Queued:
		return "Waiting to start"
	case Building:
		return "Building the zip"
	case Ready:
		return "Ready to download"
	case Failed:
		return "The export failed"
	case Expired:
		return "The zip has expired"
	}
	return "The export was canceled"
}

// File is the finished zip.
type File struct {
	Name        string
	DownloadURL string    // "" for who may not download it
	Size        string    // such as "184 KB"
	SHA256      string    // hex
	Run         string    // commands that start the gateway in the zip; "" where there is none
	Expires     time.Time // when the link stops working
}

// Ledger counts the items of the export by what becomes of them.
type Ledger struct {
	contract.LedgerTotals
	Format string // of the export, which says where the items move; "" for an import
}

// sentence says what the headline counts.
func (l Ledger) sentence() string {
	text := l.Headline()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// Line is one export in the history.
type Line struct {
	URL       string
	Format    string
	Contents  string // such as "API keys, users, no secrets"
	Badge     ui.Badge
	Created   time.Time
	By        string  // "" where it is not recorded
	Size      string  // "" while there is none
	Ledger    *Ledger // nil while there is none
	LedgerURL string  // of its items
	Current   bool    // the export this page shows
}

// History is some exports of a project, newest first.
type History struct {
	List  ui.List
	Lines []Line
}

// share is one status of the ledger.
type share struct {
	class string
	name  string
	text  string
	count int64
}

// shares are the items that the team configured, by their status.
func (l Ledger) shares() []share {
	own := l.Configured
	return []share{
		{"share-exact", "Exact", "moves unchanged", own.Exact},
		{"share-approximate", "Approximate", "moves with differences", own.Approximate},
		{"share-lossy", "Lossy", "moves partially", own.Lossy},
		{"share-skipped", "Skipped", "not moved", own.Skipped},
	}
}

// bar is one rectangle of the chart, in units of a drawing barUnits wide.
type bar struct {
	class    string
	x, width string
}

const (
	barUnits = 1000
	barLeast = 12 // so that one item among a million is still seen
	barGap   = 4
)

// bars lays the shares side by side. What the smallest are given beyond their
// share is taken from the others in proportion.
func (l Ledger) bars() []bar {
	var present []share
	for _, s := range l.shares() {
		if s.count > 0 {
			present = append(present, s)
		}
	}
	room := float64(barUnits - barGap*(len(present)-1) - barLeast*len(present))
	var out []bar
	x := 0.0
	for _, s := range present {
		width := barLeast + room*float64(s.count)/float64(l.Configured.Total())
		out = append(out, bar{class: s.class, x: units(x), width: units(width)})
		x += width + barGap
	}
	return out
}

func units(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

func (s share) number() string { return humanize.Comma(s.count) }
