// Package providers asks the identity providers that an app client offers who
// somebody is: one file for each kind.
//
// It owns what differs between them: endpoints, default scopes, how a person is
// told apart, which tokens there are. It does not own who is asking, what becomes
// of the person, nor the bond to a browser (login). Nothing here is kept: tokens
// go to the caller, and errors hold neither tokens nor addresses with them.
//
// OAuth 2.0 (RFC 6749, 7636, 9207) is spoken by golang.org/x/oauth2, OpenID
// Connect Core 1.0 by coreos/go-oidc; each file names its provider's own pages.
package providers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"postern/platform/federation"
	"postern/platform/secrets"
)

// The kinds of provider.
const (
	GitHub    = "github"
	Google    = "google"
	Microsoft = "microsoft"
	Facebook  = "facebook"
	Auth0     = "auth0"
	OIDC      = "oidc"
)

// Config is one provider as an app client has it.
type Config struct {
	Type         string
	ClientID     string
	ClientSecret secrets.Secret
	Issuer       string // "" is the provider's own address; see Traits
	Scopes       []string
	RedirectURI  string // the redirect URI that is registered with the provider
	WebPorts     bool   // what its discovery document names is asked on ports 80 and 443 only
}

// Request is what the authorization request carries to be recognized by, and what the
// provider is to do anew.
type Request struct {
	State    string
	Nonce    string
	Verifier string // PKCE (RFC 7636); only its challenge is sent
	Prompt   Prompt
}

func (r Request) attempt(c Config) federation.Attempt {
	return federation.Attempt{State: r.State, Nonce: r.Nonce, Verifier: r.Verifier, RedirectURL: c.RedirectURI}
}

// Prompt is what the provider asks for although the browser is signed in there (OpenID
// Connect Core 1.0, 3.1.2.1).
type Prompt struct {
	Login         bool // prompt=login: authenticate again
	SelectAccount bool // prompt=select_account
}

// standard is for kinds that take the values as they are.
func (p Prompt) values() []string {
	var values []string
	if p.Login {
		values = append(values, "login")
	}
	if p.SelectAccount {
		values = append(values, "select_account")
	}
	return values
}

func promptParam(values ...string) []oauth2.AuthCodeOption {
	if len(values) == 0 {
		return nil
	}
	return []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("prompt", strings.Join(values, " "))}
}

// selectAccount is for kinds that can be told to ask for the account, and no more.
func (p Prompt) selectAccount() []oauth2.AuthCodeOption {
	if p.Login || p.SelectAccount {
		return promptParam("select_account")
	}
	return nil
}

// Callback is what the provider sent the browser back with.
type Response struct {
	Code   string
	Issuer string // iss (RFC 9207), "" where it is not sent
}

// exchange is an exchanged code: what it was asked with, the iss that came with it ("" for
// none) and the tokens.
type exchange struct {
	attempt federation.Attempt
	iss     string
	token   *oauth2.Token
}

// Tokens are the provider's. They are to be handed on, and kept nowhere.
type Tokens struct {
	Access  secrets.Secret
	ID      secrets.Secret // "" where the provider has none
	Expires time.Time      // of Access; zero when it is not said
}

// Traits is what a configuration has to know of a kind.
type Traits struct {
	Label         string
	Scopes        []string // when none are configured
	NeedsSecret   bool
	NeedsIssuer   bool
	TakesIssuer   bool // beside those that need one: an installation of one's own
	HasIDToken    bool
	RequiredScope string // without which nobody can be told apart; "" for none
}

// kind is one kind of provider.
type kind interface {
	traits() Traits
	// endpoint is where the provider is asked.
	endpoint(ctx context.Context, s *Set, c Config) (oauth2.Endpoint, error)
	// again is how the provider is told what to do anew, as near as it can be told.
	prompt(Prompt) []oauth2.AuthCodeOption
	// identify turns what the exchange of a code gave into a person.
	identify(ctx context.Context, s *Set, c Config, e exchange) (federation.Identity, error)
	tokenIssuer
}

// Set asks providers. HTTP has to be the guarded client of package egress:
// customers choose where issuers are. The addresses are for tests; empty ones
// mean the providers' own.
type Set struct {
	HTTP            *http.Client
	GitHubURL       string
	GitHubAPI       string
	GoogleURL       string
	GoogleTokenInfo string
	MicrosoftURL    string
	MicrosoftSTS    string
	FacebookURL     string
	FacebookGraph   string

	mu         sync.Mutex
	discovered map[string]discovery
	failed     map[string]failedDiscovery
	now        func() time.Time // of how often keys are fetched; nil: time.Now
}

// order is that of the buttons where nothing else says.
var order = []string{GitHub, Google, Microsoft, Facebook, Auth0, OIDC}

// Kinds lists every kind.
func Kinds() []string { return slices.Clone(order) }

func kindOf(name string) (kind, bool) {
	switch name {
	case GitHub:
		return github{}, true
	case Google:
		return google{}, true
	case Microsoft:
		return microsoft{}, true
	case Facebook:
		return facebook{}, true
	case Auth0:
		return auth0{}, true
	case OIDC:
		return custom{}, true
	}
	return nil, false
}

// TraitsOf answers false for a kind that there is not.
func TraitsOf(name string) (Traits, bool) {
	k, ok := kindOf(name)
	if !ok {
		return Traits{}, false
	}
	return k.traits(), true
}

// AuthorizeURL returns the address that the browser is sent to.
func (s *Set) AuthorizeURL(ctx context.Context, c Config, r Request) (string, error) {
	k, endpoint, err := s.prepare(ctx, c)
	if err != nil {
		return "", err
	}
	return s.relyingParty(c).AuthorizeURL(endpoint, r.attempt(c), k.prompt(r.Prompt)...), nil
}

// Complete exchanges the code that a provider gave, and returns who it stands for and
// the provider's tokens.
func (s *Set) Complete(
	ctx context.Context, c Config, r Request, answer Response,
) (federation.Identity, Tokens, error) {
	k, endpoint, err := s.prepare(ctx, c)
	if err != nil {
		return federation.Identity{}, Tokens{}, err
	}
	token, err := s.relyingParty(c).Exchange(ctx, endpoint, r.attempt(c), answer.Code)
	if err != nil {
		return federation.Identity{}, Tokens{}, exchangeFault(c, err)
	}
	identity, err := k.identify(ctx, s, c, exchange{r.attempt(c), answer.Issuer, token})
	if err != nil {
		return federation.Identity{}, Tokens{}, err
	}
	identity, ok := bounded(identity)
	if !ok {
		return federation.Identity{}, Tokens{}, refusedAnswer(c, "its answer has no usable subject")
	}
	id, _ := token.Extra("id_token").(string)
	return identity, Tokens{
		Access:  secrets.Secret(token.AccessToken),
		ID:      secrets.Secret(id),
		Expires: token.Expiry,
	}, nil
}

func (s *Set) prepare(ctx context.Context, c Config) (kind, oauth2.Endpoint, error) {
	k, ok := kindOf(c.Type)
	if !ok {
		return nil, oauth2.Endpoint{}, fmt.Errorf("providers: there is no kind %q", c.Type)
	}
	endpoint, err := k.endpoint(ctx, s, c)
	return k, endpoint, err
}

// LabelOf is what a kind is called on a button.
func LabelOf(name string) string {
	traits, ok := TraitsOf(name)
	if !ok {
		return name
	}
	return traits.Label
}
