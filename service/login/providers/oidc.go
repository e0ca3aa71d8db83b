package providers

import (
	"context"

	"golang.org/x/oauth2"

	"postern/platform/federation"
)

// custom is any issuer with OpenID Connect Discovery 1.0.
type custom struct{}

func (custom) traits() Traits {
	return Traits{
		Label:         "OpenID Connect",
		Scopes:        []string{"openid", "profile", "email"},
		NeedsIssuer:   true,
		HasIDToken:    true,
		RequiredScope: "openid",
	}
}

func (custom) endpoint(ctx context.Context, s *Set, c Config) (oauth2.Endpoint, error) {
	return openIDEndpoint(ctx, s, c, c.Issuer)
}

func (custom) again(a Again) []oauth2.AuthCodeOption { return prompt(a.standard()...) }

func (custom) identify(ctx context.Context, s *Set, c Config, e exchange) (federation.Identity, error) {
	return openIDIdentify(ctx, s, c, c.Issuer, e)
}

func (custom) shapes() []string { return nil }

func (custom) issues(_ *Set, c Config, issuer string) bool { return issuer == c.Issuer }

func (custom) names(_ *Set, c Config) string { return c.Issuer }

func (custom) access(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	return openIDAccess(ctx, s, c, token)
}

func (custom) identity(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	return openIDIdentity(ctx, s, c, token)
}
