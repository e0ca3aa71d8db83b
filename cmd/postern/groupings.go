package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
)

// forTeam returns a command on an object of a team. do returns the value that --json
// prints, and the lines to print without it.
func forTeam[T any](
	t terminal, command *cobra.Command, do func(ctx context.Context, api caller, args []string) (T, error),
	lines func(T, []string) string,
) *cobra.Command {
	command.RunE = func(c *cobra.Command, args []string) error {
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		callers, err := s.callers()
		if err != nil {
			return err
		}
		out, err := first(
			c.Context(), callers,
			func(ctx context.Context, api caller) (T, error) { return do(ctx, api, args) },
		)
		if err != nil {
			return err
		}
		if wantsJSON(c) {
			return printJSON(t.out, out)
		}
		_, err = fmt.Fprintln(t.out, printable(lines(out, args)))
		return err
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// listTeam is forTeam for lists, printed as a table.
func listTeam[T any](
	t terminal, short string, all func(context.Context, caller) ([]T, error), heading []string,
	cells func(T) []string,
) *cobra.Command {
	command := &cobra.Command{Use: "list", Short: short, Args: cobra.NoArgs}
	command.RunE = func(c *cobra.Command, _ []string) error {
		s, err := openSession(t, c)
		if err != nil {
			return err
		}
		callers, err := s.callers()
		if err != nil {
			return err
		}
		list, err := first(c.Context(), callers, all)
		if err != nil {
			return err
		}
		if wantsJSON(c) {
			return printJSONList(t.out, list)
		}
		return table(t.out, func(row func(...string)) {
			row(heading...)
			for _, item := range list {
				row(cells(item)...)
			}
		})
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

type nothing struct{}

func newProducts(t terminal) *cobra.Command {
	var in client.NewProduct
	create := forTeam(t, &cobra.Command{
		Use:     "create NAME",
		Short:   "Create a product, which groups projects",
		Args:    exactly("NAME"),
		Example: "  postern products create store --display-name Store",
	},
		func(ctx context.Context, api caller, args []string) (client.Product, error) {
			in.Name = args[0]
			return api.CreateProduct(ctx, in)
		}, func(p client.Product, _ []string) string {
			return "The product " + p.Name + " is created. Add projects with: postern projects update PROJECT " +
				"--product " + p.Name
		})
	create.Flags().StringVar(&in.DisplayName, "display-name", "", "name for people")
	teamFlag(create, &in.Team)
	var options client.ListOptions
	list := listTeam(
		t,
		"List products",
		func(ctx context.Context, api caller) ([]client.Product, error) {
			return collect(api.Products(ctx, options))
		},
		[]string{"NAME", "DISPLAY NAME", "PROJECTS", "ID"},
		func(p client.Product) []string {
			return []string{p.Name, p.DisplayName, strings.Join(p.Projects, ", "), p.ID}
		},
	)
	listFlags(list, &options, "name or display name", "created", "name")
	return family(
		"products",
		"List and change products",
		list,
		create,
		forTeam(t, &cobra.Command{
			Use:   "rename PRODUCT DISPLAY-NAME",
			Short: "Change a product's display name",
			Args:  exactly("PRODUCT", "DISPLAY-NAME"),
		},
			func(ctx context.Context, api caller, args []string) (client.Product, error) {
				return api.RenameProduct(ctx, args[0], args[1])
			},
			func(p client.Product, _ []string) string { return p.Name + " is now called " + p.DisplayName + "." }),
		newProductsDelete(t),
	)
}

func newTenants(t terminal) *cobra.Command {
	var options client.ListOptions
	list := listTeam(
		t,
		"List the tenants of the team and of its projects",
		func(ctx context.Context, api caller) ([]client.Tenant, error) {
			return collect(api.Tenants(ctx, options))
		},
		[]string{"NAME", "DISPLAY NAME", "SERVED BY", "FALLBACK OWNER", "ID"},
		func(x client.Tenant) []string {
			return []string{x.Name, x.DisplayName, strings.Join(x.Projects, ", "), fallbackOf(x), x.ID}
		},
	)
	listFlags(list, &options, "name or display name", "created", "name")
	return family(
		"tenants",
		"List and change tenants",
		list,
		newTenantsCreate(t),
		newTenantsUpdate(t),
		newTenantsDelete(t),
		forTeam(t, &cobra.Command{
			Use:   "attach PROJECT TENANT",
			Short: "Attach a tenant to a project",
			Args:  exactly("PROJECT", "TENANT"),
		},
			func(ctx context.Context, api caller, args []string) (client.Tenant, error) {
				return api.AttachTenant(ctx, args[0], args[1])
			},
			func(x client.Tenant, args []string) string { return args[0] + " serves " + x.Name + "." }),
		forTeam(t, &cobra.Command{
			Use:   "detach PROJECT TENANT",
			Short: "Detach a tenant from a project, which then answers its keys with 403",
			Args:  exactly("PROJECT", "TENANT"),
		},
			func(ctx context.Context, api caller, args []string) (nothing, error) {
				return nothing{}, api.DetachTenant(ctx, args[0], args[1])
			},
			func(_ nothing, args []string) string { return args[0] + " no longer serves " + args[1] + "." }),
	)
}

func fallbackOf(x client.Tenant) string {
	if x.FallbackOwner == nil {
		return "the project's"
	}
	return *x.FallbackOwner
}

func newTenantsCreate(t terminal) *cobra.Command {
	var in client.NewTenant
	command := forTeam(t, &cobra.Command{
		Use:     "create NAME",
		Short:   "Create a tenant, a customer's workspace that projects can serve",
		Args:    exactly("NAME"),
		Example: "  postern tenants create acme --display-name 'Acme Ltd' --fallback-owner acme-app",
	},
		func(ctx context.Context, api caller, args []string) (client.Tenant, error) {
			in.Name = args[0]
			return api.CreateTenant(ctx, in)
		}, func(x client.Tenant, _ []string) string {
			return "The tenant " + x.Name + " is created. Serve it with: postern tenants attach PROJECT " + x.Name
		})
	command.Flags().StringVar(&in.DisplayName, "display-name", "", "name for people")
	command.Flags().StringVar(&in.FallbackOwner, "fallback-owner", "", "owner for calls without a key whose "+
		"token names the tenant (default: the project's)")
	teamFlag(command, &in.Team)
	return command
}

// teamFlag adds the flag that names the team of a new object.
func teamFlag(command *cobra.Command, team *string) {
	command.Flags().StringVar(team, "team", "", "id of its team (default: your first one); see "+
		"postern teams list")
}

func newTenantsUpdate(t terminal) *cobra.Command {
	var displayName, fallback string
	command := &cobra.Command{
		Use:     "update TENANT",
		Short:   "Change a tenant for every project that serves it",
		Args:    exactly("TENANT"),
		Example: "  postern tenants update acme --fallback-owner acme-app",
	}
	forTeam(t, command, func(ctx context.Context, api caller, args []string) (client.Tenant, error) {
		var change client.TenantChange
		if command.Flags().Changed("display-name") {
			change.DisplayName = &displayName
		}
		if command.Flags().Changed("fallback-owner") {
			owner := client.Nullable(fallback)
			change.FallbackOwner = &owner
		}
		if change == (client.TenantChange{}) {
			return client.Tenant{}, usageError{"nothing to change: give --display-name or --fallback-owner"}
		}
		return api.UpdateTenant(ctx, args[0], change)
	}, func(x client.Tenant, _ []string) string { return "The tenant " + x.Name + " is changed." })
	command.Flags().StringVar(&displayName, "display-name", "", "name for people")
	command.Flags().StringVar(&fallback, "fallback-owner", "", "owner for calls without a key whose "+
		"token names the tenant; empty for the project's")
	return command
}
