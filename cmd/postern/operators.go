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

// newOperators opens the database itself: access to the installation's machine decides
// who is an operator, not another operator.
func newOperators(t terminal.Terminal) *cobra.Command {
	return terminal.Family(
		"operators",
		"List and change the installation's operators, in its database",
		newOperatorsChange(
			t, "add", "Give an account the operator role", true,
		),
		newOperatorsChange(t, "remove", "Take the operator role from an account", false),
		newOperatorsList(t),
	)
}

func addDatabaseFlags(c *cobra.Command) {
	c.Flags().String("data-dir", "", "directory of the server's SQLite database (POSTERN_DATA_DIR) (default ./data)")
	c.Flags().String("database-url", "", "postgres:// address of the server's database (POSTERN_DATABASE_URL)")
}

// namedDatabase returns the database that the flags name, else the server's.
func namedDatabase(t terminal.Terminal, c *cobra.Command) (config.Config, error) {
	dataDir, databaseURL := c.Flag("data-dir").Value.String(), c.Flag("database-url").Value.String()
	if dataDir == "" && databaseURL == "" {
		dataDir, databaseURL = t.Variable("POSTERN_DATA_DIR"), t.Variable("POSTERN_DATABASE_URL")
	}
	return databaseSettings(t, dataDir, databaseURL)
}

func newOperatorsChange(t terminal.Terminal, verb, short string, operator bool) *cobra.Command {
	command := &cobra.Command{
		Use:   verb + " EMAIL",
		Short: short,
		Args:  terminal.Exactly("EMAIL"),
		RunE: func(c *cobra.Command, args []string) error {
			settings, err := namedDatabase(t, c)
			if err != nil {
				return err
			}
			if err := app.SetOperator(c.Context(), settings, args[0], operator); err != nil {
				return err
			}
			text := "is an operator"
			if !operator {
				text = "is no operator"
			}
			_, err = fmt.Fprintf(t.Out, "%s %s.\n", terminal.Printable(args[0]), text)
			return err
		},
	}
	addDatabaseFlags(command)
	return command
}

func newOperatorsList(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "list",
		Short: "List the operators",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return listOperators(c.Context(), t, c)
		},
	}
	addDatabaseFlags(command)
	terminal.AddJSONFlag(command)
	return command
}

func listOperators(ctx context.Context, t terminal.Terminal, c *cobra.Command) error {
	settings, err := namedDatabase(t, c)
	if err != nil {
		return err
	}
	emails, err := app.Operators(ctx, settings)
	if err != nil {
		return err
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
		Short: "Print a one-time link that gives an account a new password",
		Long: `Print a one-time link that gives an account a new password. It works for an hour;
earlier links of the account stop working. Using it ends the account's sessions. The
command opens the server's database; the server may be running.`,
		Args: terminal.Exactly("EMAIL"),
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
	addDatabaseFlags(command)
	command.Flags().String("public-url", "", "how browsers reach the server (POSTERN_PUBLIC_URL)")
	return command
}

// newWelcomeLink opens the database itself: an operator who can read it may create the
// first account.
func newWelcomeLink(t terminal.Terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "welcome-link",
		Short: "Print a new one-time link that creates the first account",
		Long: `Print a new one-time link that creates the first account of an installation. The
command opens the server's database; the server may be running. Earlier links stop
working. It fails once the installation has an account.`,
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
	command.Flags().String("public-url", "", "how browsers reach the server (POSTERN_PUBLIC_URL)")
	return command
}
