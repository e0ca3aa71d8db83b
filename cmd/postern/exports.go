package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
)

func newExports(t terminal) *cobra.Command {
	return family("exports", "List past exports and read their ledgers",
		listCommand(t, asProject, contract.ListExports,
			[]string{"ID", "STATE", "STARTED", "BY", "FORMAT", "CONTENTS", "SIZE", "EXACT", "APPROXIMATE",
				"LOSSY", "SKIPPED"},
			exportRow),
		operationCommand(t, asHolder, contract.GetExport,
			func(_ contract.ExportPath, e contract.Export) error { return printExport(t, e) }),
		operationCommand(t, asHolder, contract.CancelExport,
			func(_ contract.ExportPath, e contract.Export) error {
				fmt.Fprintf(t.out, "The export %s is cancelled.\n", e.ID)
				return nil
			}),
		newExportsLedger(t))
}

func printExport(t terminal, e contract.Export) error {
	return details(t.out, func(row func(...string)) {
		row("Export", e.ID)
		row("State", e.State)
		row("Started", when(&e.CreatedAt))
		row("By", requesterOf(e))
		row("Format", e.Format)
		row("Contents", contentsOf(e))
		if e.Error != "" {
			row("Error", e.Error)
		}
		if e.State != contract.ExportReady {
			return
		}
		row("Size", size(e.SizeBytes))
		row("SHA-256", e.SHA256)
		row("Download", e.DownloadURL)
		row("Ends", orNever(e.ExpiresAt))
	})
}

func exportRow(e contract.Export) []string {
	cells := []string{e.ID, e.State, when(&e.CreatedAt), requesterOf(e), e.Format, contentsOf(e)}
	if e.State != "ready" && e.State != "expired" {
		return append(cells, "", "", "", "", "")
	}
	return append(cells, size(e.SizeBytes), fmt.Sprint(e.Ledger.Exact), fmt.Sprint(e.Ledger.Approximate),
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

// The values of --status and --area. A wrong one is a usage error before a request is sent.
var (
	ledgerStatuses = []string{"exact", "approximate", "lossy", "skipped"}
	ledgerAreas    = []string{"project", "upstream", "access", "keys", "login", "people", "records"}
)

func newExportsLedger(t terminal) *cobra.Command {
	var filter client.LedgerFilter
	var todo, full bool
	command := &cobra.Command{
		Use:   "ledger EXPORT",
		Short: "Print the ledger of an export: what moves, how, and what is left to do",
		Long: `Print the ledger of an export, summed up by what becomes of the items: how many there
are, what happens to them, what to do about it, and the names of the first ones. It stays
after the zip has expired, without the names of keys and people. With --full, while the
zip is there, print every item as JSON, as MIGRATION-REPORT.json in the zip has them.`,
		Example: `  postern exports ledger exp_01jd --status skipped
  postern exports ledger exp_01jd --todo
  postern exports ledger exp_01jd --full > ledger.json`,
		Args: exactly("EXPORT"),
		RunE: func(c *cobra.Command, args []string) error {
			for _, other := range []string{"status", "area", "todo", "names"} {
				if full && c.Flags().Changed(other) {
					return usageError{"--full prints every item: give it without --" + other}
				}
			}
			if err := oneOf("--status", filter.Status, ledgerStatuses); err != nil {
				return err
			}
			if err := oneOf("--area", filter.Area, ledgerAreas); err != nil {
				return err
			}
			if filter.Names < 0 || filter.Names > 1000 {
				return usageError{"--names is a number from 0 to 1000"}
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			if full {
				_, err := onExport(c.Context(), s, args[0], func(ctx context.Context, api caller) (struct{}, error) {
					return struct{}{}, api.DownloadLedger(ctx, args[0], t.out)
				})
				return err
			}
			lines, err := onExport(c.Context(), s, args[0],
				func(ctx context.Context, api caller) ([]client.LedgerLine, error) {
					return collect(api.ExportLedger(ctx, args[0], filter))
				})
			if err != nil {
				return err
			}
			if todo {
				lines = slices.DeleteFunc(lines, func(l client.LedgerLine) bool { return l.Remedy == nil })
			}
			if wantsJSON(c) {
				return printJSONList(t.out, lines)
			}
			return printLedgerLines(t, lines)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&filter.Status, "status", "", "only items that are exact, approximate, lossy or skipped")
	flags.StringVar(&filter.Area, "area", "",
		"only items about project, upstream, access, keys, login, people or records")
	flags.BoolVar(&todo, "todo", false, "only what is left to do after the move")
	flags.BoolVar(&full, "full", false, "print every item as JSON")
	flags.IntVar(&filter.Names, "names", 5, "the most names of items to print in each paragraph")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func oneOf(flag, value string, allowed []string) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return usageError{fmt.Sprintf("%s %q is none of %s", flag, value, strings.Join(allowed, ", "))}
}

// onExport sends a call with the credential of the project that has the export with this id.
func onExport[T any](
	ctx context.Context, s session, id string, call func(context.Context, caller) (T, error),
) (T, error) {
	callers, err := s.callers()
	if err != nil {
		var none T
		return none, err
	}
	out, err := first(ctx, callers, call)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "there is no export %q at %s, or none that the credentials "+
			"stored on this machine can access; `postern exports list PROJECT` shows the ids", id,
			s.server).Because(err)
	}
	return out, err
}

// printLedgerLines prints the lines, what needs attention first.
func printLedgerLines(t terminal, lines []client.LedgerLine) error {
	if len(lines) == 0 {
		_, err := fmt.Fprintln(t.out, "No items.")
		return err
	}
	var text strings.Builder
	for _, group := range []struct{ status, title string }{
		{"skipped", "Not moved"}, {"lossy", "Moved in part"}, {"approximate", "Moved with a difference"},
		{"exact", "Moved as they are"},
	} {
		writeLines(&text, group.title, group.status, lines, itemsOf)
	}
	_, err := fmt.Fprint(t.out, strings.TrimSuffix(text.String(), "\n"))
	return err
}

// itemsOf lists the names of a line's items, "" if there are none.
func itemsOf(l client.LedgerLine) string {
	if len(l.Names) == 0 {
		return ""
	}
	names := "Items: " + strings.Join(l.Names, ", ")
	if more := l.Count - int64(len(l.Names)); more > 0 {
		names += fmt.Sprintf(", and %d more", more)
	}
	return indented(printable(names))
}
