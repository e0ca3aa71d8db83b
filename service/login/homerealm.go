package login

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"postern/models"
	"postern/platform/fault"
	"postern/service/appclients"
	"postern/service/directory"
	"postern/service/login/providers"
)

var errNoProviderForDomain = fault.New(
	fault.Invalid, "no_provider_for_domain",
	"No sign-in provider is set up for the domain of this address. Choose another way to sign in, or contact the "+
		"application's support team.",
)

var errInvalidAddress = fault.New(
	fault.Invalid, "invalid_address", "Enter an email address such as ana@example.com.",
)

// domainOf returns the domain of an email address; "" if the text is not one.
func domainOf(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at <= 0 || len(address) > maxHint || strings.ContainsFunc(address, providers.Unprintable) {
		return ""
	}
	if domain := appclients.ASCIIDomain(address[at+1:]); directory.ValidDomain(domain) {
		return domain
	}
	return ""
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

// ChooseByAddress returns the provider that the domain of a user's email address leads to, and keeps the address as the
// hint for it. The response depends on the domain alone: it does not show whether there is such a user.
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
