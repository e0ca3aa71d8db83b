package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"postern/client"
)

func newTeamsDelete(t terminal) *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "delete TEAM [--yes]",
		Short: "Delete a team without projects for good",
		Long: `Delete a team of which you are an owner, by its id. Its members lose their access;
invitations, webhooks, products, and tenants with their people go along. A team with
projects is refused: move them to another team, or delete them for good, first. This
cannot be undone.`,
		Example: `  postern teams list
  postern teams delete team_01K...`,
		Args: exactly("TEAM"),
	}
	command.RunE = func(c *cobra.Command, args []string) error {
		return asPerson(t, c, func(api *client.Client) error {
			team, err := api.Team(c.Context(), args[0])
			if err != nil {
				return err
			}
			if err := announceTeamDeletion(c.Context(), t, api, args[0]); err != nil {
				return err
			}
			if err := confirmName(t, "team", team.Name, yes); err != nil {
				return err
			}
			if err := api.DeleteTeam(c.Context(), args[0], team.Name); err != nil {
				return err
			}
			_, err = fmt.Fprintf(t.out, "The team %s is deleted.\n", printable(team.Name))
			return err
		})
	}
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	addServerFlag(command)
	return command
}

// announceTeamDeletion prints what goes along with a team.
func announceTeamDeletion(ctx context.Context, t terminal, api *client.Client, team string) error {
	d, err := api.TeamDeletion(ctx, team)
	if err != nil || len(d.Projects) > 0 { // the deletion names them
		return err
	}
	return printAlong(t.out, counted{n: d.Members, one: "member"}, counted{n: d.Invitations, one: "invitation"},
		counted{n: d.Tenants, one: "tenant"}, counted{n: d.Users, one: "user"},
		counted{n: d.Products, one: "product"}, counted{n: d.Webhooks, one: "webhook"})
}
