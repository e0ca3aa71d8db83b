package export

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// previewExport prints what an export would move.
func previewExport(c *cobra.Command, t terminal.Terminal, project string, in contract.NewExport) error {
	s, err := cli.OpenSession(t, c)
	if err != nil {
		return err
	}
	found, err := cli.OnProject(c.Context(), s, project,
		func(ctx context.Context, api cli.Caller) (contract.ExportPreview, error) {
			return client.Do(ctx, api.Client, contract.PreviewExport, contract.ExportPreviewOptions{
				ProjectPath: contract.ProjectPath{Project: project},
				Format:      in.Format,
				Keys:        in.Keys,
				Consumers:   in.Consumers == nil || *in.Consumers,
				Secrets:     in.Secrets,
			})
		})
	if err != nil {
		return err
	}
	if terminal.WantsJSON(c) {
		return terminal.PrintJSON(t.Out, found)
	}
	var text strings.Builder
	for _, group := range []struct{ status, title string }{
		{"skipped", "Not moved"}, {"lossy", "Moved in part"}, {"approximate", "Moved with a difference"},
	} {
		writeLines(&text, group.title, group.status, found.Items, func(contract.LedgerLine) string { return "" })
	}
	if _, err := fmt.Fprint(t.Out, text.String()); err != nil {
		return err //nolint:wrapcheck // of the terminal
	}
	err = terminal.Details(t.Out, func(row func(...string)) {
		printLedger(row, found.Ledger.Exact, found.Ledger.Approximate, found.Ledger.Lossy, found.Ledger.Skipped)
	})
	if err != nil || !found.Partial {
		return err
	}
	_, err = fmt.Fprintln(t.Out, "\nOnly the first keys are counted; the ledger in a zip has all.")
	return err //nolint:wrapcheck // of the terminal
}

// writeLines writes the lines of a ledger that have a status, each with its note, its remedy and
// what items says.
func writeLines(
	out *strings.Builder, title, status string, lines []contract.LedgerLine, items func(contract.LedgerLine) string,
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
		fmt.Fprintf(out, "  %s (%d), %s\n%s", terminal.Printable(l.Title), l.Count, terminal.Printable(l.Code),
			indented(terminal.Printable(l.Note)))
		if l.Remedy != nil {
			out.WriteString(indented("To do: " + terminal.Printable(*l.Remedy)))
		}
		out.WriteString(items(l))
	}
	if !first {
		out.WriteByte('\n')
	}
}

// Unmoved returns the ledger lines of an export about what does not move, or moves in part.
func Unmoved(ctx context.Context, api *client.Client, e contract.Export) ([]contract.LedgerLine, error) {
	var all []contract.LedgerLine
	for _, status := range []string{"skipped", "lossy"} {
		lines, err := cli.Collect(client.Each(ctx, api, contract.GetExportLedger, contract.LedgerList{
			ExportPath: e.Path(), LedgerFilter: contract.LedgerFilter{Status: status},
		}))
		if err != nil {
			return nil, err
		}
		all = append(all, lines...)
	}
	return all, nil
}

// WriteUnmoved writes what an export leaves behind: what can be done about it, once for each
// thing to do, and the titles of the items without one.
func WriteUnmoved(out *strings.Builder, lines []contract.LedgerLine) {
	for _, group := range []struct{ status, title string }{{"skipped", "Not moved"}, {"lossy", "Moved in part"}} {
		all, others := adviceOf(lines, group.status)
		if len(all)+len(others) > 0 {
			fmt.Fprintf(out, "%s\n", group.title)
		}
		for _, a := range all {
			if len(a.remedies) == 1 {
				out.WriteString(indented(terminal.Printable(a.titles + ": " + a.remedies[0])))
				continue
			}
			out.WriteString(indented(terminal.Printable(a.titles + ":")))
			for _, remedy := range a.remedies {
				out.WriteString(indented(terminal.Printable("- " + remedy)))
			}
		}
		if len(others) > 0 {
			out.WriteString(indented("Nothing to do about: " + terminal.Printable(strings.Join(others, ", ")) + "."))
		}
	}
}

// An advice is what to do about the ledger's items with these titles, which commas separate.
type advice struct {
	titles   string
	remedies []string
}

// adviceOf returns what to do about the items of a status, and the titles of those that nothing
// can be done about. No remedy and no title comes twice.
func adviceOf(lines []contract.LedgerLine, status string) (all []advice, others []string) {
	var remedies, advised []string
	titles := map[string][]string{} // by remedy
	for _, l := range lines {
		if l.Status != status || l.Remedy == nil {
			continue
		}
		advised = append(advised, l.Title)
		if !slices.Contains(remedies, *l.Remedy) {
			remedies = append(remedies, *l.Remedy)
		}
		if !slices.Contains(titles[*l.Remedy], l.Title) {
			titles[*l.Remedy] = append(titles[*l.Remedy], l.Title)
		}
	}
	for _, remedy := range remedies {
		about := strings.Join(titles[remedy], ", ")
		i := slices.IndexFunc(all, func(a advice) bool { return a.titles == about })
		if i < 0 {
			i, all = len(all), append(all, advice{titles: about})
		}
		all[i].remedies = append(all[i].remedies, remedy)
	}
	for _, l := range lines {
		if l.Status == status && !slices.Contains(advised, l.Title) && !slices.Contains(others, l.Title) {
			others = append(others, l.Title)
		}
	}
	return all, others
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
