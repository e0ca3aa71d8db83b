package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"postern/app"
	"postern/platform/config"
)

// newOperators opens the database itself: access to the installation's machine decides
// who is an operator, not another operator.
func newOperators(t terminal) *cobra.Command {
	return family(
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
func namedDatabase(t terminal, c *cobra.Command) (config.Config, error) {
	dataDir, databaseURL := c.Flag("data-dir").Value.String(), c.Flag("database-url").Value.String()
	if dataDir == "" && databaseURL == "" {
		dataDir, databaseURL = t.variable("POSTERN_DATA_DIR"), t.variable("POSTERN_DATABASE_URL")
	}
	return databaseSettings(t, dataDir, databaseURL)
}

func newOperatorsChange(t terminal, verb, short string, operator bool) *cobra.Command {
	command := &cobra.Command{
		Use:   verb + " EMAIL",
		Short: short,
		Args:  exactly("EMAIL"),
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
			_, err = fmt.Fprintf(t.out, "%s %s.\n", printable(args[0]), text)
			return err
		},
	}
	addDatabaseFlags(command)
	return command
}

func newOperatorsList(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "list",
		Short: "List the operators",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return listOperators(c.Context(), t, c)
		},
	}
	addDatabaseFlags(command)
	addJSONFlag(command)
	return command
}

func listOperators(ctx context.Context, t terminal, c *cobra.Command) error {
	settings, err := namedDatabase(t, c)
	if err != nil {
		return err
	}
	emails, err := app.Operators(ctx, settings)
	if err != nil {
		return err
	}
	if wantsJSON(c) {
		return printJSONList(t.out, emails)
	}
	for _, email := range emails {
		fmt.Fprintln(t.out, printable(email))
	}
	return nil
}
