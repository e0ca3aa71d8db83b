package appclients

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/directory"
	"postern/service/login/providers"
)

// maxDomains bounds how many domains a provider is declared authoritative for.
const maxDomains = 20

// lowered returns the domains in lowercase, each once.
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
			Detail: "Only oidc, auth0, and microsoft with a single-tenant issuer can be authoritative for domains. " +
				"Google reports the domain of Workspace accounts itself. GitHub and Facebook can't be authoritative " +
				"for domains.",
		}}
	case len(row.AuthoritativeDomains) > maxDomains:
		return []fault.Field{{
			Pointer: pointer,
			Code:    "too_many",
			Detail:  fmt.Sprintf("Use at most %d domains.", maxDomains),
		}}
	}
	var wrong []fault.Field
	for i, domain := range row.AuthoritativeDomains {
		if !directory.ValidDomain(domain) {
			wrong = append(wrong, fault.Field{
				Pointer: fmt.Sprintf("%s/%d", pointer, i),
				Code:    "invalid_domain",
				Detail:  "Use a domain such as example.com.",
			})
		}
	}
	return wrong
}

// maxSignInDomains bounds how many mail domains lead to one provider.
const maxSignInDomains = 100

// ASCIIDomain returns a domain in lowercase, with non-ASCII labels in Punycode (RFC 5891).
// It returns a domain that it cannot convert in lowercase only.
func ASCIIDomain(domain string) string {
	domain = ascii.Lower(strings.TrimSpace(domain))
	if ascii, err := idna.Lookup.ToASCII(domain); err == nil {
		return ascii
	}
	return domain
}

// signInDomains returns the domains in the form that is compared, each once. A leading @ is left out.
func signInDomains(domains []string) []string {
	out := []string{}
	for _, domain := range domains {
		domain = ASCIIDomain(strings.TrimPrefix(strings.TrimSpace(domain), "@"))
		if !slices.Contains(out, domain) {
			out = append(out, domain)
		}
	}
	return out
}

// checkSignInDomains returns the fields of domains that cannot lead to the provider. The
// caller has locked the app client, so that no other provider gets them at the same time.
func checkSignInDomains(tx *models.Tx, row models.Provider) error {
	const pointer = "/sign_in_domains"
	if len(row.SignInDomains) > maxSignInDomains {
		return fault.InvalidField(pointer, "too_many", "Use at most %d domains.", maxSignInDomains)
	}
	others, err := tx.ProvidersOf(row.AppClientID)
	if err != nil {
		return err
	}
	var wrong []fault.Field
	for i, domain := range row.SignInDomains {
		field := fault.Field{Pointer: fmt.Sprintf("%s/%d", pointer, i)}
		leads := func(other models.Provider) bool {
			return other.ID != row.ID && slices.Contains(other.SignInDomains, domain)
		}
		at := slices.IndexFunc(others, leads)
		switch {
		case !directory.ValidDomain(domain):
			field.Code, field.Detail = "invalid_domain", "Use a domain such as example.com."
		case at >= 0:
			field.Code = "domain_taken"
			field.Detail = fmt.Sprintf("%s already belongs to the provider %s (%s). Remove it there first.", domain,
				Label(others[at]), others[at].ID)
		default:
			continue
		}
		wrong = append(wrong, field)
	}
	return fault.InvalidFields(wrong)
}
