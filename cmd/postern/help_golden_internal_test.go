package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"postern/cmd/internal/terminal"
	"postern/core/contract"
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

// argument matches the name of an argument in the usage of a command, outside of a flag.
var argument = regexp.MustCompile(`^\[?([A-Z][A-Z_|]*)`)

// texts of arguments that differ between commands, because the arguments do.
var differing = []string{"NAME", "VALUE", "URL", "FILE", "PATH", "USER", "GROUP", "OWNER", "ROLE", "EMAIL", "TEAM"}

// TestHelp_arguments checks that help describes each argument of every command, and the same noun in the same words.
func TestHelp_arguments(t *testing.T) {
	texts := map[string]string{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			walk(child)
		}
		described := map[string]string{}
		for _, one := range terminal.DescribedArguments(c) {
			described[one[0]] = one[1]
			optional := strings.TrimSuffix(one[1], ". Optional if there is only one")
			if known := texts[one[0]]; known != "" && known != optional && !slices.Contains(differing, one[0]) {
				t.Errorf("%s: %s is %q, but elsewhere %q", c.CommandPath(), one[0], optional, known)
			}
			texts[one[0]] = optional
		}
		afterFlag := false
		for _, word := range strings.Fields(c.Use)[1:] {
			if found := argument.FindStringSubmatch(word); found != nil && !afterFlag && described[found[1]] == "" {
				t.Errorf("%s: help doesn't describe %s", c.CommandPath(), found[1])
			}
			afterFlag = strings.HasPrefix(strings.Trim(word, "["), "-") && !strings.HasSuffix(word, "]")
		}
	}
	walk(newRoot(terminal.Terminal{Out: io.Discard, Err: io.Discard, In: strings.NewReader("")}))
	if len(texts) < 30 {
		t.Errorf("only %d arguments are described", len(texts))
	}
}

// jsonName matches what looks like the name of a member in JSON, outside of quotation marks and values of flags.
var jsonName = regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b|\bupstream\.[a-z]+\b`)

// TestHelp_flagNames checks that help names flags, and not the members of the API's requests. Values of flags may
// contain an underscore.
func TestHelp_flagNames(t *testing.T) {
	members := map[string]bool{"upstream.targets": true}
	for _, op := range contract.Operations() {
		for _, m := range op.Members() {
			members[m.Name] = true
		}
	}
	values := []string{"api_key", "expires_at", "next_cursor", "status_class", "organization_ids", "team_ids"}
	checked := 0
	check := func(where, text string) {
		checked++
		for _, name := range jsonName.FindAllString(text, -1) {
			if members[name] && !slices.Contains(values, name) {
				t.Errorf("%s: %q names %s as the API does", where, text, name)
			}
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			walk(child)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) { check(c.CommandPath()+" --"+f.Name, f.Usage) })
		for _, one := range terminal.DescribedArguments(c) {
			check(c.CommandPath()+" "+one[0], one[1])
		}
	}
	walk(newRoot(terminal.Terminal{Out: io.Discard, Err: io.Discard, In: strings.NewReader("")}))
	if checked < 1000 {
		t.Errorf("only %d texts were checked", checked)
	}
}

// TestHelp_repeatable checks that the description of each repeatable flag ends in the same way.
func TestHelp_repeatable(t *testing.T) {
	const mark = " (repeatable)"
	repeatable := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			walk(child)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(f.Usage, "repeatable") {
				return
			}
			repeatable++
			if strings.Count(f.Usage, "repeatable") != 1 || !strings.HasSuffix(f.Usage, mark) {
				t.Errorf("%s --%s: %q must end with %q", c.CommandPath(), f.Name, f.Usage, mark)
			}
		})
	}
	walk(newRoot(terminal.Terminal{Out: io.Discard, Err: io.Discard, In: strings.NewReader("")}))
	if repeatable < 30 {
		t.Errorf("only %d flags are repeatable", repeatable)
	}
}

// TestHelp_width checks that the texts of help fit into a usual window.
func TestHelp_width(t *testing.T) {
	const widest = 92
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			walk(child)
		}
		text, _, _ := strings.Cut(c.Long, "\n\nArguments:")
		for line := range strings.Lines(text) {
			if length := utf8.RuneCountInString(line); length > widest {
				t.Errorf("%s: a line of help has %d characters: %s", c.CommandPath(), length, line)
			}
		}
	}
	walk(newRoot(terminal.Terminal{Out: io.Discard, Err: io.Discard, In: strings.NewReader("")}))
}
