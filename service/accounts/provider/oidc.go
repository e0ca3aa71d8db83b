package provider

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"postern/platform/config"
)

// algorithms are those an ID token may be signed with: each with a key pair. One
// with a shared secret could be made by whoever has the public key, where the two
// are taken for each other.
var algorithms = []string{
	oidc.RS256,
	oidc.RS384,
	oidc.RS512,
	oidc.PS256,
	oidc.PS384,
	oidc.PS512,
	oidc.ES256,
	oidc.ES384,
	oidc.ES512,
	oidc.EdDSA,
}

// discoveryWithin bounds the request for the discovery document, which everyone else
// who signs in waits behind.
const discoveryWithin = 5 * time.Second

type oidcProvider struct {
	settings config.OIDC
	client   *http.Client

	mu         sync.Mutex
	discovered *discovered // nil until the issuer has answered once
}

type discovered struct {
	*oidc.Provider
	sendsIssuer bool // in the answer to the browser (RFC 9207)
	oauth       oauth2.Config
}

func (p *oidcProvider) ID() string     { return "oidc" }
func (p *oidcProvider) Name() string   { return p.settings.Name }
func (p *oidcProvider) Issuer() string { return p.settings.Issuer }

// discover asks the issuer when it is first needed: one that is down must not
// keep us from starting.
func (p *oidcProvider) discover(ctx context.Context) (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.discovered != nil {
		return p.discovered, nil
	}
	bounded, stop := context.WithTimeout(ctx, discoveryWithin)
	defer stop()
	found, err := oidc.NewProvider(bounded, p.settings.Issuer) // also checks that it goes by this name
	if err != nil {
		return nil, unreachable(p.settings.Name, err)
	}
	var metadata struct {
		SendsIssuer bool     `json:"authorization_response_iss_parameter_supported"`
		AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&metadata); err != nil {
		return nil, unreachable(p.settings.Name, err)
	}
	endpoint := found.Endpoint()
	if u, err := url.Parse(endpoint.AuthURL); err != nil || (u.Scheme != "https" && u.Scheme != "http") ||
		u.Host == "" {
		return nil, unreachable(p.settings.Name, errors.New("its authorization endpoint is no web address"))
	}
	// Basic is what an issuer takes that says nothing (OpenID Connect discovery, 3).
	endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if p.settings.ClientSecret == "" ||
		(len(metadata.AuthMethods) > 0 && !slices.Contains(metadata.AuthMethods, "client_secret_basic")) {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	p.discovered = &discovered{Provider: found, sendsIssuer: metadata.SendsIssuer, oauth: oauth2.Config{
		ClientID:     p.settings.ClientID,
		ClientSecret: p.settings.ClientSecret.Reveal(),
		Endpoint:     endpoint,
		Scopes:       []string{oidc.ScopeOpenID, "email", "profile"},
	}}
	return p.discovered, nil
}

func (p *oidcProvider) AuthorizeURL(ctx context.Context, trip Trip) (string, error) {
	found, err := p.discover(oidc.ClientContext(ctx, p.client))
	if err != nil {
		return "", err
	}
	oauth := found.oauth
	oauth.RedirectURL = trip.Callback
	return oauth.AuthCodeURL(trip.State, oidc.Nonce(trip.Nonce), oauth2.S256ChallengeOption(trip.Verifier)), nil
}

func (p *oidcProvider) Person(ctx context.Context, trip Trip, query url.Values) (Person, error) {
	ctx = oidc.ClientContext(ctx, p.client)
	found, err := p.discover(ctx)
	if err != nil {
		return Person{}, err
	}
	if err := p.checkIssuer(found, query); err != nil {
		return Person{}, refused(p.settings.Name, err)
	}
	code, err := answered(p.settings.Name, trip, query)
	if err != nil {
		return Person{}, err
	}
	oauth := found.oauth
	oauth.RedirectURL = trip.Callback
	token, err := oauth.Exchange(ctx, code, oauth2.VerifierOption(trip.Verifier))
	if err != nil {
		return Person{}, refused(p.settings.Name, fmt.Errorf("exchange the code: %w", hideAnswer(err)))
	}
	claims, err := p.verify(ctx, found, trip, token)
	if err != nil {
		return Person{}, refused(p.settings.Name, err)
	}
	if claims.Email == "" {
		if claims, err = claims.complete(ctx, found, token); err != nil {
			return Person{}, refused(p.settings.Name, err)
		}
	}
	if claims.EmailVerified != nil && !bool(*claims.EmailVerified) {
		return Person{}, unverified(p.settings.Name)
	}
	return Person{
		Issuer:        p.settings.Issuer,
		Subject:       claims.Subject,
		Email:         claims.Email,
		Name:          claims.Name,
		EmailVerified: claims.EmailVerified != nil && claims.Email != "",
	}, nil
}

// checkIssuer refuses an answer that another issuer gave (RFC 9207, 2.4).
func (p *oidcProvider) checkIssuer(found *discovered, query url.Values) error {
	switch issuers := query["iss"]; {
	case len(issuers) == 0 && found.sendsIssuer:
		return errors.New("the answer lacks iss")
	case len(issuers) > 1, len(issuers) == 1 && issuers[0] != p.settings.Issuer:
		return errors.New("the answer is another issuer's")
	}
	return nil
}

type claims struct {
	Subject         string `json:"sub"`
	Email           string `json:"email"`
	EmailVerified   *truth `json:"email_verified"`
	Name            string `json:"name"`
	AuthorizedParty string `json:"azp"`
}

// truth reads a boolean also where an issuer sends it as text, as some do.
type truth bool

// UnmarshalJSON implements json.Unmarshaler.
func (t *truth) UnmarshalJSON(raw []byte) error {
	*t = string(raw) == "true" || string(raw) == `"true"`
	return nil
}

// verify judges the ID token (OpenID Connect Core 1.0, 3.1.3.7).
func (p *oidcProvider) verify(ctx context.Context, found *discovered, trip Trip, token *oauth2.Token) (claims, error) {
	var out claims
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return out, errors.New("the answer holds no ID token")
	}
	verified, err := found.Verifier(&oidc.Config{
		ClientID:             p.settings.ClientID,
		SupportedSigningAlgs: algorithms,
	}).Verify(ctx, raw)
	if err != nil {
		return out, fmt.Errorf("verify the ID token: %w", err)
	}
	if err := verified.Claims(&out); err != nil {
		return out, fmt.Errorf("read the ID token: %w", err)
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(trip.Nonce)) != 1:
		return out, errors.New("the nonce differs")
	case out.Subject == "" || len(out.Subject) > maxSubject:
		return out, errors.New("the ID token has no usable subject")
	case out.AuthorizedParty == "" && len(verified.Audience) > 1,
		out.AuthorizedParty != "" && out.AuthorizedParty != p.settings.ClientID:
		return out, errors.New("the ID token is for another client")
	}
	if verified.AccessTokenHash != "" {
		if err := verified.VerifyAccessToken(token.AccessToken); err != nil {
			return out, fmt.Errorf("compare ID and access token: %w", err)
		}
	}
	return out, nil
}

// complete asks for what many issuers tell at userinfo only. Its answer counts if
// it is about the same subject (OpenID Connect Core 1.0, 5.3.2).
func (c claims) complete(ctx context.Context, found *discovered, token *oauth2.Token) (claims, error) {
	if found.UserInfoEndpoint() == "" {
		return c, nil
	}
	info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return c, fmt.Errorf("ask userinfo: %w", err)
	}
	more := claims{}
	if err := info.Claims(&more); err != nil {
		return c, fmt.Errorf("read userinfo: %w", err)
	}
	if more.Subject != c.Subject {
		return c, errors.New("userinfo is about somebody else")
	}
	c.Email, c.EmailVerified = more.Email, more.EmailVerified
	if c.Name == "" {
		c.Name = more.Name
	}
	return c, nil
}

// hideAnswer keeps what the token endpoint sent out of the log: beside an error
// it may hold tokens.
func hideAnswer(err error) error {
	if failed, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("the token endpoint answered %q", failed.ErrorCode)
	}
	return err
}
