package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

func newAccount(t terminal) *cobra.Command {
	return family("account", "Change or delete the account that you are signed in with",
		newAccountUpdate(t),
		newAccountDelete(t),
	)
}

func newAccountUpdate(t terminal) *cobra.Command {
	var in contract.AccountUpdate
	var passwordFile string
	command := requestCommand(t, asPerson, contract.UpdateAccount.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			if passwordFile != "" && in.Body.Email == nil {
				return usageError("--password-file goes with --email: only a new address needs the password")
			}
			if err := readPassword(t, passwordFile, &in.Body.Password); err != nil {
				return err
			}
			profile, err := client.Do(c.Context(), api, contract.UpdateAccount, in)
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, profile)
			}
			return details(t.out, func(row func(...string)) {
				row("Name", profile.Name)
				row("E-mail", profile.Email)
				if profile.UnconfirmedEmail != "" {
					row("New e-mail", profile.UnconfirmedEmail+", once the link in the mail to it has been opened")
				}
			})
		})
	command.Long = `Change the name or the e-mail address of your account. A new address needs the
password. Where the server sends mail, it counts once the link in the mail to it has
been opened.`
	command.Example += "\n  postern account update --email ana@example.com --password-file -"
	passwordFlag(command, &passwordFile)
	addJSONFlag(command)
	return command
}

func passwordFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "password-file", "", "file with the password; - for standard input")
}

// readPassword reads the password, unless no file is given.
func readPassword(t terminal, file string, into *contract.Secret) error {
	if file == "" {
		return nil
	}
	password, err := readSecret(t, file)
	*into = contract.Secret(password)
	return err
}

func newAccountDelete(t terminal) *cobra.Command {
	var in contract.AccountRemoval
	var passwordFile string
	command := requestCommand(t, asPerson, contract.DeleteAccount.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			d, err := client.Do(c.Context(), api, contract.GetAccountDeletion, contract.None{})
			if err != nil {
				return err
			}
			if !d.Password {
				return usageError("this account has no password: delete it in the dashboard, under Your account")
			}
			if in.Body.Confirm == "" || passwordFile == "" {
				return usageError("give --confirm " + d.Email + " and --password-file FILE to delete the account")
			}
			if err := readPassword(t, passwordFile, &in.Body.Password); err != nil {
				return err
			}
			if _, err := client.Do(c.Context(), api, contract.DeleteAccount, in); err != nil {
				return err
			}
			_, err = fmt.Fprintln(t.out, printable("The account "+d.Email+" is deleted."+left(d.Teams)))
			return err
		})
	command.Use += " --confirm EMAIL --password-file FILE"
	command.Long = `Delete your account, with its sessions, access tokens, ways to sign in and memberships.
It is refused while you are the only owner of a team. An account without a password is
deleted in the dashboard, after a fresh sign-in. This cannot be undone.`
	command.Flags().StringVar(&in.Body.Confirm, "confirm", "", "e-mail address of the account")
	passwordFlag(command, &passwordFile)
	return command
}

// left names the teams that a deleted account has left.
func left(teams []string) string {
	if len(teams) == 0 {
		return ""
	}
	return " It has left: " + strings.Join(teams, ", ") + "."
}
