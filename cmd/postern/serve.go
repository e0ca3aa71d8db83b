package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"postern/app"
	"postern/cmd/internal/terminal"
	"postern/platform/config"
)

func newServe(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "serve",
		Short: "Run the control plane, the gateway and the background jobs",
		Long: `Run the control plane, the gateway and the background jobs.

You don't need to configure anything. Data is stored in SQLite in ./data, and the first
start prints a link to create the first account. With PostgreSQL, --roles lets a process
run only the control plane, the gateway or the background jobs.`,
		Example: `  postern serve
  postern serve --public-url https://postern.example.com --gateway-domain api.example.com
  POSTERN_DATABASE_URL=postgres://… postern serve --roles gateway`,
		Args: terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			settings, err := loadSettings(c.Flags(), t.Environ)
			if err != nil {
				return err
			}
			log := settings.Logger()
			// The standard library's HTTP client reports malformed responses of upstreams to
			// the standard logger only.
			slog.SetLogLoggerLevel(slog.LevelDebug)
			slog.SetDefault(log)
			for _, name := range config.Unknown(t.Environ) {
				log.Warn("ignoring an unknown setting", "variable", name)
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

// loadSettings returns the server's settings. One that isn't valid is a usage error, as in other commands.
func loadSettings(flags *pflag.FlagSet, environ []string) (config.Config, error) {
	settings, err := config.Load(flags, environ)
	if err != nil {
		return settings, terminal.UsageError(err.Error())
	}
	return settings, nil
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
		fmt.Fprintf(t.Out, "\n  %s. Nothing can be changed until it responds.\n", says)
	}
	if server.FirstLink != "" {
		fmt.Fprintf(t.Out, "\n  Open this link to create the first account. It works once.\n  %s\n", server.FirstLink)
	}
	fmt.Fprintf(t.Out, "\nPress Ctrl-C to stop. Press it twice to stop without waiting for calls in progress.\n")
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
		Short:  "Write an export (run by the server itself)",
		Hidden: true,
		Args:   terminal.Exactly(),
		RunE:   func(c *cobra.Command, _ []string) error { return app.BuildExport(c.Context(), t.In, t.Out) },
	}
}

func newMigrate(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the database schema to this version of Postern",
		Long: `Migrate the database schema to this version of Postern and exit. postern serve also
migrates it at startup. Use postern migrate to run the migration as a separate step.`,
		Args: terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			settings, err := loadSettings(c.Flags(), t.Environ)
			if err != nil {
				return err
			}
			stop := t.Waiting("Migrating the database")
			ours, rivers, err := app.Migrate(c.Context(), settings, slog.New(slog.DiscardHandler))
			stop()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(
				t.Out, "Applied %d migrations, and %d for the job queue. The schema is up to date.\n", ours, rivers,
			)
			return err
		},
	}
	config.AddFlags(command.Flags())
	return command
}
