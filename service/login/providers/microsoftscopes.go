package providers

import (
	"net/url"
	"slices"
	"strings"
)

// PersonalMicrosoftTenant is the tenant of accounts that belong to no organization.
const PersonalMicrosoftTenant = personalTenant

// IsMicrosoftTenant reports whether the text is a tenant's id.
func IsMicrosoftTenant(id string) bool { return guid.MatchString(id) }

// graphHosts are Microsoft Graph in each national cloud (learn.microsoft.com/graph/deployments).
var graphHosts = []string{
	"graph.microsoft.com",
	"graph.microsoft.us",
	"dod-graph.microsoft.us",
	"microsoftgraph.chinacloudapi.cn",
}

// ownDomains are those of Microsoft's other APIs, whose tokens only they can verify.
var ownDomains = []string{
	"azure.com", "azure.net", "windows.net", "microsoft.com", "microsoft.us", "office.com", "office365.com",
	"sharepoint.com", "dynamics.com", "powerbi.com",
}

// UnverifiableMicrosoftTokens returns why the access tokens that the scopes request could not be verified on calls, ""
// if they can be. Tokens for Microsoft's own APIs can have their own form, and are encrypted for personal accounts
// (learn.microsoft.com/entra/ identity-platform/access-tokens, "Token ownership"): Graph alone can be asked about those
// of organizations, by its userinfo endpoint. Tokens for an API of the app's own are signed JSON Web Tokens for all
// accounts.
func UnverifiableMicrosoftTokens(issuer, appID string, scopes []string) string {
	own := slices.ContainsFunc(scopes, func(scope string) bool { return isOwnAPI(appID, scope) })
	if foreign := slices.IndexFunc(scopes, isForeignAPI); foreign >= 0 && !own {
		return "Access tokens for " + resourceOf(scopes[foreign]) + " can be verified only by that API. Request a " +
			"scope of your own API, such as api://CLIENT-ID/access, set the client token to \"service\", or use the " +
			"ID token."
	}
	if own || !takesPersonalAccounts(issuer) {
		return ""
	}
	return "Access tokens of personal Microsoft accounts are opaque unless they are for your own API. Request a " +
		"scope of your API, such as api://CLIENT-ID/access, use your organization's issuer, set the client token to " +
		"\"service\", or use the ID token."
}

// takesPersonalAccounts reports whether personal accounts can sign in with the authority;
// "" is common.
func takesPersonalAccounts(issuer string) bool {
	u, err := url.Parse(issuer)
	if issuer == "" || err != nil {
		return true
	}
	tenant, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	return tenant == "common" || tenant == personalTenant
}

// resourceOf returns the resource that a scope belongs to, "" for a scope of Graph in its
// short form and for those of OpenID Connect.
func resourceOf(scope string) string {
	i := strings.LastIndexByte(scope, '/')
	if i < 0 {
		return ""
	}
	return strings.TrimSuffix(scope[:i], "/")
}

// isOwnAPI reports whether the scope is of an API that the team registered. Its
// identifier is the client id, an api:// URI, or an address of a domain of theirs.
func isOwnAPI(appID, scope string) bool {
	resource := resourceOf(scope)
	if resource == "" {
		return false
	}
	host := hostIn(resource) // "" for an id
	return resource == appID || strings.HasPrefix(resource, "api://") ||
		host != "" && !slices.Contains(graphHosts, host) && !isForeignAPI(scope)
}

// isForeignAPI reports whether the scope is of an API of Microsoft's other than Graph.
func isForeignAPI(scope string) bool {
	host := hostIn(resourceOf(scope))
	return host != "" && !slices.Contains(graphHosts, host) &&
		slices.ContainsFunc(ownDomains, func(d string) bool { return host == d || strings.HasSuffix(host, "."+d) })
}

func hostIn(resource string) string {
	u, err := url.Parse(resource)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
