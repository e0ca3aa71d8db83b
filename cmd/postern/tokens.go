package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/core/contract"
)

func newTokens(t terminal) *cobra.Command {
	return family("tokens", "List and change access tokens",
		listCommand(t, asPerson, contract.ListTokens,
			[]string{"ID", "NAME", "KIND", "SCOPES", "EXPIRES", "LAST USED", "FROM", ""},
			func(k contract.Token) []string {
				this := ""
				if k.Current {
					this = "this one"
				}
				return []string{k.ID, k.Name, k.Kind, strings.Join(k.Scopes, " "), orNever(k.ExpiresAt),
					orNever(k.LastUsedAt), k.LastUsedFrom, this}
			}),
		operationCommand(t, asPerson, contract.CreateToken,
			func(_ contract.TokenCreation, k contract.TokenWithSecret) error {
				return details(t.out, func(row func(...string)) {
					row("Token", k.Secret.Reveal())
					row("", "Copy it now. You won't see it again.")
					row("ID", k.ID)
					row("Scopes", strings.Join(k.Scopes, " "))
					row("Expires", orNever(k.ExpiresAt))
				})
			}),
		operationCommand(t, asPerson, contract.GetToken, func(_ contract.TokenPath, k contract.Token) error {
			return details(t.out, func(row func(...string)) {
				row("Token", k.ID)
				row("Name", k.Name)
				row("Kind", k.Kind)
				row("Scopes", strings.Join(k.Scopes, " "))
				row("Created", when(&k.CreatedAt))
				row("Expires", orNever(k.ExpiresAt))
				row("Last used", orNever(k.LastUsedAt), k.LastUsedFrom)
			})
		}),
		operationCommand(t, asPerson, contract.UpdateToken, func(_ contract.TokenUpdate, k contract.Token) error {
			_, err := fmt.Fprintf(t.out, "%s is called %s.\n", k.ID, printable(k.Name))
			return err
		}),
		doneCommand(t, asPerson, contract.RevokeToken, "%s is revoked."),
	)
}
