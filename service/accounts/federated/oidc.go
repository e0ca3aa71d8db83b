package federated

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"postern/platform/config"
	"postern/platform/federation"
)

// openID is the OpenID Connect issuer that the operator configures.
type openID struct {
	settings config.OIDC
	client   federation.Client

	mu     sync.Mutex
	issuer *federation.Issuer // nil until the issuer has answered once
}

func newOpenID(settings config.OIDC) *openID {
	return &openID{settings: settings, client: federation.Client{
		HTTP:   newClient(),
		ID:     settings.ClientID,
		Secret: settings.ClientSecret,
		Scopes: []string{"openid", "email", "profile"},
		Policy: policy,

		ResponseMode: federation.DefaultResponseMode(settings.Issuer),
	}}
}

func (p *openID) ID() string     { return "oidc" }
func (p *openID) Name() string   { return p.settings.Name }
func (p *openID) Issuer() string { return p.settings.Issuer }

// discover asks the issuer when it is first needed: one that is down must not keep
// Postern from starting.
func (p *openID) discover(ctx context.Context) (*federation.Issuer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.issuer == nil {
		issuer, err := federation.Discover(ctx, p.client.HTTP, p.settings.Issuer, "", policy)
		if err != nil {
			return nil, unreachable(p.settings.Name, err)
		}
		p.issuer = issuer
	}
	return p.issuer, nil
}

func (p *openID) AuthorizeURL(ctx context.Context, attempt federation.Attempt) (string, error) {
	issuer, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return p.client.AuthorizeURL(issuer.Endpoint(p.client.Secret != ""), attempt), nil
}

func (p *openID) Complete(
	ctx context.Context, attempt federation.Attempt, query url.Values,
) (federation.Identity, error) {
	issuer, err := p.discover(ctx)
	if err != nil {
		return federation.Identity{}, err
	}
	iss, err := issOf(p.settings.Name, query)
	if err != nil {
		return federation.Identity{}, err
	}
	if err := issuer.CheckIssuer(iss, p.settings.Issuer); err != nil {
		return federation.Identity{}, refused(p.settings.Name, err)
	}
	code, err := codeOf(p.settings.Name, attempt, query)
	if err != nil {
		return federation.Identity{}, err
	}
	identity, err := p.redeem(ctx, issuer, attempt, code, iss)
	if errors.Is(err, federation.ErrEmailUnverified) {
		return federation.Identity{}, unverified(p.settings.Name)
	}
	if err != nil {
		return federation.Identity{}, refused(p.settings.Name, err)
	}
	return identity, nil
}

func (p *openID) redeem(
	ctx context.Context, issuer *federation.Issuer, attempt federation.Attempt, code, iss string,
) (federation.Identity, error) {
	token, err := p.client.Exchange(ctx, issuer.Endpoint(p.client.Secret != ""), attempt, code)
	if err != nil {
		return federation.Identity{}, fmt.Errorf("exchange the code: %w", err)
	}
	claims, err := p.client.Verify(ctx, issuer, attempt, iss, token)
	if err != nil {
		return federation.Identity{}, err
	}
	identity, err := p.client.Identify(ctx, issuer, claims, token)
	identity.Issuer = p.settings.Issuer
	return identity, err
}
