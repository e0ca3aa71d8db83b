package tokencheck

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"postern/platform/secrets"
)

// Endpoint is an introspection endpoint.
type Endpoint struct {
	URL          string
	InForm       bool   // client_secret_post, otherwise client_secret_basic
	ClientID     string // "" for an endpoint without client authentication
	ClientSecret secrets.Secret
}

// Introspection is the answer about an active token (RFC 7662, 2.2).
type Introspection struct {
	Subject  string
	ClientID string
	Issuer   string
	Audience []string
	Scope    string    // separated by spaces
	Expires  time.Time // with leeway; zero if it is not stated
}

// clockLeeway is the tolerated difference between two clocks.
const clockLeeway = 60 * time.Second

// introspected is the answer. Times are seconds since 1970.
type introspected struct {
	Active    bool     `json:"active"`
	Scope     string   `json:"scope"`
	ClientID  string   `json:"client_id"`
	TokenType string   `json:"token_type"`
	Expires   *float64 `json:"exp"`
	NotBefore *float64 `json:"nbf"`
	Subject   string   `json:"sub"`
	Audience  Audience `json:"aud"`
	Issuer    string   `json:"iss"`
	Confirm   any      `json:"cnf"`
}

// Audience is aud: a string or a list of them (RFC 7519, 4.1.3; RFC 7662, 2.2).
type Audience []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *Audience) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(a))
	}
	var one string
	err := json.Unmarshal(raw, &one)
	*a = Audience{one}
	return err
}

// Introspect asks the endpoint about a token (RFC 7662, 2.1). The token is sent in the
// body, because addresses end up in logs.
func Introspect(
	ctx context.Context, client *http.Client, at Endpoint, token string, now time.Time,
) (Introspection, error) {
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	if at.InForm {
		form.Set("client_id", at.ClientID)
		if at.ClientSecret != "" {
			form.Set("client_secret", at.ClientSecret.Reveal())
		}
	}
	request, err := Post(ctx, at.URL, form)
	if err != nil {
		return Introspection{}, err
	}
	if !at.InForm && at.ClientID != "" {
		// RFC 6749, 2.3.1: form-encoded before they are joined.
		request.SetBasicAuth(url.QueryEscape(at.ClientID), url.QueryEscape(at.ClientSecret.Reveal()))
	}
	answer, err := Send(client, request)
	if err != nil {
		return Introspection{}, err
	}
	var got *introspected // null is not an answer
	if err := answer.Read(&got); err != nil {
		return Introspection{}, err
	}
	if got == nil {
		return Introspection{}, fmt.Errorf("its response is null: %w", ErrBadAnswer)
	}
	if err := got.holds(now); err != nil {
		return Introspection{}, err
	}
	return Introspection{
		Subject:  got.Subject,
		ClientID: got.ClientID,
		Issuer:   got.Issuer,
		Audience: got.Audience,
		Scope:    got.Scope,
		Expires:  got.end(),
	}, nil
}

// latestEnd bounds exp, so that it fits a time.Time.
const latestEnd = 1 << 40

// end returns when the token expires, with leeway; zero if the answer has no exp.
func (i *introspected) end() time.Time {
	if i.Expires == nil {
		return time.Time{}
	}
	return time.Unix(int64(min(*i.Expires, latestEnd)), 0).UTC().Add(clockLeeway)
}

// holds returns why the token must be refused, nil if it is valid.
func (i *introspected) holds(now time.Time) error {
	at, off := float64(now.Unix()), clockLeeway.Seconds()
	switch {
	case !i.Active:
		return fmt.Errorf("it isn't active: %w", ErrRefused)
	case i.Expires != nil && *i.Expires+off <= at, i.NotBefore != nil && *i.NotBefore-off > at:
		return fmt.Errorf("it has expired or isn't valid yet: %w", ErrRefused)
	case i.TokenType != "" && !slices.Contains([]string{"bearer", "access_token"}, strings.ToLower(i.TokenType)):
		// Refresh tokens are active too, and token_type_hint does not exclude them.
		return fmt.Errorf("it isn't a bearer token: %w", ErrRefused)
	case i.Confirm != nil:
		// The caller does not prove possession of that key (RFC 7800).
		return fmt.Errorf("it is bound to a key: %w", ErrRefused)
	}
	return nil
}
