package ui

import (
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Exact is a time to the minute, in UTC.
func Exact(at time.Time) string { return at.UTC().Format("2 Jan 2006, 15:04 UTC") }

// relative is how long before or after now a time is, in its largest unit, such as "3 minutes ago" or "in 2 days".
func relative(at, now time.Time) string {
	away := at.Sub(now).Abs()
	switch {
	case away < time.Minute && at.After(now):
		return "in less than a minute"
	case away < time.Minute:
		return "just now"
	}
	text := strings.TrimSpace(humanize.RelTime(at, now, "", ""))
	if away >= humanize.LongTime { // which humanize calls a long while
		text = english.Plural(int(away/humanize.Year), "year", "")
	}
	if at.After(now) {
		return "in " + text
	}
	return text + " ago"
}
