// Package provider signs people in with somebody else: an OpenID Connect issuer
// (OpenID Connect Core 1.0, discovery, PKCE of RFC 7636, iss of RFC 9207), or
// GitHub (OAuth 2.0 and its REST API).
//
// It owns what is said to the other side and how its answers are judged; it does
// not own which account a person has here (accounts), nor browsers (handlers).
// Where people sign in is the operator's setting and no customer's: it may lie in
// a private network. Redirects are not followed all the same.
package provider

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"postern/platform/config"
	"postern/platform/fault"
)

// Trip is what one attempt to sign in is bound by, from here to the other side
// and back. All but Callback are secret until they are sent.
type Trip struct {
	State    string
	Nonce    string
	Verifier string // of PKCE
	Callback string // redirect URI
}

// Person is whom the other side vouches for. Issuer and Subject identify them,
// the rest is for people to read.
type Person struct {
	Issuer  string
	Subject string
	Email   string
	Name    string

	EmailVerified bool // the other side says that the address is theirs
}

// Provider is somebody else to sign in with.
type Provider interface {
	// ID stands in addresses.
	ID() string
	// Name stands on buttons.
	Name() string
	// Issuer is the Issuer of everybody it vouches for.
	Issuer() string
	// AuthorizeURL is where the browser goes.
	AuthorizeURL(ctx context.Context, trip Trip) (string, error)
	// Person judges what the browser brought back to the callback.
	Person(ctx context.Context, trip Trip, query url.Values) (Person, error)
}

// FromConfig lists the providers that are configured.
func FromConfig(c config.SignIn) []Provider {
	var list []Provider
	if c.OIDC.ClientID != "" {
		list = append(list, &oidcProvider{settings: c.OIDC, client: newClient()})
	}
	if c.GitHub.ClientID != "" {
		list = append(list, &gitHub{settings: c.GitHub, client: newClient()})
	}
	return list
}

// Bounds of a call to the other side; maxAnswer is in bytes.
const (
	answerWithin = 10 * time.Second
	maxAnswer    = 1 << 20
)

func newClient() *http.Client {
	return &http.Client{
		Timeout:   answerWithin,
		Transport: bounded{http.DefaultTransport.(*http.Transport).Clone()},
		// Followed, a redirect would take client secret, code or token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded cuts off answers that are larger than any real one.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	}
	return answer, err
}

// answered checks what the browser brought back before anything is done with it,
// and returns the code.
func answered(name string, trip Trip, query url.Values) (code string, err error) {
	if query.Get("state") != trip.State || len(query["state"]) != 1 {
		return "", refused(name, fmt.Errorf("the state differs"))
	}
	if problem := query.Get("error"); problem != "" {
		if problem == "access_denied" {
			return "", fault.New(fault.Unauthenticated, "sign_in_cancelled", "You did not sign in with %s.", name)
		}
		return "", refused(name, fmt.Errorf("the other side answered %q", problem))
	}
	if len(query["code"]) != 1 || query.Get("code") == "" {
		return "", refused(name, fmt.Errorf("there is not one code but %d", len(query["code"])))
	}
	return query.Get("code"), nil
}

// refused says nothing of why to the browser: who attacks learns nothing, and for
// anybody else it is to try again.
func refused(name string, cause error) error {
	return fault.New(
		fault.Unauthenticated, "sign_in_failed", "Signing in with %s did not work out. Try again.", name,
	).Because(
		cause,
	)
}

func unreachable(name string, cause error) error {
	return fault.New(fault.Unavailable, "provider_unreachable", "%s cannot be reached at this moment. Try again "+
		"later, or sign in another way.", name).Because(cause)
}

func unverified(name string) error {
	return fault.New(fault.Forbidden, "email_unverified", "%s has not verified your e-mail address. Verify it "+
		"there, then try again.", name)
}

// maxSubject is the longest sub (OpenID Connect Core 1.0, 2), in bytes.
const maxSubject = 255
