package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"postern/platform/config"
	"postern/platform/fault"
)

// terminal has the streams of a command, so that tests can replace them.
type terminal struct {
	in      io.Reader
	out     io.Writer
	err     io.Writer
	environ []string
	lower   func() error // gives this process a low priority; nil: tests keep theirs
}

// giveWay leaves the processors to a server on this machine. Where the priority cannot be lowered, the
// command takes its share.
func (t terminal) giveWay() {
	if t.lower != nil {
		_ = t.lower()
	}
}

// The exit codes of every command.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNotAllowed = 3
)

// usageError is a usage error that cobra's checks of arguments do not find.
type usageError string

func (e usageError) Error() string { return string(e) }

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, t terminal) int {
	started := false
	root := newRoot(t)
	root.PersistentPreRun = func(c *cobra.Command, _ []string) {
		if started = true; c.Name() == "serve" {
			return // which logs it
		}
		for _, name := range config.Unknown(t.environ) {
			fmt.Fprintf(t.err, "warning: unknown setting %s is ignored\n", name)
		}
	}
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintln(t.err, "postern: stopped")
		return exitFailed
	}
	complain(t.err, err)
	wrongUse := errors.As(err, new(usageError))
	if !started || wrongUse {
		fmt.Fprintf(t.err, "See '%s --help'.\n", command.CommandPath())
		return exitUsage
	}
	switch fault.KindOf(err) {
	case fault.Unauthenticated, fault.Forbidden:
		return exitNotAllowed
	}
	return exitFailed
}

func newRoot(t terminal) *cobra.Command {
	root := &cobra.Command{
		Use:           "postern",
		Short:         "An API gateway that its customers can always leave",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(t.in)
	root.SetOut(t.out)
	root.SetErr(t.err)
	root.SetVersionTemplate("postern {{.Version}}\n")
	root.SetHelpCommand(newHelp())
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newServe(t), newMigrate(t), newBackup(t), newRestore(t), newCopy(t), newSecrets(t), newOperators(t),
		newTakedown(t), newRecover(t), newWelcomeLink(t), newBuildExport(t))
	root.AddCommand(newDemo(t), newEcho(t), newCreate(t), newAudit(t, newAuditVerify(t)), newVersion(t), newManual(t))
	root.AddCommand(signIn(t)...)
	root.AddCommand(teamCommands(t)...)
	root.AddCommand(projectCommands(t)...)
	root.AddCommand(accessCommands(t)...)
	root.AddCommand(keyCommands(t)...)
	root.AddCommand(peopleCommands(t)...)
	root.AddCommand(hostedLogins(t)...)
	root.AddCommand(exportCommands(t)...)
	root.InitDefaultCompletionCmd() // cobra would add it too late for suggestCommands
	suggestCommands(root)
	return root
}

// version returns the module's version if the binary was built from one, else its commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownBuild
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if revision := commit(); revision != unknownBuild {
		return revision[:12]
	}
	return "development"
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

func newVersion(t terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, its commit and the version of Go that it was built with",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(t.out, "postern %s\ncommit  %s\ngo      %s\n", version(), commit(), runtime.Version())
			return err
		},
	}
}
