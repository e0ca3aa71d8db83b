package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"postern/client"
)

func newProjectsMove(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "move PROJECT TEAM",
		Short: "Move a project to another team, by the team's id",
		Long: `Move a project to another team of which you are an owner too. Its calls are served
all the while. Keys, usage, exports and the project's own tenant go along; webhooks,
products and tenants of the team stay.`,
		Example: `  postern teams list
  postern projects move shop team_01K...`,
		Args: exactly("PROJECT", "TEAM"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			p, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Project, error) {
				return api.MoveProject(ctx, args[0], args[1])
			})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, p)
			}
			_, err = fmt.Fprintf(t.out, "%s belongs to %s.\n", printable(p.Name), printable(p.Team))
			return err
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}
