package projects

import (
	"time"

	"postern/views/ui"
)

// Overview sums up a project's last 24 hours, and how it would leave.
type Overview struct {
	Calls     string
	Refused   string // number of calls that Postern refused
	Rejected  string // number of calls that the upstream answered with 4xx
	Failed    string // number of calls that the upstream answered with 5xx or not at all
	P50       string
	P95       string
	FirstByte string // such as "first byte 12 ms", "" without forwarded calls
	Spark     Chart
	UsageURL  string

	LastExport LastExport
	ExportURL  string
	Leaves     Portability
}

// LastExport says what became of a project's last export.
type LastExport struct {
	Text string    // such as "exported"
	At   time.Time // shown after Text; the zero time is not
}

// NeverExported is the LastExport of a project that has no export.
var NeverExported = LastExport{Text: "never exported"}

// Portability says what of a project an export moved.
type Portability struct {
	Badge     ui.Badge
	Note      string
	URL       string
	Exporting bool // the badge says so, and LastExport doesn't need to
}
