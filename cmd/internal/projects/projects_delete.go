package projects

import (
	"fmt"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
	"postern/platform/fault"
)

func newProjectsDelete(t terminal.Terminal) *cobra.Command {
	var in contract.ProjectRemoval
	var yes bool
	op := contract.DeleteProject.Operation
	op.Deletes = "" // the command asks itself
	command := cli.RequestCommand(t, cli.AsProject, op, &in, func(c *cobra.Command, api *client.Client) error {
		p, err := client.Do(c.Context(), api, contract.GetProject, in.ProjectPath)
		if err != nil {
			return err
		}
		d, err := client.Do(c.Context(), api, contract.GetProjectDeletion, p.Path())
		if err != nil {
			return err
		}
		if !terminal.WantsJSON(c) {
			if err := showDeletion(t, p, d, in.Now); err != nil {
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
	command.Long = `Move a project to the trash. Calls immediately get 410 (deleted), and all keys stop
working. You can export or restore the project for 30 days. After that, it is
permanently deleted. With --now, it is deleted permanently right away. Only owners can
use --now.

` + cli.AsksHelp
	command.Example = `  postern projects delete shop
  postern projects delete shop --now --yes`
	command.Flags().SortFlags = false
	terminal.AddYesFlag(command, &yes)
	terminal.AddJSONFlag(command)
	return command
}

// showDeletion prints what goes with a project, and when it was exported last.
func showDeletion(t terminal.Terminal, p contract.Project, d contract.ProjectDeletion, now bool) error {
	begin := "This also moves to the trash"
	if now {
		begin = "This also deletes"
	}
	err := cli.PrintWith(t.Out, begin, terminal.Count{N: d.Versions, One: "version"},
		terminal.Count{N: d.Environments, One: "environment"},
		cli.KeyCount(d.Keys, d.ActiveKeys), terminal.Count{N: d.AppClients, One: "app client"},
		terminal.Count{N: d.Users, One: "user"},
		terminal.Count{N: d.Groups, One: "group"},
		terminal.Count{N: d.Exports, One: "export"},
	)
	if err != nil {
		return err
	}
	if d.ProductKeys > 0 {
		fmt.Fprintf(t.Out, "%d of the keys are also valid for other projects of the product. They stop working there "+
			"too.\n",
			d.ProductKeys)
	}
	if d.NewestExport == nil {
		_, err = fmt.Fprintf(t.Out, "It was never exported. To export it, run: postern export %s\n", p.Name)
		return err
	}
	_, err = fmt.Fprintf(t.Out, "Newest export: %s\n", terminal.When(d.NewestExport))
	return err
}

// confirmDelete asks before a project is deleted, for its name if that cannot be undone.
func confirmDelete(t terminal.Terminal, p contract.Project, now, yes bool) error {
	question, want := "Move "+p.Name+" to the trash? [y/N] ", "y"
	if now {
		question, want = "You can't undo this. To delete the project permanently, type its name ("+p.Name+"): ", p.Name
	}
	return cli.Confirm(t, question, want, "delete the project", yes)
}

func printDeleted(t terminal.Terminal, c *cobra.Command, p contract.Project, now bool) (err error) {
	switch {
	case terminal.WantsJSON(c):
		return terminal.PrintJSON(t.Out, p)
	case now:
		_, err = fmt.Fprintf(t.Out, "Permanently deleted %s. You can use its name again in a moment.\n", p.Name)
	case p.Deleted != nil:
		_, err = fmt.Fprintf(t.Out, "%s is in the trash until %s. Calls get 410.\nTo restore it, run: postern "+
			"projects restore %s\n", p.Name, terminal.When(&p.Deleted.PurgeAt), p.Name)
	}
	return err
}

// newProjectsRestore refuses a project that isn't in the trash. The API leaves it unchanged instead, so that a request
// can be repeated.
func newProjectsRestore(t terminal.Terminal) *cobra.Command {
	var in contract.ProjectPath
	command := cli.RequestCommand(t, cli.AsProject, contract.RestoreProject.Operation, &in,
		func(c *cobra.Command, api *client.Client) error {
			p, err := client.Do(c.Context(), api, contract.GetProject, in)
			switch {
			case err != nil:
				return err
			case p.Deleted == nil:
				return fault.New(fault.Conflict, "not_deleted", "the project %s isn't in the trash", p.Name)
			}
			if p, err = client.Do(c.Context(), api, contract.RestoreProject, p.Path()); err != nil {
				return err
			}
			if terminal.WantsJSON(c) {
				return terminal.PrintJSON(t.Out, p)
			}
			_, err = fmt.Fprintf(t.Out, "%s is served again.\n", p.Name)
			return err
		})
	terminal.AddJSONFlag(command)
	return command
}
