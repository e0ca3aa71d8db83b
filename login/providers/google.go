package providers

import (
	"cmp"
	"context"

	"golang.org/x/oauth2"
)

// google follows developers.google.com/identity/openid-connect/openid-connect: the
// subject is unique among all Google accounts and never reused, an address is not.
type google struct{}

func (google) traits() Traits {
	return Traits{Label: "Google", Scopes: []string{"openid", "email", "profile"}, HasIDToken: true, RequiredScope: "openid"}
}

func (google) issuer(s *Set) string { return cmp.Or(s.GoogleURL, "https://accounts.google.com") }

func (g google) endpoint(ctx context.Context, s *Set, c Config) (oauth2.Endpoint, error) {
	found, err := openIDEndpoint(ctx, s, c, g.issuer(s))
	found.AuthStyle = oauth2.AuthStyleInParams // as its documentation shows
	return found, err
}

func (g google) identify(ctx context.Context, s *Set, c Config, r Request, answer Callback, token *oauth2.Token) (Person, error) {
	return openIDPerson(ctx, s, c, g.issuer(s), r, answer, token)
}
