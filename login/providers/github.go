package providers

import (
	"cmp"
	"context"
	"strconv"

	"golang.org/x/oauth2"
)

// github is github.com, or GitHub Enterprise Server at a host of its own
// (docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps). It
// has no ID token: its API tells who a token belongs to. The numeric id stays when
// somebody changes their login, which another may then take.
type github struct{}

func (github) traits() Traits {
	return Traits{Label: "GitHub", Scopes: []string{"read:user", "user:email"}, NeedsSecret: true, TakesIssuer: true}
}

func (github) base(s *Set, c Config) string {
	return cmp.Or(c.Issuer, s.GitHubURL, "https://github.com")
}

// api is /api/v3 on a server of one's own (docs.github.com/enterprise-server/rest).
func (github) api(s *Set, c Config) string {
	if c.Issuer != "" {
		return c.Issuer + "/api/v3"
	}
	return cmp.Or(s.GitHubAPI, "https://api.github.com")
}

func (g github) endpoint(_ context.Context, s *Set, c Config) (oauth2.Endpoint, error) {
	base := g.base(s, c)
	return oauth2.Endpoint{AuthURL: base + "/login/oauth/authorize", TokenURL: base + "/login/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams}, nil
}

func (g github) identify(ctx context.Context, s *Set, c Config, _ Request, answer Callback, token *oauth2.Token) (Person, error) {
	if answer.Issuer != "" && answer.Issuer != g.base(s, c)+"/login/oauth" {
		return Person{}, wrongAnswer(c, "it answers as another issuer")
	}
	var user struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
		Name  string `json:"name"`
	}
	if err := s.getJSON(ctx, g.api(s, c)+"/user", token.AccessToken, &user); err != nil {
		return Person{}, askFault(c, err)
	}
	if user.ID <= 0 {
		return Person{}, wrongAnswer(c, "it names nobody")
	}
	person := Person{Issuer: g.base(s, c), Subject: strconv.FormatInt(user.ID, 10), Name: cmp.Or(user.Name, user.Login)}
	// The address in the profile is whatever the person likes to show there; the
	// list says which is theirs. Somebody may have granted less than was asked.
	var emails []struct {
		Email    string `json:"email"`
		Primary  bool   `json:"primary"`
		Verified bool   `json:"verified"`
	}
	if err := s.getJSON(ctx, g.api(s, c)+"/user/emails", token.AccessToken, &emails); err != nil {
		return person, nil
	}
	for _, e := range emails {
		if e.Primary && e.Verified {
			person.Email, person.EmailVerified = e.Email, true
		}
	}
	return person, nil
}
