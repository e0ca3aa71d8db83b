package realm

import (
	"strings"

	"postern/core/snapshot"
)

// identityProvider is an IdentityProviderRepresentation.
type identityProvider struct {
	Alias       string         `json:"alias"`
	DisplayName string         `json:"displayName"`
	ProviderID  string         `json:"providerId"`
	Enabled     bool           `json:"enabled"`
	TrustEmail  bool           `json:"trustEmail"`
	StoreToken  bool           `json:"storeToken"`
	Config      map[string]any `json:"config"`
}

// HasSecret reports whether Keycloak needs a secret for the provider. The installation's own app can't move, so the
// team's own app replaces it.
func HasSecret(p snapshot.Provider) bool {
	return p.Settings != nil && (p.Settings.HasSecret || p.Settings.Managed)
}

// AppID returns the environment variable with the provider's client ID, if the exported app is the installation's own.
func AppID(p snapshot.Provider) string {
	return "LOGIN_APP_" + strings.TrimPrefix(secretVariable(p.ID), "LOGIN_SECRET_")
}

// IsManaged reports whether the provider's app is the installation's own.
func IsManaged(p snapshot.Provider) bool { return p.Settings != nil && p.Settings.Managed }

func (s Source) identityProviders() []identityProvider {
	out := []identityProvider{}
	for _, c := range s.Project.Clients {
		for _, p := range c.Providers {
			out = append(out, identityProviderOf(c, p))
		}
	}
	return out
}

func identityProviderOf(c snapshot.AppClient, p snapshot.Provider) identityProvider {
	set := p.Settings
	if set == nil {
		set = &snapshot.ProviderSettings{}
	}
	out := identityProvider{
		Alias:       p.ID,
		DisplayName: p.Label() + " (" + c.Name + ")",
		ProviderID:  p.Type,
		Enabled:     p.Enabled,
		Config:      map[string]any{"clientId": p.ClientID, "syncMode": "IMPORT"},
	}
	if set.Managed {
		out.Config["clientId"] = placeholder(AppID(p))
	}
	if HasSecret(p) {
		out.Config["clientSecret"] = placeholder(ProviderSecret(p))
	}
	if len(set.Scopes) > 0 {
		out.Config["defaultScope"] = strings.Join(set.Scopes, " ")
	}
	switch p.Type {
	case "auth0", "oidc":
		out.ProviderID = "oidc"
		openID(out.Config, p.Issuer, set.Endpoints)
		if !HasSecret(p) {
			out.Config["clientAuthMethod"] = "client_secret_post"
			out.Config["clientSecret"] = ""
		}
	case "microsoft":
		out.Config["tenantId"] = microsoftTenant(p.Issuer)
	case "github":
		if p.Issuer != "" {
			out.Config["baseUrl"], out.Config["apiUrl"] = p.Issuer, p.Issuer+"/api/v3"
		}
	}
	return out
}

// openID sets the addresses of a provider with its own issuer, because Keycloak doesn't read discovery documents when
// it imports a realm. The patterns of Auth0 and Keycloak are known. Others are guessed until the document has been
// read, and callbacks.md lists them.
func openID(config map[string]any, issuer string, read *snapshot.ProviderEndpoints) {
	config["issuer"] = issuer
	config["pkceEnabled"], config["pkceMethod"] = "true", "S256"
	config["validateSignature"], config["useJwksUrl"] = "true", "true"
	if read != nil {
		config["authorizationUrl"], config["tokenUrl"], config["jwksUrl"] = read.Authorization, read.Token, read.JWKS
		for name, address := range map[string]string{"userInfoUrl": read.UserInfo, "logoutUrl": read.EndSession} {
			if address != "" {
				config[name] = address
			}
		}
		return
	}
	base := strings.TrimSuffix(issuer, "/")
	config["authorizationUrl"], config["tokenUrl"] = base+"/authorize", base+"/oauth/token"
	config["userInfoUrl"], config["jwksUrl"] = base+"/userinfo", base+"/.well-known/jwks.json"
	if strings.Contains(issuer, "/realms/") {
		base += "/protocol/openid-connect"
		config["authorizationUrl"], config["tokenUrl"] = base+"/auth", base+"/token"
		config["userInfoUrl"], config["jwksUrl"] = base+"/userinfo", base+"/certs"
	}
}

// GuessesAddresses reports whether the addresses of a provider in the realm are a guess: its discovery document, which
// was never read, may name others.
func GuessesAddresses(p snapshot.Provider) bool {
	wasRead := p.Settings != nil && p.Settings.Endpoints != nil
	return p.Type == "oidc" && !wasRead && !strings.Contains(p.Issuer, "/realms/")
}

// microsoftTenant returns the directory in an authority such as
// https://login.microsoftonline.com/<directory>/v2.0.
func microsoftTenant(issuer string) string {
	parts := strings.Split(strings.TrimPrefix(issuer, "https://"), "/")
	if len(parts) < 2 || parts[1] == "" {
		return "common"
	}
	return parts[1]
}
