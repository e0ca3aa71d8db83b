package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"postern/client"
)

func newProviders(t terminal) *cobra.Command {
	return family("providers", "List and change the identity providers of an app client",
		newProvidersList(t), newProvidersAdd(t), newProvidersUpdate(t), newProvidersTest(t), newProvidersRemove(t))
}

func newProvidersList(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "list APP-CLIENT",
		Short: "List an app client's providers in the order of their buttons",
		Args:  exactly("APP-CLIENT"),
		RunE: func(c *cobra.Command, args []string) error {
			list, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) ([]client.Provider, error) {
				return collect(api.Providers(ctx, args[0]))
			})
			if err != nil {
				return err
			}
			if wantsJSON(c) {
				return printJSONList(t.out, list)
			}
			return table(t.out, func(row func(...string)) {
				row("ID", "TYPE", "STATE", "CLIENT ID", "ISSUER", "CALLBACK URL")
				for _, p := range list {
					row(p.ID, p.Type, providerState(p), p.ClientID, p.Issuer, p.Callback)
				}
			})
		},
	}
	addJSONFlag(command)
	addServerFlag(command)
	return command
}

func providerState(p client.Provider) string {
	if p.Enabled {
		return "on"
	}
	return "off"
}

// providerFlags are the fields of a provider that flags set. Secrets come from a file or
// standard input, since every user of a machine can read command lines.
type providerFlags struct {
	clientID, secretFile       string
	scopes                     []string
	clientToken, upstreamToken string
	audience, label            string
	responseMode               string
	domains, signInDomains     []string
	on, off                    bool
}

func (f *providerFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.clientID, "client-id", "", "id of your app at the provider")
	flags.StringVar(&f.secretFile, "client-secret-file", "", "file with the secret of your app; - for standard input")
	flags.StringSliceVar(&f.scopes, "scopes", nil, "scopes to request (default: depends on the type)")
	flags.StringVar(&f.clientToken, "client-token", "", "what the browser gets: service or provider")
	flags.StringVar(&f.upstreamToken, "upstream-token", "", "what the upstream gets: service, "+
		"provider_access_token, provider_id_token or none")
	flags.StringVar(&f.audience, "audience", "", "for auth0: identifier of the API that its access tokens are for")
	flags.StringVar(&f.responseMode, "response-mode", "", "for oidc: how the provider sends its answer to the "+
		"callback URL, query or form_post (default: query, form_post for Apple's issuer)")
	flags.StringVar(&f.label, "label", "", "what users see after \"Continue with\" (default: the type's name)")
	flags.StringSliceVar(&f.domains, "authoritative-domain", nil, "mail domain that the provider speaks for, so that "+
		"approvals by domain count, repeatable; empty for none")
	flags.StringSliceVar(&f.signInDomains, "sign-in-domain", nil, "mail domain whose users are sent to the provider "+
		"from the sign-in page, repeatable; empty for none")
	flags.BoolVar(&f.on, "on", false, "offer it")
	flags.BoolVar(&f.off, "off", false, "do not offer it")
	addJSONFlag(command)
	addServerFlag(command)
}

func (f *providerFlags) change(t terminal, c *cobra.Command) (client.ProviderChange, error) {
	out := client.ProviderChange{
		ClientID: given(c, "client-id", &f.clientID),
		Scopes:   given(c, "scopes", &f.scopes),
		Label:    given(c, "label", &f.label),
		Audience: given(c, "audience", &f.audience),
		Domains:  given(c, "authoritative-domain", &f.domains),

		ResponseMode: given(c, "response-mode", &f.responseMode),

		SignInDomains: given(c, "sign-in-domain", &f.signInDomains),
	}
	if f.on && f.off {
		return out, usageError{"--on and --off contradict each other"}
	}
	if f.on || f.off {
		out.Enabled = &f.on
	}
	if f.clientToken != "" || f.upstreamToken != "" {
		out.TokenType = &client.TokenType{Client: f.clientToken, Upstream: f.upstreamToken}
	}
	if f.secretFile == "" {
		return out, nil
	}
	secret, err := readSecret(t, f.secretFile)
	out.ClientSecret = &secret
	return out, err
}

// maxSecretFile bounds what is read as a secret, in bytes.
const maxSecretFile = 16 << 10

// readSecret reads a file, or standard input for "-", without the trailing newline.
func readSecret(t terminal, path string) (string, error) {
	in := t.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("read the secret: %w", err)
		}
		defer file.Close()
		in = file
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxSecretFile))
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" {
		return "", usageError{"the secret is empty"}
	}
	return secret, nil
}

func newProvidersAdd(t terminal) *cobra.Command {
	var f providerFlags
	var in client.NewProvider
	command := &cobra.Command{
		Use:     "add APP-CLIENT TYPE",
		Short:   "Add a provider: github, google, microsoft, facebook, auth0 or oidc",
		Args:    exactly("APP-CLIENT", "TYPE"),
		Example: "  postern providers add cli_… github --client-id Iv1.0123 --client-secret-file github.secret",
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if in.ProviderChange, err = f.change(t, c); err != nil {
				return err
			}
			in.Type = args[1]
			made, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) (client.Provider, error) {
				return api.CreateProvider(ctx, args[0], in)
			})
			if err != nil {
				return err
			}
			return printProvider(t, c, made)
		},
	}
	command.Flags().SortFlags = false
	command.Flags().BoolVar(&in.Managed, "managed", false, "use the installation's shared app; only with github")
	command.Flags().StringVar(&in.Issuer, "issuer", "", "address of the issuer, for oidc; of a GitHub Enterprise "+
		"server; of one Microsoft tenant")
	command.Flags().StringVar(&in.Domain, "domain", "", "domain, for auth0")
	f.add(command)
	return command
}

func newProvidersUpdate(t terminal) *cobra.Command {
	var f providerFlags
	command := &cobra.Command{
		Use: "update PROVIDER", Short: "Change the settings given as flags", Args: exactly("PROVIDER"),
		RunE: func(c *cobra.Command, args []string) error {
			change, err := f.change(t, c)
			if err != nil {
				return err
			}
			if change == (client.ProviderChange{}) {
				return usageError{"nothing to change: give a flag, such as --client-id"}
			}
			changed, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) (client.Provider, error) {
				return api.UpdateProvider(ctx, args[0], change)
			})
			if err != nil {
				return err
			}
			return printProvider(t, c, changed)
		},
	}
	command.Flags().SortFlags = false
	f.add(command)
	return command
}

func printProvider(t terminal, c *cobra.Command, p client.Provider) error {
	if wantsJSON(c) {
		return printJSON(t.out, p)
	}
	return details(t.out, func(row func(...string)) {
		row("Provider", p.ID)
		row("Type", p.Type)
		row("State", providerState(p))
		row("Callback URL", p.Callback)
		if len(p.Domains) > 0 {
			row("Authoritative for", strings.Join(p.Domains, " "))
		}
	})
}

func newProvidersRemove(t terminal) *cobra.Command {
	command := &cobra.Command{
		Use:   "remove PROVIDER",
		Short: "Remove a provider; its users stay",
		Args:  exactly("PROVIDER"),
		RunE: func(c *cobra.Command, args []string) error {
			_, err := onLogin(t, c, args[0], func(ctx context.Context, api caller) (struct{}, error) {
				return struct{}{}, api.DeleteProvider(ctx, args[0])
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(t.out, "%s is removed.\n", args[0])
			return err
		},
	}
	addServerFlag(command)
	return command
}

// given is a flag's value, nil where the flag was left out.
func given[T any](c *cobra.Command, flag string, value *T) *T {
	if !c.Flags().Changed(flag) {
		return nil
	}
	return value
}
