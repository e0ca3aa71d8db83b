// Command postern is the server, its maintenance, and the command line of its API in one binary. It owns the tree of
// commands, and those that run a server or open its database on this machine. It leaves the construction of the server
// to package app, settings to package config, and the commands of the API to the packages of cmd/internal.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"postern/app"
	"postern/cmd/internal/account"
	"postern/cmd/internal/callers"
	"postern/cmd/internal/export"
	"postern/cmd/internal/projects"
	"postern/cmd/internal/terminal"
	"postern/platform/nice"
)

func main() {
	os.Exit(run(interruptible(), os.Args[1:], terminal.Terminal{
		In:      os.Stdin,
		Out:     os.Stdout,
		Err:     os.Stderr,
		Environ: os.Environ(),
		Lower:   nice.Lower,
	}))
}

// interruptible returns a context that ends with the first signal. The second signal
// ends the process at once. Ctrl-C skips the drain: a person waits, and no load balancer
// has to notice first.
func interruptible() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := <-signals
		signal.Stop(signals)
		if first == os.Interrupt {
			cancel(app.ErrNoDrain)
		}
		cancel(context.Canceled)
	}()
	return ctx
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, t terminal.Terminal) int {
	t = terminal.Opened(t)
	return terminal.Execute(ctx, newRoot(t), args, t)
}

func newRoot(t terminal.Terminal) *cobra.Command {
	root := &cobra.Command{
		Use:           "postern",
		Short:         "An API gateway that you can always leave",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(t.In)
	root.SetOut(t.Out)
	root.SetErr(t.Err)
	root.SetHelpCommand(terminal.NewHelp())
	root.CompletionOptions.DisableDefaultCmd = true
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Start", append(account.SignIn(t), projects.NewCreate(t), newDemo(t), newEcho(t))},
		{"Projects", projects.Commands(t)},
		{"Keys", callers.Keys(t)},
		{"Access", append(projects.Access(t), callers.People(t)...)},
		{"Login", callers.HostedLogin(t)},
		{"Export", export.Commands(t)},
		{"Teams", append(account.Teams(t), account.NewAudit(t, newAuditVerify(t)))},
		{"Operate a server", operatorCommands(t)},
		{"Other", []*cobra.Command{newVersion(t), terminal.NewCompletion(t), newLicenses(t), newManual(t)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title + ":"})
		for _, command := range group.commands {
			command.GroupID = group.title
			root.AddCommand(command)
		}
	}
	root.SetHelpCommandGroupID("Other")
	root.InitDefaultVersionFlag() // cobra would add it too late for terminal.NameTypes
	terminal.SuggestCommands(root)
	terminal.ListArguments(root)
	terminal.NameTypes(root)
	terminal.RefuseEmpty(root)
	terminal.NoteLists(root)
	terminal.OfferNoFiles(root)
	return root
}

// operatorCommands returns the commands for those who run a server.
func operatorCommands(t terminal.Terminal) []*cobra.Command {
	return []*cobra.Command{newServe(t), newMigrate(t), newBackup(t), newRestore(t), newCopy(t), newSecrets(t),
		newOperators(t), newWelcomeLink(t), newRecover(t), projects.NewTakedown(t), newBuildExport(t)}
}
