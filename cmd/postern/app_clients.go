package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
)

// hostedLogins returns the commands of hosted login.
func hostedLogins(t terminal) []*cobra.Command {
	return []*cobra.Command{newAppClients(t), newAPIScopes(t), newProviders(t), newSignup(t)}
}

func newAppClients(t terminal) *cobra.Command {
	rotate := operationCommand(t, asLogin, contract.RotateAppClientKey,
		func(_ contract.AppClientPath, rotated contract.AppClientKeys) error {
			return table(t.out, func(row func(...string)) {
				row("KEY", "ALGORITHM", "SIGNS FROM", "PUBLISHED UNTIL")
				for _, k := range rotated.Keys {
					until := "-"
					if k.PublishedUntil != nil {
						until = k.PublishedUntil.Format(time.RFC3339)
					}
					row(k.ID, k.Algorithm, k.SignsFrom.Format(time.RFC3339), until)
				}
			})
		})
	rotate.Long = rotate.Short + ". " + contract.RotateAppClientKey.Doc
	return family("app-clients", "List and change app clients: applications that a tenant's users sign in to",
		listCommand(t, asLogin, contract.ListAppClients, []string{"ID", "NAME", "ALGORITHM", "REDIRECT URIS"},
			func(c contract.AppClient) []string {
				return []string{c.ID, c.Name, c.Algorithm, strings.Join(c.RedirectURIs, " ")}
			}),
		operationCommand(t, asLogin, contract.CreateAppClient,
			func(_ contract.AppClientCreation, c contract.SavedAppClient) error { return printAppClient(t, c) }),
		factsCommand(t, asLogin, contract.GetAppClient, appClientFacts),
		operationCommand(t, asLogin, contract.UpdateAppClient,
			func(_ contract.AppClientUpdate, c contract.SavedAppClient) error { return printAppClient(t, c) }),
		factsCommand(t, asLogin, contract.FreezeAppClient, appClientFacts),
		factsCommand(t, asLogin, contract.UnfreezeAppClient, appClientFacts),
		family("signing-keys", "Rotate the keys that sign the tokens of an app client", rotate),
		doneCommand(t, asLogin, contract.DeleteAppClient, "%s is deleted."),
	)
}

func appClientFacts(c contract.AppClient) [][2]string {
	state := "active"
	if c.Frozen {
		state = "frozen"
	}
	return [][2]string{
		{"Client ID", c.ID},
		{"Name", c.Name},
		{"State", state},
		{"Issuer", c.Issuer},
		{"Redirect URIs", strings.Join(c.RedirectURIs, " ")},
		{"API scopes", strings.Join(c.APIScopes, " ")},
	}
}

func printAppClient(t terminal, c contract.SavedAppClient) error {
	err := printFacts(t, appClientFacts(c.AppClient))
	if err == nil && c.ClientSecret != "" {
		_, err = fmt.Fprintf(t.out, "\n  %s\n\nThat is its client secret. Copy it now. You won't see it again.\n",
			c.ClientSecret.Reveal())
	}
	printWarnings(t.out, c.Warnings)
	return err
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
