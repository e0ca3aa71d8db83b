package projects

import "postern/views/ui"

// Usage is what was counted of a project, over time and by something.
type Usage struct {
	Page    ui.Page
	Head    Head
	Periods []Choice
	Facts   []ui.Fact // totals of the period
	Chart   Chart
	By      []Choice
	Column  string // head of the first column
	Rows    []UsageRow
	Since   string // what the rows count from, where that is not the first bar; ""
	Timed   bool   // the rows have latencies
	CSVURL  string
	Curl    string // a call that is counted
	More    string // says that there are more rows, "" when there are not
}

// Choice is one of several views of the page.
type Choice struct {
	Text    string
	URL     string
	Current bool
}

// UsageRow is the sums of one group.
type UsageRow struct {
	Label    string
	Detail   string // what tells it from another of that label, or ""
	URL      string // "" when there is no page for it
	Mono     bool
	Calls    string
	BytesIn  string
	BytesOut string
	P50, P95 string
	Share    int64 // of the calls, in percent
}
