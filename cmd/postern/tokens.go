package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
)

func newTokens(t terminal) *cobra.Command {
	return family(
		"tokens", "List, create and revoke access tokens", newTokensList(t), newTokensCreate(t),
		newTokensRevoke(t),
	)
}

func newTokensList(t terminal) *cobra.Command {
	var options client.ListOptions
	command := &cobra.Command{
		Use:   "list",
		Short: "List the access tokens of the account, newest first",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, person, err := signedIn(t, c)
			if err != nil {
				return err
			}
			list, err := collect(person.Tokens(c.Context(), options))
			if err != nil {
				return s.loginOver(person, err)
			}
			if wantsJSON(c) {
				return printJSONList(t.out, list)
			}
			return table(t.out, func(row func(...string)) {
				row("ID", "NAME", "KIND", "SCOPES", "EXPIRES", "LAST USED", "FROM", "")
				for _, k := range list {
					this := ""
					if k.Current {
						this = "this one"
					}
					row(
						k.ID, k.Name, k.Kind, strings.Join(k.Scopes, " "), orNever(k.ExpiresAt),
						orNever(k.LastUsedAt), k.LastUsedFrom, this,
					)
				}
			})
		},
	}
	listFlags(command, &options, "name", "created", "name", "expires", "last_used")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newTokensCreate(t terminal) *cobra.Command {
	var in client.NewToken
	var expires string
	command := &cobra.Command{
		Use:     "create NAME --scopes SCOPE,...",
		Short:   "Create an access token; it is shown once",
		Example: `  postern tokens create nightly-export --scopes read,export --expires 30d`,
		Args:    exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			in.Name = args[0]
			if len(in.Scopes) == 0 {
				return usageError{"--scopes is missing: any of read, write, keys, export, users, admin"}
			}
			var err error
			if in.ExpiresAt, err = readExpiry(expires, time.Now()); err != nil {
				return err
			}
			s, person, err := signedIn(t, c)
			if err != nil {
				return err
			}
			made, err := person.CreateToken(c.Context(), in)
			if err != nil {
				return s.loginOver(person, err)
			}
			if wantsJSON(c) {
				return printJSON(t.out, made)
			}
			return details(t.out, func(row func(...string)) {
				row("Token", made.Token)
				row("", "Write it down: it is not shown again.")
				row("Id", made.ID)
				row("Scopes", strings.Join(made.Scopes, " "))
				row("Expires", orNever(made.ExpiresAt))
			})
		},
	}
	command.Flags().StringSliceVar(&in.Scopes, "scopes", nil, "what it may be used for: read, write, keys, export, "+
		"users, admin")
	command.Flags().StringVar(&expires, "expires", "", "when it ends: a time such as 2030-01-31T12:00:00Z, or a "+
		"time from now such as 30d (default: 90d)")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newTokensRevoke(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "revoke TOKEN",
		Short: "Revoke an access token by its id, at once",
		Args:  exactly("TOKEN"),
		RunE: func(c *cobra.Command, args []string) error {
			s, person, err := signedIn(t, c)
			if err != nil {
				return err
			}
			if err := person.RevokeToken(c.Context(), args[0]); err != nil {
				return s.loginOver(person, err)
			}
			_, err = fmt.Fprintf(t.out, "%s is revoked.\n", args[0])
			return err
		},
	}
	addServerFlag(command)
	return command
}
