package login

import (
	"context"
	"slices"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/federation"
	"postern/service/appclients"
	"postern/service/login/providers"
)

// Metadata describes an issuer (OpenID Connect Discovery 1.0, 3; RFC 8414, 2).
type Metadata struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	JWKSURI               string   `json:"jwks_uri"`
	UserInfoEndpoint      string   `json:"userinfo_endpoint"`
	EndSessionEndpoint    string   `json:"end_session_endpoint"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	IntrospectionEndpoint string   `json:"introspection_endpoint,omitempty"` // of clients with a secret
	Scopes                []string `json:"scopes_supported"`
	ResponseTypes         []string `json:"response_types_supported"`
	ResponseModes         []string `json:"response_modes_supported"`
	GrantTypes            []string `json:"grant_types_supported"`
	SubjectTypes          []string `json:"subject_types_supported"`
	Algorithms            []string `json:"id_token_signing_alg_values_supported"`
	AuthMethods           []string `json:"token_endpoint_auth_methods_supported"`
	RevocationMethods     []string `json:"revocation_endpoint_auth_methods_supported"` // default: client_secret_basic
	IntrospectionMethods  []string `json:"introspection_endpoint_auth_methods_supported,omitempty"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	Claims                []string `json:"claims_supported"`
	SendsIssuer           bool     `json:"authorization_response_iss_parameter_supported"`
	RequestObjects        bool     `json:"request_parameter_supported"`
	BackchannelLogout     bool     `json:"backchannel_logout_supported"`
	BackchannelSession    bool     `json:"backchannel_logout_session_supported"`
	RequestURIs           bool     `json:"request_uri_parameter_supported"` // default: true
}

// Discover returns the metadata of a client's issuer.
func (s *Service) Discover(ctx context.Context, clientID string) (Metadata, error) {
	client, err := s.client(ctx, clientID)
	if err != nil {
		return Metadata{}, err
	}
	offered, err := apisOf(s.DB.Read(ctx), client)
	if err != nil {
		return Metadata{}, err
	}
	issuer := s.Issuer(client.ID)
	found := Metadata{
		Issuer:                issuer,
		AuthorizationEndpoint: issuer + "/authorize",
		TokenEndpoint:         issuer + "/token",
		JWKSURI:               issuer + "/jwks.json",
		UserInfoEndpoint:      issuer + "/userinfo",
		EndSessionEndpoint:    issuer + "/logout",
		RevocationEndpoint:    issuer + "/revoke",
		Scopes:                slices.Concat(scopes, offered.names(client)),
		ResponseTypes:         []string{"code"},
		ResponseModes:         providers.ResponseModes,
		GrantTypes:            grantTypes(client),
		SubjectTypes:          []string{"public"},
		Algorithms:            []string{client.Algorithm},
		AuthMethods:           authMethods(client),
		RevocationMethods:     authMethods(client),
		ChallengeMethods:      []string{"S256"},
		Claims: slices.Concat([]string{
			"sub",
			"iss",
			"aud",
			"exp",
			"iat",
			"auth_time",
			"acr",
			"amr",
			"nonce",
			"sid",
			"at_hash",
			"name",
			"email",
			"email_verified",
			"groups",
			"groups_truncated",
		}, profileClaims()),
		SendsIssuer:        true,
		BackchannelLogout:  true,
		BackchannelSession: true,
	}
	if client.SecretHash != nil {
		found.IntrospectionEndpoint = issuer + "/introspect"
		found.IntrospectionMethods = authMethods(client)
	}
	return found, nil
}

// profileClaims lists the claims of the scope profile but for name.
func profileClaims() []string {
	var profile federation.Profile
	names := []string{"updated_at"}
	for _, claim := range profile.Texts() {
		names = append(names, claim.Name)
	}
	return names
}

func grantTypes(client models.AppClient) []string {
	return slices.DeleteFunc(slices.Clone(client.GrantTypes), func(one string) bool {
		return one == snapshot.RefreshToken && client.RefreshTokenSeconds == 0
	})
}

func authMethods(client models.AppClient) []string {
	if client.SecretHash == nil {
		return []string{"none"}
	}
	return []string{"client_secret_basic", "client_secret_post"}
}

// IsOriginOf reports whether one of the client's redirect URIs has the origin. As in
// appclients.IsRegistered, the port of a loopback address is any.
func (s *Service) IsOriginOf(ctx context.Context, clientID, origin string) bool {
	row, err := s.client(ctx, clientID)
	if err != nil {
		return false
	}
	origins := make([]string, 0, len(row.RedirectURIs))
	for _, uri := range row.RedirectURIs {
		origins = append(origins, appclients.OriginOf(uri))
	}
	return appclients.IsRegistered(origins, origin)
}
