package realm

import (
	"slices"

	"postern/core/snapshot"
)

// component is a ComponentRepresentation.
type component struct {
	Name       string              `json:"name,omitempty"`
	ProviderID string              `json:"providerId"`
	Config     map[string][]string `json:"config"`
}

// userProfile lets users have attributes that no profile declares, but doesn't let users change them
// (keycloak.org/docs/latest/server_admin, unmanaged attributes), and doesn't require a last name, which providers may
// not send.
func userProfile() component {
	const profile = `{"attributes":[` +
		`{"name":"username","displayName":"Username","permissions":{"view":["admin","user"],"edit":["admin"]}},` +
		`{"name":"email","displayName":"Email","permissions":{"view":["admin","user"],"edit":["admin","user"]}},` +
		`{"name":"firstName","displayName":"Name","permissions":{"view":["admin","user"],"edit":["admin","user"]}},` +
		`{"name":"lastName","displayName":"Last name",` +
		`"permissions":{"view":["admin","user"],"edit":["admin","user"]}}` +
		`],"unmanagedAttributePolicy":"ADMIN_EDIT"}`
	return component{
		ProviderID: "declarative-user-profile",
		Config:     map[string][]string{"kc.user.profile.config": {profile}},
	}
}

// components are the providers that the realm sets up in addition to Keycloak's own, or instead of them.
func (s Source) components() map[string][]component {
	out := map[string][]component{"org.keycloak.userprofile.UserProfileProvider": {userProfile()}}
	if keys := s.keyProviders(); keys != nil {
		out["org.keycloak.keys.KeyProvider"] = keys
	}
	return out
}

// keyProviders make Keycloak generate its keys at the import if app clients sign with algorithms other than RS256; nil
// leaves it to Keycloak. Keycloak would generate these keys with the first token, and a gateway that has just fetched
// the keys would refuse it. A realm that names any key provider has no others, so the list includes Keycloak's own
// (DefaultKeyProviders of Keycloak 26).
func (s Source) keyProviders() []component {
	signs := func(algorithm string) bool {
		return slices.ContainsFunc(s.Project.Clients, func(c snapshot.AppClient) bool {
			return c.Settings != nil && c.Settings.Algorithm == algorithm
		})
	}
	var extra []component
	if signs("ES256") {
		extra = append(extra, keyProvider("ecdsa-generated", "ecdsaEllipticCurveKey", "P-256"))
	}
	if signs("EdDSA") {
		extra = append(extra, keyProvider("eddsa-generated", "eddsaEllipticCurveKey", "Ed25519"))
	}
	if extra == nil {
		return nil
	}
	return append([]component{
		keyProvider("rsa-generated", "algorithm", "RS256"),
		keyProvider("rsa-enc-generated", "algorithm", "RSA-OAEP"),
		keyProvider("hmac-generated", "algorithm", "HS512"),
		keyProvider("aes-generated", "priority", "100"),
	}, extra...)
}

func keyProvider(id, setting, value string) component {
	return component{Name: id, ProviderID: id, Config: map[string][]string{"priority": {"100"}, setting: {value}}}
}
