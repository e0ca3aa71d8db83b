package projects

import (
	"strconv"

	"postern/views/ui"
)

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
	More    string // says that there are more rows, "" when there are not
}

// Choice is one of several views of the page.
type Choice struct {
	Text    string
	URL     string
	Current bool
}

// Chart is calls over time. Each bar is of one hour or day.
type Chart struct {
	Title string
	Most  string // calls of the tallest bar
	First string // time of the first bar
	Last  string
	Bars  []Bar
}

// Bar is the calls of one hour or day.
type Bar struct {
	Label  string
	Good   int64
	Client int64 // answered with 4xx
	Server int64 // answered with 5xx
}

func (b Bar) calls() int64 { return b.Good + b.Client + b.Server }

// UsageRow is the sums of one group.
type UsageRow struct {
	Label    string
	Detail   string // what tells it from another of that label, or ""
	URL      string // "" when there is no page for it
	Mono     bool
	Calls    string
	BytesIn  string
	BytesOut string
	Share    int64 // of the calls, in percent
}

// The chart's own units: a bar with its gap is barStep wide.
const (
	chartHeight = 120
	barStep     = 20
	barWidth    = 14
)

// piece is a rectangle of the chart.
type piece struct{ class, x, y, height string }

func (c Chart) viewBox() string {
	return "0 0 " + strconv.Itoa(len(c.Bars)*barStep) + " " + strconv.Itoa(chartHeight)
}

// pieces stacks each bar from the ground up, and keeps what is there visible
// beside what is tall.
func (c Chart) pieces() []piece {
	var most int64
	for _, b := range c.Bars {
		most = max(most, b.calls())
	}
	var out []piece
	for i, b := range c.Bars {
		x, ground := strconv.Itoa(i*barStep+(barStep-barWidth)/2), float64(chartHeight)
		for _, part := range []struct {
			class string
			calls int64
		}{{"bar-good", b.Good}, {"bar-client", b.Client}, {"bar-server", b.Server}} {
			if part.calls == 0 {
				continue
			}
			height := max(float64(part.calls)/float64(most)*(chartHeight-4), 1)
			ground -= height
			out = append(out, piece{part.class, x, decimal(ground), decimal(height)})
		}
	}
	return out
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }
