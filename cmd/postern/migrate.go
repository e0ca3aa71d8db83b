package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"postern/app"
	"postern/platform/config"
)

func newMigrate(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the database's schema to this version and exit",
		Long: `Migrate the database's schema to this version and exit. postern serve does
the same when it starts; use migrate to do it as a separate step.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			settings, err := config.Load(c.Flags(), t.environ)
			if err != nil {
				return err
			}
			ours, rivers, err := app.Migrate(c.Context(), settings, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(
				t.out, "Applied %d steps, and %d of the job queue. The schema is up to date.\n", ours, rivers,
			)
			return err
		},
	}
	config.AddFlags(command.Flags())
	return command
}
