package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"postern/cmd/internal/terminal"
	"postern/platform/config"
)

// TestCommands_arguments checks that each command says which arguments it takes: cobra ignores those of a command that
// does not.
func TestCommands_arguments(t *testing.T) {
	t.Parallel()
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() && c.HasParent() && c.Args == nil {
			t.Errorf("%s ignores arguments", c.CommandPath())
		}
		for _, inner := range c.Commands() {
			walk(inner)
		}
	}
	walk(newRoot(terminal.Terminal{}))
}

// TestRun_unknownVariables checks that variables without effect are warned of, and that those of commands are not.
func TestRun_unknownVariables(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../internal/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := regexp.MustCompile(`Variable\("(POSTERN_[A-Z_]+)"`)
	names := 0
	for _, file := range append(files, own...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range read.FindAllStringSubmatch(string(text), -1) {
			names++
			if unknown := config.Unknown([]string{found[1] + "=x"}); len(unknown) > 0 {
				t.Errorf("%s reads %s, which is warned of", file, found[1])
			}
		}
	}
	if names < 8 {
		t.Errorf("%d variables were found in the sources", names)
	}
	var out, said bytes.Buffer
	code := run(t.Context(), nil, terminal.Terminal{
		In: strings.NewReader(""), Out: &out, Err: &said,
		Environ: []string{"POSTERN_TOKN=x", "POSTERN_CONFIG_DIR=" + t.TempDir()},
	})
	if code != 0 || !strings.Contains(said.String(), "ignoring the unknown setting POSTERN_TOKN") {
		t.Errorf("code %d: %s", code, said.String())
	}
}
