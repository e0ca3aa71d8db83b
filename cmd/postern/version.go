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
	"postern/docs"
)

// release is the version of a release, such as v1.2.0. The linker sets it when a release is built (.goreleaser.yaml);
// in a build of a checkout, it is empty, also if the checkout is that of a release.
var release string

// version returns the version of a release, and the first digits of the commit for a build of a checkout.
func version() string {
	if release != "" {
		return release
	}
	if revision := commit(); revision != unknownBuild {
		return revision[:12]
	}
	return "development"
}

// build returns what kind of build this is.
func build() string {
	if release != "" {
		return "release"
	}
	return "of a checkout, not a release"
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
	command := &cobra.Command{
		Use:   "version",
		Short: "Print version and build information",
		Args:  terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, map[string]any{
					"version": version(), "release": release != "", "commit": commit(), "go": runtime.Version(),
					"os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(t.Out, "postern %s\nbuild   %s\ncommit  %s\ngo      %s\n",
				version(), build(), commit(), runtime.Version())
			return err
		},
	}
	command.Flags().Bool("json", false, "print the version as JSON")
	return command
}

func newLicenses(t terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "licenses",
		Short: "Print the licenses of third-party software",
		Args:  terminal.Exactly(),
		RunE: func(*cobra.Command, []string) error {
			text, err := docs.Notices()
			if err == nil {
				_, err = fmt.Fprint(t.Out, text)
			}
			return err
		},
	}
}

// newManual returns the command that packages call when they are built. It is hidden, because people read
// the pages that it writes by man.
func newManual(t terminal.Terminal) *cobra.Command {
	return terminal.Described(&cobra.Command{
		Use:    "manual DIR",
		Short:  "Write the manual pages for all commands to a directory",
		Args:   terminal.Exactly("DIR"),
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			dir := args[0]
			if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the pages are public
				return fmt.Errorf("cannot write the manual: %w", err)
			}
			root := c.Root()
			root.DisableAutoGenTag = true
			head := &doc.GenManHeader{Title: "POSTERN", Section: "1", Source: "Postern " + version(), Date: builtFrom()}
			if err := doc.GenManTree(root, head, dir); err != nil {
				return fmt.Errorf("cannot write the manual: %w", err)
			}
			_, err := fmt.Fprintf(t.Out, "Wrote the manual to %s.\n", dir)
			return err
		},
	}, [2]string{"DIR", "directory to write to"})
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
