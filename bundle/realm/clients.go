package realm

import (
	"slices"
	"strconv"
	"strings"

	"postern/core/snapshot"
)

// client is a ClientRepresentation.
type client struct {
	ClientID      string            `json:"clientId"`
	Name          string            `json:"name"`
	Enabled       bool              `json:"enabled"`
	Public        bool              `json:"publicClient"`
	Secret        placeholder       `json:"secret,omitempty"`
	Standard      bool              `json:"standardFlowEnabled"`
	Implicit      bool              `json:"implicitFlowEnabled"`
	DirectGrants  bool              `json:"directAccessGrantsEnabled"`
	Machine       bool              `json:"serviceAccountsEnabled"`
	RedirectURIs  []string          `json:"redirectUris"`
	Origins       []string          `json:"webOrigins"`
	FrontLogout   bool              `json:"frontchannelLogout"`
	FullScope     bool              `json:"fullScopeAllowed"`
	Consent       bool              `json:"consentRequired"`
	Protocol      string            `json:"protocol"`
	Authenticator string            `json:"clientAuthenticatorType"`
	Attributes    map[string]string `json:"attributes"`
	Mappers       []mapper          `json:"protocolMappers"`
	Always        []string          `json:"defaultClientScopes"`
	Optional      []string          `json:"optionalClientScopes"`
}

// mapper is a ProtocolMapperRepresentation.
type mapper struct {
	Name     string            `json:"name"`
	Protocol string            `json:"protocol"`
	Mapper   string            `json:"protocolMapper"`
	Config   map[string]string `json:"config"`
}

const protocol = "openid-connect"

// ClientSecret returns the environment variable with the secret of an app client.
func ClientSecret(c snapshot.AppClient) string { return secretVariable(c.ID) }

// ProviderSecret returns the environment variable with the secret that a provider issued.
func ProviderSecret(p snapshot.Provider) string { return secretVariable(p.ID) }

func secretVariable(id string) string {
	return "LOGIN_SECRET_" + strings.ToUpper(strings.ReplaceAll(id, "-", "_"))
}

// IsConfidential reports whether the app client authenticates with a secret.
func IsConfidential(c snapshot.AppClient) bool {
	return c.Settings != nil && c.Settings.SecretHash != nil
}

func (s Source) clients() []client {
	out := []client{}
	for _, c := range s.Project.Clients {
		out = append(out, s.clientOf(c))
	}
	return out
}

func (s Source) clientOf(c snapshot.AppClient) client {
	set := c.Settings
	if set == nil {
		set = &snapshot.ClientSettings{}
	}
	out := client{
		ClientID:      c.ID,
		Name:          c.Name,
		Enabled:       !c.Frozen,
		Public:        !IsConfidential(c),
		Standard:      hasLogins(set),
		Machine:       c.Machine && IsConfidential(c),
		RedirectURIs:  redirectsOf(set.RedirectURIs),
		Origins:       []string{"+"}, // those of the redirect URIs
		Consent:       hasLogins(set),
		Protocol:      protocol,
		Authenticator: "client-secret",
		Attributes: map[string]string{
			"post.logout.redirect.uris":                 strings.Join(redirectsOf(set.LogoutURIs), "##"),
			"access.token.header.type.rfc9068":          "true",
			"access.token.lifespan":                     strconv.Itoa(int(set.AccessFor.Seconds())),
			"use.refresh.tokens":                        strconv.FormatBool(set.RefreshFor > 0),
			"backchannel.logout.session.required":       "true",
			"client_credentials.use_refresh_token":      "false",
			"standard.token.exchange.enabled":           "false",
			"oauth2.device.authorization.grant.enabled": "false",
		},
		Mappers: mappersOf(c.ID),
	}
	if !set.SkipsPKCE() { // without a method, Keycloak accepts requests without PKCE too
		out.Attributes["pkce.code.challenge.method"] = "S256"
	}
	out.Always, out.Optional = s.scopesOf(set)
	if !out.Public {
		out.Secret = placeholder(ClientSecret(c))
	}
	if set.RefreshFor > 0 {
		seconds := strconv.Itoa(int(set.RefreshFor.Seconds()))
		out.Attributes["client.session.max.lifespan"] = seconds
		out.Attributes["client.session.idle.timeout"] = seconds
	}
	if set.BackchannelLogoutURI != "" {
		out.Attributes["backchannel.logout.url"] = set.BackchannelLogoutURI
	}
	if set.LogoURL != "" {
		out.Attributes["logoUri"] = set.LogoURL
	}
	switch set.Algorithm {
	case "RS256", "ES256", "EdDSA":
		out.Attributes["access.token.signed.response.alg"] = set.Algorithm
		out.Attributes["id.token.signed.response.alg"] = set.Algorithm
	}
	return out
}

// redirectsOf returns the addresses that a browser may be sent to. A loopback address is accepted with any port (RFC
// 8252, section 7.3), which Keycloak does for 127.0.0.1 without a port.
func redirectsOf(uris []string) []string {
	return slices.Compact(slices.DeleteFunc(append([]string{}, uris...), isWildcard))
}

// LeftOut returns the redirect URIs that the realm doesn't have: to Keycloak, an asterisk at the end means any ending.
func LeftOut(uris []string) []string {
	return slices.DeleteFunc(slices.Clone(uris), func(uri string) bool { return !isWildcard(uri) })
}

func isWildcard(uri string) bool { return strings.HasSuffix(uri, "*") }

// mappersOf returns the mappers of the claims that the exported gateway needs in a client's tokens.
func mappersOf(clientID string) []mapper {
	return []mapper{
		inAccessToken("postern audience", "oidc-audience-mapper",
			map[string]string{"included.client.audience": clientID}),
		inAccessToken("postern tenant", "oidc-usermodel-attribute-mapper", map[string]string{
			"user.attribute": attribute, "claim.name": ClaimTenant, "jsonType.label": "String",
		}),
		inAccessToken("postern groups", "oidc-group-membership-mapper", map[string]string{
			"claim.name": ClaimGroups, "full.path": "true",
		}),
		inAccessToken("postern provider", "oidc-usersessionmodel-note-mapper", map[string]string{
			"user.session.note": "identity_provider", "claim.name": ClaimProvider, "jsonType.label": "String",
		}),
	}
}
