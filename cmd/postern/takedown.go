package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"postern/client"
)

func newTakedown(t terminal) *cobra.Command {
	var reason string
	var lift bool
	command := &cobra.Command{
		Use:   "takedown PROJECT",
		Short: "Stop serving a project of any team (operators only)",
		Long: `Stop serving a project: its calls are answered 403 project_frozen until the
takedown is lifted. Its team reads the reason, and can still export the project.

Operators are the first account and the accounts added with postern operators add.`,
		Example: `  postern takedown shop --reason 'Phishing, reported on 3 May'
  postern takedown shop --lift`,
		Args: exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			if lift == (reason != "") {
				return usageError{"give --reason TEXT, or --lift"}
			}
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			done, err := onProject(
				c.Context(),
				s,
				args[0],
				func(ctx context.Context, api caller) (client.Takedown, error) {
					if lift {
						return api.LiftTakedown(ctx, args[0])
					}
					return api.TakeDownProject(ctx, args[0], reason)
				},
			)
			switch {
			case err != nil:
				return err
			case wantsJSON(c):
				return printJSON(t.out, done)
			case done.Frozen != nil:
				_, err = fmt.Fprintf(t.out, "%s is taken down: calls are answered 403.\n", done.Name)
			default:
				_, err = fmt.Fprintf(t.out, "%s is served again.\n", done.Name)
			}
			return err
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&reason, "reason", "", "why; the project's team reads it")
	flags.BoolVar(&lift, "lift", false, "serve it again")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}
