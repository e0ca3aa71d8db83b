package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// maxTypos is the largest edit distance of a suggested command.
const maxTypos = 2

// suggestCommands configures every command that only groups others to suggest similar names
// for an unknown command.
func suggestCommands(c *cobra.Command) {
	if !c.HasSubCommands() {
		return
	}
	c.Args = onlyCommands
	if !c.Runnable() { // cobra checks the arguments of runnable commands only
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	c.SuggestionsMinimumDistance = maxTypos
	for _, below := range c.Commands() {
		suggestCommands(below)
	}
}

// onlyCommands refuses every argument, which is an unknown command here.
func onlyCommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
	if meant := c.SuggestionsFor(args[0]); len(meant) > 0 {
		text += ": did you mean " + strings.Join(meant, " or ") + "?"
	}
	return usageError(text)
}

// newHelp replaces cobra's help, which for an unknown command shows the help of its
// parent and exits with 0.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]...",
		Short: "Show the help of a command",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return onlyCommands(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
