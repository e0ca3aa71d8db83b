package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/platform/fault"
)

func newCORS(t terminal) *cobra.Command {
	return family("cors",
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
			return exactly("PROJECT")(c, args)
		}
		if len(args) > 0 {
			return fmt.Errorf("%q is one argument too many: --tenant is for every project that serves the tenant",
				args[0])
		}
		return nil
	}
}

// onCORS calls do with the credentials that may be valid for the project or the tenant.
func onCORS[T any](t terminal, c *cobra.Command, of corsOf, do func(context.Context, caller) (T, error)) (T, error) {
	var none T
	s, err := openSession(t, c)
	if err != nil {
		return none, err
	}
	if of.tenant == "" {
		return onProject(c.Context(), s, of.project, do)
	}
	callers, err := s.callers()
	if err != nil {
		return none, err
	}
	out, err := first(c.Context(), callers, do)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "there is no tenant %q at %s, or none that the credentials "+
			"stored on this machine can access", of.tenant, s.server).Because(err)
	}
	return out, err
}

func (of corsOf) get(ctx context.Context, api caller) (client.CORS, error) {
	if of.tenant != "" {
		return api.TenantCORS(ctx, of.tenant)
	}
	return api.CORS(ctx, of.project)
}

func (of corsOf) set(ctx context.Context, api caller, in client.CORS) (client.CORS, error) {
	if of.tenant != "" {
		return api.SetTenantCORS(ctx, of.tenant, in)
	}
	return api.SetCORS(ctx, of.project, in)
}

func (of corsOf) remove(ctx context.Context, api caller) (nothing, error) {
	if of.tenant != "" {
		return nothing{}, api.RemoveTenantCORS(ctx, of.tenant)
	}
	return nothing{}, api.RemoveCORS(ctx, of.project)
}

func newCORSShow(t terminal) *cobra.Command {
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
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func newCORSSet(t terminal) *cobra.Command {
	var in client.CORS
	var of corsOf
	var age string
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
		RunE: func(c *cobra.Command, _ []string) error {
			if !changesCORS(c) {
				return usageError{"nothing to change: give --origins or another flag"}
			}
			seconds, err := readAge(age)
			if err != nil {
				return err
			}
			found, err := onCORS(t, c, of, func(ctx context.Context, api caller) (client.CORS, error) {
				now, err := of.get(ctx, api)
				if err != nil {
					return now, err
				}
				takeCORSFlags(c, &now, in, seconds)
				return of.set(ctx, api, now)
			})
			if err != nil {
				return err
			}
			return printCORS(t, c, of, found)
		},
	}
	tenantCORSFlag(command, &of)
	flags := command.Flags()
	flags.StringSliceVar(&in.Origins, "origins", nil,
		"origins that may call, such as https://app.example.com or capacitor://localhost; * for all")
	flags.BoolVar(&in.AppOrigins, "app-origins", false, "allow the origins of the app clients' redirect URIs too")
	flags.StringSliceVar(&in.Methods, "methods", nil, "methods that pages may use; empty for all")
	flags.StringSliceVar(&in.Headers, "headers", nil, "headers that pages may set; empty for those that they ask for")
	flags.StringSliceVar(&in.ExposedHeaders, "exposed-headers", nil, "headers of responses that pages may read")
	flags.BoolVar(&in.Credentials, "credentials", false, "pages may send cookies; not with --origins '*'")
	flags.StringVar(&age, "max-age", "", "seconds for which browsers cache a preflight; none to leave it to them")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// corsFlags are the flags of cors set that change something.
var corsFlags = []string{"origins", "app-origins", "methods", "headers", "exposed-headers", "credentials", "max-age"}

func changesCORS(c *cobra.Command) bool { return slices.ContainsFunc(corsFlags, c.Flags().Changed) }

// readAge reads --max-age; nil: none.
func readAge(text string) (*int, error) {
	if text == "" || text == "none" {
		return nil, nil
	}
	seconds, err := strconv.Atoi(text)
	if err != nil {
		return nil, usageError{fmt.Sprintf("--max-age %q is no number of seconds, and not none", text)}
	}
	return &seconds, nil
}

// takeCORSFlags replaces the parts that flags were given for.
func takeCORSFlags(c *cobra.Command, now *client.CORS, in client.CORS, age *int) {
	for flag, take := range map[string]func(){
		"origins":         func() { now.Origins = in.Origins },
		"app-origins":     func() { now.AppOrigins = in.AppOrigins },
		"methods":         func() { now.Methods = in.Methods },
		"headers":         func() { now.Headers = in.Headers },
		"exposed-headers": func() { now.ExposedHeaders = in.ExposedHeaders },
		"credentials":     func() { now.Credentials = in.Credentials },
		"max-age":         func() { now.MaxAge = age },
	} {
		if c.Flags().Changed(flag) {
			take()
		}
	}
	for _, list := range []*[]string{&now.Origins, &now.Methods, &now.Headers, &now.ExposedHeaders} {
		*list = append([]string{}, *list...) // null is no list
	}
}

func newCORSRemove(t terminal) *cobra.Command {
	var of corsOf
	command := &cobra.Command{
		Use:   "remove [PROJECT]",
		Short: "Leave CORS to a project's upstreams again, or a tenant's to its projects",
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := onCORS(t, c, of, of.remove)
			if err != nil || wantsJSON(c) {
				return err
			}
			if of.tenant != "" {
				_, err = fmt.Fprintf(t.out, "CORS of %s is left to the projects that serve it.\n", printable(of.tenant))
				return err
			}
			_, err = fmt.Fprintf(t.out, "CORS of %s is left to its upstreams.\n", printable(of.project))
			return err
		},
	}
	tenantCORSFlag(command, &of)
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func printCORS(t terminal, c *cobra.Command, of corsOf, found client.CORS) error {
	if wantsJSON(c) {
		return printJSON(t.out, found)
	}
	if len(found.Origins) == 0 && !found.AppOrigins {
		whose := "the upstreams"
		if of.tenant != "" {
			whose = "the projects that serve the tenant"
		}
		_, err := fmt.Fprintf(t.out, "CORS is left to %s.\n", whose)
		return err
	}
	listed := func(list []string, none string) string { return cmp.Or(strings.Join(list, ", "), none) }
	age := "left to browsers"
	if found.MaxAge != nil {
		age = strconv.Itoa(*found.MaxAge) + " s"
	}
	credentials := "not sent"
	if found.Credentials {
		credentials = "may be sent"
	}
	rows := [][2]string{
		{"Origins", listed(found.Origins, "none")},
		{"Methods", listed(found.Methods, "all")},
		{"Headers", listed(found.Headers, "those that a page asks for")},
		{"Exposed headers", listed(found.ExposedHeaders, "none")},
		{"Cookies", credentials},
		{"Preflight kept", age},
	}
	if found.AppOrigins {
		rows = slices.Insert(rows, 1, [2]string{"From app clients", listed(found.FromApps, "none yet")})
	}
	for _, row := range rows {
		if _, err := fmt.Fprintf(t.out, "%-17s %s\n", row[0], printable(row[1])); err != nil {
			return err
		}
	}
	return nil
}
