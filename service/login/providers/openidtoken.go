package providers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/login/tokencheck"
)

// discoverForCall is discover with the errors of package tokencheck.
func (s *Set) discoverForCall(ctx context.Context, c Config, issuer, name string) (discovery, error) {
	found, err := s.discover(ctx, c, issuer, name)
	return found, askError(err)
}

// askError turns an error of discover into one of package tokencheck's.
func askError(err error) error {
	if err == nil {
		return nil
	}
	if refusal, ok := errors.AsType[*fault.Error](err); ok && refusal.Kind != fault.Unavailable {
		return fmt.Errorf("discovery: %w", tokencheck.ErrBadAnswer)
	}
	return fmt.Errorf("discovery: %w", tokencheck.ErrUnavailable)
}

func openIDIdentity(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	found, err := s.discoverForCall(ctx, c, c.Issuer, "")
	if err != nil {
		return federation.Identity{}, err
	}
	got, err := found.verifyToken(ctx, s, c, c.Issuer, token, true)
	return federation.Identity{Issuer: c.Issuer, Subject: got.Subject}, err
}

// openIDAccess verifies an access token that is a JSON Web Token (RFC 9068 and its
// predecessors), and introspects any other. Userinfo would tell the user of an opaque token
// but not the app that it was issued to, so it proves nothing (RFC 9700, 4.9).
func openIDAccess(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error) {
	found, err := s.discoverForCall(ctx, c, c.Issuer, "")
	if err != nil {
		return federation.Identity{}, err
	}
	if _, jwt := readToken(token); jwt {
		got, err := found.verifyToken(ctx, s, c, c.Issuer, token, false)
		return federation.Identity{Issuer: c.Issuer, Subject: got.Subject}, err
	}
	if found.Introspection == "" || c.ClientSecret == "" {
		return federation.Identity{}, fmt.Errorf("it doesn't offer introspection to this app: "+
			"%w", tokencheck.ErrUnverifiable)
	}
	at := tokencheck.Endpoint{URL: found.Introspection, ClientID: c.ClientID, ClientSecret: c.ClientSecret}
	methods := found.IntrospectionAuthMethods
	at.InForm = len(methods) > 0 && !slices.Contains(methods, "client_secret_basic")
	got, err := tokencheck.Introspect(ctx, s.client(), at, token, time.Now())
	if err != nil {
		return federation.Identity{}, err
	}
	switch {
	case got.Issuer != "" && got.Issuer != c.Issuer:
		return federation.Identity{}, fmt.Errorf("the token is from a different issuer: %w", tokencheck.ErrRefused)
	case got.ClientID == "" && len(got.Audience) == 0:
		return federation.Identity{}, fmt.Errorf("it names neither client_id nor aud: %w", tokencheck.ErrUnverifiable)
	case got.ClientID != c.ClientID && (got.ClientID != "" || !slices.Contains(got.Audience, c.ClientID)):
		return federation.Identity{}, fmt.Errorf("the token was issued for another app: %w", tokencheck.ErrRefused)
	case got.Subject == "":
		return federation.Identity{}, fmt.Errorf("the token has no subject: %w", tokencheck.ErrRefused)
	}
	return federation.Identity{Issuer: c.Issuer, Subject: got.Subject}, nil
}
