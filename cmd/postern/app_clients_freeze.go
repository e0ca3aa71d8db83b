package main

import (
	"context"

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
