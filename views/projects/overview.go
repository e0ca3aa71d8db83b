package projects

import "postern/views/ui"

// Overview sums up a project's last 24 hours, and how it would leave.
type Overview struct {
	Calls     string
	Errors    string // share of calls that failed with 5xx
	Rejected  string // such as "1.2 % rejected", "" for none
	P50       string
	P95       string
	FirstByte string // such as "first byte 12 ms", "" without forwarded calls
	Spark     Chart
	UsageURL  string

	LastExport string
	ExportURL  string
	Leaves     Portability
}

// Portability says what of a project an export moved.
type Portability struct {
	Badge ui.Badge
	Note  string
	URL   string
}
