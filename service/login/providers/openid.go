package providers

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"postern/platform/egress"
)

// algorithms are those an ID token may be signed with. None and the symmetric ones
// are not among them: with those, whoever knows the public key or the client
// secret could sign.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// discoveryTTL is how long a discovery document is taken to hold. Keys are not
// bound to it: an unknown key id makes go-oidc ask for them anew, as far as keysEvery
// lets it.
const discoveryTTL = 10 * time.Minute

// retryDiscovery is how long a document that could not be had is not asked for again: a
// provider that is away is asked about by every call, and people who set one up try
// again.
const retryDiscovery = 3 * time.Second

// maxDiscovered bounds how many documents are remembered; customers name issuers.
const maxDiscovered = 1000

type discovery struct {
	provider   *oidc.Provider
	signInKeys oidc.KeySet // those of provider, for ID tokens of sign-ins
	keys       oidc.KeySet // the same for tokens that calls present, fetched once in keysEvery
	more       metadata
	until      time.Time
}

// metadata is what we read of a discovery document beside go-oidc.
type metadata struct {
	Issuer      string   `json:"issuer"`
	SendsIssuer bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207, 3
	AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	Keys        string   `json:"jwks_uri"`

	Introspection        string   `json:"introspection_endpoint"` // RFC 8414, 2
	IntrospectionMethods []string `json:"introspection_endpoint_auth_methods_supported"`
}

// discover reads an issuer's document (OpenID Connect Discovery 1.0, 4). names is
// the issuer that the document has to name, where that is not the one asked.
func (s *Set) discover(ctx context.Context, c Config, issuer, names string) (discovery, error) {
	found, err := s.document(ctx, c, issuer, names)
	if err == nil && c.WebPorts && slices.ContainsFunc(found.endpoints(), isOddPort) {
		return discovery{}, wrongAnswer(c, "its discovery document names an endpoint on another port than 80 and "+
			"443, which takes that somebody claims the proxy")
	}
	return found, err
}

// endpoints lists every address that the document has us ask or send people to.
func (d discovery) endpoints() []string {
	endpoint := d.provider.Endpoint()
	return append(
		[]string{endpoint.AuthURL, endpoint.TokenURL, d.more.Keys},
		optional(d.provider.UserInfoEndpoint(), d.more.Introspection)...)
}

func isOddPort(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err != nil || !egress.IsWebPort(u)
}

// undiscovered is why a document could not be had a moment ago.
type undiscovered struct {
	err   error
	until time.Time
}

// document is discover for whoever may be asked on any port: it is remembered for
// all who name the issuer, whatever each of them may.
func (s *Set) document(ctx context.Context, c Config, issuer, names string) (discovery, error) {
	missed := c.Type + " " + issuer // its error names the kind
	s.mu.Lock()
	known, ok := s.discovered[issuer]
	failed, recently := s.undiscovered[missed]
	s.mu.Unlock()
	switch {
	case ok && time.Now().Before(known.until):
		return known, nil
	case recently && time.Now().Before(failed.until):
		return discovery{}, failed.err
	}
	found, err := s.fetchDocument(ctx, c, issuer, names)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.undiscovered == nil || len(s.undiscovered) >= maxDiscovered {
			s.undiscovered = map[string]undiscovered{}
		}
		s.undiscovered[missed] = undiscovered{err, time.Now().Add(retryDiscovery)}
	}
	return found, err
}

func (s *Set) fetchDocument(ctx context.Context, c Config, issuer, names string) (discovery, error) {
	// What is remembered must outlive this request.
	ask := oidc.ClientContext(context.WithoutCancel(ctx), s.client())
	if names != "" {
		ask = oidc.InsecureIssuerURLContext(ask, names)
	}
	bounded, stop := context.WithTimeout(ask, discoveryWithin)
	defer stop()
	provider, err := oidc.NewProvider(bounded, issuer)
	if err != nil {
		// Its text can hold the whole document.
		return discovery{}, unreachable(c, fmt.Errorf("discovery: %.200s", withoutURL(err).Error()))
	}
	found := discovery{provider: provider, until: time.Now().Add(discoveryTTL)}
	if err := provider.Claims(&found.more); err != nil {
		return discovery{}, unreachable(c, fmt.Errorf("discovery: %w", err))
	}
	if names != "" && found.more.Issuer != names { // which go-oidc leaves to whoever names another
		return discovery{}, wrongAnswer(c, "its discovery document is another issuer's")
	}
	for _, endpoint := range found.endpoints() {
		if !asSafeAs(endpoint, issuer) {
			return discovery{}, wrongAnswer(c, "its discovery document names an endpoint without https")
		}
	}
	found.signInKeys = oidc.NewRemoteKeySet(oidc.ClientContext(ask, s.keyClient()), found.more.Keys)
	found.keys = oidc.NewRemoteKeySet(oidc.ClientContext(ask, s.seldom()), found.more.Keys)
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, ok := s.discovered[issuer]; ok && time.Now().Before(first.until) {
		return first, nil // calls that came at once share its keys, and how often they are fetched
	}
	if s.discovered == nil || len(s.discovered) >= maxDiscovered {
		s.discovered = map[string]discovery{}
	}
	s.discovered[issuer] = found
	return found, nil
}

// optional leaves out what there is not.
func optional(endpoints ...string) []string {
	return slices.DeleteFunc(endpoints, func(e string) bool { return e == "" })
}

// asSafeAs asks for https, or http where the issuer itself has no better.
func asSafeAs(endpoint, issuer string) bool {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return false
	}
	asked, err := url.Parse(issuer)
	return u.Scheme == "https" || (err == nil && u.Scheme == "http" && asked.Scheme == "http")
}

// endpoint tells golang.org/x/oauth2 how the client says who it is, so that it does
// not try one way after the other with a code that can be used once.
func (d discovery) endpoint(c Config) oauth2.Endpoint {
	endpoint := d.provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // client_secret_basic, the default (Discovery, 3)
	if c.ClientSecret == "" ||
		(len(d.more.AuthMethods) > 0 && !slices.Contains(d.more.AuthMethods, "client_secret_basic")) {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return endpoint
}

// claims is what an ID token or userinfo may tell.
type claims struct {
	Subject         string `json:"sub"`
	AuthorizedParty string `json:"azp"`
	Email           string `json:"email"`
	EmailVerified   any    `json:"email_verified"` // some send "true"
	Name            string `json:"name"`
	Username        string `json:"preferred_username"`
	ObjectID        string `json:"oid"` // Microsoft's, as is the next
	TenantID        string `json:"tid"`
}

func (c claims) verified() bool { return c.EmailVerified == true || c.EmailVerified == "true" }

func (c claims) name() string {
	if c.Name != "" {
		return c.Name
	}
	return c.Username
}

// idToken verifies the ID token of an exchange (OpenID Connect Core 1.0, 3.1.3.7).
func (d discovery) idToken(
	ctx context.Context, s *Set, c Config, r Request, answer Callback, token *oauth2.Token, skipIssuer bool,
) (claims, string, error) {
	var found claims
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return found, "", wrongAnswer(c, "it gives no ID token")
	}
	verifier := oidc.NewVerifier(d.more.Issuer, d.signInKeys,
		&oidc.Config{ClientID: c.ClientID, SupportedSigningAlgs: algorithms, SkipIssuerCheck: skipIssuer})
	verified, err := verifier.Verify(oidc.ClientContext(ctx, s.client()), raw)
	if err != nil {
		return found, "", wrongAnswer(c, fmt.Sprintf("its ID token does not verify: %.200s", withoutURL(err).Error()))
	}
	if err := verified.Claims(&found); err != nil {
		return found, "", wrongAnswer(c, "its ID token cannot be read")
	}
	switch {
	case verified.Nonce != r.Nonce:
		return found, "", wrongAnswer(c, "its ID token has another nonce")
	case len(verified.Audience) > 1 && found.AuthorizedParty != c.ClientID,
		found.AuthorizedParty != "" && found.AuthorizedParty != c.ClientID:
		return found, "", wrongAnswer(c, "its ID token was made for another client")
	case verified.AccessTokenHash != "" && verified.VerifyAccessToken(token.AccessToken) != nil:
		return found, "", wrongAnswer(c, "its ID token belongs to another access token")
	case answer.Issuer != "" && answer.Issuer != verified.Issuer, answer.Issuer == "" && d.more.SendsIssuer:
		return found, "", wrongAnswer(c, "it answers as another issuer")
	}
	return found, verified.Issuer, nil
}

// person completes the claims of an ID token with those of userinfo, where the
// token itself does not tell the address.
func (d discovery) person(ctx context.Context, s *Set, c Config, found claims, token *oauth2.Token) (Person, error) {
	if found.Email == "" && d.provider.UserInfoEndpoint() != "" && slices.Contains(c.Scopes, "email") {
		var more claims
		if err := s.getJSON(ctx, d.provider.UserInfoEndpoint(), token.AccessToken, &more); err != nil {
			return Person{}, askFault(c, err)
		}
		if more.Subject != found.Subject { // Core, 5.3.2
			return Person{}, wrongAnswer(c, "userinfo is about somebody else")
		}
		found.Email, found.EmailVerified = more.Email, more.EmailVerified
		if found.name() == "" {
			found.Name = more.name()
		}
	}
	return Person{Subject: found.Subject, Email: found.Email, EmailVerified: found.verified(), Name: found.name()}, nil
}

// openID is what the kinds with a plain discovery document share.
func openIDEndpoint(ctx context.Context, s *Set, c Config, issuer string) (oauth2.Endpoint, error) {
	found, err := s.discover(ctx, c, issuer, "")
	if err != nil {
		return oauth2.Endpoint{}, err
	}
	return found.endpoint(c), nil
}

func openIDPerson(
	ctx context.Context, s *Set, c Config, issuer string, r Request, answer Callback, token *oauth2.Token,
) (Person, error) {
	found, err := s.discover(ctx, c, issuer, "")
	if err != nil {
		return Person{}, err
	}
	claims, _, err := found.idToken(ctx, s, c, r, answer, token, false)
	if err != nil {
		return Person{}, err
	}
	person, err := found.person(ctx, s, c, claims, token)
	person.Issuer = issuer
	return person, err
}
