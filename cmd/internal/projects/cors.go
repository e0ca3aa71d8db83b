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
	"postern/platform/fault"
)

func newCORS(t terminal.Terminal) *cobra.Command {
	return terminal.Family("cors",
		"Show and set which pages of other origins may call a project, or with a tenant's credentials",
		newCORSShow(t), newCORSSet(t), newCORSRemove(t))
}

// corsOf names the project or the tenant that a command is about.
type corsOf struct{ project, tenant string }

func tenantCORSFlag(command *cobra.Command, of *corsOf) {
	command.Flags().StringVar(&of.tenant, "tenant", "", "in place of PROJECT: override the settings of the projects "+
		"that serve this tenant, for calls with its credentials")
	command.Args = func(c *cobra.Command, args []string) error {
		if of.tenant == "" {
			if len(args) == 0 {
				return errors.New("PROJECT is missing, or --tenant")
			}
			of.project = args[0]
			return terminal.Exactly("PROJECT")(c, args)
		}
		if len(args) > 0 {
			return fmt.Errorf("%q is one argument too many: --tenant is for every project that serves the tenant",
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
	callers, err := s.Callers()
	if err != nil {
		return none, err
	}
	out, err := cli.First(c.Context(), callers, do)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "there is no tenant %q at %s, or none that the credentials "+
			"stored on this machine can access", of.tenant, s.Server).Because(err)
	}
	return out, err
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
		Short: "Show which pages of other origins may call a project, or with a tenant's credentials",
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
	tenantCORSFlag(command, &of)
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func newCORSSet(t terminal.Terminal) *cobra.Command {
	var of corsOf
	command := &cobra.Command{
		Use:   "set [PROJECT]",
		Short: "Let pages of other origins call a project, or call with a tenant's credentials",
		Long: `Let pages of other origins call a project. What is given replaces that part; the rest
stays as it is. Preflights are answered by the gateway and need no credential.

With --tenant, the settings are those of the tenant: calls with its credentials are
answered by them in place of the project's, in every project that serves it.`,
		Example: `  postern cors set shop --origins https://app.example.com,http://localhost:3000
  postern cors set shop --app-origins --credentials
  postern cors set shop --origins '*' --headers Content-Type,Authorization --max-age 600
  postern cors set --tenant acme --origins https://acme.example.com`,
	}
	replace := cli.ValueFlags[contract.CORS](command)
	command.RunE = func(c *cobra.Command, _ []string) error {
		if err := replace(&contract.CORS{}); err != nil {
			return err
		}
		found, err := onCORS(t, c, of, func(ctx context.Context, api cli.Caller) (contract.SavedCORS, error) {
			now, err := of.get(ctx, api)
			if err != nil {
				return now, err
			}
			if err := replace(&now.CORS); err != nil {
				return now, err
			}
			return of.set(ctx, api, now.ETag, now.CORS)
		})
		if err != nil {
			return err
		}
		return printCORS(t, c, of, found)
	}
	tenantCORSFlag(command, &of)
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func newCORSRemove(t terminal.Terminal) *cobra.Command {
	var of corsOf
	command := &cobra.Command{
		Use:   "remove [PROJECT]",
		Short: "Leave CORS to a project's upstreams again, or a tenant's to its projects",
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := onCORS(t, c, of, of.remove)
			if err != nil || terminal.WantsJSON(c) {
				return err
			}
			if of.tenant != "" {
				_, err = fmt.Fprintf(t.Out, "CORS of %s is left to the projects that serve it.\n",
					terminal.Printable(of.tenant))
				return err
			}
			_, err = fmt.Fprintf(t.Out, "CORS of %s is left to its upstreams.\n", terminal.Printable(of.project))
			return err
		},
	}
	tenantCORSFlag(command, &of)
	terminal.AddJSONFlag(command)
	cli.AddServerFlag(command)
	return command
}

func printCORS(t terminal.Terminal, c *cobra.Command, of corsOf, found contract.SavedCORS) error {
	if terminal.WantsJSON(c) {
		return terminal.PrintJSON(t.Out, found)
	}
	if !found.IsSet() {
		whose := "the upstreams"
		if of.tenant != "" {
			whose = "the projects that serve the tenant"
		}
		_, err := fmt.Fprintf(t.Out, "CORS is left to %s.\n", whose)
		return err
	}
	listed := func(list []string, none string) string { return cmp.Or(strings.Join(list, ", "), none) }
	return terminal.Details(t.Out, func(row func(...string)) {
		row("Origins", listed(found.Origins, "none"))
		if found.AppOrigins {
			row("From app clients", listed(found.FromApps, "none yet"))
		}
		row("Methods", listed(found.Methods, "all"))
		row("Headers", listed(found.Headers, "those that a page asks for"))
		row("Exposed headers", listed(found.ExposedHeaders, "none"))
		if found.Credentials {
			row("Cookies", "may be sent")
		} else {
			row("Cookies", "not sent")
		}
		if found.MaxAge != nil {
			row("Preflight kept", strconv.Itoa(*found.MaxAge)+" s")
		} else {
			row("Preflight kept", "left to browsers")
		}
	})
}
