package ui

import (
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Exact is a time to the minute, in UTC.
func Exact(at time.Time) string { return at.UTC().Format("2 Jan 2006, 15:04 UTC") }

// magnitudes count days up to 100, so that a token for 90 days doesn't expire "in 2 months".
var magnitudes = []humanize.RelTimeMagnitude{
	{D: 2 * time.Minute, Format: "1 minute"},
	{D: time.Hour, Format: "%d minutes", DivBy: time.Minute},
	{D: 2 * time.Hour, Format: "1 hour"},
	{D: humanize.Day, Format: "%d hours", DivBy: time.Hour},
	{D: 2 * humanize.Day, Format: "1 day"},
	{D: 100 * humanize.Day, Format: "%d days", DivBy: humanize.Day},
	{D: humanize.Year, Format: "%d months", DivBy: humanize.Month},
	{D: 2 * humanize.Year, Format: "1 year"},
	{D: humanize.LongTime, Format: "%d years", DivBy: humanize.Year},
	{D: math.MaxInt64, Format: "a long while"},
}

// rounded is a duration to the nearest of its largest unit, up to days: 90 days are still 90 a second later.
func rounded(d time.Duration) time.Duration {
	for _, unit := range []time.Duration{time.Minute, time.Hour} {
		if next := d.Round(unit); next < 60*unit && next < humanize.Day {
			return next
		}
	}
	return d.Round(humanize.Day)
}

// relative is how long before or after now a time is, in its largest unit, such as "3 minutes ago" or "in 2 days".
func relative(at, now time.Time) string {
	away := at.Sub(now).Abs()
	switch {
	case away < time.Minute && at.After(now):
		return "in less than a minute"
	case away < time.Minute:
		return "just now"
	}
	away = rounded(away)
	text := strings.TrimSpace(humanize.CustomRelTime(now.Add(away), now, "", "", magnitudes))
	if away >= humanize.LongTime { // which humanize calls a long while
		text = english.Plural(int(away/humanize.Year), "year", "")
	}
	if at.After(now) {
		return "in " + text
	}
	return text + " ago"
}
