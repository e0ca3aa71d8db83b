package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"postern/platform/config"
	"postern/platform/fault"
)

// The exit codes of every command.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNotAllowed = 3
)

// UsageError is a usage error that cobra's checks of arguments do not find.
type UsageError string

// Error implements error.
func (e UsageError) Error() string { return string(e) }

// ValueError is the error of a flag whose value isn't valid. Its text says what the value must be, such as "a number".
type ValueError string

// Error implements error.
func (e ValueError) Error() string { return "must be " + string(e) }

// flagError says of a flag whose value isn't valid what the value must be, in the same words for every flag.
func flagError(_ *cobra.Command, err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	if errors.Is(err, errEmpty) {
		return fmt.Errorf("--%s can't be empty: give it a value, or leave the flag out", bad.GetFlag().Name)
	}
	_, atoi := strconv.Atoi(bad.GetValue()) // package pflag doesn't say that a number is only too large
	must, known := errors.AsType[ValueError](err)
	switch flag := bad.GetFlag(); {
	case known:
	case flag.Value.Type() == "bool":
		must = "true or false"
	case flag.Value.Type() == "int" && errors.Is(atoi, strconv.ErrRange):
		must = "a smaller number"
	case flag.Value.Type() == "int":
		must = "a whole number"
	default:
		return fmt.Errorf("--%s: %w", flag.Name, bad.Unwrap())
	}
	return fmt.Errorf("--%s must be %s, not %q", bad.GetFlag().Name, string(must), bad.GetValue())
}

// Execute runs a command of root and returns its exit code.
func Execute(ctx context.Context, root *cobra.Command, args []string, t Terminal) int {
	started := false
	root.PersistentPreRun = func(c *cobra.Command, _ []string) {
		if started = true; c.Name() == "serve" {
			return // which logs it
		}
		for _, name := range config.Unknown(t.Environ) {
			fmt.Fprintf(t.Err, "warning: ignoring the unknown setting %s\n", name)
		}
	}
	var unknown error // command that help was asked about: cobra shows the help of the command above it
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.HasSubCommands() {
			unknown = onlyCommands(c, c.Flags().Args())
		}
		if unknown == nil {
			help(c, args)
		}
	})
	root.SetFlagErrorFunc(flagError)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err = cmp.Or(err, unknown); err == nil {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(t.Err, "postern: stopped")
		return exitFailed
	}
	complain(t.Err, command, err)
	wrongUse := errors.As(err, new(UsageError))
	if !started || wrongUse {
		if command.HasParent() && command.Name() == "help" {
			command = command.Parent() // whose help lists the commands
		}
		fmt.Fprintf(t.Err, "See '%s --help'.\n", command.CommandPath())
		return exitUsage
	}
	return refusedWith(command, err)
}

// refusedWith returns the exit code for the server's error. A wrong value is wrong usage, as if the command had found
// it. A name of something that doesn't exist is a failure in a flag just as in an argument, which the server answers
// with a fault of kind NotFound.
func refusedWith(command *cobra.Command, err error) int {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Malformed:
		known, _ := errors.AsType[*fault.Error](err)
		isValue := func(f fault.Field) bool { return !namesNothing(command, f, known.Code) }
		if slices.ContainsFunc(known.Fields, isValue) {
			return exitUsage
		}
	case fault.Unauthenticated, fault.Forbidden:
		return exitNotAllowed
	}
	return exitFailed
}

// namesNothing reports whether a field of a request is the name or ID of something that doesn't exist. code is the one
// of the error, for a field without its own. A flag that isn't given is missing instead.
func namesNothing(c *cobra.Command, f fault.Field, code string) bool {
	if !slices.Contains(absentCodes, cmp.Or(f.Code, code)) {
		return false
	}
	name, isFlag := strings.CutPrefix(nameOf(c, f.Pointer), "--")
	flag := c.Flags().Lookup(name)
	return !isFlag || flag == nil || flag.Changed
}

// absentCodes are the server's codes for a name or ID in a query or a body that nothing has. Codes such as
// unknown_event aren't among them: those are about values from a fixed list.
var absentCodes = []string{
	"unknown_app_client", "unknown_environment", "unknown_group", "unknown_host", "unknown_key", "unknown_key_type",
	"unknown_product", "unknown_team", "unknown_tenant", "unknown_user", "unknown_version", "team_not_found",
}

// complain prints the error of a command: its public text if it has one, and each invalid flag or argument with the way
// to correct it.
func complain(w io.Writer, command *cobra.Command, err error) {
	text, known := err.Error(), &fault.Error{}
	if errors.As(err, &known) {
		text = strings.Replace(text, known.Error(), known.Public, 1)
	}
	fields := known.Fields
	if missing := missingFlag(command, known); missing != "" {
		text, fields = missing+" is missing. "+text, nil
	} else if len(fields) == 1 && fields[0].Detail == known.Public {
		if name := fieldName(command, fields[0]); name != "" {
			text = name + ": " + detailOf(command, name, text)
		}
		fields = nil
	}
	for line := range strings.Lines(FlagsOnly(command, strings.TrimSpace(text))) {
		fmt.Fprintf(w, "%s %s\n", styled(w, red, "postern:"), Printable(strings.TrimSuffix(line, "\n")))
	}
	for _, f := range fields {
		name := cmp.Or(fieldName(command, f), "the request")
		detail := detailOf(command, name, f.Detail)
		fmt.Fprintf(w, "  %s: %s\n", Printable(name), Printable(FlagsOnly(command, detail)))
	}
}

// fieldName returns the flag, the argument or the path of what a field of an error is about, "" for the whole request.
func fieldName(command *cobra.Command, f fault.Field) string {
	if f.Pointer == "" {
		return command.Annotations[pointerKey]
	}
	return nameOf(command, f.Pointer)
}

// missingFlag returns the flag that an error is about if it is its only field, required and not given.
func missingFlag(command *cobra.Command, err *fault.Error) string {
	if len(err.Fields) != 1 || cmp.Or(err.Fields[0].Code, err.Code) != "required" {
		return ""
	}
	name := nameOf(command, err.Fields[0].Pointer)
	flag := command.Flags().Lookup(strings.TrimPrefix(name, "--"))
	if !strings.HasPrefix(name, "--") || flag == nil || flag.Changed {
		return ""
	}
	return name
}
