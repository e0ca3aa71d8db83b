package providers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"postern/core/snapshot"
	"postern/platform/egress"
	"postern/platform/federation"
)

// discoveryTTL is how long a discovery document is kept. Keys are fetched again earlier:
// go-oidc does so for an unknown key id, as often as keysEvery allows.
const discoveryTTL = 10 * time.Minute

// retryDiscovery is how long a document that could not be read is not asked for again:
// every call asks for it, and so do people who set a provider up.
const retryDiscovery = 3 * time.Second

// maxDiscovered bounds how many documents are kept; customers name issuers.
const maxDiscovered = 1000

// discovery is an issuer's document as it is kept.
type discovery struct {
	*federation.Issuer
	keys  oidc.KeySet // for tokens that calls present: fetched once in keysEvery
	until time.Time
}

// failedDiscovery is why a document could not be read a moment ago.
type failedDiscovery struct {
	err   error
	until time.Time
}

// discover returns an issuer's document (OpenID Connect Discovery 1.0, 4). name is the issuer that the document must
// state, "" for the one that is contacted.
func (s *Set) discover(ctx context.Context, c Config, issuer, name string) (discovery, error) {
	found, err := s.document(ctx, c, issuer, name)
	if err != nil {
		return discovery{}, err
	}
	if err := checkPorts(c, found.Issuer); err != nil {
		return discovery{}, faultOf(c, err)
	}
	return found, nil
}

// Endpoints returns what the discovery document of a provider says, nil for kinds whose endpoints are fixed and where
// it can't be read. After a sign-in nothing is fetched.
func (s *Set) Endpoints(ctx context.Context, c Config) *snapshot.ProviderEndpoints {
	if c.Type != OIDC && c.Type != Auth0 {
		return nil
	}
	found, err := s.discover(ctx, c, c.Issuer, "")
	if err != nil {
		return nil
	}
	at := found.Endpoint(c.ClientSecret != "")
	return &snapshot.ProviderEndpoints{
		Authorization: at.AuthURL,
		Token:         at.TokenURL,
		UserInfo:      found.UserInfo,
		JWKS:          found.JWKSURI,
		EndSession:    found.EndSession,
	}
}

// checkPorts returns an AnswerError for a document with an endpoint on another port than 80 and 443 if the
// configuration allows only these.
func checkPorts(c Config, found *federation.Issuer) error {
	if c.WebPorts && slices.ContainsFunc(found.Endpoints(), isOddPort) {
		return federation.AnswerError("its discovery document names an endpoint on a port other than 80 and 443, " +
			"which isn't allowed until the proxy is claimed")
	}
	return nil
}

// EndSessionURL returns the address at which a user signs out of the provider itself (OpenID Connect RP-Initiated
// Logout 1.0, 2), "" if it publishes none. Providers return people only to addresses that are registered with them as
// well, so that it names none.
func (s *Set) EndSessionURL(ctx context.Context, c Config) (string, error) {
	k, _ := kindOf(c.Type)
	published, ok := k.(discoverable)
	if !ok {
		return "", nil
	}
	issuer, name := published.discoveredAt(s, c)
	found, err := s.discover(ctx, c, issuer, name)
	if err != nil || found.EndSession == "" || c.WebPorts && isOddPort(found.EndSession) {
		return "", err
	}
	u, err := url.Parse(found.EndSession)
	if err != nil {
		return "", fmt.Errorf("providers: the end session endpoint of %s: %w", c.Type, err)
	}
	query := u.Query()
	query.Set("client_id", c.ClientID)
	u.RawQuery = query.Encode()
	return u.String(), nil
}

func isOddPort(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err != nil || !egress.IsWebPort(u)
}

// document is discover without the rule on ports: what is kept is shared by all clients
// that name the issuer, with and without that rule.
func (s *Set) document(ctx context.Context, c Config, issuer, name string) (discovery, error) {
	failedKey := c.Type + " " + issuer // the error names the kind
	s.mu.Lock()
	kept, ok := s.discovered[issuer]
	failed, hasFailed := s.failed[failedKey]
	s.mu.Unlock()
	switch {
	case ok && time.Now().Before(kept.until):
		return kept, nil
	case hasFailed && time.Now().Before(failed.until):
		return discovery{}, failed.err
	}
	found, err := federation.Discover(ctx, s.client(), issuer, name, policy)
	if err != nil {
		err = faultOf(c, err)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.failed == nil || len(s.failed) >= maxDiscovered {
			s.failed = map[string]failedDiscovery{}
		}
		s.failed[failedKey] = failedDiscovery{err, time.Now().Add(retryDiscovery)}
		return discovery{}, err
	}
	return s.keep(issuer, found), nil
}

// keep remembers a document. Concurrent calls all get the first one's, and so share its keys and how often these are
// fetched.
func (s *Set) keep(issuer string, found *federation.Issuer) discovery {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, ok := s.discovered[issuer]; ok && time.Now().Before(first.until) {
		return first
	}
	if s.discovered == nil || len(s.discovered) >= maxDiscovered {
		s.discovered = map[string]discovery{}
	}
	keys := federation.NewKeySet(s.limitedKeyClient(), found.JWKSURI, s.now)
	out := discovery{found, keys, time.Now().Add(discoveryTTL)}
	s.discovered[issuer] = out
	return out
}

// policy is that of every kind, but for Microsoft's tenants; see federation.Policy.
var policy = federation.Policy{UsernameAsName: true}

// client is the guarded one with a bound for answers.
func (s *Set) client() *http.Client { return federation.Bounded(s.HTTP) }

// relyingParty returns the app that the configuration describes.
func (s *Set) relyingParty(c Config) *federation.Client {
	scopes := c.Scopes
	if c.Type == GitHub {
		scopes = federation.GitHubScopes(scopes, c.Claims)
	}
	return &federation.Client{
		HTTP:   s.client(),
		ID:     c.ClientID,
		Secret: c.ClientSecret,
		Scopes: scopes,
		Policy: policy,

		ResponseMode: c.ResponseMode,
		KeepsProfile: true,

		Claims:    c.Claims,
		AllClaims: c.AllClaims,
	}
}

// openIDEndpoint and openIDIdentify are those of kinds with a plain discovery document.
func openIDEndpoint(ctx context.Context, s *Set, c Config, issuer string) (oauth2.Endpoint, error) {
	found, err := s.discover(ctx, c, issuer, "")
	if err != nil {
		return oauth2.Endpoint{}, err
	}
	return found.Endpoint(c.ClientSecret != ""), nil
}

func openIDIdentify(ctx context.Context, s *Set, c Config, issuer string, e exchange) (federation.Identity, error) {
	identity, _, err := openIDClaims(ctx, s, c, issuer, e)
	identity.Domain = declared(c, identity)
	return identity, err
}

// openIDClaims is openIDIdentify without Domain, and with the claims of the ID token.
func openIDClaims(
	ctx context.Context, s *Set, c Config, issuer string, e exchange,
) (federation.Identity, federation.Claims, error) {
	found, err := s.discover(ctx, c, issuer, "")
	if err != nil {
		return federation.Identity{}, federation.Claims{}, err
	}
	client := s.relyingParty(c)
	claims, err := client.Verify(ctx, found.Issuer, e.attempt, e.iss, e.token)
	if err != nil {
		return federation.Identity{}, federation.Claims{}, faultOf(c, err)
	}
	identity, err := client.Identify(ctx, found.Issuer, claims, e.token)
	if err != nil {
		return federation.Identity{}, federation.Claims{}, faultOf(c, err)
	}
	identity.Issuer = issuer
	return identity, claims, nil
}
