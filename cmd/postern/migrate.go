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
		Short: "Bring the database's schema up to date and stop",
		Long: `Bring the database's schema up to date and stop. serve does the same when it
starts; migrate is for deployments that want it as a step of its own.`,
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
