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
	list := contract.ListTenants
	list.Summary = "List the tenants of the team and of its projects"
	return terminal.Family(
		"tenants",
		"List and change tenants, customers' workspaces that projects can serve",
		cli.ListCommand(t, cli.AsHolder, list, []string{"NAME", "DISPLAY NAME", "SERVED BY", "FALLBACK OWNER", "ID"},
			func(x contract.Tenant) []string {
				return []string{x.Name, x.DisplayName, strings.Join(x.Projects, ", "), fallbackOf(x), x.ID}
			}),
		cli.OperationCommand(t, cli.AsHolder, contract.CreateTenant,
			func(_ contract.TenantCreation, x contract.Tenant) error {
				_, err := fmt.Fprintf(
					t.Out,
					"The tenant %s is created. Serve it with: postern tenants attach PROJECT %s\n",
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
				_, err := fmt.Fprintf(t.Out, "The tenant %s is changed.\n", x.Name)
				return err
			},
		),
		newTenantsDelete(t),
		cli.OperationCommand(t, cli.AsHolder, contract.AttachTenant,
			func(in contract.AttachmentPath, x contract.Tenant) error {
				_, err := fmt.Fprintf(t.Out, "%s serves %s.\n", terminal.Printable(in.Project), x.Name)
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
	op.Summary = "Delete a tenant, with its people, app clients and keys"
	command := cli.RequestCommand(t, cli.AsHolder, op, &in, func(c *cobra.Command, api *client.Client) error {
		tenant, err := client.Do(c.Context(), api, contract.GetTenant, in.TenantPath)
		if err != nil {
			return err
		}
		d, err := client.Do(c.Context(), api, contract.GetTenantDeletion, tenant.Path())
		if err != nil {
			return err
		}
		if d.InUse && tenant.Project == nil {
			err := cli.PrintAlong(t.Out, terminal.Count{N: d.Users, One: "user"},
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
			fmt.Fprintf(t.Out, "The tenant %s is deleted.\n", tenant.Name)
		}
		return err
	})
	command.Use += " [--yes]"
	command.Long = `Delete a tenant of a team. One with people, app clients or keys, or that projects
serve, is deleted with all of that, by owners only: its keys and its users' tokens
are refused from then on. This cannot be undone.`
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command
}
