package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/app"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/platform/config"
)

// newOperators opens the database itself: access to the installation's machine decides
// who is an operator, not another operator.
func newOperators(t terminal.Terminal) *cobra.Command {
	return terminal.Family(
		"operators",
		"Manage the operators of an installation",
		newOperatorsChange(
			t, "add", "Make an account an operator", true,
		),
		newOperatorsChange(t, "remove", "Remove an operator", false),
		newOperatorsList(t),
	)
}

func addDatabaseFlags(c *cobra.Command) {
	addDataDirFlag(c)
	c.Flags().String("database-url", "", "postgres:// URL of the server's database (POSTERN_DATABASE_URL)")
}

// addDataDirFlag is for commands that work only with SQLite.
func addDataDirFlag(c *cobra.Command) {
	c.Flags().String("data-dir", "", "directory of the server's SQLite database (POSTERN_DATA_DIR, default: ./data)")
}

// namedDatabase returns the database that the flags name, else the server's.
func namedDatabase(t terminal.Terminal, c *cobra.Command) (config.Config, error) {
	dataDir, databaseURL := c.Flag("data-dir").Value.String(), ""
	if flag := c.Flag("database-url"); flag != nil {
		databaseURL = flag.Value.String()
	}
	if dataDir == "" && databaseURL == "" {
		dataDir, databaseURL = t.Variable("POSTERN_DATA_DIR"), t.Variable("POSTERN_DATABASE_URL")
	}
	return databaseSettings(t, dataDir, databaseURL)
}

func newOperatorsChange(t terminal.Terminal, verb, short string, operator bool) *cobra.Command {
	command := &cobra.Command{
		Use:     verb + " EMAIL",
		Short:   short,
		Example: "  postern operators " + verb + " ana@example.com",
		Args:    terminal.Exactly("EMAIL"),
		RunE: func(c *cobra.Command, args []string) error {
			settings, err := namedDatabase(t, c)
			if err != nil {
				return err
			}
			if err := app.SetOperator(c.Context(), settings, args[0], operator); err != nil {
				return err
			}
			text := "is now an operator"
			if !operator {
				text = "is no longer an operator"
			}
			_, err = fmt.Fprintf(t.Out, "%s %s.\n", terminal.Printable(args[0]), text)
			return err
		},
	}
	terminal.Described(command, [2]string{"EMAIL", "email address of the account"})
	addDatabaseFlags(command)
	return command
}

func newOperatorsList(t terminal.Terminal) *cobra.Command {
	var most int
	command := &cobra.Command{
		Use:   "list",
		Short: "List the operators",
		Args:  terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return listOperators(c.Context(), t, c, most)
		},
	}
	addDatabaseFlags(command)
	cli.LimitFlag(command, &most)
	terminal.AddJSONFlag(command)
	return command
}

func listOperators(ctx context.Context, t terminal.Terminal, c *cobra.Command, most int) error {
	settings, err := namedDatabase(t, c)
	if err != nil {
		return err
	}
	emails, err := app.Operators(ctx, settings)
	if err != nil {
		return err
	}
	if most > 0 && len(emails) > most {
		emails = emails[:most]
		defer cli.SayMore(t, most, "")
	}
	if terminal.WantsJSON(c) {
		return terminal.PrintJSONList(t.Out, emails)
	}
	for _, email := range emails {
		fmt.Fprintln(t.Out, terminal.Printable(email))
	}
	return nil
}

// newRecover opens the database itself: an operator who can write it may let anyone in.
func newRecover(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "recover EMAIL",
		Short: "Print a one-time link to set a new password",
		Long: `Print a one-time link to set a new password for an account. The link works for an hour.
Earlier links stop working. Using the link ends the account's sessions.

The command opens the server's database. You can run it while the server is running.`,
		Example: "  postern recover ana@example.com --public-url https://postern.example.com",
		Args:    terminal.Exactly("EMAIL"),
		RunE: func(c *cobra.Command, args []string) error {
			settings, err := namedDatabase(t, c)
			if err != nil {
				return err
			}
			public := cmp.Or(strings.TrimRight(c.Flag("public-url").Value.String(), "/"), settings.PublicURL)
			code, err := app.RecoveryCode(c.Context(), settings, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(t.Out, public+"/recover/"+code)
			return err
		},
	}
	terminal.Described(command, [2]string{"EMAIL", "email address of the account"})
	addDatabaseFlags(command)
	command.Flags().String("public-url", "", "URL that browsers use for the server (POSTERN_PUBLIC_URL)")
	return command
}

// newWelcomeLink opens the database itself: an operator who can read it may create the
// first account.
func newWelcomeLink(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "welcome-link",
		Short: "Print a new one-time link to create the first account",
		Long: `Print a new one-time link for creating an installation's first account. Earlier links
stop working. The command fails if the installation already has an account.

The command opens the server's database. You can run it while the server is running.`,
		Args: terminal.Exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			settings, err := namedDatabase(t, c)
			if err != nil {
				return err
			}
			public := cmp.Or(strings.TrimRight(c.Flag("public-url").Value.String(), "/"), settings.PublicURL)
			code, err := app.WelcomeCode(c.Context(), settings)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(t.Out, public+"/welcome/"+code)
			return err
		},
	}
	addDatabaseFlags(command)
	command.Flags().String("public-url", "", "URL that browsers use for the server (POSTERN_PUBLIC_URL)")
	return command
}
