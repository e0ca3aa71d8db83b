package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"postern/cmd/internal/terminal"
)

// TestRun_tooManyArguments checks that a command with one argument too many says so, and doesn't call it an unknown
// command, which is for commands that only group others.
func TestRun_tooManyArguments(t *testing.T) {
	t.Parallel()
	var lines [][]string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		takes := len(strings.Fields(c.Use)) > 1 || len(terminal.DescribedArguments(c)) > 0
		if !c.HasSubCommands() && !takes && !slices.Contains([]string{"help", "__complete"}, c.Name()) {
			lines = append(lines, append(strings.Fields(c.CommandPath())[1:], "extra"))
		}
	}
	walk(newRoot(terminal.Terminal{}))
	if len(lines) < 10 {
		t.Errorf("only %d commands have no arguments: %q", len(lines), lines)
	}
	for _, line := range lines {
		var printed strings.Builder
		code := run(t.Context(), line, terminal.Terminal{Out: io.Discard, Err: &printed, In: strings.NewReader("")})
		if code != 2 || !strings.HasPrefix(printed.String(), `postern: unexpected argument "extra"`+"\n") {
			t.Errorf("%q: exit code %d and %q", line, code, printed.String())
		}
	}
}
