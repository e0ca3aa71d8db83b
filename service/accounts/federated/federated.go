// Package federated lists the identity providers that the dashboard signs people in
// with: an OpenID Connect issuer and GitHub, as the operator configures them.
//
// It owns the validation of a callback's query, the policy of the dashboard, and the texts of its refusals. It leaves
// the protocols to platform/federation, accounts to package accounts, and browsers to the handlers.
package federated

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"postern/platform/config"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/platform/traces"
)

// policy is that of both providers; see federation.Policy.
var policy = federation.Policy{
	TrustEndpoints:        true,
	RefuseUnverifiedEmail: true,
	GitHubSiteIssuer:      true,
	GitHubAPIVersion:      "2022-11-28",
}

// Provider is an identity provider that people can sign in with.
type Provider interface {
	// ID is the provider's segment in addresses.
	ID() string
	// Name is the provider's name on buttons.
	Name() string
	// Issuer is the Issuer of every identity that the provider vouches for.
	Issuer() string
	// AuthorizeURL returns the URL that the browser is sent to.
	AuthorizeURL(ctx context.Context, attempt federation.Attempt) (string, error)
	// Complete validates the query of the callback, and returns who signed in. Unauthenticated sign_in_failed or
	// sign_in_cancelled, Forbidden email_unverified, Unavailable provider_unreachable.
	Complete(ctx context.Context, attempt federation.Attempt, query url.Values) (federation.Identity, error)
}

// FromConfig returns the providers that are configured.
func FromConfig(c config.SignIn) []Provider {
	var list []Provider
	if c.OIDC.ClientID != "" {
		list = append(list, newOpenID(c.OIDC))
	}
	if c.GitHub.ClientID != "" {
		list = append(list, newGitHub(c.GitHub))
	}
	return list
}

// timeout bounds one call to a provider.
const timeout = 10 * time.Second

// newClient returns a client without the egress guard: a provider of the dashboard is
// the operator's setting, and may be in a private network.
func newClient() *http.Client {
	return federation.Bounded(&http.Client{
		Timeout: timeout,
		Transport: traces.Transport{
			Base:    http.DefaultTransport.(*http.Transport).Clone(),
			Purpose: "provider",
		},
		// A redirect would take the client secret, the code or the token to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
}

// codeOf returns the authorization code of a callback's query, after its state and error
// were judged.
func codeOf(name string, attempt federation.Attempt, query url.Values) (string, error) {
	if query.Get("state") != attempt.State || len(query["state"]) != 1 {
		return "", refused(name, fmt.Errorf("the state doesn't match"))
	}
	if problem := query.Get("error"); problem != "" {
		if problem == "access_denied" {
			return "", fault.New(fault.Unauthenticated, "sign_in_cancelled", "You didn't finish signing in with "+
				"%s.", name)
		}
		return "", refused(name, fmt.Errorf("the provider returned %q", problem))
	}
	if len(query["code"]) != 1 || query.Get("code") == "" {
		return "", refused(name, fmt.Errorf("the response has %d code parameters instead of one", len(query["code"])))
	}
	return query.Get("code"), nil
}

// issOf returns the iss of a callback's query (RFC 9207), or "" if it lacks one.
func issOf(name string, query url.Values) (string, error) {
	issuers, sent := query["iss"]
	if sent && (len(issuers) != 1 || issuers[0] == "") {
		return "", refused(name, fmt.Errorf("the response has several iss parameters: %q", issuers))
	}
	return query.Get("iss"), nil
}

// refused hides the cause from the browser, where it would help an attacker only.
func refused(name string, cause error) error {
	return fault.New(
		fault.Unauthenticated, "sign_in_failed", "Signing in with %s failed. Try again.", name,
	).Because(cause)
}

func unreachable(name string, cause error) error {
	return fault.New(
		fault.Unavailable, "provider_unreachable",
		"%s can't be reached right now. Try again later, or sign in another way.", name,
	).Because(cause)
}

func unverified(name string) error {
	return fault.New(
		fault.Forbidden, "email_unverified",
		"%s hasn't verified your email address. Verify it there, then try again.", name,
	)
}
