package policy

import (
	"net/url"
	"regexp"
	"strings"

	"postern/core/snapshot"
)

// TokenForms distinguishes a provider's tokens from others before they are verified. A token must not be sent to any
// issuer but its own, because another one could use it.
type TokenForms struct {
	Issuers      []string // of its JSON Web Tokens
	IssuersBelow []string // prefixes of the issuers of its JSON Web Tokens
	Prefixes     []string // prefixes of its opaque access tokens
	AnyOpaque    bool     // its opaque access tokens can have any form
}

// Forms returns the forms of the provider's tokens that browsers get.
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
