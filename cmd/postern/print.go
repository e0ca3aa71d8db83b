package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"postern/platform/fault"
)

// printJSON writes what the API answered.
func printJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(v)
}

// listed is the API's shape of a list, here of all its pages.
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

// table aligns rows of cells that are separated by tabs.
func table(w io.Writer, fill func(row func(cells ...string))) error {
	out := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fill(func(cells ...string) {
		for i, cell := range cells {
			cells[i] = printable(cell)
		}
		fmt.Fprintln(out, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	})
	return out.Flush()
}

// printable keeps what somebody else wrote, such as a description, from steering
// the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
}

// when is a time to the minute as its reader's clock shows it, "" for none.
func when(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// complain writes an error for a person: its public side where it has one, and
// each wrong field with the mend.
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

// isTerminal tells whether somebody watches what is written.
func isTerminal(w io.Writer) bool { return isDevice(w) }

// readsTerminal tells whether somebody can be asked.
func readsTerminal(r io.Reader) bool { return isDevice(r) }

func isDevice(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// daysLeft says in brackets how long something still has, "" without an end.
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
