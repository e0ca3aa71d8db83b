package providers

import (
	"context"

	"golang.org/x/oauth2"

	"postern/core/contract"
	"postern/platform/federation"
)

// custom is any issuer with OpenID Connect Discovery 1.0.
type custom struct{}

func (custom) traits() Traits {
	return Traits{
		Label:         contract.ProviderTypeLabel(OIDC),
		Scopes:        []string{"openid", "profile", "email"},
		NeedsIssuer:   true,
		HasIDToken:    true,
		RequiredScope: "openid",

		TellsAuthTime: true,
	}
}

func (custom) endpoint(ctx context.Context, s *Set, c Config) (oauth2.Endpoint, error) {
	return openIDEndpoint(ctx, s, c, c.Issuer)
}

func (custom) parameters(r Request) []oauth2.AuthCodeOption { return openIDParameters(r) }

func (custom) identify(ctx context.Context, s *Set, c Config, e exchange) (federation.Identity, error) {
	return openIDIdentify(ctx, s, c, c.Issuer, e)
}

func (custom) prefixes() []string { return nil }

func (custom) issues(_ *Set, c Config, issuer string) bool { return issuer == c.Issuer }

func (custom) names(_ *Set, c Config) string { return c.Issuer }

func (custom) ownerOfAccess(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	return openIDAccess(ctx, s, c, token)
}

func (custom) ownerOfID(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	return openIDIdentity(ctx, s, c, token)
}
