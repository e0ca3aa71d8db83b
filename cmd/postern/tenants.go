package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
)

func newTenants(t terminal) *cobra.Command {
	var in client.NewTenant
	create := one(t, "create", "Make a tenant of your team", []string{"NAME"}, func(ctx context.Context, api *client.Client, args []string) (client.Tenant, error) {
		in.Name = args[0]
		return api.CreateTenant(ctx, in)
	}, tenantLines)
	create.Flags().StringVar(&in.DisplayName, "display-name", "", "how it is shown (the name when absent)")
	create.Flags().StringVar(&in.FallbackOwner, "fallback-owner", "", "whom calls without a key count against (the project's when absent)")
	return family("tenants", "List and change tenants",
		listing(t, "list", "List the tenants of your teams and of their projects", func(ctx context.Context, api *client.Client, _ []string) ([]client.Tenant, error) {
			return collect(api.Tenants(ctx))
		}, []string{"ID", "NAME", "DISPLAY NAME", "PROJECTS"}, func(one client.Tenant) []string {
			return []string{one.ID, one.Name, one.DisplayName, strings.Join(one.Projects, ", ")}
		}),
		create,
		one(t, "show", "Show a tenant", []string{"TENANT"}, func(ctx context.Context, api *client.Client, args []string) (client.Tenant, error) {
			return api.Tenant(ctx, args[0])
		}, tenantLines),
		one(t, "attach", "Let a project serve a tenant", []string{"PROJECT", "TENANT"}, func(ctx context.Context, api *client.Client, args []string) (client.Tenant, error) {
			return api.AttachTenant(ctx, args[0], args[1])
		}, tenantLines),
		none(t, "detach", "Let a project serve a tenant no more", []string{"PROJECT", "TENANT"}, func(ctx context.Context, api *client.Client, args []string) error {
			return api.DetachTenant(ctx, args[0], args[1])
		}, "%s is served no more."),
		none(t, "delete", "Delete a tenant that nothing is of", []string{"TENANT"}, func(ctx context.Context, api *client.Client, args []string) error {
			return api.DeleteTenant(ctx, args[0])
		}, "%s is deleted."))
}

func tenantLines(one client.Tenant) [][2]string {
	lines := [][2]string{{"Tenant", one.DisplayName}, {"Id", one.ID}, {"Name", one.Name}, {"Projects", strings.Join(one.Projects, ", ")}}
	if one.FallbackOwner != nil {
		lines = append(lines, [2]string{"Fallback owner", *one.FallbackOwner})
	}
	return lines
}
