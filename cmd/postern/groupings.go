package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/core/contract"
)

type nothing struct{}

func newProducts(t terminal) *cobra.Command {
	return family("products", "List and change products, which group projects",
		listCommand(t, asHolder, contract.ListProducts, []string{"NAME", "DISPLAY NAME", "PROJECTS", "ID"},
			func(p contract.Product) []string {
				return []string{p.Name, p.DisplayName, strings.Join(p.Projects, ", "), p.ID}
			}),
		operationCommand(t, asHolder, contract.CreateProduct,
			func(_ contract.ProductCreation, p contract.Product) error {
				_, err := fmt.Fprintf(t.out, "The product %s is created. Add projects with: "+
					"postern projects update PROJECT --product %s\n", p.Name, p.Name)
				return err
			}),
		operationCommand(t, asHolder, contract.GetProduct, func(_ contract.ProductPath, p contract.Product) error {
			return details(t.out, func(row func(...string)) {
				row("Product", p.Name)
				row("Display name", p.DisplayName)
				row("Projects", strings.Join(p.Projects, ", "))
				row("Team", p.Team)
				row("ID", p.ID)
				row("Created", when(&p.CreatedAt))
			})
		}),
		operationCommand(t, asHolder, contract.UpdateProduct, func(_ contract.ProductUpdate, p contract.Product) error {
			_, err := fmt.Fprintf(t.out, "The product %s is called %s.\n", p.Name, printable(p.DisplayName))
			return err
		}),
		newProductsDelete(t),
	)
}

func newTenants(t terminal) *cobra.Command {
	list := contract.ListTenants
	list.Summary = "List the tenants of the team and of its projects"
	return family("tenants", "List and change tenants, customers' workspaces that projects can serve",
		listCommand(t, asHolder, list, []string{"NAME", "DISPLAY NAME", "SERVED BY", "FALLBACK OWNER", "ID"},
			func(x contract.Tenant) []string {
				return []string{x.Name, x.DisplayName, strings.Join(x.Projects, ", "), fallbackOf(x), x.ID}
			}),
		operationCommand(t, asHolder, contract.CreateTenant, func(_ contract.TenantCreation, x contract.Tenant) error {
			_, err := fmt.Fprintf(t.out, "The tenant %s is created. Serve it with: postern tenants attach PROJECT %s\n",
				x.Name, x.Name)
			return err
		}),
		operationCommand(t, asHolder, contract.GetTenant, func(_ contract.TenantPath, x contract.Tenant) error {
			return details(t.out, func(row func(...string)) {
				row("Tenant", x.Name)
				row("Display name", x.DisplayName)
				row("Served by", strings.Join(x.Projects, ", "))
				row("Fallback owner", fallbackOf(x))
				row("Team", x.Team)
				row("ID", x.ID)
				row("Created", when(&x.CreatedAt))
			})
		}),
		operationCommand(t, asHolder, contract.UpdateTenant, func(_ contract.TenantUpdate, x contract.Tenant) error {
			_, err := fmt.Fprintf(t.out, "The tenant %s is changed.\n", x.Name)
			return err
		}),
		newTenantsDelete(t),
		operationCommand(t, asHolder, contract.AttachTenant, func(in contract.AttachmentPath, x contract.Tenant) error {
			_, err := fmt.Fprintf(t.out, "%s serves %s.\n", printable(in.Project), x.Name)
			return err
		}),
		operationCommand(t, asHolder, contract.DetachTenant, func(in contract.AttachmentPath, _ contract.None) error {
			_, err := fmt.Fprintf(t.out, "%s no longer serves %s.\n", printable(in.Project), printable(in.Tenant))
			return err
		}),
	)
}

func fallbackOf(x contract.Tenant) string {
	if x.FallbackOwner == nil {
		return "the project's"
	}
	return *x.FallbackOwner
}

// teamFlag adds the flag that names the team of a new object.
func teamFlag(command *cobra.Command, team *string) {
	command.Flags().StringVar(team, "team", "", "id of its team (default: your first one); see "+
		"postern teams list")
}
