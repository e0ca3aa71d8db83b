package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/app"
)

// newWelcomeLink opens the database itself: an operator who can read it may create the
// first account.
func newWelcomeLink(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "welcome-link",
		Short: "Print a new one-time link that creates the first account",
		Long: `Print a new one-time link that creates the first account of an installation. The
command opens the server's database; the server may be running. Earlier links stop
working. It fails once the installation has an account.`,
		Args: exactly(),
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
			_, err = fmt.Fprintln(t.out, public+"/welcome/"+code)
			return err
		},
	}
	addDatabaseFlags(command)
	command.Flags().String("public-url", "", "how browsers reach the server (POSTERN_PUBLIC_URL)")
	return command
}
