package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"golang.org/x/oauth2"

	"postern/platform/config"
)

// gitHub is GitHub's web application flow and the two calls that tell who it was.
// Source: docs.github.com, "Authorizing OAuth apps", and the REST API's "Get the
// authenticated user" and "List email addresses for the authenticated user".
type gitHub struct {
	settings config.GitHub
	client   *http.Client
}

func (g *gitHub) ID() string   { return "github" }
func (g *gitHub) Name() string { return "GitHub" }

// Issuer is the server's address: GitHub's numbers of people are its own.
func (g *gitHub) Issuer() string { return g.settings.URL }

func (g *gitHub) oauth(trip Trip) *oauth2.Config {
	return &oauth2.Config{
		ClientID:     g.settings.ClientID,
		ClientSecret: g.settings.ClientSecret.Reveal(),
		RedirectURL:  trip.Callback,
		Scopes:       []string{"read:user", "user:email"},
		Endpoint: oauth2.Endpoint{
			AuthURL:   g.settings.URL + "/login/oauth/authorize",
			TokenURL:  g.settings.URL + "/login/oauth/access_token",
			AuthStyle: oauth2.AuthStyleInParams,
		},
	}
}

func (g *gitHub) AuthorizeURL(_ context.Context, trip Trip) (string, error) {
	return g.oauth(trip).AuthCodeURL(trip.State, oauth2.S256ChallengeOption(trip.Verifier)), nil
}

func (g *gitHub) Person(ctx context.Context, trip Trip, query url.Values) (Person, error) {
	code, err := answered(g.Name(), trip, query)
	if err != nil {
		return Person{}, err
	}
	if issuers := query["iss"]; len(issuers) > 0 &&
		!slices.Contains([]string{g.settings.URL, g.settings.URL + "/login/oauth"}, issuers[0]) {
		return Person{}, refused(g.Name(), fmt.Errorf("the answer is another issuer's"))
	}
	token, err := g.oauth(
		trip,
	).Exchange(
		context.WithValue(ctx, oauth2.HTTPClient, g.client), code, oauth2.VerifierOption(trip.Verifier),
	)
	if err != nil {
		return Person{}, refused(g.Name(), fmt.Errorf("exchange the code: %w", hideAnswer(err)))
	}
	var user struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
		Name  string `json:"name"`
	}
	if err := g.ask(ctx, token, "/user", &user); err != nil {
		return Person{}, err
	}
	if user.ID <= 0 {
		return Person{}, refused(g.Name(), fmt.Errorf("the user has no number"))
	}
	email, err := g.primaryEmail(ctx, token)
	if err != nil {
		return Person{}, err
	}
	if user.Name == "" {
		user.Name = user.Login
	}
	// A login can be given to somebody else; the number cannot.
	return Person{
		Issuer:        g.Issuer(),
		Subject:       strconv.FormatInt(user.ID, 10),
		Email:         email,
		Name:          user.Name,
		EmailVerified: true, // primaryEmail returns no other
	}, nil
}

// primaryEmail is the primary address, if GitHub has verified it.
func (g *gitHub) primaryEmail(ctx context.Context, token *oauth2.Token) (string, error) {
	var list []struct {
		Email    string `json:"email"`
		Primary  bool   `json:"primary"`
		Verified bool   `json:"verified"`
	}
	if err := g.ask(ctx, token, "/user/emails", &list); err != nil {
		return "", err
	}
	for _, e := range list {
		if e.Primary && e.Verified {
			return e.Email, nil
		}
	}
	return "", unverified(g.Name())
}

func (g *gitHub) ask(ctx context.Context, token *oauth2.Token, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.settings.APIURL+path, nil)
	if err != nil {
		return fmt.Errorf("provider: ask GitHub for %s: %w", path, err)
	}
	request.Header.Set("Authorization", "Bearer "+token.AccessToken)
	request.Header.Set("Accept", "application/vnd.github+json")
	request.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	request.Header.Set("User-Agent", "postern") // required
	answer, err := g.client.Do(request)
	if err != nil {
		return unreachable(g.Name(), err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return refused(g.Name(), fmt.Errorf("%s answered %s", path, answer.Status))
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		return refused(g.Name(), fmt.Errorf("read %s: %w", path, err))
	}
	return nil
}
