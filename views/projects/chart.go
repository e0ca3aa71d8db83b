package projects

import (
	"context"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Chart is a project's traffic over time: calls, and how long forwarded ones took. It has a bar for each period, also
// for those without calls.
type Chart struct {
	Title string
	Bars  []Bar
}

// Bar is the traffic of one period.
type Bar struct {
	Label  string
	Tick   string // short form of the label, for the axis
	Good   int64
	Client int64 // got 4xx
	Server int64 // got 5xx
	P50    time.Duration
	P95    time.Duration // 0 without forwarded calls
}

func (b Bar) calls() int64 { return b.Good + b.Client + b.Server }

// hover says what the pointer is on.
func (b Bar) hover() string {
	out := b.Label + "\n" + humanize.Comma(b.calls()) + " " + english.PluralWord(int(b.calls()), "call", "")
	if b.Client > 0 {
		out += ", " + humanize.Comma(b.Client) + " rejected"
	}
	if b.Server > 0 {
		out += ", " + humanize.Comma(b.Server) + " failed"
	}
	if b.P95 > 0 {
		out += "\np50 " + LatencyText(b.P50) + ", p95 " + LatencyText(b.P95)
	}
	return out
}

// LatencyText returns a duration with about two digits.
func LatencyText(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case d == 0:
		return "–"
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	default:
		return strconv.FormatFloat(ms/1000, 'f', 1, 64) + " s"
	}
}

// The chart's own units: the place of a bar is barStep wide.
const (
	chartHeight = 120
	barStep     = 20
	barWidth    = 15
)

// rect is a rectangle of the chart.
type rect struct{ class, x, y, width, height, hover string }

// bars draws rectangles. It is not a template since a list of projects has more than a thousand of them.
func bars(list []rect) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var out []byte
		for _, r := range list {
			out = append(out, `<rect class="`+r.class+`" x="`+r.x+`" y="`+r.y+`" width="`+r.width+`" height="`+r.height+
				`">`...)
			if r.hover != "" {
				out = append(out, "<title>"+templ.EscapeString(r.hover)+"</title>"...)
			}
			out = append(out, "</rect>"...)
		}
		_, err := w.Write(out)
		return err
	})
}

func (c Chart) viewBox() string {
	return "0 0 " + strconv.Itoa(len(c.Bars)*barStep) + " " + strconv.Itoa(chartHeight)
}

func (c Chart) width() string { return strconv.Itoa(len(c.Bars) * barStep) }

// mostCalls returns the top of the axis of calls, which is even.
func (c Chart) mostCalls() float64 {
	var most int64
	for _, b := range c.Bars {
		most = max(most, b.calls())
	}
	return max(roundUp(float64(most)), 2)
}

// mostLatency returns the top of the axis of latencies, in milliseconds; 0 if no call was forwarded.
func (c Chart) mostLatency() float64 {
	var most time.Duration
	for _, b := range c.Bars {
		most = max(most, b.P95)
	}
	return roundUp(float64(most) / float64(time.Millisecond))
}

// roundUp returns the next of 1, 2, 4, 6, 8 and 10 times a power of ten.
func roundUp(n float64) float64 {
	if n <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(n)))
	for _, times := range []float64{1, 2, 4, 6, 8} {
		if n <= times*unit {
			return times * unit
		}
	}
	return 10 * unit
}

func (c Chart) callTicks() []string {
	most := c.mostCalls()
	return []string{countText(most), countText(most / 2), "0"}
}

func countText(n float64) string {
	switch {
	case n >= 1e9:
		return strconv.FormatFloat(n/1e9, 'f', -1, 64) + "G"
	case n >= 1e6:
		return strconv.FormatFloat(n/1e6, 'f', -1, 64) + "M"
	case n >= 1e4:
		return strconv.FormatFloat(n/1e3, 'f', -1, 64) + "k"
	}
	return humanize.Comma(int64(n))
}

func (c Chart) latencyTicks() []string {
	most := c.mostLatency()
	text := func(ms float64) string {
		if ms >= 1000 {
			return strconv.FormatFloat(ms/1000, 'f', -1, 64) + " s"
		}
		return strconv.FormatFloat(ms, 'f', -1, 64) + " ms"
	}
	return []string{text(most), text(most / 2), "0"}
}

// tick is a label of the axis of time with its place below the middle of its bar.
type tick struct{ text, x string }

// times returns the labels of the axis of time: of the first bar, the last, and some between.
func (c Chart) times() (out []tick) {
	const n = 5
	for i := range min(n, len(c.Bars)) {
		at := i * (len(c.Bars) - 1) / (n - 1)
		out = append(out, tick{c.Bars[at].Tick, decimal((float64(at)+0.5)*100/float64(len(c.Bars))) + "%"})
	}
	return out
}

// parts stacks each bar from the ground up, and keeps small parts visible next to tall ones.
func (c Chart) parts() []rect {
	most := c.mostCalls()
	var out []rect
	for i, b := range c.Bars {
		x, ground := decimal(float64(i*barStep)+(barStep-barWidth)/2.0), float64(chartHeight)
		for _, part := range []struct {
			class string
			calls int64
		}{{"bar-good", b.Good}, {"bar-client", b.Client}, {"bar-server", b.Server}} {
			if part.calls == 0 {
				continue
			}
			height := max(float64(part.calls)/most*chartHeight, 1)
			ground -= height
			out = append(out, rect{part.class, x, decimal(ground), strconv.Itoa(barWidth), decimal(height), ""})
		}
	}
	return out
}

// places are invisible bars of full height over the others, which show their values when the pointer is on them.
func (c Chart) places() []rect {
	out := make([]rect, len(c.Bars))
	for i, b := range c.Bars {
		x := strconv.Itoa(i * barStep)
		out[i] = rect{"chart-place", x, "0", strconv.Itoa(barStep), strconv.Itoa(chartHeight), b.hover()}
	}
	return out
}

// line returns the paths of a latency over time. It is broken where no call was forwarded.
func (c Chart) line(of func(Bar) time.Duration) string {
	most := c.mostLatency()
	var out strings.Builder
	drawing := false
	for i, b := range c.Bars {
		if of(b) == 0 {
			drawing = false
			continue
		}
		y := chartHeight * (1 - float64(of(b))/float64(time.Millisecond)/most)
		from, to := decimal(float64(i*barStep)+2), decimal(float64((i+1)*barStep)-2)
		if drawing {
			out.WriteString("L")
		} else {
			out.WriteString("M")
		}
		out.WriteString(from + " " + decimal(y) + "L" + to + " " + decimal(y))
		drawing = true
	}
	return out.String()
}

func (c Chart) p50() string { return c.line(func(b Bar) time.Duration { return b.P50 }) }
func (c Chart) p95() string { return c.line(func(b Bar) time.Duration { return b.P95 }) }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// sparks returns the bars of a small chart without axes.
func (c Chart) sparks() []rect {
	var most int64
	for _, b := range c.Bars {
		most = max(most, b.calls())
	}
	var out []rect
	for i, b := range c.Bars {
		height := 2.0
		if b.calls() > 0 {
			height = max(float64(b.calls())/float64(most)*chartHeight, 8)
		}
		x := decimal(float64(i*barStep) + (barStep-barWidth)/2.0)
		class := "bar-good"
		if b.calls() == 0 {
			class = "bar-none"
		}
		out = append(out, rect{
			class, x, decimal(chartHeight - height), strconv.Itoa(barWidth), decimal(height), b.hover(),
		})
	}
	return out
}
