package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/app"
)

// newRecover opens the database itself: an operator who can write it may let anyone in.
func newRecover(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "recover EMAIL",
		Short: "Print a one-time link that gives an account a new password",
		Long: `Print a one-time link that gives an account a new password. It works for an hour;
earlier links of the account stop working. Using it ends the account's sessions. The
command opens the server's database; the server may be running.`,
		Args: exactly("EMAIL"),
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
			_, err = fmt.Fprintln(t.out, public+"/recover/"+code)
			return err
		},
	}
	addDatabaseFlags(command)
	command.Flags().String("public-url", "", "how browsers reach the server (POSTERN_PUBLIC_URL)")
	return command
}
