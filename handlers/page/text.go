package page

import (
	"iter"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/ui"
)

// WarningTexts returns the texts of warnings, for the notices of a page.
func WarningTexts(list []contract.Warning, err error) ([]string, error) {
	var texts []string
	for _, one := range list {
		texts = append(texts, one.Detail)
	}
	return texts, err
}

// NoticesOf returns the texts of warnings in an answer.
func NoticesOf(list []contract.Warning) (texts []string) {
	for _, one := range list {
		texts = append(texts, one.Detail)
	}
	return texts
}

// RoleText describes the rights of a role in a team.
func RoleText(role string) string {
	return map[access.Role]string{
		access.Owner: "Owners can do everything, including managing members and permanently deleting projects.",
		access.Member: "Members can create and change projects, keys and exports. They can't manage members or " +
			"permanently delete projects.",
		access.Viewer: "Viewers can see everything except the audit log and invitations. They can't change anything.",
	}[access.Role(role)]
}

// Lines returns the lines of a text field, trimmed, without empty ones.
func Lines(text string) []string {
	out := []string{}
	for _, line := range NumberedLines(text) {
		out = append(out, line)
	}
	return out
}

// NumberedLines is Lines with the number of each line in the field, from 1, where empty lines count.
func NumberedLines(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range strings.Lines(text) {
			number++
			if line = strings.TrimSpace(line); line != "" && !yield(number, line) {
				return
			}
		}
	}
}

// RangesText lists address ranges. none is the text for an empty list.
func RangesText(ranges []string, none string) string {
	if len(ranges) == 0 {
		return none
	}
	return strings.Join(ranges, ", ")
}

// RefreshSeconds is how often a browser without scripts reloads the page.
const RefreshSeconds = 2

// CountFact is a number of things that was counted up to models.MaxTotal+1.
func CountFact(label string, n int64) ui.Fact { return ui.Fact{Label: label, Value: SomeText(n)} }

// KeysFact is how many API keys there are, and how many of them are active.
func KeysFact(all, active int64) ui.Fact {
	fact := CountFact("API keys", all)
	if all > 0 {
		fact.Value += " (" + SomeText(active) + " active)"
	}
	return fact
}

// Moment formats a time in UTC to the minute, for sentences.
func Moment(t time.Time) string { return ui.Exact(t) }

// TimeOf returns a time, and the zero time for nil.
func TimeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// TimeFact is a fact about a time; nil is never.
func TimeFact(label string, t *time.Time) ui.Fact {
	if t == nil {
		return ui.Fact{Label: label, Value: "never"}
	}
	return ui.Fact{Label: label, Time: *t}
}

// TextOf returns the text that a member may have, "" for null.
func TextOf(member *string) string {
	if member == nil {
		return ""
	}
	return *member
}

// TextOrNone returns the text, or "none" for an empty one.
func TextOrNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// SecondsADay is the number of seconds in a day.
const SecondsADay = 24 * 3600

// LifetimeText formats a lifetime in the largest unit of which it is a whole number.
func LifetimeText(seconds int64) string {
	switch {
	case seconds == 0:
		return "unlimited"
	case seconds%SecondsADay == 0:
		return english.Plural(int(seconds/SecondsADay), "day", "")
	case seconds%3600 == 0:
		return english.Plural(int(seconds/3600), "hour", "")
	case seconds%60 == 0:
		return english.Plural(int(seconds/60), "minute", "")
	}
	return english.Plural(int(seconds), "second", "")
}

// ScopesText formats scopes that are separated by space.
func ScopesText(typed string) string { return TextOrNone(strings.Join(strings.Fields(typed), " ")) }

// Choose marks the option of that value and no other.
func Choose(options []ui.Option, value string) {
	for i := range options {
		options[i].Chosen = options[i].Value == value
	}
}

// KeyBadge shows a key's state.
func KeyBadge(state string) ui.Badge {
	switch state {
	case contract.KeyFrozen:
		return ui.Badge{Tone: ui.Cold, Text: "Frozen"}
	case contract.KeyRevoked:
		return ui.Badge{Tone: ui.Bad, Text: "Revoked"}
	case contract.KeyExpired:
		return ui.Badge{Tone: ui.Warn, Text: "Expired"}
	}
	return ui.Badge{Tone: ui.Good, Text: "Active"}
}

// EndOfDay parses a day (YYYY-MM-DD) and returns its last second in UTC, nil for "".
func EndOfDay(s string) (*time.Time, error) {
	if s == "" {
		return nil, nil
	}
	begins, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return nil, fault.InvalidField("/expires_at", "invalid_expiry", "Enter a date such as 2030-12-31, or leave "+
			"the field empty.")
	}
	ends := begins.Add(24*time.Hour - time.Second)
	return &ends, nil
}

// Named returns options whose values are their titles.
func Named(names []string) []ui.Option {
	var out []ui.Option
	for _, name := range names {
		out = append(out, ui.Option{Value: name, Title: name})
	}
	return out
}

// CountText returns a number of things, such as 1,204 calls.
func CountText(n int64, one string) string {
	return SomeText(n) + " " + english.PluralWord(int(n), one, "")
}

// SomeText returns a number that was counted up to models.MaxTotal+1.
func SomeText(n int64) string {
	if n == models.MaxTotal+1 {
		return "more than " + humanize.Comma(models.MaxTotal)
	}
	return humanize.Comma(n)
}
