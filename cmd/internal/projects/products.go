package projects

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newProducts(t terminal.Terminal) *cobra.Command {
	return terminal.Family(
		"products",
		"Manage products (groups of projects that share keys)",
		cli.ListCommand(t, cli.AsHolder, contract.ListProducts, []string{"NAME", "DISPLAY NAME", "PROJECTS", "ID"},
			func(p contract.Product) []string {
				return []string{p.Name, p.DisplayName, strings.Join(p.Projects, ", "), p.ID}
			}),
		cli.OperationCommand(t, cli.AsHolder, contract.CreateProduct,
			func(_ contract.ProductCreation, p contract.Product) error {
				_, err := fmt.Fprintf(t.Out, "Created the product %s. To add a project to it, run: postern projects "+
					"update PROJECT --product %s\n", p.Name, p.Name)
				return err
			}),
		cli.OperationCommand(t, cli.AsHolder, contract.GetProduct,
			func(_ contract.ProductPath, p contract.Product) error {
				return terminal.Details(t.Out, func(row func(...string)) {
					row("Product", p.Name)
					row("Display name", p.DisplayName)
					row("Projects", strings.Join(p.Projects, ", "))
					row("Team", p.Team)
					row("ID", p.ID)
					row("Created", terminal.When(&p.CreatedAt))
				})
			},
		),
		cli.OperationCommand(t, cli.AsHolder, contract.UpdateProduct,
			func(_ contract.ProductUpdate, p contract.Product) error {
				_, err := fmt.Fprintf(
					t.Out,
					"The product %s is now called %s.\n",
					p.Name,
					terminal.Printable(p.DisplayName),
				)
				return err
			},
		),
		newProductsDelete(t),
	)
}

func newProductsDelete(t terminal.Terminal) *cobra.Command {
	var in contract.ProductRemoval
	var yes bool
	op := contract.DeleteProduct.Operation
	op.Summary = "Delete a product and revoke its keys"
	op.Deletes = "" // the command asks itself
	command := cli.RequestCommand(t, cli.AsHolder, op, &in, func(c *cobra.Command, api *client.Client) error {
		product, err := client.Do(c.Context(), api, contract.GetProduct, in.ProductPath)
		if err != nil {
			return err
		}
		d, err := client.Do(c.Context(), api, contract.GetProductDeletion, product.Path())
		if err != nil {
			return err
		}
		if len(d.Projects) == 0 && d.ActiveKeys == 0 {
			if err := cli.ConfirmDeletion(t, "product", product.Name, yes); err != nil {
				return err
			}
		} else {
			fmt.Fprintf(t.Out, "This also revokes %s of the product.\n",
				terminal.Count{N: d.ActiveKeys, One: "active key"})
			cli.PrintStaying(t, d.Projects)
			if err := cli.ConfirmName(t, "product", product.Name, yes); err != nil {
				return err
			}
			in.Confirm = product.Name
		}
		in.ProductPath = product.Path()
		if _, err = client.Do(c.Context(), api, contract.DeleteProduct, in); err == nil {
			fmt.Fprintf(t.Out, "Deleted the product %s.\n", product.Name)
		}
		return err
	})
	command.Use += " [--yes]"
	command.Long = `Delete a product. Its projects aren't deleted. Keys that are valid for all of its
projects are revoked. You can't undo this.

` + cli.AsksHelp
	terminal.AddYesFlag(command, &yes)
	return command
}
