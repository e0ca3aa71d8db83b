package login

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/directory"
)

// maxSignInDomains bounds how many mail domains lead to one provider.
const maxSignInDomains = 100

var errNoProviderForDomain = fault.New(
	fault.Invalid, "no_provider_for_domain",
	"No sign-in provider is set up for the domain of this address. Choose another way to sign in, or contact the "+
		"application's support.",
)

var errInvalidAddress = fault.New(
	fault.Invalid, "invalid_address", "Enter an email address such as ana@example.com.",
)

// asciiDomain returns a domain in lower case, with non-ASCII labels in Punycode (RFC 5891).
// It returns a domain that it cannot convert in lower case only.
func asciiDomain(domain string) string {
	domain = ascii.Lower(strings.TrimSpace(domain))
	if ascii, err := idna.Lookup.ToASCII(domain); err == nil {
		return ascii
	}
	return domain
}

// domainOf returns the domain of an e-mail address; "" if the text is none.
func domainOf(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at <= 0 || len(address) > maxHint || strings.ContainsFunc(address, unprintable) {
		return ""
	}
	if domain := asciiDomain(address[at+1:]); directory.ValidDomain(domain) {
		return domain
	}
	return ""
}

// signInDomains returns the domains as they are compared, each once. A leading @ is left out.
func signInDomains(domains []string) []string {
	out := []string{}
	for _, domain := range domains {
		domain = asciiDomain(strings.TrimPrefix(strings.TrimSpace(domain), "@"))
		if !slices.Contains(out, domain) {
			out = append(out, domain)
		}
	}
	return out
}

// checkSignInDomains returns the fields of domains that cannot lead to the provider. The
// caller has locked the app client, so that no other provider gets them meanwhile.
func checkSignInDomains(tx *models.Tx, row models.Provider) error {
	const pointer = "/sign_in_domains"
	if len(row.SignInDomains) > maxSignInDomains {
		return fault.InvalidField(pointer, "too_many", "Name at most %d domains.", maxSignInDomains)
	}
	others, err := tx.ProvidersOf(row.ClientID)
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
			field.Code, field.Detail = "invalid_domain", "Give a domain such as example.com."
		case at >= 0:
			field.Code = "domain_taken"
			field.Detail = fmt.Sprintf("%s leads to the provider %s (%s) "+
				"already.", domain, labelOf(others[at]), others[at].ID)
		default:
			continue
		}
		wrong = append(wrong, field)
	}
	return fault.InvalidFields(wrong)
}

// leadsTo returns the provider that an address's domain leads to, "" for none.
func leadsTo(options []ProviderOption, address string) string {
	domain := domainOf(address)
	if domain == "" {
		return ""
	}
	for _, option := range options {
		if slices.Contains(option.SignInDomains, domain) {
			return option.ID
		}
	}
	return ""
}

// ChooseByAddress returns the provider that the domain of a user's e-mail address leads to,
// and keeps the address as the hint for it. The response depends on the domain alone: it does
// not tell whether there is such a user.
func (s *Service) ChooseByAddress(ctx context.Context, clientID, attemptID, address, browser string) (string, error) {
	attempt, err := s.attempt(ctx, clientID, attemptID, browser)
	if err != nil {
		return "", err
	}
	if attempt.AnsweredAt != nil {
		if err := s.reopen(ctx, attempt.ID); err != nil {
			return "", err
		}
	}
	address = strings.TrimSpace(address)
	if domainOf(address) == "" {
		return "", errInvalidAddress
	}
	offered, err := s.enabledProviders(ctx, clientID)
	if err != nil {
		return "", err
	}
	provider := leadsTo(demandOf(attempt).among(offered), address)
	if provider == "" {
		return "", errNoProviderForDomain
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error { return tx.HintLoginAttempt(attemptID, address) })
	if err != nil {
		return "", fmt.Errorf("login: keep the address of the attempt %s: %w", attemptID, err)
	}
	return provider, nil
}
