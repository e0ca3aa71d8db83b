package providers

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"postern/core/diagnosis"
	"postern/platform/egress"
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

// discoverable is a kind with a discovery document. named is the issuer that the document must state.
type discoverable interface {
	discoveredAt(s *Set, c Config) (issuer, named string)
}

func (custom) discoveredAt(_ *Set, c Config) (issuer, named string) { return c.Issuer, c.Issuer }

func (auth0) discoveredAt(_ *Set, c Config) (issuer, named string) { return c.Issuer, c.Issuer }

func (g google) discoveredAt(s *Set, _ Config) (issuer, named string) {
	return g.issuer(s), g.issuer(s)
}

func (m microsoft) discoveredAt(s *Set, c Config) (issuer, named string) {
	issuer = m.authority(s, c)
	if base, multi := m.multiTenant(issuer); multi {
		return issuer, base + "/{tenantid}/v2.0"
	}
	return issuer, issuer
}

// Inspect tries what can be tried of a provider without a user who signs in: its discovery document, its keys, and
// whether it knows the client. For that it sends the token endpoint a code that was never issued.
func (s *Set) Inspect(ctx context.Context, c Config) diagnosis.Report {
	var report diagnosis.Report
	ctx, stop := context.WithTimeout(ctx, inspectWithin)
	defer stop()
	k, ok := kindOf(c.Type)
	if !ok {
		report.Fail(stepDiscovery, "There is no kind of provider %s.", diagnosis.Quote(c.Type))
		return report
	}
	if published, ok := k.(discoverable); !ok {
		report.Skip(stepDiscovery, "%s has no discovery document; its addresses are known.", k.traits().Label)
	} else if !s.inspectDocument(ctx, c, published, &report) {
		return report
	}
	endpoint, err := k.endpoint(ctx, s, c)
	if err != nil {
		report.Fail(stepEndpoints, "%s.", sentence(causeOf(err)))
		return report
	}
	s.inspectClient(ctx, c, k.traits(), endpoint, &report)
	report.Skip(stepCallback, "Whether the provider knows the callback URL shows only when a user signs in: use Test "+
		"login.")
	return report
}

// inspectDocument fetches the discovery document and the keys, whatever is cached.
func (s *Set) inspectDocument(ctx context.Context, c Config, k discoverable, report *diagnosis.Report) bool {
	issuer, named := k.discoveredAt(s, c)
	at := strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"
	var document struct {
		Issuer string `json:"issuer"`
		JWKS   string `json:"jwks_uri"`
	}
	if wrong := s.inspected(ctx, at, &document); wrong != "" {
		report.Fail(stepDiscovery, "%s: %s", at, wrong)
		return false
	}
	if document.Issuer != named {
		report.Fail(stepDiscovery, "%s is of the issuer %s, not %s; every character counts.", at,
			diagnosis.Quote(document.Issuer), named)
		return false
	}
	report.Pass(stepDiscovery, "%s names this issuer.", at)
	if _, err := s.discover(ctx, c, issuer, otherThan(named, issuer)); err != nil {
		report.Fail(stepEndpoints, "%s.", sentence(causeOf(err)))
		return false
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if wrong := s.inspected(ctx, document.JWKS, &set); wrong != "" {
		report.Fail(stepKeys, "%s: %s", document.JWKS, wrong)
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
		report.Fail(stepKeys, "%s: None of the %d keys can verify ID tokens.", document.JWKS, len(set.Keys))
		return false
	}
	report.Pass(stepKeys, "%d of %d keys can verify ID tokens.", len(report.Keys), len(set.Keys))
	return true
}

const maxInspectedKeys = 100

// otherThan returns the name that discover is given: "" where the document must state the issuer that is asked.
func otherThan(named, issuer string) string {
	if named == issuer {
		return ""
	}
	return named
}

// inspected reads the JSON at an address, and returns what is wrong with it, "" if nothing is.
func (s *Set) inspected(ctx context.Context, at string, into any) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "This is no address that can be fetched."
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "postern")
	response, err := s.HTTP.Do(request) //nolint:gosec // the client is the egress guard's
	if err != nil {
		return egress.Reason(err)
	}
	defer func() { _ = response.Body.Close() }()
	switch status := response.StatusCode; {
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return fmt.Sprintf("The answer is %d, a redirect, which is not followed. Use the address that it leads to.",
			status)
	case status != http.StatusOK:
		return fmt.Sprintf("The answer is %d.", status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxInspected+1))
	switch {
	case err != nil:
		return egress.Reason(err)
	case len(text) > maxInspected:
		return "The answer is longer than 512 KiB."
	case json.Unmarshal(text, into) != nil:
		return "The answer is not the JSON document that is expected here."
	}
	return ""
}

// inspectClient reports whether the provider knows the client. A token endpoint authenticates the client before it
// looks at the code (RFC 6749, 3.2.1), so what it says of a code that was never issued tells.
func (s *Set) inspectClient(
	ctx context.Context, c Config, traits Traits, endpoint oauth2.Endpoint, report *diagnosis.Report,
) {
	switch {
	case c.ClientID == "":
		report.Fail(stepClient, "There is no client ID yet.")
		return
	case traits.NeedsSecret && c.ClientSecret == "":
		report.Fail(stepClient, "There is no client secret yet.")
		return
	}
	attempt := Request{State: "test", Nonce: "test", Verifier: oauth2.GenerateVerifier()}.attempt(c)
	_, err := s.relyingParty(c).Exchange(ctx, endpoint, attempt, inventedCode)
	refused, ok := errors.AsType[*federation.ExchangeError](err)
	switch {
	case err == nil:
		report.Fail(stepClient, "The token endpoint gave tokens for a code that was never issued.")
	case !ok:
		if _, answered := errors.AsType[federation.AnswerError](err); answered {
			report.Warn(stepClient, "The token endpoint's answer does not tell whether it knows the client.")
			return
		}
		report.Fail(stepClient, "The token endpoint: %s", egress.Reason(err))
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
		report.Pass(stepClient, "The provider knows the %s: it refused only the code of this test.", what)
	case "invalid_client", "incorrect_client_credentials", "unauthorized_client":
		report.Fail(stepClient, "The provider refuses client ID or secret (%s). Paste them again from the provider's "+
			"console.", refused.Code)
	case "redirect_uri_mismatch":
		report.Fail(stepClient, "The provider does not know the callback URL of this provider. Register it there.")
	default:
		report.Warn(stepClient, "The token endpoint answers %d (%s), which does not tell whether it knows the "+
			"client. Use Test login.", refused.Status, refused.Code)
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

// causeOf returns why a fault of this package was made. Its causes name no addresses.
func causeOf(err error) string {
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	_, text, found := strings.Cut(err.Error(), ": ")
	if !found {
		text = err.Error()
	}
	return text
}

func sentence(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
