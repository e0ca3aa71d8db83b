package ui

import (
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
)

// timeLeft is the time from now to end in its two largest units, such as "6 days and 3 hours".
func timeLeft(end, now time.Time) string {
	left := end.Sub(now)
	if left <= 0 {
		return "a moment"
	}
	if left < time.Minute {
		return "less than a minute"
	}
	day := 24 * time.Hour
	// Rounded, so that a day is still a day a second later.
	if minutes := left.Round(time.Minute); minutes < day {
		left = minutes
	} else {
		left = left.Round(time.Hour)
	}
	var parts []string
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"day", day}, {"hour", time.Hour}, {"minute", time.Minute}} {
		n := int(left / unit.length)
		left -= time.Duration(n) * unit.length
		if n > 0 {
			parts = append(parts, english.Plural(n, unit.name, ""))
		} else if len(parts) > 0 {
			break // 6 days and 3 minutes would claim a precision that 6 days does not need
		}
	}
	return strings.Join(parts[:min(len(parts), 2)], " and ")
}
