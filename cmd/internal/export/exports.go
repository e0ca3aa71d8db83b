package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

func newExports(t terminal.Terminal) *cobra.Command {
	return terminal.Family("exports", "List past exports and read their ledgers",
		cli.ListCommand(t, cli.AsProject, contract.ListExports,
			[]string{"ID", "STATE", "STARTED", "BY", "FORMAT", "CONTENTS", "SIZE", "EXACT", "APPROXIMATE",
				"LOSSY", "SKIPPED"},
			exportRow),
		cli.OperationCommand(t, asExport, contract.GetExport,
			func(_ contract.ExportPath, e contract.Export) error { return printExport(t, e) }),
		cli.OperationCommand(t, asExport, contract.CancelExport,
			func(_ contract.ExportPath, e contract.Export) error {
				fmt.Fprintf(t.Out, "The export %s is cancelled.\n", e.ID)
				return nil
			}),
		newExportsLedger(t))
}

func printExport(t terminal.Terminal, e contract.Export) error {
	return terminal.Details(t.Out, func(row func(...string)) {
		row("Export", e.ID)
		row("State", e.State)
		row("Started", terminal.When(&e.CreatedAt))
		row("By", requesterOf(e))
		row("Format", e.Format)
		row("Contents", contentsOf(e))
		if e.Error != "" {
			row("Error", e.Error)
		}
		if e.State != contract.ExportReady {
			return
		}
		row("Size", terminal.Size(e.SizeBytes))
		row("SHA-256", e.SHA256)
		row("Download", e.DownloadURL)
		row("Ends", terminal.OrNever(e.ExpiresAt))
	})
}

func exportRow(e contract.Export) []string {
	cells := []string{e.ID, e.State, terminal.When(&e.CreatedAt), requesterOf(e), e.Format, contentsOf(e)}
	if e.State != "ready" && e.State != "expired" {
		return append(cells, "", "", "", "", "")
	}
	return append(cells, terminal.Size(e.SizeBytes), fmt.Sprint(e.Ledger.Exact), fmt.Sprint(e.Ledger.Approximate),
		fmt.Sprint(e.Ledger.Lossy), fmt.Sprint(e.Ledger.Skipped))
}

// requesterOf names who asked for an export.
func requesterOf(e contract.Export) string {
	switch by := e.RequestedBy; {
	case by.Email != nil:
		return *by.Email
	case strings.HasPrefix(by.ID, "workspace_key:"):
		return "workspace key"
	default:
		return by.ID
	}
}

// contentsOf lists what the options of an export include.
func contentsOf(e contract.Export) string {
	contents := []string{"no keys"}
	switch e.Keys {
	case "hashes":
		contents[0] = "keys"
	case "mint":
		contents[0] = "keys and new ones"
	}
	if e.Consumers {
		contents = append(contents, "users")
	} else {
		contents = append(contents, "no users")
	}
	switch {
	case e.Secrets && e.Recipient != "":
		contents = append(contents, "encrypted secrets")
	case e.Secrets:
		contents = append(contents, "secrets")
	}
	return strings.Join(contents, ", ")
}

// asExport is cli.AsHolder for the export in the first argument.
func asExport(t terminal.Terminal, c *cobra.Command, run func(*client.Client) error) error {
	err := cli.AsHolder(t, c, run)
	if fault.CodeOf(err) != "not_found" {
		return err
	}
	return fault.New(fault.NotFound, "not_found", "there is no export %q, or none that the credentials stored on this "+
		"machine can access; `postern exports list PROJECT` shows the IDs", c.Flags().Arg(0)).Because(err)
}

func newExportsLedger(t terminal.Terminal) *cobra.Command {
	in := contract.LedgerList{Names: 5}
	var todo, full bool
	command := cli.RequestCommand(t, asExport, contract.GetExportLedger.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			if full {
				for _, other := range []string{"status", "area", "code", "todo", "names"} {
					if c.Flags().Changed(other) {
						return terminal.UsageError("--full prints every item: give it without --" + other)
					}
				}
				_, err := client.Download(c.Context(), api, contract.DownloadExportLedger, in.ExportPath, t.Out, 0)
				return err
			}
			lines, err := cli.Collect(client.Each(c.Context(), api, contract.GetExportLedger, in))
			if err != nil {
				return err
			}
			if todo {
				lines = slices.DeleteFunc(lines, func(l contract.LedgerLine) bool { return l.Remedy == nil })
			}
			if terminal.WantsJSON(c) {
				return terminal.PrintJSONList(t.Out, lines)
			}
			return printLedgerLines(t, lines)
		})
	command.Short = "Print the ledger of an export: what moves, how, and what is left to do"
	command.Long = `Print the ledger of an export, summed up by what becomes of the items: how many there
are, what happens to them, what to do about it, and the names of the first five. It stays
after the zip has expired, without the names of keys and people. With --full, while the
zip is there, print every item as JSON, as MIGRATION-REPORT.json in the zip has them.`
	command.Example = `  postern exports ledger exp_01jd --status skipped
  postern exports ledger exp_01jd --todo
  postern exports ledger exp_01jd --full > ledger.json`
	command.Flags().BoolVar(&todo, "todo", false, "only what is left to do after the move")
	command.Flags().BoolVar(&full, "full", false, "print every item as JSON")
	terminal.AddJSONFlag(command)
	return command
}

// printLedgerLines prints the lines, what needs attention first.
func printLedgerLines(t terminal.Terminal, lines []contract.LedgerLine) error {
	if len(lines) == 0 {
		_, err := fmt.Fprintln(t.Out, "No items.")
		return err
	}
	var text strings.Builder
	for _, group := range []struct{ status, title string }{
		{"skipped", "Not moved"}, {"lossy", "Moved in part"}, {"approximate", "Moved with a difference"},
		{"exact", "Moved as they are"},
	} {
		writeLines(&text, group.title, group.status, lines, itemsOf)
	}
	_, err := fmt.Fprint(t.Out, strings.TrimSuffix(text.String(), "\n"))
	return err
}

// itemsOf lists the names of a line's items, "" if there are none.
func itemsOf(l contract.LedgerLine) string {
	if len(l.Names) == 0 {
		return ""
	}
	names := "Items: " + strings.Join(l.Names, ", ")
	if more := l.Count - int64(len(l.Names)); more > 0 {
		names += fmt.Sprintf(", and %d more", more)
	}
	return indented(terminal.Printable(names))
}
