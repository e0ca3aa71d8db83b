package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newTenantsDelete(t terminal) *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "delete TENANT [--yes]",
		Short: "Delete a tenant, with its people, app clients and keys",
		Long: `Delete a tenant of a team. One with people, app clients or keys, or that projects
serve, is deleted with all of that, by owners only: its keys and its users' tokens
open nothing from then on. This cannot be undone.`,
		Example: `  postern tenants delete acme
  postern tenants delete acme --yes`,
		Args: exactly("TENANT"),
	}
	forTeam(t, command, func(ctx context.Context, api caller, args []string) (nothing, error) {
		tenant, err := api.Tenant(ctx, args[0])
		if err != nil {
			return nothing{}, err
		}
		d, err := api.TenantDeletion(ctx, tenant.ID)
		if err != nil {
			return nothing{}, err
		}
		if !d.InUse || tenant.Project != nil {
			return nothing{}, api.DeleteTenant(ctx, tenant.ID)
		}
		if !wantsJSON(command) {
			err := printAlong(t.out, counted{n: d.Users, one: "user"}, counted{n: d.Groups, one: "group"},
				counted{n: d.Approvals, one: "approval"}, counted{n: d.AppClients, one: "app client"},
				counted{n: d.Providers, one: "provider"}, counted{n: d.Sessions, one: "session"},
				active(d.Keys, d.ActiveKeys))
			if err != nil {
				return nothing{}, err
			}
			printStaying(t, d.Projects)
		}
		if err := confirmName(t, "tenant", tenant.Name, yes); err != nil {
			return nothing{}, err
		}
		return nothing{}, api.EraseTenant(ctx, tenant.ID, tenant.Name)
	}, func(_ nothing, args []string) string { return "The tenant " + args[0] + " is deleted." })
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command
}

func newProductsDelete(t terminal) *cobra.Command {
	var yes bool
	command := &cobra.Command{
		Use:   "delete PRODUCT [--yes]",
		Short: "Delete a product; its projects stay, and its keys are revoked",
		Long: `Delete a product. One with projects or keys asks first: the projects leave it and stay
as they are, and the keys that open all of them are revoked. This cannot be undone.`,
		Example: `  postern products delete store
  postern products delete store --yes`,
		Args: exactly("PRODUCT"),
	}
	forTeam(t, command, func(ctx context.Context, api caller, args []string) (nothing, error) {
		product, err := api.Product(ctx, args[0])
		if err != nil {
			return nothing{}, err
		}
		d, err := api.ProductDeletion(ctx, product.ID)
		if err != nil {
			return nothing{}, err
		}
		if len(d.Projects) == 0 && d.ActiveKeys == 0 {
			return nothing{}, api.DeleteProduct(ctx, product.ID)
		}
		if !wantsJSON(command) {
			fmt.Fprintf(t.out, "Revoked with it: %d active keys of the product.\n", d.ActiveKeys)
			printStaying(t, d.Projects)
		}
		if err := confirmName(t, "product", product.Name, yes); err != nil {
			return nothing{}, err
		}
		return nothing{}, api.EraseProduct(ctx, product.ID, product.Name)
	}, func(_ nothing, args []string) string { return "The product " + args[0] + " is deleted." })
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command
}

func printStaying(t terminal, projects []string) {
	if len(projects) > 0 {
		fmt.Fprintln(t.out, printable("Projects stay: "+strings.Join(projects, ", ")+"."))
	}
}

// confirmName asks for the name of what is deleted for good.
func confirmName(t terminal, noun, name string, yes bool) error {
	if yes {
		return nil
	}
	if !t.asks() {
		return usageError{"give --yes to delete a " + noun + " that is in use without being asked"}
	}
	if !answered(t, "This cannot be undone. Type the "+noun+"'s name, "+name+", to delete it: ", name) {
		return usageError{"nothing was deleted"}
	}
	return nil
}
