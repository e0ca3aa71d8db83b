package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"postern/client"
)

func newProjectsDelete(t terminal) *cobra.Command {
	var now, yes bool
	command := &cobra.Command{
		Use:   "delete PROJECT [--now] [--yes]",
		Short: "Delete a project: to the bin for 30 days, or for good",
		Long: `Delete a project. Its calls are answered 410 deleted at once and its keys open
nothing. For 30 days it can be exported, and restored with everything it had; then
all of it is deleted. With --now it is deleted for good at once; only owners can.`,
		Example: `  postern projects delete shop
  postern projects delete shop --now --yes`,
		Args: exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			p, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Project, error) {
				return api.Project(ctx, args[0])
			})
			if err != nil {
				return err
			}
			if !wantsJSON(c) {
				if err := showDeletion(c.Context(), t, s, p); err != nil {
					return err
				}
			}
			if err := confirmDelete(t, p, now, yes); err != nil {
				return err
			}
			p, err = onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Project, error) {
				if now {
					return api.EraseProject(ctx, p.ID, p.Name)
				}
				return api.DeleteProject(ctx, p.ID)
			})
			if err != nil {
				return err
			}
			return printDeleted(t, c, p, now)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.BoolVar(&now, "now", false, "delete it for good instead of to the bin")
	flags.BoolVar(&yes, "yes", false, "do not ask")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// showDeletion prints what deleting a project takes along, and when it was exported last.
func showDeletion(ctx context.Context, t terminal, s session, p client.Project) error {
	d, err := onProject(ctx, s, p.ID, func(ctx context.Context, api caller) (client.Deletion, error) {
		return api.ProjectDeletion(ctx, p.ID)
	})
	if err != nil {
		return err
	}
	err = printAlong(t.out, counted{n: d.Versions, one: "version"}, counted{n: d.Environments, one: "environment"},
		active(d.Keys, d.ActiveKeys), counted{n: d.AppClients, one: "app client"}, counted{n: d.Users, one: "user"},
		counted{n: d.Groups, one: "group"}, counted{n: d.Exports, one: "export"})
	if err != nil {
		return err
	}
	if d.ProductKeys > 0 {
		fmt.Fprintf(t.out, "%d of the keys also open other projects of the product, and stop there too.\n",
			d.ProductKeys)
	}
	if d.NewestExport == nil {
		_, err = fmt.Fprintf(t.out, "It was never exported: postern export %s\n", p.Name)
		return err
	}
	_, err = fmt.Fprintf(t.out, "Newest export: %s\n", when(d.NewestExport))
	return err
}

// confirmDelete asks before a project is deleted, for its name if that cannot be undone.
func confirmDelete(t terminal, p client.Project, now, yes bool) error {
	if yes {
		return nil
	}
	if !t.asks() {
		return usageError{"give --yes to delete a project without being asked"}
	}
	question, want := "Delete "+p.Name+"? [y/N] ", "y"
	if now {
		question, want = "This cannot be undone. Type the project's name, "+p.Name+", to delete it for good: ", p.Name
	}
	if !answered(t, question, want) {
		return usageError{"nothing was deleted"}
	}
	return nil
}

func printDeleted(t terminal, c *cobra.Command, p client.Project, now bool) (err error) {
	switch {
	case wantsJSON(c):
		return printJSON(t.out, p)
	case now:
		_, err = fmt.Fprintf(t.out, "%s is deleted for good. Its name is free in a moment.\n", p.Name)
	case p.Deleted != nil:
		_, err = fmt.Fprintf(t.out, "%s is in the bin until %s: calls are answered 410.\n"+
			"Restore it with: postern projects restore %s\n", p.Name, when(&p.Deleted.PurgeAt), p.Name)
	}
	return err
}

func newProjectsRestore(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "restore PROJECT",
		Short: "Restore a deleted project with everything it had",
		Args:  exactly("PROJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := openSession(t, c)
			if err != nil {
				return err
			}
			p, err := onProject(c.Context(), s, args[0], func(ctx context.Context, api caller) (client.Project, error) {
				return api.RestoreProject(ctx, args[0])
			})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSON(t.out, p)
			}
			_, err = fmt.Fprintf(t.out, "%s is served again.\n", p.Name)
			return err
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}
