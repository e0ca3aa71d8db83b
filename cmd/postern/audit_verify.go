package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"postern/app"
	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/config"
)

// errBroken is returned after the findings were printed.
var errBroken = errors.New("the audit log was changed")

func newAuditVerify(t terminal.Terminal) *cobra.Command {
	var in contract.AuditVerification
	none := ""
	command := cli.RequestCommand(t, cli.AsReader(&in.Team, &none), contract.VerifyAudit.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			verdict, err := client.Do(c.Context(), api, contract.VerifyAudit, in)
			if err != nil {
				return err
			}
			return showVerdicts(c, t, []contract.AuditVerdict{verdict}, verdict)
		})
	command.Short = "Verify that the audit log hasn't been changed"
	command.Long = `Verify that no entry in a team's audit log has been changed, removed, inserted or
reordered. Each entry's hash covers its data and the previous entry's hash. The last hash
is the head of the log. Save the head: with --head, a later verification also detects a
log that was rewritten entirely.

By default, the server verifies the log. With --data-dir or --database-url, or if
POSTERN_DATA_DIR or POSTERN_DATABASE_URL is set, the command opens the server's database
and verifies all teams' logs or, with --team, only that team's log. If one of these
variables is set, use --server to have a server verify the log.`
	command.Example = `  postern audit verify
  postern audit verify --head 42:9f86d0…
  postern audit verify --data-dir ./data
  postern audit verify --data-dir ./data --team installation --head 42:9f86d0…`
	flags := command.Flags()
	flags.String("data-dir", "", "verify the logs in the SQLite database in this directory (POSTERN_DATA_DIR)")
	flags.String("database-url", "", "verify the logs in the PostgreSQL database at this URL (POSTERN_DATABASE_URL)")
	terminal.AddJSONFlag(command)
	askServer := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		if verifiesDatabase(t, c) {
			return verifyDatabase(c, t, in)
		}
		return askServer(c, args)
	}
	return command
}

// verifiesDatabase reports whether the logs are read from the database: flags name it, or the shell has the
// settings of a server and no flag names another one.
func verifiesDatabase(t terminal.Terminal, c *cobra.Command) bool {
	changed := c.Flags().Changed
	here := t.Variable("POSTERN_DATA_DIR") != "" || t.Variable("POSTERN_DATABASE_URL") != ""
	return changed("data-dir") || changed("database-url") || here && !changed("server")
}

// databaseSettings returns the server's settings for the one database that the flags
// name; variables do not override it.
func databaseSettings(t terminal.Terminal, dataDir, databaseURL string) (config.Config, error) {
	flags := pflag.NewFlagSet("database", pflag.ContinueOnError)
	config.AddFlags(flags)
	if dataDir != "" {
		if err := flags.Set("data-dir", dataDir); err != nil {
			return config.Config{}, err
		}
	}
	if err := flags.Set("database-url", databaseURL); err != nil {
		return config.Config{}, err
	}
	return loadSettings(flags, t.Environ)
}

func verifyDatabase(c *cobra.Command, t terminal.Terminal, in contract.AuditVerification) error {
	settings, err := namedDatabase(t, c)
	if err != nil {
		return err
	}
	stop := t.Waiting("Verifying the audit logs")
	found, err := app.VerifyAudit(c.Context(), settings, in)
	stop()
	if err != nil {
		return err
	}
	return showVerdicts(c, t, found, struct {
		Items []contract.AuditVerdict `json:"items"`
	}{found})
}

// showVerdicts prints the findings, and returns an error if a log is broken.
func showVerdicts(c *cobra.Command, t terminal.Terminal, verdicts []contract.AuditVerdict, asJSON any) error {
	if terminal.WantsJSON(c) {
		if err := terminal.PrintJSON(t.Out, asJSON); err != nil {
			return err
		}
	}
	whole := true
	for _, v := range verdicts {
		whole = whole && v.Intact
		if terminal.WantsJSON(c) {
			continue
		}
		of := "of the installation"
		if v.Team != nil {
			of = "of " + *v.Team
		}
		if v.Broken == nil {
			fmt.Fprintf(t.Out, "The audit log %s is intact: %s.\n", terminal.Printable(of), entries(v.Entries))
			if v.Removed > 0 {
				fmt.Fprintf(t.Out, "  Retention removed %s.\n", entries(v.Removed))
			}
			fmt.Fprintf(t.Out, "  Head %s\n", v.Head)
			continue
		}
		fmt.Fprintf(
			t.Out, "The audit log %s is broken after %s.\n  Entry number %d", terminal.Printable(of),
			entries(v.Entries), v.Broken.Number,
		)
		if v.Broken.Entry != nil {
			fmt.Fprintf(t.Out, " (%s)", terminal.Printable(*v.Broken.Entry))
		}
		fmt.Fprintf(t.Out, ": %s.\n", terminal.Printable(v.Broken.Reason))
	}
	if !whole {
		return errBroken
	}
	return nil
}

func entries(n int64) terminal.Count { return terminal.Count{N: n, One: "entry"} }
