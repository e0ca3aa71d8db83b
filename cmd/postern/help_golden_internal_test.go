package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"postern/cmd/internal/terminal"
	"postern/testkit/golden"
)

// TestHelp_golden compares what --help prints, of every command with the hidden ones, with testdata/help. It has a file
// for each command of the first level.
func TestHelp_golden(t *testing.T) {
	files := map[string]string{}
	var add func(c *cobra.Command, file string)
	add = func(c *cobra.Command, file string) {
		files[file] += helpOf(t, c)
		for _, child := range c.Commands() {
			if c.HasParent() {
				add(child, file)
			} else {
				add(child, child.Name())
			}
		}
	}
	root := newRoot(terminal.Terminal{Out: io.Discard, Err: io.Discard, In: strings.NewReader("")})
	root.InitDefaultHelpCmd()
	add(root, "postern")
	golden.CompareDir(t, "testdata/help", files)
}

// helpOf returns a command line and what it prints.
func helpOf(t *testing.T, c *cobra.Command) string {
	t.Helper()
	args := slices.Concat(strings.Fields(c.CommandPath())[1:], []string{"--help"})
	var printed strings.Builder
	code := run(t.Context(), args, terminal.Terminal{Out: &printed, Err: &printed, In: strings.NewReader("")})
	if code != 0 {
		t.Errorf("postern %q: exit code %d", args, code)
	}
	state := ""
	if c.Hidden {
		state = " (hidden)"
	}
	return fmt.Sprintf("$ %s --help%s\n%s\n", c.CommandPath(), state, printed.String())
}
