package providers

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/oauth2"

	"postern/service/login/verdict"
)

// github is github.com, or GitHub Enterprise Server at a host of its own
// (docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps). It
// has no ID token: its API tells who a token belongs to. The numeric id stays when
// somebody changes their login, which another may then take.
type github struct{ noIDTokens }

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
	return oauth2.Endpoint{
		AuthURL:   base + "/login/oauth/authorize",
		TokenURL:  base + "/login/oauth/access_token",
		AuthStyle: oauth2.AuthStyleInParams,
	}, nil
}

// again: the one value is select_account (docs.github.com/apps/oauth-apps/building-oauth-apps/
// authorizing-oauth-apps#1-request-a-users-github-identity).
func (github) again(a Again) []oauth2.AuthCodeOption { return a.accountOnly() }

func (g github) identify(
	ctx context.Context, s *Set, c Config, _ Request, answer Callback, token *oauth2.Token,
) (Person, error) {
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
		return person, nil //nolint:nilerr // the person is known without an address
	}
	for _, e := range emails {
		if e.Primary && e.Verified {
			person.Email, person.EmailVerified = e.Email, true
		}
	}
	return person, nil
}

// shapes are in docs.github.com/authentication/keeping-your-account-and-data-secure/
// about-authentication-to-github#githubs-token-formats: of OAuth apps, and of GitHub
// apps for a person. Personal tokens are of no app.
func (github) shapes() []string { return []string{"gho_", "ghu_"} }

// access asks as docs.github.com/rest/apps/oauth-applications#check-a-token has it:
// 404 is a token that is not good or not of this app.
func (g github) access(ctx context.Context, s *Set, c Config, token string) (Person, error) {
	ask, err := verdict.Post(
		ctx, g.api(s, c)+"/applications/"+url.PathEscape(c.ClientID)+"/token",
		map[string]string{"access_token": token},
	)
	if err != nil {
		return Person{}, err
	}
	ask.SetBasicAuth(c.ClientID, c.ClientSecret.Reveal())
	answer, err := verdict.Ask(s.client(), ask)
	if err != nil {
		return Person{}, err
	}
	switch answer.Status {
	case http.StatusNotFound, http.StatusUnprocessableEntity:
		return Person{}, fmt.Errorf("it knows no such token of the app: %w", verdict.ErrRefused)
	case http.StatusForbidden: // docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
		return Person{}, fmt.Errorf("it has had too many questions: %w", verdict.ErrAway)
	}
	var found struct {
		App struct {
			ClientID string `json:"client_id"`
		} `json:"app"`
		User struct {
			ID int64 `json:"id"`
		} `json:"user"`
		ExpiresAt *time.Time `json:"expires_at"`
	}
	if err := answer.Read(&found); err != nil {
		return Person{}, err
	}
	switch {
	case found.App.ClientID != c.ClientID:
		return Person{}, fmt.Errorf("the token was issued for another app: %w", verdict.ErrRefused)
	case found.ExpiresAt != nil && !found.ExpiresAt.After(time.Now()):
		return Person{}, fmt.Errorf("the token is over: %w", verdict.ErrRefused)
	case found.User.ID <= 0:
		return Person{}, fmt.Errorf("it names nobody: %w", verdict.ErrNonsense)
	}
	return Person{Issuer: g.base(s, c), Subject: strconv.FormatInt(found.User.ID, 10)}, nil
}
