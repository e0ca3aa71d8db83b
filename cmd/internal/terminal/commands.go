package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Exactly requires one argument for each name, and its error names the missing one.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing", names[len(args)])
		case len(args) > len(names):
			return tooMany(args[len(names)])
		}
		return nil
	}
}

// AtLeast requires one or more arguments of a name.
func AtLeast(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s is missing", name)
		}
		return nil
	}
}

// AtMost takes one argument for each name, and any of the last ones may be missing.
func AtMost(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > len(names) {
			return tooMany(args[len(names)])
		}
		return nil
	}
}

func tooMany(argument string) error { return fmt.Errorf("unexpected argument %q", argument) }

// SameAs sets the value of a flag to the first argument, which is another way to give it. Errors about the part of the
// request at a JSON Pointer name the one that is given.
func SameAs(c *cobra.Command, pointer string, value *string, flag string, args []string) error {
	if len(args) == 0 {
		if *value != "" {
			NamePointer(c, pointer, flag)
		}
		return nil
	}
	if *value != "" && *value != args[0] {
		return UsageError(fmt.Sprintf("%q and %s %q differ: use one of them", args[0], flag, *value))
	}
	*value = args[0]
	return nil
}

// Once returns an error that names a repeatable flag, without dashes, and the first of its names that was given twice.
func Once(flag string, names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return UsageError(fmt.Sprintf("--%s contains %s twice", flag, name))
		}
	}
	return nil
}

// Family returns a command that only groups others.
func Family(use, short string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  Exactly(),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	command.AddCommand(commands...)
	return command
}

// AddJSONFlag adds --json, which WantsJSON reads.
func AddJSONFlag(c *cobra.Command) {
	c.Flags().Bool("json", false, "print the result as JSON")
}

// WantsJSON reports whether --json is given.
func WantsJSON(c *cobra.Command) bool { return c.Flag("json").Value.String() == "true" }

// AddYesFlag adds --yes, which confirms without a question.
func AddYesFlag(c *cobra.Command, yes *bool) {
	c.Flags().BoolVar(yes, "yes", false, "skip the confirmation")
}

// maxTypos is the largest edit distance of a suggested command.
const maxTypos = 2

// SuggestCommands configures every command that only groups others to suggest similar names
// for an unknown command.
func SuggestCommands(c *cobra.Command) {
	if !c.HasSubCommands() {
		return
	}
	c.Args = onlyCommands
	if !c.Runnable() { // cobra checks the arguments of runnable commands only
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	c.SuggestionsMinimumDistance = maxTypos
	for _, below := range c.Commands() {
		below.SuggestFor = otherWords[below.Name()]
		SuggestCommands(below)
	}
}

// otherWords are what other command lines call our commands.
var otherWords = map[string][]string{
	"create":   {"add", "new"},
	"add":      {"create", "new"},
	"delete":   {"remove", "rm", "destroy"},
	"list":     {"ls"},
	"login":    {"auth", "signin"},
	"logout":   {"signout"},
	"projects": {"apps", "apis", "limits"},
	"remove":   {"delete", "rm", "unset", "clear"},
	"requests": {"logs", "log"},
	"revoke":   {"delete", "remove", "rm"},
	"set":      {"add", "create", "update", "edit"},
	"show":     {"get", "view", "info", "describe", "status", "list", "ls"},
	"update":   {"edit", "rename", "set"},
	"whoami":   {"me"},
}

// elsewhere are commands that people look for in a family of commands, and that are somewhere else.
var elsewhere = map[string]string{
	"projects create": "create",
	"projects export": "export",
	"projects import": "import",
}

// onlyCommands refuses every argument, which is an unknown command here.
func onlyCommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
	meant := c.SuggestionsFor(args[0])
	slices.Sort(meant)
	switch meant = slices.Compact(meant); {
	case elsewhere[c.Name()+" "+args[0]] != "":
		text += fmt.Sprintf(": use %q", c.Root().Name()+" "+elsewhere[c.Name()+" "+args[0]])
	case len(meant) > 2:
		last := len(meant) - 1
		text += ": did you mean " + strings.Join(meant[:last], ", ") + " or " + meant[last] + "?"
	case len(meant) > 0:
		text += ": did you mean " + strings.Join(meant, " or ") + "?"
	}
	return UsageError(text)
}

// NewHelp replaces cobra's help, which for an unknown command shows the help of its
// parent and exits with 0.
func NewHelp() *cobra.Command {
	command := &cobra.Command{
		Use:   "help [COMMAND]...",
		Short: "Show help for a command",
		Long:  "Show help for a command.",
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
	NameTypes(command) // cobra adds the command too late for the root's
	return command
}
