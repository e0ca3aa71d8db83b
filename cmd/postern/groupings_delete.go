package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
)

func newTenantsDelete(t terminal) *cobra.Command {
	var in contract.TenantRemoval
	var yes bool
	op := contract.DeleteTenant.Operation
	op.Summary = "Delete a tenant, with its people, app clients and keys"
	command := requestCommand(t, asHolder, op, &in, func(c *cobra.Command, api *client.Client) error {
		tenant, err := client.Do(c.Context(), api, contract.GetTenant, in.TenantPath)
		if err != nil {
			return err
		}
		d, err := client.Do(c.Context(), api, contract.GetTenantDeletion, tenant.Path())
		if err != nil {
			return err
		}
		if d.InUse && tenant.Project == nil {
			err := printAlong(t.out, counted{n: d.Users, one: "user"}, counted{n: d.Groups, one: "group"},
				counted{n: d.Approvals, one: "approval"}, counted{n: d.AppClients, one: "app client"},
				counted{n: d.Providers, one: "provider"}, counted{n: d.Sessions, one: "session"},
				active(d.Keys, d.ActiveKeys))
			if err != nil {
				return err
			}
			printStaying(t, d.Projects)
			if err := confirmName(t, "tenant", tenant.Name, yes); err != nil {
				return err
			}
			in.Confirm = tenant.Name
		}
		in.TenantPath = tenant.Path()
		if _, err = client.Do(c.Context(), api, contract.DeleteTenant, in); err == nil {
			fmt.Fprintf(t.out, "The tenant %s is deleted.\n", tenant.Name)
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

func newProductsDelete(t terminal) *cobra.Command {
	var in contract.ProductRemoval
	var yes bool
	op := contract.DeleteProduct.Operation
	op.Summary = "Delete a product; its projects stay, and its keys are revoked"
	command := requestCommand(t, asHolder, op, &in, func(c *cobra.Command, api *client.Client) error {
		product, err := client.Do(c.Context(), api, contract.GetProduct, in.ProductPath)
		if err != nil {
			return err
		}
		d, err := client.Do(c.Context(), api, contract.GetProductDeletion, product.Path())
		if err != nil {
			return err
		}
		if len(d.Projects) > 0 || d.ActiveKeys > 0 {
			fmt.Fprintf(t.out, "Revoked with it: %d active keys of the product.\n", d.ActiveKeys)
			printStaying(t, d.Projects)
			if err := confirmName(t, "product", product.Name, yes); err != nil {
				return err
			}
			in.Confirm = product.Name
		}
		in.ProductPath = product.Path()
		if _, err = client.Do(c.Context(), api, contract.DeleteProduct, in); err == nil {
			fmt.Fprintf(t.out, "The product %s is deleted.\n", product.Name)
		}
		return err
	})
	command.Use += " [--yes]"
	command.Long = `Delete a product. One with projects or keys asks first: the projects leave it and stay
unchanged, and the keys that are valid for all of them are revoked. This cannot be undone.`
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
		return usageError("give --yes to delete a " + noun + " that is in use without being asked")
	}
	if !answered(t, "This cannot be undone. Type the "+noun+"'s name, "+name+", to delete it: ", name) {
		return usageError("nothing was deleted")
	}
	return nil
}
