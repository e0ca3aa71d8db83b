package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"postern/platform/fault"
)

// printJSON prints the API's response.
func printJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(v)
}

// listed is a list as the API returns it, with the items of all pages.
type listed[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

func printJSONList[T any](w io.Writer, items []T) error {
	if items == nil {
		items = []T{}
	}
	return printJSON(w, listed[T]{Items: items})
}

// printable removes control characters from text that others have written, such as a
// description, since they could control the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
}

// when formats a time to the minute in the local time zone, "" for nil.
func when(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// complain prints an error: its public text if it has one, and each invalid field with
// the way to correct it.
func complain(w io.Writer, err error) {
	text, known := err.Error(), &fault.Error{}
	if errors.As(err, &known) {
		text = strings.Replace(text, known.Error(), known.Public, 1)
	}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintf(w, "postern: %s\n", printable(strings.TrimSuffix(line, "\n")))
	}
	for _, f := range known.Fields {
		pointer := f.Pointer
		if pointer == "" {
			pointer = "the request"
		}
		switch {
		case f.Detail == known.Public && len(known.Fields) == 1:
			fmt.Fprintf(w, "  at %s (%s)\n", printable(pointer), known.Code)
		default:
			fmt.Fprintf(w, "  %s: %s\n", printable(pointer), printable(f.Detail))
		}
	}
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool { return isDevice(w) }

// readsTerminal reports whether r is a terminal, so that a question can be asked.
func readsTerminal(r io.Reader) bool { return isDevice(r) }

func isDevice(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// daysLeft formats the days until an end in parentheses, "" without an end.
func daysLeft(end *time.Time) string {
	switch {
	case end == nil:
		return ""
	case !end.After(time.Now()):
		return " (over)"
	case time.Until(*end) < 24*time.Hour:
		return " (less than a day left)"
	case time.Until(*end) < 48*time.Hour:
		return " (1 day left)"
	}
	return fmt.Sprintf(" (%d days left)", int(time.Until(*end)/(24*time.Hour)))
}
