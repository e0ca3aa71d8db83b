package providers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"postern/platform/fault"
	"postern/service/login/verdict"
)

// known is discover for a call that presents a token.
func (s *Set) known(ctx context.Context, c Config, issuer, names string) (discovery, error) {
	found, err := s.discover(ctx, c, issuer, names)
	if refusal, ok := errors.AsType[*fault.Error](err); ok && refusal.Kind != fault.Unavailable {
		return found, fmt.Errorf("discovery: %w", verdict.ErrNonsense)
	}
	if err != nil {
		return found, fmt.Errorf("discovery: %w", verdict.ErrAway)
	}
	return found, nil
}

func openIDIdentity(ctx context.Context, s *Set, c Config, token string) (Person, error) {
	found, err := s.known(ctx, c, c.Issuer, "")
	if err != nil {
		return Person{}, err
	}
	got, err := found.signed(ctx, s, c, c.Issuer, token, true)
	return Person{Issuer: c.Issuer, Subject: got.Subject}, err
}

// openIDAccess takes an access token that can be read (RFC 9068 and what came before
// it), or else asks for an introspection. Userinfo would tell whose an opaque token
// is, but not which app got it, so that it proves nothing (RFC 9700, 4.9).
func openIDAccess(ctx context.Context, s *Set, c Config, token string) (Person, error) {
	found, err := s.known(ctx, c, c.Issuer, "")
	if err != nil {
		return Person{}, err
	}
	if _, jwt := readToken(token); jwt {
		got, err := found.signed(ctx, s, c, c.Issuer, token, false)
		return Person{Issuer: c.Issuer, Subject: got.Subject}, err
	}
	if found.more.Introspection == "" || c.ClientSecret == "" {
		return Person{}, fmt.Errorf("it has no introspection for this app: %w", verdict.ErrUnverifiable)
	}
	at := verdict.Endpoint{URL: found.more.Introspection, ClientID: c.ClientID, ClientSecret: c.ClientSecret}
	methods := found.more.IntrospectionMethods
	at.InForm = len(methods) > 0 && !slices.Contains(methods, "client_secret_basic")
	got, err := verdict.Introspect(ctx, s.client(), at, token, time.Now())
	if err != nil {
		return Person{}, err
	}
	switch {
	case got.Issuer != "" && got.Issuer != c.Issuer:
		return Person{}, fmt.Errorf("the token is another issuer's: %w", verdict.ErrRefused)
	case got.ClientID == "" && len(got.Audience) == 0:
		return Person{}, fmt.Errorf("it names neither client_id nor aud: %w", verdict.ErrUnverifiable)
	case got.ClientID != c.ClientID && (got.ClientID != "" || !slices.Contains(got.Audience, c.ClientID)):
		return Person{}, fmt.Errorf("the token was issued for another app: %w", verdict.ErrRefused)
	case got.Subject == "":
		return Person{}, fmt.Errorf("the token is nobody's: %w", verdict.ErrRefused)
	}
	return Person{Issuer: c.Issuer, Subject: got.Subject}, nil
}
