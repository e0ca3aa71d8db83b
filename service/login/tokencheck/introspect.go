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

// Endpoint is where tokens are introspected.
type Endpoint struct {
	URL          string
	InForm       bool   // the credentials go with the form (client_secret_post), and not as HTTP Basic
	ClientID     string // "" for an endpoint that asks nobody who they are
	ClientSecret secrets.Secret
}

// Introspection is what an endpoint says of a token that is active (RFC 7662, 2.2).
type Introspection struct {
	Subject  string
	ClientID string
	Issuer   string
	Audience []string
	Scope    string    // scopes, with blanks between them
	Expires  time.Time // leeway included; zero: not stated
}

// clockLeeway is how far another's clock may be from ours.
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

// Audience is whom a token is for: one string or a list of them (RFC 7519, 4.1.3; RFC
// 7662, 2.2).
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

// Introspect asks the endpoint about a token (RFC 7662, 2.1). The token goes in the
// body: in an address it would end up in logs.
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
	question, err := Post(ctx, at.URL, form)
	if err != nil {
		return Introspection{}, err
	}
	if !at.InForm && at.ClientID != "" {
		// RFC 6749, 2.3.1: form-encoded before they are put together.
		question.SetBasicAuth(url.QueryEscape(at.ClientID), url.QueryEscape(at.ClientSecret.Reveal()))
	}
	answer, err := Ask(client, question)
	if err != nil {
		return Introspection{}, err
	}
	var got introspected
	if err := answer.Read(&got); err != nil {
		return Introspection{}, err
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

// latestEnd bounds exp: beyond it a time.Time cannot be computed with.
const latestEnd = 1 << 40

// end is when the token is no longer taken, zero where the answer does not say.
func (i *introspected) end() time.Time {
	if i.Expires == nil {
		return time.Time{}
	}
	return time.Unix(int64(min(*i.Expires, latestEnd)), 0).UTC().Add(clockLeeway)
}

// holds refuses what is not a token that a caller may present like this.
func (i *introspected) holds(now time.Time) error {
	at, off := float64(now.Unix()), clockLeeway.Seconds()
	switch {
	case !i.Active:
		return fmt.Errorf("it is not active: %w", ErrRefused)
	case i.Expires != nil && *i.Expires+off <= at, i.NotBefore != nil && *i.NotBefore-off > at:
		return fmt.Errorf("it is not its time: %w", ErrRefused)
	case i.TokenType != "" && !slices.Contains([]string{"bearer", "access_token"}, strings.ToLower(i.TokenType)):
		// Refresh tokens are active too, and the hint is no more than one.
		return fmt.Errorf("it is no bearer token: %w", ErrRefused)
	case i.Confirm != nil:
		return fmt.Errorf(
			"it is bound to a key of whoever got it: %w", ErrRefused,
		) // which is not proved to us (RFC 7800)
	}
	return nil
}
