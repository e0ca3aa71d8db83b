package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
)

func newAccount(t terminal) *cobra.Command {
	return family("account", "Change or delete the account that you are signed in with",
		newAccountUpdate(t),
		newAccountDelete(t),
	)
}

func newAccountUpdate(t terminal) *cobra.Command {
	var name, email, passwordFile string
	command := &cobra.Command{
		Use:   "update [--name NAME] [--email EMAIL --password-file FILE]",
		Short: "Change the name or the e-mail address of the account that you are signed in with",
		Long: `Change the name or the e-mail address of the account that you are signed in with. A
new address needs the password. Where the server sends mail, it counts once the link in
the mail to it has been opened.`,
		Example: `  postern account update --name "Ana Lopes"
  postern account update --email ana@example.com --password-file -`,
		Args: exactly(),
	}
	command.RunE = func(c *cobra.Command, _ []string) error {
		change := client.ProfileChange{}
		if c.Flags().Changed("name") {
			change.Name = &name
		}
		if c.Flags().Changed("email") {
			change.Email = &email
		}
		if change.Name == nil && change.Email == nil {
			return usageError{"give --name NAME, --email EMAIL, or both"}
		}
		return asPerson(t, c, func(api *client.Client) error {
			if passwordFile != "" {
				password, err := readSecret(t, passwordFile)
				if err != nil {
					return err
				}
				change.Password = password
			}
			profile, err := api.UpdateAccount(c.Context(), change)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, profile)
			}
			return details(t.out, func(row func(...string)) {
				row("Name", profile.Name)
				row("E-mail", profile.Email)
				if profile.Unconfirmed != "" {
					row("New e-mail", profile.Unconfirmed+", once the link in the mail to it has been opened")
				}
			})
		})
	}
	command.Flags().StringVar(&name, "name", "", "new name")
	command.Flags().StringVar(&email, "email", "", "new e-mail address")
	command.Flags().StringVar(&passwordFile, "password-file", "", "file with the password; - for standard input")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newAccountDelete(t terminal) *cobra.Command {
	var confirm, passwordFile string
	command := &cobra.Command{
		Use:   "delete --confirm EMAIL --password-file FILE",
		Short: "Delete the account that you are signed in with for good",
		Long: `Delete the account that you are signed in with, with its sessions, access tokens,
ways to sign in and memberships. It is refused while you are the only owner of a team.
An account without a password is deleted in the dashboard, after a fresh sign-in. This
cannot be undone.`,
		Example: `  postern account delete --confirm ana@example.com --password-file -`,
		Args:    exactly(),
	}
	command.RunE = func(c *cobra.Command, _ []string) error {
		return asPerson(t, c, func(api *client.Client) error {
			d, err := api.AccountDeletion(c.Context())
			if err != nil {
				return err
			}
			if !d.Password {
				return usageError{"this account has no password: delete it in the dashboard, under Your account"}
			}
			if confirm == "" || passwordFile == "" {
				return usageError{"give --confirm " + d.Email + " and --password-file FILE to delete the account"}
			}
			password, err := readSecret(t, passwordFile)
			if err != nil {
				return err
			}
			if err := api.DeleteAccount(c.Context(), confirm, password); err != nil {
				return err
			}
			_, err = fmt.Fprintln(t.out, printable("The account "+d.Email+" is deleted."+left(d.Teams)))
			return err
		})
	}
	command.Flags().StringVar(&confirm, "confirm", "", "e-mail address of the account")
	command.Flags().StringVar(&passwordFile, "password-file", "", "file with the password; - for standard input")
	addServerFlag(command)
	return command
}

// left names the teams that a deleted account has left.
func left(teams []string) string {
	if len(teams) == 0 {
		return ""
	}
	return " It has left: " + strings.Join(teams, ", ") + "."
}
