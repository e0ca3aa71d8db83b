package federated

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"postern/platform/config"
	"postern/platform/federation"
)

// gitHub is github.com or a GitHub Enterprise Server that the operator configures.
type gitHub struct {
	server federation.GitHub
	client federation.Client
}

func newGitHub(settings config.GitHub) *gitHub {
	return &gitHub{
		server: federation.GitHub{Site: settings.URL, API: settings.APIURL},
		client: federation.Client{
			HTTP:   newClient(),
			ID:     settings.ClientID,
			Secret: settings.ClientSecret,
			Scopes: []string{"read:user", "user:email"},
			Policy: policy,
		},
	}
}

func (g *gitHub) ID() string   { return "github" }
func (g *gitHub) Name() string { return "GitHub" }

// Issuer returns the site's address, because user ids are unique within a site only.
func (g *gitHub) Issuer() string { return g.server.Site }

func (g *gitHub) AuthorizeURL(_ context.Context, attempt federation.Attempt) (string, error) {
	return g.client.AuthorizeURL(g.server.Endpoint(), attempt), nil
}

func (g *gitHub) Complete(
	ctx context.Context, attempt federation.Attempt, query url.Values,
) (federation.Identity, error) {
	code, err := codeOf(g.Name(), attempt, query)
	if err != nil {
		return federation.Identity{}, err
	}
	iss, err := issOf(g.Name(), query)
	if err != nil {
		return federation.Identity{}, err
	}
	if err := g.server.CheckIssuer(iss, policy); err != nil {
		return federation.Identity{}, refused(g.Name(), err)
	}
	token, err := g.client.Exchange(ctx, g.server.Endpoint(), attempt, code)
	if err != nil {
		return federation.Identity{}, refused(g.Name(), fmt.Errorf("exchange the code: %w", err))
	}
	identity, err := g.client.IdentifyGitHub(ctx, g.server, token)
	if err != nil {
		return federation.Identity{}, g.fault(err)
	}
	return identity, nil
}

func (g *gitHub) fault(err error) error {
	if errors.Is(err, federation.ErrEmailUnverified) {
		return unverified(g.Name())
	}
	_, isRefusal := errors.AsType[federation.AnswerError](err)
	if isRefusal || errors.Is(err, federation.ErrUnreadable) {
		return refused(g.Name(), err)
	}
	return unreachable(g.Name(), err)
}
