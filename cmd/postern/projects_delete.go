package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

func newProjectsDelete(t terminal) *cobra.Command {
	var in contract.ProjectRemoval
	var yes bool
	op := contract.DeleteProject.Operation
	command := requestCommand(t, asProject, op, &in, func(c *cobra.Command, api *client.Client) error {
		p, err := client.Do(c.Context(), api, contract.GetProject, in.ProjectPath)
		if err != nil {
			return err
		}
		d, err := client.Do(c.Context(), api, contract.GetProjectDeletion, p.Path())
		if err != nil {
			return err
		}
		if !wantsJSON(c) {
			if err := showDeletion(t, p, d); err != nil {
				return err
			}
		}
		if err := confirmDelete(t, p, in.Now, yes); err != nil {
			return err
		}
		in.ProjectPath = p.Path()
		if in.Now {
			in.Confirm = p.Name
		}
		if p, err = client.Do(c.Context(), api, contract.DeleteProject, in); err != nil {
			return err
		}
		return printDeleted(t, c, p, in.Now)
	})
	command.Use += " [--now] [--yes]"
	command.Long = `Delete a project. Its calls get 410 deleted at once, and no key is valid for it.
For 30 days it can be exported, and restored with everything it had; then it is
deleted for good. With --now it is deleted for good at once; only owners can.`
	command.Example = `  postern projects delete shop
  postern projects delete shop --now --yes`
	command.Flags().SortFlags = false
	addYesFlag(command, &yes)
	addJSONFlag(command)
	return command
}

// showDeletion prints what deleting a project deletes too, and when it was exported last.
func showDeletion(t terminal, p contract.Project, d contract.ProjectDeletion) error {
	err := printAlong(t.out, counted{n: d.Versions, one: "version"}, counted{n: d.Environments, one: "environment"},
		active(d.Keys, d.ActiveKeys), counted{n: d.AppClients, one: "app client"}, counted{n: d.Users, one: "user"},
		counted{n: d.Groups, one: "group"}, counted{n: d.Exports, one: "export"})
	if err != nil {
		return err
	}
	if d.ProductKeys > 0 {
		fmt.Fprintf(t.out, "%d of the keys are valid for other projects of the product too, and stop there too.\n",
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
func confirmDelete(t terminal, p contract.Project, now, yes bool) error {
	if yes {
		return nil
	}
	if !t.asks() {
		return usageError("give --yes to delete a project without being asked")
	}
	question, want := "Delete "+p.Name+"? [y/N] ", "y"
	if now {
		question, want = "This cannot be undone. Type the project's name, "+p.Name+", to delete it for good: ", p.Name
	}
	if !answered(t, question, want) {
		return usageError("nothing was deleted")
	}
	return nil
}

func printDeleted(t terminal, c *cobra.Command, p contract.Project, now bool) (err error) {
	switch {
	case wantsJSON(c):
		return printJSON(t.out, p)
	case now:
		_, err = fmt.Fprintf(t.out, "%s is deleted for good. Its name is free in a moment.\n", p.Name)
	case p.Deleted != nil:
		_, err = fmt.Fprintf(t.out, "%s is in the bin until %s: calls get 410.\n"+
			"Restore it with: postern projects restore %s\n", p.Name, when(&p.Deleted.PurgeAt), p.Name)
	}
	return err
}
