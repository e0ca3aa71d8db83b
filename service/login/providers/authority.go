package providers

import (
	"slices"
	"strings"

	"postern/platform/ascii"
	"postern/platform/federation"
)

// domainOf returns the domain of an email address, in lowercase.
func domainOf(email string) string {
	return ascii.Lower(email[strings.LastIndexByte(email, '@')+1:]) // the local part may contain a quoted @
}

// declared returns the domain of a verified address if the team declared the provider
// authoritative for it, "" otherwise. That an address is verified says only that its owner
// could read a mail once; the domain's owner says who belongs to it.
func declared(c Config, identity federation.Identity) string {
	if domain := domainOf(identity.Email); identity.EmailVerified && slices.Contains(c.Domains, domain) {
		return domain
	}
	return ""
}

// googleDomain returns the domain of an account that a Google Workspace organization of
// that domain manages: "if email_verified is true and hd is set, this is a Google Workspace
// account" (developers.google.com/identity/siwg/verify-google-id-token). An account with an
// address of another domain than hd is not taken for the domain's.
func googleDomain(claims federation.Claims, identity federation.Identity) string {
	domain := domainOf(identity.Email)
	if identity.EmailVerified && domain != "" && ascii.Lower(string(claims.HostedDomain)) == domain {
		return domain
	}
	return ""
}

// microsoftEmail returns whether the address of a Microsoft account is verified, and the
// domain that its tenant is authoritative for, "" for none. The optional claim xms_edov
// says that the tenant has verified that it owns the domain, or that the address was used
// to sign in (learn.microsoft.com/entra/identity-platform/migrate-off-email-claim-authorization):
// the latter is so for guests and personal accounts, which prove no domain. Without the
// claim, an address counts where the team declared its one tenant authoritative for it.
func microsoftEmail(c Config, claims federation.Claims, single bool) (verified bool, domain string) {
	domain = domainOf(string(claims.Email))
	if domain == "" {
		return false, ""
	}
	// For guests, idp names the issuer of another tenant or provider, and acct is 1
	// (learn.microsoft.com/entra/identity-platform/id-token-claims-reference,
	// …/optional-claims-reference).
	idp := string(claims.IdentityProvider)
	isGuest := idp != "" && !strings.Contains(idp, string(claims.TenantID)) || bool(claims.Account)
	isMember := claims.TenantID != personalTenant && !isGuest
	isDeclared := single && isMember && slices.Contains(c.Domains, domain)
	verified = bool(claims.DomainVerified) || isDeclared
	if !verified || !isMember {
		return verified, ""
	}
	return true, domain
}

// TakesDomains reports whether a team may declare a provider authoritative for mail
// domains: one that the team or its organization runs. A Microsoft authority for several
// tenants, and providers that anyone can register with, are authoritative for none.
func TakesDomains(kind, issuer string) bool {
	switch kind {
	case OIDC, Auth0:
		return true
	case Microsoft:
		_, multi := microsoft{}.multiTenant(issuer)
		return issuer != "" && !multi && !strings.Contains(issuer, personalTenant)
	}
	return false
}
