package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// setLimits adds WINDOW=CALLS, or several of them with commas between them, to limits; noLimits sets empty ones. The
// server validates the windows.
func setLimits(limits *contract.Limits, text string) error {
	if text == noLimits && len(*limits) == 0 {
		*limits = contract.Limits{}
		return nil
	}
	added, err := readLimits(strings.Split(text, ","))
	if err != nil {
		return err
	}
	for window, calls := range *limits {
		if _, twice := added[window]; twice {
			return fmt.Errorf("%s appears twice", window)
		}
		added[window] = calls
	}
	*limits = added
	return nil
}

// setMetadata sets an object of JSON.
func setMetadata(metadata *contract.Metadata, text string) error {
	if err := metadata.UnmarshalJSON([]byte(text)); err != nil || !metadata.Valid() {
		return terminal.ValueError(`a JSON object, such as '{"plan": "gold"}'`)
	}
	return nil
}

// maxCalls is the largest number of calls that the server accepts: what every reader of JSON takes for a whole number.
const maxCalls = 1<<53 - 1

// readLimits parses WINDOW=CALLS, and returns nil for none.
func readLimits(pairs []string) (map[string]int64, error) {
	var limits map[string]int64
	for _, pair := range pairs {
		window, number, ok := strings.Cut(pair, "=")
		calls, err := strconv.ParseInt(number, 10, 64)
		if errors.Is(err, strconv.ErrRange) && window != "" {
			return nil, terminal.ValueError(fmt.Sprintf("a smaller number of calls, at most %d", maxCalls))
		}
		if !ok || window == "" || err != nil {
			return nil, terminal.ValueError("WINDOW=CALLS, such as minute=100")
		}
		if _, twice := limits[window]; twice {
			return nil, fmt.Errorf("%s appears twice", window)
		}
		if limits == nil {
			limits = map[string]int64{}
		}
		limits[window] = calls
	}
	return limits, nil
}

// LimitsText formats limits, the shortest window first.
func LimitsText(limits map[string]int64) string {
	windows := []string{"second", "minute", "hour", "day", "month", "year"}
	var parts []string
	byLength := func(a, b string) int { return slices.Index(windows, a) - slices.Index(windows, b) }
	for _, window := range slices.SortedFunc(maps.Keys(limits), byLength) {
		parts = append(parts, humanize.Comma(limits[window])+" per "+window)
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// maxDays keeps a number of days from overflowing a duration.
const maxDays = 36500

// errTooLong is the error of a duration that is longer than maxDays.
var errTooLong = terminal.ValueError(fmt.Sprintf("at most %dd", maxDays))

// wholeDuration matches a duration of time.ParseDuration of any length.
var wholeDuration = regexp.MustCompile(`^(\d+(\.\d*)?(h|m|s|ms|us|µs|ns))+$`)

// readDuration parses a duration as time.ParseDuration does, and days such as "90d", which have 24 hours. The error of
// one that is too long is errTooLong.
func readDuration(s string) (time.Duration, error) {
	const most = maxDays * 24 * time.Hour
	days, ok := strings.CutSuffix(s, "d")
	if !ok {
		d, err := time.ParseDuration(s)
		if d > most || err != nil && wholeDuration.MatchString(s) {
			return 0, errTooLong
		}
		return d, err
	}
	n, err := strconv.Atoi(days)
	switch {
	case n > maxDays: // also of a number that is too large for an int
		return 0, errTooLong
	case err != nil || n < 0:
		return 0, errors.New("not a number of days")
	}
	return time.Duration(n) * 24 * time.Hour, nil
}

// durationError returns the error of a duration that isn't valid, unless it's only too long.
func durationError(err error, must string) error {
	if errors.Is(err, errTooLong) {
		return errTooLong
	}
	return terminal.ValueError(must)
}

// numberError returns the error of a text that strconv doesn't take for a whole number.
func numberError(err error, must string) error {
	if errors.Is(err, strconv.ErrRange) {
		return terminal.ValueError("a smaller number")
	}
	return terminal.ValueError(must)
}

// readPoint parses a time, or a date, which is the beginning of that day in UTC.
func readPoint(s string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		at, err = time.Parse(time.DateOnly, s)
	}
	return at, err
}

// readTime parses a time, a date, or a duration from now.
func readTime(s string, now time.Time) (time.Time, error) {
	if at, err := readPoint(s); err == nil {
		return at, nil
	}
	d, err := readDuration(s)
	if err == nil && d > 0 {
		return now.Add(d).UTC().Truncate(time.Second), nil
	}
	return now, durationError(err,
		"a date such as 2030-01-31, a time such as 2030-01-31T12:00:00Z, or a time from now such as 90d")
}

// readPast parses a time, a date, or a duration before now.
func readPast(s string, now time.Time) (time.Time, error) {
	if at, err := readPoint(s); err == nil {
		return at, nil
	}
	d, err := readDuration(s)
	if err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return now, durationError(err,
		"a date such as 2030-01-31, a time such as 2030-01-31T12:00:00Z, or how long ago, such as 7d")
}

// warningTexts are pairs of what only the API says in warnings, and the words of the command line.
var warningTexts = strings.NewReplacer(
	"set the mode (requests_auth.mode) to authenticate.",
	"run `postern versions update PROJECT --mode authenticate`.",
	"set keyless (requests_auth.keyless) to reject.", "run `postern versions update PROJECT --keyless reject`.",
	"Add jwt to its methods (requests_auth.methods).",
	"To accept them, add jwt to --methods of `postern versions update PROJECT`.",
	"With read_write_scopes, it", "With --read-write-scopes, it",
	"or turn off read_write_scopes in the version's rules",
	"or run `postern rules set PROJECT --read-write-scopes=false`",
)

// WarningText returns a warning in the words of the command line.
func WarningText(one contract.Warning) string {
	text := warningTexts.Replace(one.Detail)
	if one.Code == "no_provider" {
		text += " To add one, run `postern providers create CLIENT TYPE`."
	}
	return terminal.Printable(text)
}

// PrintWarnings prints what the server allowed but may surprise, a line each.
func PrintWarnings(w io.Writer, list []contract.Warning) {
	for i, one := range list {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "Note: %s\n", WarningText(one))
	}
}
