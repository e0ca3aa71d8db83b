package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
)

// newAppClientsFreeze returns freeze, or unfreeze.
func newAppClientsFreeze(t terminal, freeze bool) *cobra.Command {
	command := &cobra.Command{
		Use:   "unfreeze APP-CLIENT",
		Short: "Accept an app client and its tokens again",
		Args:  exactly("APP-CLIENT"),
	}
	if freeze {
		command.Use, command.Short = "freeze APP-CLIENT", "Refuse an app client and all of its tokens"
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		changed, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) (client.AppClient, error) {
			if freeze {
				return api.FreezeAppClient(ctx, args[0])
			}
			return api.UnfreezeAppClient(ctx, args[0])
		})
		if err != nil {
			return err
		}
		return printAppClient(t, c, changed)
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newAppClientsRotateKey(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "rotate-signing-key APP-CLIENT",
		Short: "Sign the tokens of an app client with another key",
		Long: `Sign the tokens of an app client with another key. It is published in the JWKS at once and signs an hour
later, so that applications read it before they need it. The former key stays published until the last token that it
signed has expired.`,
		Args: exactly("APP-CLIENT"),
		RunE: func(c *cobra.Command, args []string) error {
			rotated, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) (client.AppClientKeys, error) {
				return api.RotateAppClientKey(ctx, args[0])
			})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, rotated)
			}
			return table(t.out, func(row func(...string)) {
				row("KEY", "ALGORITHM", "SIGNS FROM", "PUBLISHED UNTIL")
				for _, k := range rotated.Keys {
					until := "-"
					if k.PublishedUntil != nil {
						until = k.PublishedUntil.Format(time.RFC3339)
					}
					row(k.ID, k.Algorithm, k.SignsFrom.Format(time.RFC3339), until)
				}
			})
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}
