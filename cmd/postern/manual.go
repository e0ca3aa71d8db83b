package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newManual returns the command that packages call when they are built. It is hidden, because people read
// the pages that it writes by man.
func newManual(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:    "manual DIR",
		Short:  "Write the manual pages of all commands (section 1) into a directory",
		Args:   exactly("DIR"),
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			dir := args[0]
			if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the pages are public
				return fmt.Errorf("write the manual: %w", err)
			}
			root := c.Root()
			root.DisableAutoGenTag = true
			head := &doc.GenManHeader{Title: "POSTERN", Section: "1", Source: "Postern " + version(), Date: builtFrom()}
			if err := doc.GenManTree(root, head, dir); err != nil {
				return fmt.Errorf("write the manual: %w", err)
			}
			_, err := fmt.Fprintf(t.out, "wrote the manual to %s\n", dir)
			return err
		},
	}
}

// builtFrom returns the time of the commit that the binary was built from, so that equal sources give equal
// pages; the epoch if it is not known.
func builtFrom() *time.Time {
	at := time.Unix(0, 0).UTC()
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key != "vcs.time" {
				continue
			}
			if known, err := time.Parse(time.RFC3339, setting.Value); err == nil {
				at = known
			}
		}
	}
	return &at
}
