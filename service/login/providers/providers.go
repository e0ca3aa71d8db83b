// Package providers signs users in with the identity providers of app clients, and asks
// these providers about their own tokens: one file for each kind.
//
// It owns what differs between kinds: endpoints, default scopes, what identifies a user,
// which tokens there are. It leaves the protocols to platform/federation, and browsers,
// users and consent to package login. Tokens are returned to the caller and kept nowhere;
// errors contain neither tokens nor addresses that hold them. Each file cites its
// provider's own documentation.
package providers

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"postern/core/contract"
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

// Config is the configuration of one provider of an app client.
type Config struct {
	Type         string
	Label        string // for users; "" is that of the type
	ClientID     string
	ClientSecret secrets.Secret
	Issuer       string // "" is the provider's own address; see Traits
	Scopes       []string
	Audience     string   // the API that access tokens are requested for; only for auth0
	ResponseMode string   // Query or FormPost; "" is Query
	Domains      []string // of addresses that the team declares it authoritative for; see TakesDomains
	RedirectURI  string   // registered with the provider
	WebPorts     bool     // endpoints of its discovery document must be on ports 80 and 443

	Claims    []federation.ClaimPath // that are read; see Traits.StatesClaims
	AllClaims bool                   // every claim is read
}

// Request has the parameters of one authorization request.
type Request struct {
	State    string
	Nonce    string
	Verifier string // PKCE (RFC 7636); only its challenge is sent
	Prompt   Prompt
	MaxAge   *int64 // seconds since the authentication that suffices, nil for any

	ACRValues string // separated by spaces, "" for any
	LoginHint string // user that the client expects, "" if unknown
	UILocales string // of the provider's pages, separated by spaces; "" for any
}

func (r Request) attempt(c Config) federation.Attempt {
	return federation.Attempt{State: r.State, Nonce: r.Nonce, Verifier: r.Verifier, RedirectURL: c.RedirectURI}
}

// Response is a provider's authorization response.
type Response struct {
	Code   string
	Issuer string // iss (RFC 9207), "" if it is missing
}

// exchange is an exchanged code: what it was asked with, the iss that came with it ("" for
// none) and the tokens.
type exchange struct {
	attempt federation.Attempt
	iss     string
	token   *oauth2.Token
}

// Tokens are those that the provider issued.
type Tokens struct {
	Access  secrets.Secret // "" if the provider gave an ID token alone
	ID      secrets.Secret // "" if the provider gave none
	Expires time.Time      // of Access; zero if the provider does not state it
}

// Traits are the properties of a kind that configurations depend on.
type Traits struct {
	Label         string
	Scopes        []string // when none are configured
	NeedsSecret   bool
	NeedsIssuer   bool
	TakesIssuer   bool     // optional: the address of a self-hosted installation
	HasIDToken    bool     // which has claims of any name
	Claims        []string // names of the only claims of a kind without ID tokens
	RequiredScope string   // without it users cannot be identified; "" for none

	TellsAuthTime bool // auth_time in its ID tokens
}

// StatesClaims reports whether the kind has claims other than those that identify a user.
func (t Traits) StatesClaims() bool { return t.HasIDToken || len(t.Claims) > 0 }

// kind is one kind of provider.
type kind interface {
	traits() Traits
	// endpoint returns the addresses for authorization and for the exchange of codes.
	endpoint(ctx context.Context, s *Set, c Config) (oauth2.Endpoint, error)
	// parameters returns what its authorization endpoint takes of a request's prompt and hints.
	parameters(Request) []oauth2.AuthCodeOption
	// identify returns who signed in.
	identify(ctx context.Context, s *Set, c Config, e exchange) (federation.Identity, error)
	tokenIssuer
}

// Set is a client of all kinds of provider. HTTP must be the guarded client of package
// egress, because customers configure issuers. The addresses are for tests; empty ones
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
	now        func() time.Time // clock of fetchLimit; nil: time.Now
}

// order is the default order of buttons.
var order = []string{GitHub, Google, Microsoft, Facebook, Auth0, OIDC}

// Kinds returns every kind.
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

// TraitsOf returns the traits of a kind, and false for an unknown kind.
func TraitsOf(name string) (Traits, bool) {
	k, ok := kindOf(name)
	if !ok {
		return Traits{}, false
	}
	return k.traits(), true
}

// The response modes of package federation.
const (
	Query    = federation.Query
	FormPost = federation.FormPost
)

// ResponseModes are those of providers' answers to us, and of ours to app clients.
var ResponseModes = []string{Query, FormPost}

// DefaultResponseMode returns the response mode of a provider for which none is configured, "" for a kind that takes
// none.
func DefaultResponseMode(kind, issuer string) string {
	if kind != OIDC {
		return ""
	}
	return federation.DefaultResponseMode(issuer)
}

// AuthorizeURL returns the URL that the browser is sent to.
func (s *Set) AuthorizeURL(ctx context.Context, c Config, r Request) (string, error) {
	k, endpoint, err := s.prepare(ctx, c)
	if err != nil {
		return "", err
	}
	options := k.parameters(r)
	if c.Audience != "" { // auth0.com/docs/secure/tokens/access-tokens/get-access-tokens
		options = append(options, oauth2.SetAuthURLParam("audience", c.Audience))
	}
	return s.relyingParty(c).AuthorizeURL(endpoint, r.attempt(c), options...), nil
}

// Complete exchanges a provider's code, and returns the identity that it stands for and the provider's tokens.
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
	if token.AccessToken == "" && !k.traits().HasIDToken {
		return federation.Identity{}, Tokens{}, refusedAnswer(c, "it sent no access token")
	}
	identity, err := k.identify(ctx, s, c, exchange{r.attempt(c), answer.Issuer, token})
	if err != nil {
		return federation.Identity{}, Tokens{}, err
	}
	identity, ok := bounded(identity)
	if !ok {
		return federation.Identity{}, Tokens{}, refusedAnswer(c, "its response has no usable subject")
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
		return nil, oauth2.Endpoint{}, fmt.Errorf("providers: unknown type %q", c.Type)
	}
	endpoint, err := k.endpoint(ctx, s, c)
	return k, endpoint, err
}

// Name returns the provider's name for users.
func (c Config) Name() string { return cmp.Or(c.Label, contract.ProviderTypeLabel(c.Type)) }
