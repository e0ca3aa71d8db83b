// Package account has the commands of the person at the terminal: sign-in, the account and its access tokens, teams
// with their members and audit logs, and claims of workspaces that were created without an account. It owns what these
// commands ask and print. Package credentials keeps what a sign-in returns.
package account

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newAccount(t terminal.Terminal) *cobra.Command {
	return terminal.Family("account", "Change or delete your account",
		newAccountUpdate(t),
		newAccountDelete(t),
	)
}

func newAccountUpdate(t terminal.Terminal) *cobra.Command {
	var in contract.AccountUpdate
	var passwordFile string
	command := cli.RequestCommand(t, cli.AsPerson, contract.UpdateAccount.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			if passwordFile != "" && in.Body.Email == nil {
				return terminal.UsageError("--password-file requires --email: only changing the email address " +
					"requires the password")
			}
			if err := readPassword(t, passwordFile, &in.Body.Password); err != nil {
				return err
			}
			profile, err := client.Do(c.Context(), api, contract.UpdateAccount, in)
			if err != nil {
				return err
			}
			if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, profile)
			}
			return terminal.Details(t.Out, func(row func(...string)) {
				row("Name", profile.Name)
				row("Email", profile.Email)
				if profile.UnconfirmedEmail != "" {
					row("New email", profile.UnconfirmedEmail+", after you open the link that was sent to it")
				}
			})
		})
	command.Long = `Change the name or email address of your account. Changing the email address requires
your password. If the server sends email, the new address takes effect once you open the
link sent to it.`
	command.Example += "\n  postern account update --email ana@example.com --password-file -"
	passwordFlag(command, &passwordFile)
	terminal.AddJSONFlag(command)
	return command
}

func passwordFlag(c *cobra.Command, file *string) {
	terminal.NamePointer(c, "/password", "--password-file")
	c.Flags().StringVar(file, "password-file", "", "file with the password, or - for standard input")
}

// readPassword reads the password, unless no file is given.
func readPassword(t terminal.Terminal, file string, into *contract.Secret) error {
	if file == "" {
		return nil
	}
	password, err := terminal.ReadSecret(t, file)
	*into = contract.Secret(password)
	return terminal.OfFlag("password-file", err)
}

func newAccountDelete(t terminal.Terminal) *cobra.Command {
	var in contract.AccountRemoval
	var passwordFile string
	command := cli.RequestCommand(t, cli.AsPerson, contract.DeleteAccount.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			d, err := client.Do(c.Context(), api, contract.GetAccountDeletion, contract.None{})
			if err != nil {
				return err
			}
			if !d.Password {
				return terminal.UsageError(
					"this account has no password: delete the account in the dashboard, under Your account",
				)
			}
			if in.Body.Confirm == "" || passwordFile == "" {
				return terminal.UsageError("use --confirm " + d.Email +
					" and --password-file FILE to delete the account")
			}
			if err := readPassword(t, passwordFile, &in.Body.Password); err != nil {
				return err
			}
			if _, err := client.Do(c.Context(), api, contract.DeleteAccount, in); err != nil {
				return err
			}
			_, err = fmt.Fprintln(t.Out, terminal.Printable("Deleted the account "+d.Email+"."+left(d.Teams)))
			return err
		})
	command.Use += " --confirm EMAIL --password-file FILE"
	command.Long = `Permanently delete your account along with its sessions, access tokens, sign-in methods
and memberships. You can't delete your account while you are the only owner of a team. If
your account has no password, delete it in the dashboard. You can't undo this.`
	terminal.NamePointer(command, "/confirm", "--confirm")
	command.Flags().StringVar(&in.Body.Confirm, "confirm", "", "email address of the account")
	passwordFlag(command, &passwordFile)
	return command
}

// left names the teams that a deleted account has left.
func left(teams []string) string {
	if len(teams) == 0 {
		return ""
	}
	return " It left the teams " + strings.Join(teams, ", ") + "."
}

func newTokens(t terminal.Terminal) *cobra.Command {
	return terminal.Family(
		"tokens",
		"Manage access tokens",
		cli.ListCommand(t, cli.AsPerson, contract.ListTokens,
			[]string{"ID", "NAME", "KIND", "SCOPES", "EXPIRES", "LAST USED", "FROM", "CURRENT"},
			func(k contract.Token) []string {
				this := ""
				if k.Current {
					this = "this one"
				}
				return []string{k.ID, k.Name, k.Kind, strings.Join(k.Scopes, " "), terminal.OrNever(k.ExpiresAt),
					terminal.OrNever(k.LastUsedAt), k.LastUsedFrom, this}
			}),
		cli.OperationCommand(t, cli.AsPerson, contract.CreateToken,
			func(_ contract.TokenCreation, k contract.TokenWithSecret) error {
				return terminal.Details(t.Out, func(row func(...string)) {
					row("Token", k.Secret.Reveal())
					row("", "Copy the token now. You won't see it again.")
					row("ID", k.ID)
					row("Scopes", strings.Join(k.Scopes, " "))
					row("Expires", terminal.OrNever(k.ExpiresAt))
				})
			}),
		cli.OperationCommand(t, cli.AsPerson, contract.GetToken, func(_ contract.TokenPath, k contract.Token) error {
			return terminal.Details(t.Out, func(row func(...string)) {
				row("Token", k.ID)
				row("Name", k.Name)
				row("Kind", k.Kind)
				row("Scopes", strings.Join(k.Scopes, " "))
				row("Created", terminal.When(&k.CreatedAt))
				row("Expires", terminal.OrNever(k.ExpiresAt))
				row("Last used", terminal.OrNever(k.LastUsedAt), k.LastUsedFrom)
			})
		}),
		cli.OperationCommand(t, cli.AsPerson, contract.UpdateToken,
			func(_ contract.TokenUpdate, k contract.Token) error {
				_, err := fmt.Fprintf(t.Out, "%s is now called %s.\n", k.ID, terminal.Printable(k.Name))
				return err
			},
		),
		cli.DoneCommand(t, cli.AsPerson, contract.RevokeToken, "Revoked %s."),
	)
}
