package login

import (
	"fmt"
	"slices"
	"strings"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/directory"
	"postern/service/login/providers"
)

// maxDomains bounds how many domains a provider is declared authoritative for.
const maxDomains = 20

// lowered returns the domains in lower case, each once.
func lowered(domains []string) []string {
	out := []string{}
	for _, domain := range domains {
		if domain = ascii.Lower(strings.TrimSpace(domain)); !slices.Contains(out, domain) {
			out = append(out, domain)
		}
	}
	return out
}

// checkDomains returns the fields of domains that a provider cannot be authoritative for.
func checkDomains(row models.Provider) []fault.Field {
	const pointer = "/authoritative_domains"
	switch {
	case len(row.AuthoritativeDomains) == 0:
		return nil
	case !providers.TakesDomains(row.Type, row.Issuer):
		return []fault.Field{{
			Pointer: pointer,
			Code:    "domains_not_taken",
			Detail: "Only oidc, auth0 and a microsoft provider of one tenant can be declared authoritative for " +
				"domains. Google states the domain of a Workspace account itself; GitHub and Facebook speak for no " +
				"domain.",
		}}
	case len(row.AuthoritativeDomains) > maxDomains:
		return []fault.Field{{
			Pointer: pointer,
			Code:    "too_many",
			Detail:  fmt.Sprintf("Name at most %d domains.", maxDomains),
		}}
	}
	var wrong []fault.Field
	for i, domain := range row.AuthoritativeDomains {
		if !directory.ValidDomain(domain) {
			wrong = append(wrong, fault.Field{
				Pointer: fmt.Sprintf("%s/%d", pointer, i),
				Code:    "invalid_domain",
				Detail:  "Give a domain such as example.com.",
			})
		}
	}
	return wrong
}
