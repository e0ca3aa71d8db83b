package page

import (
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/snapshot"
)

// WindowTitles returns the names of the windows of limits, from the shortest.
func WindowTitles() []string {
	var out []string
	for window := snapshot.Second; window < snapshot.Windows; window++ {
		out = append(out, window.String())
	}
	return out
}

// TypedLimits formats limits as the form shows them, by window.
func TypedLimits(l map[string]int64) map[string]string {
	out := map[string]string{}
	for window, calls := range l {
		out[window] = strconv.FormatInt(calls, 10)
	}
	return out
}

// PostedLimits returns the limits of a form as typed, without empty ones.
func (v *Visit) PostedLimits(prefix string) map[string]string {
	out := map[string]string{}
	for _, window := range WindowTitles() {
		if typed := strings.TrimSpace(v.Posted(prefix + window)); typed != "" {
			out[window] = typed
		}
	}
	return out
}

// ReadLimits parses limits. Text that isn't a whole number is NoNumber.
func ReadLimits(typed map[string]string) *map[string]int64 {
	out := map[string]int64{}
	for window, text := range typed {
		calls, ok := WholeNumber(text)
		if !ok {
			calls = NoNumber
		}
		out[window] = calls
	}
	return &out
}

// LimitsText lists limits as typed, shortest window first: "10 per second, 1,000 per day", ""
// for none. They need not be numbers.
func LimitsText(typed map[string]string) string {
	var parts []string
	for _, window := range WindowTitles() {
		if calls, ok := typed[window]; ok {
			if n, ok := WholeNumber(calls); ok {
				calls = humanize.Comma(n)
			}
			parts = append(parts, calls+" per "+window)
		}
	}
	return strings.Join(parts, ", ")
}
