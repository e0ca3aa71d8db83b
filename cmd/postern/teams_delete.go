package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

func newTeamsDelete(t terminal) *cobra.Command {
	var in contract.TeamRemoval
	var yes bool
	command := requestCommand(t, asPerson, contract.DeleteTeam.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			team, err := client.Do(c.Context(), api, contract.GetTeam, in.TeamPath)
			if err != nil {
				return err
			}
			d, err := client.Do(c.Context(), api, contract.GetTeamDeletion, team.Path())
			if err != nil {
				return err
			}
			if len(d.Projects) == 0 { // the refusal names them
				err := printAlong(t.out, counted{n: d.Members, one: "member"},
					counted{n: d.Invitations, one: "invitation"}, counted{n: d.Tenants, one: "tenant"},
					counted{n: d.Users, one: "user"}, counted{n: d.Products, one: "product"},
					counted{n: d.Webhooks, one: "webhook"})
				if err != nil {
					return err
				}
			}
			if err := confirmName(t, "team", team.Name, yes); err != nil {
				return err
			}
			in.Confirm = team.Name
			if _, err := client.Do(c.Context(), api, contract.DeleteTeam, in); err != nil {
				return err
			}
			_, err = fmt.Fprintf(t.out, "The team %s is deleted.\n", printable(team.Name))
			return err
		})
	command.Use += " [--yes]"
	command.Long = `Delete a team of which you are an owner, by its id. Its members lose their access, and
its invitations, webhooks, products, and tenants with their people are deleted too. A
team with projects is refused: move them to another team, or delete them for good,
first. This cannot be undone.`
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command
}
