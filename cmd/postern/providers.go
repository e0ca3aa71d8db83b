package main

import (
	"strings"

	"github.com/spf13/cobra"

	"postern/core/contract"
)

func newProviders(t terminal) *cobra.Command {
	return family("providers", "List and change the identity providers of an app client",
		listCommand(t, asLogin, contract.ListProviders,
			[]string{"ID", "TYPE", "STATE", "CLIENT ID", "ISSUER", "CALLBACK URL"},
			func(p contract.Provider) []string {
				return []string{p.ID, p.Type, providerState(p), p.ClientID, p.Issuer, p.CallbackURL}
			}),
		factsCommand(t, asLogin, contract.CreateProvider, providerFacts),
		factsCommand(t, asLogin, contract.GetProvider, providerFacts),
		factsCommand(t, asLogin, contract.UpdateProvider, providerFacts),
		newProvidersTest(t),
		doneCommand(t, asLogin, contract.DeleteProvider, "%s is deleted."),
	)
}

func providerState(p contract.Provider) string {
	if p.Enabled {
		return "on"
	}
	return "off"
}

func providerFacts(p contract.Provider) [][2]string {
	facts := [][2]string{
		{"Provider", p.ID},
		{"Type", p.Type},
		{"State", providerState(p)},
		{"Client ID", p.ClientID},
		{"Callback URL", p.CallbackURL},
	}
	if p.Issuer != "" {
		facts = append(facts, [2]string{"Issuer", p.Issuer})
	}
	if len(p.AuthoritativeDomains) > 0 {
		facts = append(facts, [2]string{"Authoritative for", strings.Join(p.AuthoritativeDomains, " ")})
	}
	return facts
}
