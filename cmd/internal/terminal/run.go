package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

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

// Execute runs a command of root and returns its exit code.
func Execute(ctx context.Context, root *cobra.Command, args []string, t Terminal) int {
	started := false
	root.PersistentPreRun = func(c *cobra.Command, _ []string) {
		if started = true; c.Name() == "serve" {
			return // which logs it
		}
		for _, name := range config.Unknown(t.Environ) {
			fmt.Fprintf(t.Err, "warning: unknown setting %s is ignored\n", name)
		}
	}
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(t.Err, "postern: stopped")
		return exitFailed
	}
	complain(t.Err, err)
	wrongUse := errors.As(err, new(UsageError))
	if !started || wrongUse {
		fmt.Fprintf(t.Err, "See '%s --help'.\n", command.CommandPath())
		return exitUsage
	}
	switch fault.KindOf(err) {
	case fault.Unauthenticated, fault.Forbidden:
		return exitNotAllowed
	}
	return exitFailed
}

// complain prints an error: its public text if it has one, and each invalid field with
// the way to correct it.
func complain(w io.Writer, err error) {
	text, known := err.Error(), &fault.Error{}
	if errors.As(err, &known) {
		text = strings.Replace(text, known.Error(), known.Public, 1)
	}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintf(w, "postern: %s\n", Printable(strings.TrimSuffix(line, "\n")))
	}
	for _, f := range known.Fields {
		pointer := f.Pointer
		if pointer == "" {
			pointer = "the request"
		}
		switch {
		case f.Detail == known.Public && len(known.Fields) == 1:
			fmt.Fprintf(w, "  at %s (%s)\n", Printable(pointer), known.Code)
		default:
			fmt.Fprintf(w, "  %s: %s\n", Printable(pointer), Printable(f.Detail))
		}
	}
}
