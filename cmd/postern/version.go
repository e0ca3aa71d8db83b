package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"postern/cmd/internal/terminal"
)

// version returns the module's version if the binary was built from one, else its commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownBuild
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if revision := commit(); revision != unknownBuild {
		return revision[:12]
	}
	return "development"
}

const unknownBuild = "unknown"

// commit returns the commit that the binary was built from, with "+changes" if there were others.
func commit() string {
	revision, changes := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			switch {
			case setting.Key == "vcs.revision":
				revision = setting.Value
			case setting.Key == "vcs.modified" && setting.Value == "true":
				changes = "+changes"
			}
		}
	}
	if len(revision) < 12 {
		return unknownBuild
	}
	return revision + changes
}

func newVersion(t terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, its commit and the version of Go that it was built with",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(t.Out, "postern %s\ncommit  %s\ngo      %s\n", version(), commit(), runtime.Version())
			return err
		},
	}
}

// newManual returns the command that packages call when they are built. It is hidden, because people read
// the pages that it writes by man.
func newManual(t terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:    "manual DIR",
		Short:  "Write the manual pages of all commands (section 1) into a directory",
		Args:   terminal.Exactly("DIR"),
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
			_, err := fmt.Fprintf(t.Out, "wrote the manual to %s\n", dir)
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
