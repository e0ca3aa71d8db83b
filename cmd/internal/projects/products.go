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
		"List and change products, which group projects",
		cli.ListCommand(t, cli.AsHolder, contract.ListProducts, []string{"NAME", "DISPLAY NAME", "PROJECTS", "ID"},
			func(p contract.Product) []string {
				return []string{p.Name, p.DisplayName, strings.Join(p.Projects, ", "), p.ID}
			}),
		cli.OperationCommand(t, cli.AsHolder, contract.CreateProduct,
			func(_ contract.ProductCreation, p contract.Product) error {
				_, err := fmt.Fprintf(t.Out, "The product %s is created. Add projects with: "+
					"postern projects update PROJECT --product %s\n", p.Name, p.Name)
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
					"The product %s is called %s.\n",
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
	op.Summary = "Delete a product; its projects stay, and its keys are revoked"
	command := cli.RequestCommand(t, cli.AsHolder, op, &in, func(c *cobra.Command, api *client.Client) error {
		product, err := client.Do(c.Context(), api, contract.GetProduct, in.ProductPath)
		if err != nil {
			return err
		}
		d, err := client.Do(c.Context(), api, contract.GetProductDeletion, product.Path())
		if err != nil {
			return err
		}
		if len(d.Projects) > 0 || d.ActiveKeys > 0 {
			fmt.Fprintf(t.Out, "Revoked with it: %d active keys of the product.\n", d.ActiveKeys)
			cli.PrintStaying(t, d.Projects)
			if err := cli.ConfirmName(t, "product", product.Name, yes); err != nil {
				return err
			}
			in.Confirm = product.Name
		}
		in.ProductPath = product.Path()
		if _, err = client.Do(c.Context(), api, contract.DeleteProduct, in); err == nil {
			fmt.Fprintf(t.Out, "The product %s is deleted.\n", product.Name)
		}
		return err
	})
	command.Use += " [--yes]"
	command.Long = `Delete a product. One with projects or keys asks first: the projects leave it and stay
unchanged, and the keys that are valid for all of them are revoked. This cannot be undone.`
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return command
}
