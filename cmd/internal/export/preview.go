package export

import (
	"cmp"
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
	text.WriteString(headlineOf(found.Ledger, found.Format) + "\n\n")
	writeLedger(&text, found.Items, "Move", false)
	if found.Partial {
		text.WriteString("Only the first keys were counted. The ledger of the export will list all of them.\n")
	}
	_, err = fmt.Fprint(t.Out, strings.TrimSuffix(text.String(), "\n"))
	return err //nolint:wrapcheck // of the terminal
}

// headlineOf says how portable the project is to the target of a format.
func headlineOf(l contract.LedgerTotals, format string) string {
	return cmp.Or(l.PortableText(format), "Portable") + ": " + l.Headline() + "."
}

// writeLedger writes the lines of a ledger: what is left to do first, then the other lines by their status, and last
// what is the same for every project. verb is Move or Moved. Unless whole is set, lines that are exact or the same for
// every project are only written as titles, and no items are named.
func writeLedger(out *strings.Builder, lines []contract.LedgerLine, verb string, whole bool) {
	var todo, everywhere []contract.LedgerLine
	byStatus := map[string][]contract.LedgerLine{}
	statuses := []string{"skipped", "lossy", "approximate", "exact"}
	for _, status := range statuses {
		for _, l := range lines {
			switch {
			case l.Status != status:
			case !l.Configured:
				everywhere = append(everywhere, l)
			case l.Remedy != nil:
				todo = append(todo, l)
			default:
				byStatus[status] = append(byStatus[status], l)
			}
		}
	}
	write := func(title string, lines []contract.LedgerLine) { writeLines(out, title, lines, whole) }
	write("To do", todo)
	write("Not moved", byStatus["skipped"])
	write(verb+" in part", byStatus["lossy"])
	write(verb+" with differences", byStatus["approximate"])
	rest := write
	if !whole {
		rest = func(title string, lines []contract.LedgerLine) { writeTitles(out, title, lines) }
	}
	rest(verb+" unchanged", byStatus["exact"])
	rest("The same for every project", everywhere)
}

// writeTitles writes the titles of lines below a title.
func writeTitles(out *strings.Builder, title string, lines []contract.LedgerLine) {
	if len(lines) > 0 {
		fmt.Fprintf(out, "%s\n%s\n", title, indented(titlesOf(lines)+"."))
	}
}

// titlesOf lists the titles of lines, none twice.
func titlesOf(lines []contract.LedgerLine) string {
	var titles []string
	for _, l := range lines {
		if title := terminal.Printable(l.Title); !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	return strings.Join(titles, ", ")
}

// writeLines writes lines below a title, each with its status, note and remedy, and with the names of its items if
// named is set.
func writeLines(out *strings.Builder, title string, lines []contract.LedgerLine, named bool) {
	for i, l := range lines {
		if i == 0 {
			fmt.Fprintf(out, "%s\n", title)
		}
		heading := fmt.Sprintf("%s (%d), %s", l.Title, l.Count, l.Status)
		if l.Code != "" {
			heading += ": " + l.Code
		}
		fmt.Fprintf(out, "  %s\n%s", terminal.Printable(heading), indented(terminal.Printable(l.Note)))
		if l.Remedy != nil {
			out.WriteString(indented("To do: " + terminal.Printable(*l.Remedy)))
		}
		if named {
			out.WriteString(itemsOf(l))
		}
	}
	if len(lines) > 0 {
		out.WriteByte('\n')
	}
}

// ConfiguredLines returns the ledger lines of an export about what the team configured.
func ConfiguredLines(ctx context.Context, api *client.Client, e contract.Export) ([]contract.LedgerLine, error) {
	lines, err := cli.Collect(client.Each(ctx, api, contract.GetExportLedger,
		contract.LedgerList{ExportPath: e.Path()}))
	return slices.DeleteFunc(lines, func(l contract.LedgerLine) bool { return !l.Configured }), err
}

// WriteToDos writes what is left to do about the lines of a ledger, once for each thing to do, and then the titles of
// what does not move, or moves in part, without anything to do.
func WriteToDos(out *strings.Builder, lines []contract.LedgerLine) {
	all := adviceOf(lines)
	if len(all) > 0 {
		out.WriteString("To do\n")
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
	for _, group := range []struct{ status, title string }{{"skipped", "Not moved"}, {"lossy", "Partially moved"}} {
		var left []contract.LedgerLine
		for _, l := range lines {
			if l.Status == group.status && !slices.ContainsFunc(all, func(a advice) bool { return a.about(l.Title) }) {
				left = append(left, l)
			}
		}
		if len(left) > 0 {
			fmt.Fprintf(out, "%s\n%s", group.title, indented(titlesOf(left)+"."))
		}
	}
}

// An advice is what to do about the ledger's items with these titles, which commas separate.
type advice struct {
	titles   string
	remedies []string
}

// about reports whether the advice is about items with a title.
func (a advice) about(title string) bool {
	return slices.Contains(strings.Split(a.titles, ", "), title)
}

// adviceOf returns what to do about lines, those first that move least. No remedy and no title comes twice.
func adviceOf(lines []contract.LedgerLine) []advice {
	var all []advice
	var remedies []string
	titles := map[string][]string{} // by remedy
	for _, status := range []string{"skipped", "lossy", "approximate", "exact"} {
		for _, l := range lines {
			if l.Status != status || l.Remedy == nil {
				continue
			}
			if !slices.Contains(remedies, *l.Remedy) {
				remedies = append(remedies, *l.Remedy)
			}
			if !slices.Contains(titles[*l.Remedy], l.Title) {
				titles[*l.Remedy] = append(titles[*l.Remedy], l.Title)
			}
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
	return all
}

// indented breaks a text into lines of at most 80 characters that begin with four blanks. A
// longer word has its own line.
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
