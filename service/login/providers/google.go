package providers

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/platform/federation"
	"postern/service/login/tokencheck"
)

// google follows developers.google.com/identity/openid-connect/openid-connect: the
// subject is unique among all Google accounts and never reused, an address is not.
type google struct{}

func (google) traits() Traits {
	return Traits{
		Label:         contract.ProviderTypeLabel(Google),
		Scopes:        []string{"openid", "email", "profile"},
		HasIDToken:    true,
		RequiredScope: "openid",

		TellsAuthTime: true,
	}
}

func (google) issuer(s *Set) string { return cmp.Or(s.GoogleURL, "https://accounts.google.com") }

func (g google) endpoint(ctx context.Context, s *Set, c Config) (oauth2.Endpoint, error) {
	found, err := s.discover(ctx, c, g.issuer(s), "")
	if err != nil {
		return oauth2.Endpoint{}, err
	}
	return g.endpointIn(c, found.Issuer), nil
}

func (google) endpointIn(c Config, found *federation.Issuer) oauth2.Endpoint {
	endpoint := found.Endpoint(c.ClientSecret != "")
	endpoint.AuthStyle = oauth2.AuthStyleInParams // as its documentation shows
	return endpoint
}

// parameters: prompt is none, consent or select_account; login_hint is taken, max_age is not
// (developers.google.com/identity/openid-connect/openid-connect#authenticationuriparameters).
// auth_time is in the ID tokens of verified apps that turned "session age claims" on
// (developers.google.com/identity/siwg/security-bundle).
func (google) parameters(r Request) []oauth2.AuthCodeOption {
	return parameters("prompt", r.Prompt.account(), "login_hint", r.LoginHint)
}

func (g google) identify(ctx context.Context, s *Set, c Config, e exchange) (federation.Identity, error) {
	identity, claims, err := openIDClaims(ctx, s, c, g.issuer(s), e)
	identity.Domain = googleDomain(claims, identity)
	return identity, err
}

// prefixes: access tokens begin so (developers.google.com/identity/protocols/oauth2,
// and the detector of developers.google.com/code-search for leaked ones).
func (google) prefixes() []string { return snapshot.OpaquePrefixes(Google) }

// issuerWithoutScheme is the issuer in some ID tokens (developers.google.com/identity/
// openid-connect/openid-connect#validatinganidtoken).
func (g google) issuerWithoutScheme(s *Set) string {
	return strings.TrimPrefix(g.issuer(s), "https://")
}

func (g google) issues(s *Set, _ Config, issuer string) bool {
	return issuer == g.issuer(s) || issuer == g.issuerWithoutScheme(s)
}

func (g google) names(s *Set, _ Config) string { return g.issuer(s) }

func (google) tokenInfo(s *Set) string {
	return cmp.Or(s.GoogleTokenInfo, "https://oauth2.googleapis.com/tokeninfo")
}

// ownerOfAccess asks as Google's own library does (google-auth-library-nodejs,
// getTokenInfo): the token is in a header, and an invalid one gets 400 invalid_token.
func (g google) ownerOfAccess(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	ask, err := tokencheck.Post(ctx, g.tokenInfo(s), url.Values{})
	if err != nil {
		return federation.Identity{}, err
	}
	ask.Header.Set("Authorization", "Bearer "+token)
	answer, err := tokencheck.Send(s.client(), ask)
	if err != nil {
		return federation.Identity{}, err
	}
	if answer.Status == http.StatusBadRequest || answer.Status == http.StatusUnauthorized {
		return federation.Identity{}, fmt.Errorf("the token is unknown: %w", tokencheck.ErrRefused)
	}
	var found struct {
		Audience        string `json:"aud"`
		AuthorizedParty string `json:"azp"`
		Subject         string `json:"sub"` // present with the scope openid, which this kind requires
	}
	if err := answer.Read(&found); err != nil {
		return federation.Identity{}, err
	}
	isOther := found.AuthorizedParty != "" && found.AuthorizedParty != c.ClientID
	if found.Audience != c.ClientID || isOther || found.Subject == "" {
		return federation.Identity{}, fmt.Errorf("it belongs to another app or isn't for sign-in: "+
			"%w", tokencheck.ErrRefused)
	}
	return federation.Identity{Issuer: g.issuer(s), Subject: found.Subject}, nil
}

func (g google) ownerOfID(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	named := g.issuer(s)
	if claims, _ := readToken(token); claims.Issuer == g.issuerWithoutScheme(s) {
		named = g.issuerWithoutScheme(s)
	}
	found, err := s.discoverForCall(ctx, c, g.issuer(s), "")
	if err != nil {
		return federation.Identity{}, err
	}
	got, err := found.verifyToken(ctx, s, c, named, token, true)
	return federation.Identity{Issuer: g.issuer(s), Subject: got.Subject}, err
}
