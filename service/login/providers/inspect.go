package providers

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"golang.org/x/oauth2"

	"postern/core/diagnosis"
	"postern/platform/egress"
	"postern/platform/exactjson"
	"postern/platform/federation"
)

// The steps of Inspect, in their order.
const (
	stepDiscovery = "discovery"
	stepEndpoints = "endpoints" // those that the document names
	stepKeys      = "keys"
	stepClient    = "client" // client ID and secret
	stepCallback  = "callback"
)

const (
	inspectWithin = 15 * time.Second
	maxInspected  = 512 << 10 // bytes, of a document or a key set
	inventedCode  = "postern-test-of-the-client"
)

// discoverable is a kind with a discovery document.
type discoverable interface {
	// discoveredAt returns the issuer, and the name that its document must state: "" for the issuer.
	discoveredAt(s *Set, c Config) (issuer, name string)
	// endpointIn returns the kind's endpoint from its document.
	endpointIn(c Config, found *federation.Issuer) oauth2.Endpoint
}

func (custom) discoveredAt(_ *Set, c Config) (issuer, name string) { return c.Issuer, "" }

func (custom) endpointIn(c Config, found *federation.Issuer) oauth2.Endpoint {
	return found.Endpoint(c.ClientSecret != "")
}

func (auth0) discoveredAt(_ *Set, c Config) (issuer, name string) { return c.Issuer, "" }

func (auth0) endpointIn(c Config, found *federation.Issuer) oauth2.Endpoint {
	return found.Endpoint(c.ClientSecret != "")
}

func (g google) discoveredAt(s *Set, _ Config) (issuer, name string) { return g.issuer(s), "" }

func (m microsoft) discoveredAt(s *Set, c Config) (issuer, name string) {
	issuer = m.authority(s, c)
	if base, multi := m.multiTenant(issuer); multi {
		return issuer, base + "/{tenantid}/v2.0"
	}
	return issuer, ""
}

// Inspect tests a provider as far as possible without a user: its discovery document, its keys, and whether it accepts
// the client. For that it sends the token endpoint a code that was never issued. It neither reads nor writes the
// documents that are kept for sign-ins, so that a test sees the provider as it is now and changes nothing.
func (s *Set) Inspect(ctx context.Context, c Config) diagnosis.Report {
	var report diagnosis.Report
	ctx, stop := context.WithTimeout(ctx, inspectWithin)
	defer stop()
	k, ok := kindOf(c.Type)
	if !ok {
		report.Fail(stepDiscovery, "Unknown provider type %s.", diagnosis.Quote(c.Type))
		return report
	}
	endpoint, ok := s.inspectEndpoint(ctx, c, k, &report)
	if !ok {
		return report
	}
	s.inspectClient(ctx, c, k.traits(), endpoint, &report)
	report.Skip(stepCallback, "Only a sign-in shows whether the callback URL is registered. Use Test login.")
	return report
}

// inspectEndpoint returns the endpoint of the provider, for kinds with a discovery document that of the document.
func (s *Set) inspectEndpoint(
	ctx context.Context, c Config, k kind, report *diagnosis.Report,
) (endpoint oauth2.Endpoint, ok bool) {
	published, ok := k.(discoverable)
	if !ok {
		report.Skip(stepDiscovery, "%s doesn't publish a discovery document. Its endpoints are "+
			"fixed.", k.traits().Label)
		endpoint, err := k.endpoint(ctx, s, c)
		if err != nil {
			report.Fail(stepEndpoints, "%s", egress.Reason(err))
		}
		return endpoint, err == nil
	}
	found := s.inspectDocument(ctx, c, published, report)
	if found == nil || !s.inspectKeys(ctx, found.JWKSURI, report) {
		return endpoint, false
	}
	return published.endpointIn(c, found), true
}

// inspectDocument fetches and checks the discovery document as a sign-in does. It returns nil if it is refused.
func (s *Set) inspectDocument(
	ctx context.Context, c Config, k discoverable, report *diagnosis.Report,
) *federation.Issuer {
	issuer, name := k.discoveredAt(s, c)
	at := strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"
	found, err := federation.Discover(ctx, s.client(), issuer, name, policy)
	if err == nil {
		err = checkPorts(c, found)
	}
	if refused, ok := errors.AsType[federation.AnswerError](err); ok && found != nil {
		report.Pass(stepDiscovery, "The document at %s names this issuer.", at)
		report.Fail(stepEndpoints, "%s.", sentence(refused.Error()))
		return nil
	}
	if err != nil {
		report.Fail(stepDiscovery, "%s", s.whyUndiscovered(ctx, at, cmp.Or(name, issuer)))
		return nil
	}
	report.Pass(stepDiscovery, "The document at %s names this issuer.", at)
	return found
}

// whyUndiscovered fetches a document that Discover refused once more, because the error of Discover can quote it.
// Nothing but the issuer's name is used of this second answer.
func (s *Set) whyUndiscovered(ctx context.Context, at, named string) string {
	var document struct {
		Issuer string `json:"issuer"`
	}
	wrong := s.inspected(ctx, at, &document)
	switch {
	case wrong != "":
		return at + ": " + wrong
	case document.Issuer != named:
		return fmt.Sprintf("The document at %s names the issuer %s, but this provider's issuer is %s. They must "+
			"match exactly.", at,
			diagnosis.Quote(document.Issuer), named)
	}
	return at + ": The document could not be read. Test again."
}

// inspectKeys fetches the keys at an address that was checked.
func (s *Set) inspectKeys(ctx context.Context, at string, report *diagnosis.Report) bool {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if wrong := s.inspected(ctx, at, &set); wrong != "" {
		report.Fail(stepKeys, "%s: %s", at, wrong)
		return false
	}
	for _, raw := range set.Keys[:min(len(set.Keys), maxInspectedKeys)] {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") {
			report.Keys = append(report.Keys, diagnosis.Key{
				ID:        key.KeyID,
				Type:      keyType(key.Key),
				Algorithm: key.Algorithm,
			})
		}
	}
	if len(report.Keys) == 0 {
		report.Fail(stepKeys, "%s: None of the %d keys can verify ID tokens.", at, len(set.Keys))
		return false
	}
	report.Pass(stepKeys, "%d of %d keys can verify ID tokens.", len(report.Keys), len(set.Keys))
	return true
}

const maxInspectedKeys = 100

// inspected reads the JSON at an address, and returns its mistake, "" for none.
func (s *Set) inspected(ctx context.Context, at string, into any) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "This isn't a valid URL."
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "postern")
	response, err := s.HTTP.Do(request)
	if err != nil {
		return egress.Reason(err)
	}
	defer func() { _ = response.Body.Close() }()
	switch status := response.StatusCode; {
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return fmt.Sprintf("The response is a redirect (%d), which isn't followed. Use the URL it points to.",
			status)
	case status != http.StatusOK:
		return fmt.Sprintf("The response has status %d.", status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxInspected+1))
	switch {
	case err != nil:
		return egress.Reason(err)
	case len(text) > maxInspected:
		return "The response is longer than 512 KiB."
	case exactjson.Unmarshal(text, into) != nil:
		return "The response isn't the expected JSON document."
	}
	return ""
}

// inspectClient adds whether the provider accepts the client ID and secret. A token endpoint authenticates the client
// before it looks at the code (RFC 6749, 3.2.1): its error for a code that was never issued shows which one failed.
func (s *Set) inspectClient(
	ctx context.Context, c Config, traits Traits, endpoint oauth2.Endpoint, report *diagnosis.Report,
) {
	switch {
	case c.ClientID == "":
		report.Fail(stepClient, "The client ID isn't set yet.")
		return
	case traits.NeedsSecret && c.ClientSecret == "":
		report.Fail(stepClient, "The client secret isn't set yet.")
		return
	}
	attempt := Request{State: "test", Nonce: "test", Verifier: oauth2.GenerateVerifier()}.attempt(c)
	_, err := s.relyingParty(c).Exchange(ctx, endpoint, attempt, inventedCode)
	refused, ok := errors.AsType[*federation.ExchangeError](err)
	switch {
	case err == nil:
		report.Fail(stepClient, "The token endpoint issued tokens for a code that was never issued.")
	case !ok:
		if _, answered := errors.AsType[federation.AnswerError](err); answered {
			report.Warn(stepClient, "The token endpoint's response doesn't show whether it accepts the client.")
			return
		}
		report.Fail(stepClient, "Token endpoint: %s", egress.Reason(err))
	default:
		s.inspectRefusal(c, refused, report)
	}
}

func (s *Set) inspectRefusal(c Config, refused *federation.ExchangeError, report *diagnosis.Report) {
	switch refused.Code {
	case "invalid_grant", "bad_verification_code":
		what := "client ID and secret"
		if c.ClientSecret == "" {
			what = "client ID"
		}
		report.Pass(stepClient, "The provider accepts the %s. It refused only the invalid code that this test "+
			"sent.", what)
	case "invalid_client", "incorrect_client_credentials", "unauthorized_client":
		report.Fail(stepClient, "The provider refuses the client ID or secret (%s). Copy them again from the "+
			"provider's console.", refused.Code)
	case "redirect_uri_mismatch":
		report.Fail(stepClient, "The callback URL isn't registered with the provider. Register it there.")
	default:
		report.Warn(stepClient, "The token endpoint's response %d (%s) doesn't show whether it accepts the client. "+
			"Use Test login.", refused.Status, refused.Code)
	}
}

func keyType(key any) string {
	switch key := key.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d", key.N.BitLen())
	case *ecdsa.PublicKey:
		return "EC " + key.Params().Name
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return "unknown"
}

func sentence(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
