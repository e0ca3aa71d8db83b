package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// maxTypos is how many letters a suggested command may differ in.
const maxTypos = 2

// suggestCommands has every command that only groups others name those which an unknown
// one may have meant.
func suggestCommands(c *cobra.Command) {
	if !c.HasSubCommands() {
		return
	}
	c.Args = onlyCommands
	if !c.Runnable() { // cobra looks at the arguments of what it can run only
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	c.SuggestionsMinimumDistance = maxTypos
	for _, below := range c.Commands() {
		suggestCommands(below)
	}
}

// onlyCommands refuses every argument: what is left of a command line here is no
// command.
func onlyCommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
	if meant := c.SuggestionsFor(args[0]); len(meant) > 0 {
		text += ": did you mean " + strings.Join(meant, " or ") + "?"
	}
	return usageError{text}
}

// newHelp is cobra's help, which shows the help of the nearest command for one that
// does not exist and calls that a success.
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
