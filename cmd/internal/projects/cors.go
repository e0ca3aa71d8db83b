package projects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

func newCORS(t terminal.Terminal) *cobra.Command {
	return terminal.Family("cors",
		"Manage the CORS settings of a project or tenant",
		newCORSShow(t), newCORSSet(t), newCORSRemove(t))
}

// corsOf names the project or the tenant that a command is about.
type corsOf struct{ project, tenant string }

func tenantCORSFlag(t terminal.Terminal, command *cobra.Command, of *corsOf) {
	command.Flags().StringVar(&of.tenant, "tenant", "", "name or ID of a tenant, instead of PROJECT. A tenant's "+
		"settings override the settings of the projects that serve it")
	cli.TakeArguments(t, command, contract.GetCORS, "PROJECT")
	cli.CompleteNames(t, command, "tenant")
	command.Args = func(c *cobra.Command, args []string) error {
		if of.tenant == "" {
			if len(args) == 0 {
				return errors.New("PROJECT or --tenant is missing")
			}
			of.project = args[0]
			return terminal.Exactly("PROJECT")(c, args)
		}
		if len(args) > 0 {
			return fmt.Errorf("unexpected argument %q: --tenant applies to every project that serves the tenant",
				args[0])
		}
		return nil
	}
}

// onCORS calls do with the credentials that may be valid for the project or the tenant.
func onCORS[T any](
	t terminal.Terminal, c *cobra.Command, of corsOf, do func(context.Context, cli.Caller) (T, error),
) (T, error) {
	var none T
	s, err := cli.OpenSession(t, c)
	if err != nil {
		return none, err
	}
	if of.tenant == "" {
		return cli.OnProject(c.Context(), s, of.project, do)
	}
	return cli.OnAny(c.Context(), s, fmt.Sprintf("tenant %q", of.tenant), "", do)
}

func (of corsOf) get(ctx context.Context, api cli.Caller) (contract.SavedCORS, error) {
	if of.tenant != "" {
		return client.Do(ctx, api.Client, contract.GetTenantCORS, contract.TenantPath{Tenant: of.tenant})
	}
	return client.Do(ctx, api.Client, contract.GetCORS, contract.ProjectPath{Project: of.project})
}

// set replaces the CORS unless it has changed since it had the ETag.
func (of corsOf) set(ctx context.Context, api cli.Caller, etag string, in contract.CORS) (contract.SavedCORS, error) {
	seen := contract.Condition{IfMatch: etag}
	if of.tenant != "" {
		path := contract.TenantPath{Tenant: of.tenant}
		return client.Do(ctx, api.Client, contract.SetTenantCORS, contract.TenantCORSUpdate{
			TenantPath: path, Condition: seen, Body: in,
		})
	}
	path := contract.ProjectPath{Project: of.project}
	return client.Do(ctx, api.Client, contract.SetCORS, contract.CORSUpdate{
		ProjectPath: path, Condition: seen, Body: in,
	})
}

func (of corsOf) remove(ctx context.Context, api cli.Caller) (contract.None, error) {
	if of.tenant != "" {
		return client.Do(ctx, api.Client, contract.RemoveTenantCORS,
			contract.TenantCORSRemoval{TenantPath: contract.TenantPath{Tenant: of.tenant}})
	}
	return client.Do(ctx, api.Client, contract.RemoveCORS,
		contract.CORSRemoval{ProjectPath: contract.ProjectPath{Project: of.project}})
}

func newCORSShow(t terminal.Terminal) *cobra.Command {
	var of corsOf
	command := &cobra.Command{
		Use:   "show [PROJECT]",
		Short: "Show the CORS settings of a project or tenant",
		Example: `  postern cors show shop
  postern cors show --tenant acme`,
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := onCORS(t, c, of, of.get)
			if err != nil {
				return err
			}
			return printCORS(t, c, of, found)
		},
	}
	tenantCORSFlag(t, command, &of)
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func newCORSSet(t terminal.Terminal) *cobra.Command {
	var of corsOf
	command := &cobra.Command{
		Use:   "set [PROJECT]",
		Short: "Set the CORS settings of a project or tenant",
		Long: `Set which web pages from other origins can call a project. Settings that you don't
specify stay the same. The gateway answers preflight requests itself and doesn't require
a credential for them.

To set the CORS settings of a tenant, use --tenant. For calls with the tenant's
credentials, these settings override the project's settings.`,
		Example: `  postern cors set shop --origins https://app.example.com,http://localhost:3000
  postern cors set shop --app-origins --credentials
  postern cors set shop --origins '*' --headers Content-Type,Authorization --max-age 600
  postern cors set --tenant acme --origins https://acme.example.com`,
	}
	flags, replace := cli.ValueFlags[contract.CORS](t, command)
	command.RunE = func(c *cobra.Command, _ []string) error {
		if !replace(&contract.CORS{}) {
			return cli.NothingToChange(flags...)
		}
		found, err := onCORS(t, c, of, func(ctx context.Context, api cli.Caller) (contract.SavedCORS, error) {
			now, err := of.get(ctx, api)
			if err != nil {
				return now, err
			}
			replace(&now.CORS)
			return of.set(ctx, api, now.ETag, now.CORS)
		})
		if err != nil {
			return err
		}
		return printCORS(t, c, of, found)
	}
	tenantCORSFlag(t, command, &of)
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func newCORSRemove(t terminal.Terminal) *cobra.Command {
	var of corsOf
	command := &cobra.Command{
		Use:   "remove [PROJECT]",
		Short: "Remove the CORS settings of a project or tenant",
		Long: `Remove the CORS settings of a project or tenant. A project without CORS settings leaves
CORS to its upstreams. For a tenant without CORS settings, the project's settings apply.`,
		Example: `  postern cors remove shop
  postern cors remove --tenant acme`,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := onCORS(t, c, of, of.remove)
			if err != nil || terminal.WantsJSON(c) {
				return err
			}
			if of.tenant != "" {
				_, err = fmt.Fprintf(t.Out, "Removed the CORS settings of %s. The settings of the projects that "+
					"serve it apply.\n",
					terminal.Printable(of.tenant))
				return err
			}
			_, err = fmt.Fprintf(t.Out, "Removed the CORS settings of %s. Its upstreams handle CORS.\n",
				terminal.Printable(of.project))
			return err
		},
	}
	tenantCORSFlag(t, command, &of)
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func printCORS(t terminal.Terminal, c *cobra.Command, of corsOf, found contract.SavedCORS) error {
	if terminal.WantsJSON(c) {
		return terminal.PrintJSON(t.Out, found)
	}
	if !found.IsSet() {
		text := "No CORS settings. The upstreams handle CORS."
		if of.tenant != "" {
			text = "No CORS settings. The settings of the projects that serve the tenant apply."
		}
		_, err := fmt.Fprintln(t.Out, text)
		return err
	}
	listed := func(list []string, none string) string { return cmp.Or(strings.Join(list, ", "), none) }
	return terminal.Details(t.Out, func(row func(...string)) {
		row("Origins", listed(found.Origins, "none"))
		if found.AppOrigins {
			row("From app clients", listed(found.FromApps, "none yet"))
		}
		row("Methods", listed(found.Methods, "all"))
		row("Headers", listed(found.Headers, "any"))
		row("Exposed headers", listed(found.ExposedHeaders, "none"))
		if found.Credentials {
			row("Cookies", "allowed")
		} else {
			row("Cookies", "not allowed")
		}
		if found.MaxAge != nil {
			row("Max age", strconv.Itoa(*found.MaxAge)+" s")
		} else {
			row("Max age", "browser default")
		}
	})
}
