package callers

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newTenants(t terminal.Terminal) *cobra.Command {
	return terminal.Family(
		"tenants",
		"Manage tenants, each with its own users, groups and app clients",
		cli.ListCommand(t, cli.AsHolder, contract.ListTenants,
			[]string{"NAME", "DISPLAY NAME", "SERVED BY", "FALLBACK OWNER", "ID"},
			func(x contract.Tenant) []string {
				return []string{x.Name, x.DisplayName, strings.Join(x.Projects, ", "), fallbackOf(x), x.ID}
			}),
		cli.OperationCommand(t, cli.AsHolder, contract.CreateTenant,
			func(_ contract.TenantCreation, x contract.Tenant) error {
				_, err := fmt.Fprintf(
					t.Out,
					"Created the tenant %s. To attach it to a project, run: postern tenants attach PROJECT %s\n",
					x.Name,
					x.Name,
				)
				return err
			},
		),
		cli.OperationCommand(t, cli.AsHolder, contract.GetTenant, func(_ contract.TenantPath, x contract.Tenant) error {
			return terminal.Details(t.Out, func(row func(...string)) {
				row("Tenant", x.Name)
				row("Display name", x.DisplayName)
				row("Served by", strings.Join(x.Projects, ", "))
				row("Fallback owner", fallbackOf(x))
				row("Team", x.Team)
				row("ID", x.ID)
				row("Created", terminal.When(&x.CreatedAt))
			})
		}),
		cli.OperationCommand(t, cli.AsHolder, contract.UpdateTenant,
			func(_ contract.TenantUpdate, x contract.Tenant) error {
				_, err := fmt.Fprintf(t.Out, "Updated the tenant %s.\n", x.Name)
				return err
			},
		),
		newTenantsDelete(t),
		cli.OperationCommand(t, cli.AsHolder, contract.AttachTenant,
			func(in contract.AttachmentPath, x contract.Tenant) error {
				_, err := fmt.Fprintf(t.Out, "%s now serves %s.\n", terminal.Printable(in.Project), x.Name)
				return err
			},
		),
		cli.OperationCommand(t, cli.AsHolder, contract.DetachTenant,
			func(in contract.AttachmentPath, _ contract.None) error {
				_, err := fmt.Fprintf(t.Out, "%s no longer serves %s.\n", terminal.Printable(in.Project),
					terminal.Printable(in.Tenant))
				return err
			},
		),
	)
}

func fallbackOf(x contract.Tenant) string {
	if x.FallbackOwner == nil {
		return "the project's"
	}
	return *x.FallbackOwner
}

func newTenantsDelete(t terminal.Terminal) *cobra.Command {
	var in contract.TenantRemoval
	var yes bool
	op := contract.DeleteTenant.Operation
	op.Summary = "Delete a tenant and its users, app clients and keys"
	op.Deletes = "" // the command asks itself
	command := cli.RequestCommand(t, cli.AsHolder, op, &in, func(c *cobra.Command, api *client.Client) error {
		tenant, err := client.Do(c.Context(), api, contract.GetTenant, in.TenantPath)
		if err != nil {
			return err
		}
		d, err := client.Do(c.Context(), api, contract.GetTenantDeletion, tenant.Path())
		if err != nil {
			return err
		}
		switch {
		case tenant.Project != nil: // the server refuses to delete it
		case !d.InUse:
			if err := cli.ConfirmDeletion(t, "tenant", tenant.Name, yes); err != nil {
				return err
			}
		default:
			err := cli.PrintDeleted(t.Out, terminal.Count{N: d.Users, One: "user"},
				terminal.Count{N: d.Groups, One: "group"},
				terminal.Count{N: d.Approvals, One: "approval"},
				terminal.Count{N: d.AppClients, One: "app client"},
				terminal.Count{N: d.Providers, One: "provider"},
				terminal.Count{N: d.Sessions, One: "session"},
				cli.KeyCount(d.Keys, d.ActiveKeys),
			)
			if err != nil {
				return err
			}
			cli.PrintStaying(t, d.Projects)
			if err := cli.ConfirmName(t, "tenant", tenant.Name, yes); err != nil {
				return err
			}
			in.Confirm = tenant.Name
		}
		in.TenantPath = tenant.Path()
		if _, err = client.Do(c.Context(), api, contract.DeleteTenant, in); err == nil {
			fmt.Fprintf(t.Out, "Deleted the tenant %s.\n", tenant.Name)
		}
		return err
	})
	command.Use += " [--yes]"
	command.Long = `Permanently delete a tenant and its users, app clients and keys. Only owners can delete
a tenant that has users, app clients or keys, or that a project serves. Calls with its
keys or its users' tokens are refused. You can't undo this.

` + cli.AsksHelp
	terminal.AddYesFlag(command, &yes)
	return command
}
