package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/app"
	"postern/cmd/internal/terminal"
	"postern/platform/config"
)

// newCopy opens both databases itself.
func newCopy(t terminal.Terminal) *cobra.Command {
	var to string
	command := &cobra.Command{
		Use:   "copy --to postgres://…",
		Short: "Copy the SQLite database to an empty PostgreSQL database",
		Long: `Copy everything in the SQLite database to an empty PostgreSQL database. Stop the server
first. The SQLite database isn't changed.

The copy runs in one transaction. Before committing, the command checks that every row,
an export of every project, and the heads of the audit logs match in both databases. If
the copy fails, the target stays empty.`,
		Example: `  postern copy --data-dir /var/lib/postern --to postgres://postern@db.internal/postern
  POSTERN_COPY_TO=postgres://… postern copy`,
		Args: terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			to = cmp.Or(to, t.Variable("POSTERN_COPY_TO"))
			if !strings.HasPrefix(to, "postgres://") && !strings.HasPrefix(to, "postgresql://") {
				return terminal.UsageError("set the PostgreSQL database with --to postgres://… or POSTERN_COPY_TO")
			}
			dataDir := cmp.Or(c.Flag("data-dir").Value.String(), t.Variable("POSTERN_DATA_DIR"))
			from, err := databaseSettings(t, dataDir, "")
			if err != nil {
				return err
			}
			target, err := databaseSettings(t, dataDir, to)
			if err != nil {
				return err
			}
			return copyDatabase(c.Context(), t, from, target)
		},
	}
	command.Flags().StringVar(&to, "to", "", "postgres:// URL of an empty database (POSTERN_COPY_TO, which keeps the "+
		"password out of the process list)")
	command.Flags().String("data-dir", "", "directory of the SQLite database (POSTERN_DATA_DIR, default: ./data)")
	return command
}

func copyDatabase(ctx context.Context, t terminal.Terminal, from, to config.Config) error {
	steps := terminal.NewProgress(t.Err)
	done, err := app.Copy(ctx, from, to, steps.Say)
	steps.End()
	if err != nil {
		return err
	}
	count := func(n int64, one string) terminal.Count { return terminal.Count{N: n, One: one} }
	_, err = fmt.Fprintf(t.Out, "Copied %s in %s and %s.\nIdentical in both databases: every row, %s, and the heads "+
		"of %s.\n\nStart the server with POSTERN_DATABASE_URL set to the target and with the same secrets key: the "+
		"file\n%s, or its content in POSTERN_SECRETS_KEY for replicas. Keep %s until you have checked that the "+
		"server works.\n",
		count(done.Rows, "row"), count(done.Tables, "table"), count(done.Jobs, "unfinished job"),
		count(int64(done.Exports), "export"), count(int64(done.AuditLogs), "audit log"),
		terminal.Printable(from.SecretsKeyFile()), terminal.Printable(from.SQLitePath()))
	return err
}
