package callers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"postern/cmd/internal/cli"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// HostedLogin returns the commands of hosted login.
func HostedLogin(t terminal.Terminal) []*cobra.Command {
	return []*cobra.Command{newAppClients(t), newAPIScopes(t), newProviders(t), newSignup(t)}
}

func newAppClients(t terminal.Terminal) *cobra.Command {
	rotate := cli.OperationCommand(t, cli.AsHolder, contract.RotateAppClientKey,
		func(_ contract.AppClientPath, rotated contract.AppClientKeys) error {
			return terminal.Table(t.Out, func(row func(...string)) {
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
	return terminal.Family("app-clients", "Manage app clients, the applications that a tenant's users sign in to",
		cli.ListCommand(t, cli.AsHolder, contract.ListAppClients, []string{"ID", "NAME", "ALGORITHM", "REDIRECT URIS"},
			func(c contract.AppClient) []string {
				return []string{c.ID, c.Name, c.Algorithm, strings.Join(c.RedirectURIs, " ")}
			}),
		cli.OperationCommand(t, cli.AsHolder, contract.CreateAppClient,
			func(_ contract.AppClientCreation, c contract.SavedAppClient) error { return printAppClient(t, c) }),
		cli.FactsCommand(t, cli.AsHolder, contract.GetAppClient, appClientFacts),
		cli.OperationCommand(t, cli.AsHolder, contract.UpdateAppClient,
			func(_ contract.AppClientUpdate, c contract.SavedAppClient) error { return printAppClient(t, c) }),
		cli.FactsCommand(t, cli.AsHolder, contract.FreezeAppClient, appClientFacts),
		cli.FactsCommand(t, cli.AsHolder, contract.UnfreezeAppClient, appClientFacts),
		terminal.Family("signing-keys", "Manage an app client's signing keys", rotate),
		cli.DoneCommand(t, cli.AsHolder, contract.DeleteAppClient, "Deleted %s."),
	)
}

func appClientFacts(c contract.AppClient) [][2]string {
	state, confidential := "active", "no"
	if c.Frozen {
		state = "frozen"
	}
	if c.Confidential {
		confidential = "yes"
	}
	facts := [][2]string{
		{"Client ID", c.ID},
		{"Name", c.Name},
		{"Tenant", c.Tenant},
		{"State", state},
		{"Issuer", c.Issuer},
		{"Redirect URIs", strings.Join(c.RedirectURIs, " ")},
		{"API scopes", strings.Join(c.APIScopes, " ")},
		{"Grant types", strings.Join(c.GrantTypes, " ")},
		{"Confidential", confidential},
		{"PKCE", c.PKCE},
		{"Algorithm", c.Algorithm},
		{"Access token", secondsText(c.AccessTokenSeconds)},
		{"Refresh token", secondsText(c.RefreshTokenSeconds)},
	}
	return append(facts, present(
		[2]string{"Logout URIs", strings.Join(c.LogoutURIs, " ")},
		[2]string{"Back-channel logout", c.BackchannelLogoutURI},
		[2]string{"Title", c.Branding.Title},
		[2]string{"Welcome", c.Branding.Welcome},
		[2]string{"Logo", c.Branding.LogoURL},
		[2]string{"Color", c.Branding.Color},
	)...)
}

// secondsText is a lifetime, "none" for 0.
func secondsText(seconds int64) string {
	if seconds == 0 {
		return "none"
	}
	return terminal.ShowDuration(time.Duration(seconds) * time.Second)
}

// present returns the facts that have a value.
func present(facts ...[2]string) [][2]string {
	return slices.DeleteFunc(facts, func(fact [2]string) bool { return fact[1] == "" })
}

func printAppClient(t terminal.Terminal, c contract.SavedAppClient) error {
	err := cli.PrintFacts(t, appClientFacts(c.AppClient))
	if err == nil && c.ClientSecret != "" {
		_, err = fmt.Fprintf(t.Out, "\n  %s\n\nThis is the client secret. Copy it now. You won't see it again.\n",
			c.ClientSecret.Reveal())
	}
	cli.PrintWarnings(t.Out, c.Warnings)
	return err
}

func newProviders(t terminal.Terminal) *cobra.Command {
	return terminal.Family("providers", "Manage the identity providers of an app client",
		cli.ListCommand(t, cli.AsHolder, contract.ListProviders,
			[]string{"ID", "TYPE", "STATE", "CLIENT ID", "ISSUER", "CALLBACK URL"},
			func(p contract.Provider) []string {
				return []string{p.ID, p.Type, providerState(p), p.ClientID, p.Issuer, p.CallbackURL}
			}),
		cli.FactsCommand(t, cli.AsHolder, contract.CreateProvider, providerFacts),
		cli.FactsCommand(t, cli.AsHolder, contract.GetProvider, providerFacts),
		cli.FactsCommand(t, cli.AsHolder, contract.UpdateProvider, providerFacts),
		newProvidersTest(t),
		cli.DoneCommand(t, cli.AsHolder, contract.DeleteProvider, "Deleted %s."),
	)
}

func providerState(p contract.Provider) string {
	if p.Enabled {
		return "on"
	}
	return "off"
}

func providerFacts(p contract.Provider) [][2]string {
	client, secret := p.ClientID, "not set"
	if p.Managed {
		client, secret = "the installation's shared GitHub app", ""
	} else if p.HasClientSecret {
		secret = "set"
	}
	facts := [][2]string{
		{"Provider", p.ID},
		{"App client", p.AppClient},
		{"Type", p.Type},
		{"State", providerState(p)},
		{"Client ID", client},
	}
	return append(facts, present(
		[2]string{"Client secret", secret},
		[2]string{"Callback URL", p.CallbackURL},
		[2]string{"Label", p.Label},
		[2]string{"Issuer", p.Issuer},
		[2]string{"Scopes", strings.Join(p.Scopes, " ")},
		[2]string{"Audience", p.Audience},
		[2]string{"Response mode", p.ResponseMode},
		[2]string{"Token for apps", p.TokenType.Client},
		[2]string{"Token for upstreams", p.TokenType.Upstream},
		[2]string{"Authoritative for", strings.Join(p.AuthoritativeDomains, " ")},
		[2]string{"Sign-in domains", strings.Join(p.SignInDomains, " ")},
	)...)
}

func newSignup(t terminal.Terminal) *cobra.Command {
	return terminal.Family("signup", "Manage a tenant's sign-up policy and approvals",
		cli.FactsCommand(t, cli.AsHolder, contract.GetSignupPolicy, signupFacts),
		cli.FactsCommand(t, cli.AsHolder, contract.UpdateSignupPolicy, signupFacts),
		terminal.Family("approvals", "Manage a tenant's approvals",
			cli.ListCommand(t, cli.AsHolder, contract.ListApprovals, []string{"ID", "KIND", "VALUE", "GROUPS"},
				func(a contract.Approval) []string {
					return []string{a.ID, a.Kind, a.Value, strings.Join(a.Groups, ", ")}
				}),
			cli.FactsCommand(t, cli.AsHolder, contract.CreateApproval, approvalFacts),
			cli.FactsCommand(t, cli.AsHolder, contract.GetApproval, approvalFacts),
			cli.FactsCommand(t, cli.AsHolder, contract.UpdateApproval, approvalFacts),
			cli.DoneCommand(t, cli.AsHolder, contract.DeleteApproval, "Deleted %s."),
		),
	)
}

func signupFacts(p contract.SignupPolicy) [][2]string {
	who := "anyone with an account at one of its providers"
	if p.InviteOnly {
		who = "only invited and approved users"
	}
	return [][2]string{{"Can sign up", who}}
}

func approvalFacts(a contract.Approval) [][2]string {
	return [][2]string{
		{"Approved", a.Value},
		{"Kind", a.Kind},
		{"ID", a.ID},
		{"Groups", strings.Join(a.Groups, " ")},
	}
}

func newProvidersTest(t terminal.Terminal) *cobra.Command {
	command := cli.DiagnosisCommand(t, cli.AsHolder, contract.TestProvider, nil)
	command.Long = `Test a provider without signing in. The test fetches the provider's discovery
document and keys, and checks that the provider accepts the client ID and secret. The
exit code is 1 if the test fails.`
	return command
}
