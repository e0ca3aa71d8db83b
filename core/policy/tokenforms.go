package policy

import (
	"net/url"
	"regexp"
	"strings"

	"postern/core/snapshot"
)

// TokenForms tells tokens of a provider from those of others before anyone verifies them.
// A token must not be shown to another issuer than its own, which could use it.
type TokenForms struct {
	Issuers      []string // of its JSON Web Tokens
	IssuersBelow []string // how issuers of its JSON Web Tokens begin
	Prefixes     []string // how its opaque access tokens begin
	AnyOpaque    bool     // its opaque access tokens can have any form
}

// Forms returns the forms of the tokens that browsers get of a provider.
func (a *ProviderIntrospector) Forms() TokenForms {
	forms := TokenForms{}
	if a.UpstreamToken != snapshot.ProviderIDToken { // otherwise browsers get ID tokens
		forms.Prefixes = snapshot.OpaquePrefixes(a.Type)
	}
	switch a.Type {
	case "google":
		forms.Issuers = []string{"https://accounts.google.com", "accounts.google.com"}
	case "microsoft":
		forms.IssuersBelow = microsoftIssuers(a.Issuer)
	case "auth0", "oidc":
		forms.Issuers = []string{a.Issuer}
		forms.AnyOpaque = a.UpstreamToken != snapshot.ProviderIDToken
	}
	return forms
}

var microsoftTenant = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// microsoftIssuers returns how the issuers of an authority begin: those of one tenant, or
// of all tenants (learn.microsoft.com/entra/identity-platform/access-tokens#token-formats).
func microsoftIssuers(authority string) []string {
	base, tenant := "https://login.microsoftonline.com/", ""
	if u, err := url.Parse(authority); err == nil && u.Host != "" {
		base = u.Scheme + "://" + u.Host + "/"
		tenant, _, _ = strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	}
	if !microsoftTenant.MatchString(tenant) {
		tenant = ""
	}
	return []string{base + tenant, "https://sts.windows.net/" + tenant}
}
