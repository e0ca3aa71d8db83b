package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
)

func newAppClients(t terminal) *cobra.Command {
	return family("app-clients", "List and change app clients: applications that a tenant's users sign in to",
		newAppClientsList(t), newAppClientsCreate(t), newAppClientsUpdate(t), newAppClientsFreeze(t, true),
		newAppClientsFreeze(t, false), newAppClientsRotateKey(t), newAppClientsDelete(t))
}

// onLogin tries a call with each credential until one may read the tenant, app client or
// provider.
func onLogin[T any](t terminal, c *cobra.Command, id string, call func(context.Context, caller) (T, error)) (T, error) {
	var none T
	s, err := openSession(t, c)
	if err != nil {
		return none, err
	}
	callers, err := s.callers()
	if err != nil {
		return none, err
	}
	out, err := first(c.Context(), callers, call)
	if fault.CodeOf(err) == "not_found" {
		return out, fault.New(fault.NotFound, "not_found", "there is no %q at %s, or none that the credentials kept "+
			"here may see", id, s.server).Because(err)
	}
	return out, err
}

// asLogin runs a command with the first credential that may read what its first argument names, as onLogin does.
func asLogin(t terminal, c *cobra.Command, run func(*client.Client) error) error {
	_, err := onLogin(t, c, c.Flags().Arg(0), func(_ context.Context, api caller) (nothing, error) {
		return nothing{}, run(api.Client)
	})
	return err
}

// tenantID returns the id of a tenant that the command line names by id or by name.
// Every project has a tenant named default, so a name may have several.
func tenantID(ctx context.Context, api caller, ref string) (string, error) {
	if strings.Contains(ref, "_") { // an id: names have none
		return ref, nil
	}
	tenants, err := collect(client.Each(ctx, api.Client, contract.ListTenants, contract.TeamList{}))
	if err != nil {
		return "", err
	}
	tenants = slices.DeleteFunc(tenants, func(tenant contract.Tenant) bool { return tenant.Name != ref })
	switch len(tenants) {
	case 0:
		return "", fault.New(fault.NotFound, "not_found", "there is no tenant %q", ref)
	case 1:
		return tenants[0].ID, nil
	}
	var ids []string
	for _, tenant := range tenants {
		ids = append(ids, fmt.Sprintf("%s (%s)", tenant.ID, strings.Join(tenant.Projects, ", ")))
	}
	return "", usageError{
		fmt.Sprintf("several tenants are named %q; give the id of one: %s", ref, strings.Join(ids, ", ")),
	}
}

func newAppClientsList(t terminal) *cobra.Command {
	var options client.ListOptions
	command := &cobra.Command{
		Use: "list TENANT", Short: "List a tenant's app clients by name", Args: exactly("TENANT"),
		RunE: func(c *cobra.Command, args []string) error {
			list, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) ([]client.AppClient, error) {
				tenant, err := tenantID(ctx, api, args[0])
				if err != nil {
					return nil, err
				}
				return collect(api.AppClients(ctx, tenant, options))
			})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSONList(t.out, list)
			}
			return table(t.out, func(row func(...string)) {
				row("ID", "NAME", "ALGORITHM", "REDIRECT URIS")
				for _, a := range list {
					row(a.ID, a.Name, a.Algorithm, strings.Join(a.RedirectURIs, " "))
				}
			})
		},
	}
	listFlags(command, &options, "name or title", "name", "created")
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

// appClientFlags are the members of an app client that flags can set.
type appClientFlags struct {
	name, algorithm                string
	redirects, logouts, apiScopes  []string
	grantTypes                     []string
	confidential                   bool
	access, refresh                string
	title, welcome, logoURL, color string
	backchannel, pkce              string
}

func (f *appClientFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.name, "name", "", "name, unique in the tenant")
	flags.StringArrayVar(&f.redirects, "redirect-uri", nil, "redirect URI of the application, repeatable")
	flags.StringArrayVar(
		&f.logouts,
		"logout-uri",
		nil,
		"redirect URI after sign-out, repeatable",
	)
	flags.StringVar(&f.backchannel, "backchannel-logout-uri", "", "URL of your server that is told of ended sessions")
	flags.StringArrayVar(&f.apiScopes, "api-scope", nil, "API scope that it may ask for, repeatable")
	flags.StringSliceVar(&f.grantTypes, "grant-type", nil, "authorization_code, refresh_token or client_credentials, "+
		"repeatable")
	flags.BoolVar(&f.confidential, "confidential", false, "create a new client secret, shown once")
	flags.StringVar(&f.pkce, "pkce", "", "required, or when_sent for a confidential app client whose library cannot "+
		"send PKCE")
	flags.StringVar(&f.access, "access-token", "", "lifetime of access and ID tokens, such as 10m")
	flags.StringVar(&f.refresh, "refresh-token", "", "lifetime of refresh tokens, such as 30d; 0 for none")
	flags.StringVar(&f.algorithm, "algorithm", "", "RS256, ES256 or EdDSA")
	flags.StringVar(&f.title, "title", "", "title of the sign-in page")
	flags.StringVar(&f.welcome, "welcome", "", "text below the title")
	flags.StringVar(&f.logoURL, "logo-url", "", "https URL of the logo")
	flags.StringVar(&f.color, "color", "", "accent colour as #rrggbb")
	addJSONFlag(command)
	addServerFlag(command)
}

// change has the flags that were given; the other fields are nil.
func (f *appClientFlags) change(c *cobra.Command) (client.AppClientChange, error) {
	out := client.AppClientChange{
		Name:         given(c, "name", &f.name),
		Algorithm:    given(c, "algorithm", &f.algorithm),
		Confidential: given(c, "confidential", &f.confidential),
		PKCE:         given(c, "pkce", &f.pkce),
		RedirectURIs: givenList(c, "redirect-uri", f.redirects),
		LogoutURIs:   givenList(c, "logout-uri", f.logouts),
		Backchannel:  given(c, "backchannel-logout-uri", &f.backchannel),
		APIScopes:    givenList(c, "api-scope", f.apiScopes),
		GrantTypes:   given(c, "grant-type", &f.grantTypes),
	}
	branding := client.BrandingChange{Title: given(c, "title", &f.title), Welcome: given(c, "welcome", &f.welcome),
		LogoURL: given(c, "logo-url", &f.logoURL), Color: given(c, "color", &f.color)}
	if branding != (client.BrandingChange{}) {
		out.Branding = &branding
	}
	var err error
	if out.AccessSeconds, err = givenSeconds(c, "access-token", f.access); err != nil {
		return out, err
	}
	out.RefreshSeconds, err = givenSeconds(c, "refresh-token", f.refresh)
	return out, err
}

// given is a flag's value, nil where the flag was left out.
func given[T any](c *cobra.Command, flag string, value *T) *T {
	if !c.Flags().Changed(flag) {
		return nil
	}
	return value
}

// givenList is given for a flag that is repeated. An empty value stands for an empty list.
func givenList(c *cobra.Command, flag string, values []string) *[]string {
	if !c.Flags().Changed(flag) {
		return nil
	}
	list := slices.DeleteFunc(append([]string{}, values...), func(s string) bool { return s == "" })
	return &list
}

func givenSeconds(c *cobra.Command, flag, text string) (*int64, error) {
	if !c.Flags().Changed(flag) {
		return nil, nil
	}
	d, err := readDuration(text)
	if err != nil {
		return nil, usageError{fmt.Sprintf("--%s %q is not a duration such as 10m, 30d or 0", flag, text)}
	}
	seconds := int64(d.Seconds())
	return &seconds, nil
}

func newAppClientsCreate(t terminal) *cobra.Command {
	var f appClientFlags
	command := &cobra.Command{
		Use: "create TENANT --name NAME", Short: "Create an app client in a tenant", Args: exactly("TENANT"),
		Example: "  postern app-clients create tnt_… --name web --redirect-uri https://app.example.com/callback",
		RunE: func(c *cobra.Command, args []string) error {
			in, err := f.change(c)
			if err != nil {
				return err
			}
			made, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) (client.AppClient, error) {
				tenant, err := tenantID(ctx, api, args[0])
				if err != nil {
					return client.AppClient{}, err
				}
				return api.CreateAppClient(ctx, tenant, in)
			})
			if err != nil {
				return err
			}
			return printAppClient(t, c, made)
		},
	}
	f.add(command)
	return command
}

func newAppClientsUpdate(t terminal) *cobra.Command {
	var f appClientFlags
	command := &cobra.Command{
		Use: "update APP-CLIENT", Short: "Change the settings given as flags", Args: exactly("APP-CLIENT"),
		RunE: func(c *cobra.Command, args []string) error {
			change, err := f.change(c)
			if err != nil {
				return err
			}
			if change == (client.AppClientChange{}) {
				return usageError{"nothing to change: give a flag, such as --redirect-uri"}
			}
			changed, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) (client.AppClient, error) {
				return api.UpdateAppClient(ctx, args[0], change)
			})
			if err != nil {
				return err
			}
			return printAppClient(t, c, changed)
		},
	}
	f.add(command)
	return command
}

func printAppClient(t terminal, c *cobra.Command, a client.AppClient) error {
	if wantsJSON(c) {
		return printJSON(t.out, a)
	}
	err := details(t.out, func(row func(...string)) {
		row("Client ID", a.ID)
		row("Name", a.Name)
		row("Issuer", a.Issuer)
		row("Redirect URIs", strings.Join(a.RedirectURIs, " "))
		row("API scopes", strings.Join(a.APIScopes, " "))
	})
	if err == nil && a.Secret != "" {
		_, err = fmt.Fprintf(
			t.out,
			"\n  %s\n\nThat is its client secret. Write it down: it is not shown again.\n",
			a.Secret,
		)
	}
	printWarnings(t.out, a.Warnings)
	return err
}

func newAppClientsDelete(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use: "delete APP-CLIENT", Short: "Delete an app client and end its logins", Args: exactly("APP-CLIENT"),
		RunE: func(c *cobra.Command, args []string) error {
			_, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) (struct{}, error) {
				return struct{}{}, api.DeleteAppClient(ctx, args[0])
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(t.out, "%s is deleted.\n", args[0])
			return err
		},
	}
	addServerFlag(command)
	return command
}
