package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"postern/app"
	"postern/cmd/internal/terminal"
	"postern/platform/config"
)

func newServe(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "serve",
		Short: "Run the control plane, the gateway and the background jobs",
		Long: `Run the control plane, the gateway and the background jobs.

Nothing has to be configured: state is kept in SQLite below ./data, and the
first start prints a link that makes the first account. With PostgreSQL, --roles
makes a process a control plane, a gateway or a worker alone.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			settings, err := config.Load(c.Flags(), t.Environ)
			if err != nil {
				return err
			}
			log := settings.Logger()
			// The standard library's HTTP client reports malformed responses of upstreams to
			// the standard logger only.
			slog.SetLogLoggerLevel(slog.LevelDebug)
			slog.SetDefault(log)
			for _, name := range config.Unknown(t.Environ) {
				log.Warn("an unknown setting is ignored", "variable", name)
			}
			server, err := app.New(c.Context(), settings, version(), log, app.WithBulk(exportCommand))
			if err != nil {
				return err
			}
			announce(t, server)
			return server.Run(c.Context())
		},
	}
	config.AddFlags(command.Flags())
	return command
}

func announce(t terminal.Terminal, server *app.App) {
	fmt.Fprintf(t.Out, "Postern %s is ready.\n\n", version())
	roles := server.Config.Roles
	if roles != config.AllRoles {
		fmt.Fprintf(t.Out, "  Roles       %s\n", roles)
	}
	if roles.Control {
		fmt.Fprintf(t.Out, "  Dashboard   %s\n", server.Config.PublicURL)
	}
	if roles.Gateway {
		fmt.Fprintf(t.Out, "  Gateway     %s\n", server.Config.GatewayURL)
	}
	if says := server.Degraded(); says != "" {
		fmt.Fprintf(t.Out, "\n  %s. Nothing can be changed until it answers.\n", says)
	}
	if server.FirstLink != "" {
		fmt.Fprintf(t.Out, "\n  Open this link to create the first account; it works once:\n  %s\n", server.FirstLink)
	}
	fmt.Fprintf(t.Out, "\nStop with Ctrl-C; press it twice to stop without waiting for calls under way.\n")
}

// exportCommand runs this program again, to write an export. On Linux that is the program of this process
// even if its file has been replaced since.
func exportCommand(ctx context.Context) *exec.Cmd {
	path := "/proc/self/exe"
	if _, err := os.Stat(path); err != nil {
		path, _ = os.Executable() // "" cannot be started, which says why
	}
	return exec.CommandContext(ctx, path, "build-export")
}

// newBuildExport is the process that exportCommand starts.
func newBuildExport(t terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:    "build-export",
		Short:  "Write an export for a server, which starts this itself",
		Hidden: true,
		Args:   terminal.Exactly(),
		RunE:   func(c *cobra.Command, _ []string) error { return app.BuildExport(c.Context(), t.In, t.Out) },
	}
}

func newMigrate(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the database's schema to this version and exit",
		Long: `Migrate the database's schema to this version and exit. postern serve does
the same when it starts; use migrate to do it as a separate step.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			settings, err := config.Load(c.Flags(), t.Environ)
			if err != nil {
				return err
			}
			ours, rivers, err := app.Migrate(c.Context(), settings, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(
				t.Out, "Applied %d steps, and %d of the job queue. The schema is up to date.\n", ours, rivers,
			)
			return err
		},
	}
	config.AddFlags(command.Flags())
	return command
}
