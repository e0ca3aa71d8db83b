package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"postern/client"
)

// previewExport prints what an export would move.
func previewExport(c *cobra.Command, t terminal, project string, in client.NewExport) error {
	s, err := openSession(t, c)
	if err != nil {
		return err
	}
	found, err := onProject(c.Context(), s, project, func(ctx context.Context, api caller) (client.ExportPreview, error) {
		return api.PreviewExport(ctx, project, in)
	})
	if err != nil {
		return err
	}
	if wantsJSON(c) {
		return printJSON(t.out, found)
	}
	var text strings.Builder
	for _, group := range []struct{ status, title string }{
		{"skipped", "Not moved"}, {"lossy", "Moved in part"}, {"approximate", "Moved with a difference"},
	} {
		writeLines(&text, group.title, group.status, found.Items, func(client.LedgerLine) string { return "" })
	}
	if _, err := fmt.Fprint(t.out, text.String()); err != nil {
		return err //nolint:wrapcheck // of the terminal
	}
	err = table(t.out, func(row func(...string)) {
		printLedger(row, found.Ledger.Exact, found.Ledger.Approximate, found.Ledger.Lossy, found.Ledger.Skipped)
	})
	if err != nil || !found.Partial {
		return err
	}
	_, err = fmt.Fprintln(t.out, "\nOnly the first keys are counted; the ledger in a zip has all.")
	return err //nolint:wrapcheck // of the terminal
}

// writeLines writes the lines of a ledger that have a status, each with its note, its remedy and
// what items says.
func writeLines(
	out *strings.Builder, title, status string, lines []client.LedgerLine, items func(client.LedgerLine) string,
) {
	first := true
	for _, l := range lines {
		if l.Status != status {
			continue
		}
		if first {
			fmt.Fprintf(out, "%s\n", title)
			first = false
		}
		fmt.Fprintf(out, "  %s (%d), %s\n%s", printable(l.Title), l.Count, printable(l.Code), indented(printable(l.Note)))
		if l.Remedy != nil {
			out.WriteString(indented("To do: " + printable(*l.Remedy)))
		}
		out.WriteString(items(l))
	}
	if !first {
		out.WriteByte('\n')
	}
}

// indented breaks a text into lines of at most 80 characters that begin with four blanks. A
// longer word has a line of its own.
func indented(text string) string {
	var out strings.Builder
	length := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case length == 0:
			out.WriteString("    ")
		case length+1+n > 76:
			out.WriteString("\n    ")
			length = 0
		default:
			out.WriteByte(' ')
			length++
		}
		out.WriteString(word)
		length += n
	}
	return out.String() + "\n"
}
