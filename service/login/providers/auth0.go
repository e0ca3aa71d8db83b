package providers

import (
	"context"

	"golang.org/x/oauth2"

	"postern/core/contract"
	"postern/platform/federation"
)

// auth0 is a tenant of Auth0. Its issuer is the tenant's domain with a slash at
// the end (auth0.com/docs/secure/tokens/id-tokens/id-token-structure).
type auth0 struct{}

func (auth0) traits() Traits {
	return Traits{
		Label:         contract.ProviderTypeLabel(Auth0),
		Scopes:        []string{"openid", "profile", "email"},
		NeedsIssuer:   true,
		HasIDToken:    true,
		RequiredScope: "openid",

		TellsAuthTime: true,
	}
}

func (auth0) endpoint(ctx context.Context, s *Set, c Config) (oauth2.Endpoint, error) {
	return openIDEndpoint(ctx, s, c, c.Issuer)
}

// parameters: auth0.com/docs/api/authentication/login/authorize-application; max_age and
// auth_time are in auth0.com/docs/authenticate/login/max-age-reauthentication, acr_values in
// auth0.com/docs/secure/multi-factor-authentication/step-up-authentication.
func (auth0) parameters(r Request) []oauth2.AuthCodeOption { return openIDParameters(r) }

func (auth0) identify(ctx context.Context, s *Set, c Config, e exchange) (federation.Identity, error) {
	return openIDIdentify(ctx, s, c, c.Issuer, e)
}

func (auth0) prefixes() []string { return nil }

func (auth0) issues(_ *Set, c Config, issuer string) bool { return issuer == c.Issuer }

func (auth0) names(_ *Set, c Config) string { return c.Issuer }

func (auth0) ownerOfAccess(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	return openIDAccess(ctx, s, c, token)
}

func (auth0) ownerOfID(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	return openIDIdentity(ctx, s, c, token)
}
