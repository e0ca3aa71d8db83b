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
)

func newExports(t terminal.Terminal) *cobra.Command {
	return terminal.Family("exports", "Manage exports and their ledgers",
		cli.ListCommand(t, cli.AsProject, contract.ListExports,
			[]string{"ID", "STATE", "STARTED", "PORTABLE", "BY", "FORMAT", "CONTENTS", "SIZE", "EXACT", "APPROXIMATE",
				"LOSSY", "SKIPPED"},
			exportRow),
		cli.OperationCommand(t, asExport, contract.GetExport,
			func(_ contract.ExportPath, e contract.Export) error { return printExport(t, e) }),
		cli.OperationCommand(t, asExport, contract.CancelExport,
			func(_ contract.ExportPath, e contract.Export) error {
				fmt.Fprintf(t.Out, "Canceled export %s.\n", e.ID)
				return nil
			}),
		newExportsDownload(t),
		newExportsLedger(t))
}

func printExport(t terminal.Terminal, e contract.Export) error {
	return terminal.Details(t.Out, func(row func(...string)) {
		row("Export", e.ID)
		row("State", e.State)
		row("Started", terminal.When(&e.CreatedAt))
		row("By", requesterOf(e))
		row("Format", e.Format)
		row("Contents", e.Contents())
		if e.Error != "" {
			row("Error", e.Error)
		}
		if isDone(e) {
			row("Ledger", headlineOf(e.Ledger, e.Format))
		}
		if e.State != contract.ExportReady {
			return
		}
		row("Size", terminal.Size(e.SizeBytes))
		row("SHA-256", e.SHA256)
		row("Download", e.DownloadURL)
		row("Expires", terminal.OrNever(e.ExpiresAt))
	})
}

func exportRow(e contract.Export) []string {
	portable := ""
	if percent, ok := e.Ledger.Portable(); ok && isDone(e) {
		portable = fmt.Sprintf("%d%%", percent)
	}
	cells := []string{e.ID, e.State, terminal.When(&e.CreatedAt), portable, requesterOf(e), e.Format, e.Contents()}
	if !isDone(e) {
		return append(cells, "", "", "", "", "")
	}
	own := e.Ledger.Configured
	return append(cells, terminal.Size(e.SizeBytes), fmt.Sprint(own.Exact), fmt.Sprint(own.Approximate),
		fmt.Sprint(own.Lossy), fmt.Sprint(own.Skipped))
}

// isDone reports whether an export was written, so that its ledger is complete.
func isDone(e contract.Export) bool {
	return e.State == contract.ExportReady || e.State == contract.ExportExpired
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

// asExport runs a command with the first credential that may access the export in its first argument.
var asExport = cli.AsHolderOf("export ", ". To find its ID, run `postern exports list PROJECT`")

func newExportsLedger(t terminal.Terminal) *cobra.Command {
	in := contract.LedgerList{Names: 5}
	var todo, full bool
	var most int
	command := cli.RequestCommand(t, asExport, contract.GetExportLedger.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			if full {
				for _, other := range []string{"status", "area", "code", "todo", "names"} {
					if c.Flags().Changed(other) {
						return terminal.UsageError("--full prints every item: use it without --" + other)
					}
				}
				_, err := client.Download(c.Context(), api, contract.DownloadExportLedger, in.ExportPath, t.Out, 0)
				return err
			}
			read := most
			if todo {
				read = 0
			}
			found, more, err := client.First(c.Context(), api, contract.GetExportLedger, in, read)
			if err != nil {
				return err
			}
			lines := found.Items
			if todo {
				lines = slices.DeleteFunc(lines, func(l contract.LedgerLine) bool {
					return l.Remedy == nil || !l.Configured
				})
				if more = most > 0 && len(lines) > most; more {
					lines = lines[:most]
				}
			}
			if more {
				defer cli.SayMore(t, most, "")
			}
			if terminal.WantsJSON(c) {
				return terminal.PrintJSONList(t.Out, lines)
			}
			return printLedgerLines(t, lines)
		})
	command.Short = "Show what an export moved and which tasks remain"
	command.Long = `Show an export's ledger. For each kind of item, the ledger shows the number of
items, their status, the remaining tasks, and the names of the first five items. The
ledger is kept after the zip expires, but without the names of keys and people.

--full prints every item as JSON, like MIGRATION-REPORT.json in the zip. --full works
until the zip expires.`
	command.Example = `  postern exports ledger exp_01jd --status skipped
  postern exports ledger exp_01jd --todo
  postern exports ledger exp_01jd --full > ledger.json`
	command.Flags().BoolVar(&todo, "todo", false, "only items with remaining tasks")
	command.Flags().BoolVar(&full, "full", false, "print every item as JSON")
	cli.LimitFlag(command, &most)
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
	writeLedger(&text, lines, "Moved", true)
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
