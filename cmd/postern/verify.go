package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"postern/bundle"
)

// verified is what verify --json prints.
type verified struct {
	File       string         `json:"file"`
	Project    string         `json:"project"`
	Format     bundle.Format  `json:"format"`
	Generator  string         `json:"generator"`
	ExportedAt string         `json:"exported_at"`
	Revision   int64          `json:"revision"`
	Entries    int            `json:"entries"`
	Keys       int64          `json:"keys"`
	Items      int64          `json:"items"`
	Ledger     bundle.Summary `json:"ledger"`
}

func newVerify(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check an exported zip, offline",
		Long: `Check an exported zip, offline: that it is safe to unpack, that every file is the
one that was summed, with none missing or added, and that the ledger accounts for
everything in it. Nothing is unpacked.`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			report, err := verifyFile(c.Context(), args[0])
			if err != nil {
				return err
			}
			out := verified{args[0], report.Manifest.Project.Name, report.Manifest.Options.Format, report.Manifest.Generator,
				report.Manifest.ExportedAt, report.Manifest.Revision, report.Entries, report.Keys, report.Items, report.Summary}
			if wantsJSON(c) {
				return printJSON(t.out, out)
			}
			return printVerified(t, out)
		},
	}
	addJSONFlag(command)
	return command
}

func verifyFile(ctx context.Context, name string) (bundle.Report, error) {
	file, err := os.Open(name)
	if err != nil {
		return bundle.Report{}, fmt.Errorf("cannot read the zip: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return bundle.Report{}, fmt.Errorf("cannot read the zip: %w", err)
	}
	if !info.Mode().IsRegular() {
		return bundle.Report{}, fmt.Errorf("%s is no file: name the zip itself", name)
	}
	return bundle.Verify(ctx, file, info.Size())
}

func printVerified(t terminal, v verified) error {
	fmt.Fprintf(t.out, "%s is whole.\n\n", v.File)
	return table(t.out, func(row func(...string)) {
		row("  project", fmt.Sprintf("%s, revision %d, as %s", v.Project, v.Revision, v.Format))
		row("  exported", fmt.Sprintf("%s by %s", v.ExportedAt, v.Generator))
		row("  checked", fmt.Sprintf("%d files against SHA256SUMS, none missing or added", v.Entries))
		row("", fmt.Sprintf("%d API keys", v.Keys))
		row("", fmt.Sprintf("%d ledger items, each leading to what it names", v.Items))
		row("  ledger", fmt.Sprintf("%d exact, %d approximate, %d lossy, %d skipped", v.Ledger.Exact, v.Ledger.Approximate, v.Ledger.Lossy, v.Ledger.Skipped))
	})
}
