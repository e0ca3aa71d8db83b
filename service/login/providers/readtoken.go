package providers

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4/json"

	"postern/platform/exactjson"
	"postern/platform/federation"
	"postern/service/login/tokencheck"
)

// tokenClaims are claims of a JSON Web Token (RFC 7519, 4.1; RFC 9068, 2.2; OpenID
// Connect Core 1.0, 2; Microsoft's from learn.microsoft.com/entra/identity-platform/
// access-token-claims-reference), which must not be trusted before it is verified. The
// JSON decoder is case-sensitive and refuses duplicate names, of which the verifier could
// read the other one.
type tokenClaims struct {
	Type            string              `json:"-"` // typ of the header
	Issuer          string              `json:"iss"`
	Subject         string              `json:"sub"`
	Audience        tokencheck.Audience `json:"aud"`
	AuthorizedParty string              `json:"azp"`
	ClientID        string              `json:"client_id"`
	Expires         *float64            `json:"exp"`
	NotBefore       *float64            `json:"nbf"`
	Confirmation    json.RawMessage     `json:"cnf"`
	AppID           string              `json:"appid"`
	ObjectID        string              `json:"oid"`
	TenantID        string              `json:"tid"`

	PayloadType string `json:"typ"` // Keycloak's: Bearer, ID, Refresh, …
	Scope       any    `json:"scope"`
	Scopes      any    `json:"scp"` // Microsoft's and Okta's name for it
	Nonce       any    `json:"nonce"`
	AccessHash  any    `json:"at_hash"`
	CodeHash    any    `json:"c_hash"`
}

// readToken reads the claims of a JSON Web Token in compact form without verifying it, and
// reports false for an opaque token. A malformed JSON Web Token has no claims. An encrypted
// one (RFC 7516) counts if its header names an issuer, which is its only claim.
func readToken(token string) (out tokenClaims, isJWT bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 && len(parts) != 5 {
		return tokenClaims{}, false
	}
	var head struct {
		Algorithm string `json:"alg"`
		Type      string `json:"typ"`
		Issuer    string `json:"iss"`
	}
	if !readPart(parts[0], &head) || head.Algorithm == "" {
		return tokenClaims{}, false
	}
	if len(parts) == 5 {
		return tokenClaims{Issuer: head.Issuer}, head.Issuer != ""
	}
	if !readPart(parts[1], &out) {
		return tokenClaims{}, true
	}
	out.Type = strings.TrimPrefix(strings.ToLower(head.Type), "application/")
	return out, true
}

func readPart(part string, into any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && exactjson.Unmarshal(raw, into) == nil
}

// isCurrent reports whether the token is valid now. One without exp is not: if it leaked,
// it could be used for ever.
func (t tokenClaims) isCurrent() bool {
	const leeway = 60
	at := float64(time.Now().Unix())
	return t.Expires != nil && *t.Expires+leeway > at && (t.NotBefore == nil || *t.NotBefore-leeway <= at)
}

// issuedTo reports whether the token was issued to the app. The claims that name the
// requesting app take precedence over aud: another app may have requested the token.
func (t tokenClaims) issuedTo(app string) bool {
	for _, party := range []string{t.AuthorizedParty, t.ClientID, t.AppID} {
		if party != "" && party != app {
			return false
		}
	}
	return t.AuthorizedParty == app || t.ClientID == app || t.AppID == app || slices.Contains(t.Audience, app)
}

// isAccessToken reports whether the token is an access token and not an ID token, which
// the issuer signs with the same keys but which is handled with less care: it is sent as a
// hint at logout, logged, and given to clients to read.
//
// A token that states its type is of that type: by typ in its header (RFC 9068, 2.1, as
// node-oidc-provider does) or in its payload (Keycloak: Bearer or ID; keycloak.org/docs-api,
// org.keycloak.util.TokenUtil). One that states none, such as Auth0's
// (auth0.com/docs/secure/tokens/access-tokens/access-token-profiles), must have no claim
// that only ID tokens have, and either lack the app in aud, which every ID token has
// (OpenID Connect Core 1.0, 2 and 3.1.3.6), or have a scope, which no ID token has. azp and
// client_id prove nothing, because ID tokens may have both; nor does the absence of a
// nonce, because a refreshed ID token lacks it (12.2). An access token of Keycloak's with
// a nonce (org.keycloak.protocol.oidc.mappers.NonceBackwardsCompatibleMapper) states its type.
func (t tokenClaims) isAccessToken(app string) bool {
	switch {
	case t.PayloadType != "":
		return t.PayloadType == "Bearer"
	case t.Type == "at+jwt":
		return true
	case t.Nonce != nil || t.AccessHash != nil || t.CodeHash != nil:
		return false
	}
	return !slices.Contains(t.Audience, app) || t.Scope != nil || t.Scopes != nil
}

// verifyToken verifies a JSON Web Token of the issuer with its keys and returns the
// claims: of an ID token if identity is set, otherwise of an access token.
func (d discovery) verifyToken(
	ctx context.Context, s *Set, c Config, issuer, token string, identity bool,
) (tokenClaims, error) {
	out, jwt := readToken(token)
	switch {
	case !jwt || out.Issuer != issuer:
		return tokenClaims{}, fmt.Errorf("it isn't a token of this issuer: %w", tokencheck.ErrRefused)
	case out.Type != "" && out.Type != "jwt" && (identity || out.Type != "at+jwt"):
		// One example is a logout token, which is signed with the same keys (RFC 8725, 3.11).
		return tokenClaims{}, fmt.Errorf("its typ is for another kind of token: %w", tokencheck.ErrRefused)
	case !identity && !out.isAccessToken(c.ClientID):
		return tokenClaims{}, fmt.Errorf("it isn't an access token: %w", tokencheck.ErrRefused)
	case !out.issuedTo(c.ClientID), identity && !slices.Contains(out.Audience, c.ClientID):
		return tokenClaims{}, fmt.Errorf("it was issued for another app: %w", tokencheck.ErrRefused)
	case !out.isCurrent():
		return tokenClaims{}, fmt.Errorf("it has expired or isn't valid yet: %w", tokencheck.ErrRefused)
	case len(out.Confirmation) > 0:
		// The caller does not prove possession of that key (RFC 7800).
		return tokenClaims{}, fmt.Errorf("it is bound to a key: %w", tokencheck.ErrRefused)
	}
	keys := observedKeys{KeySet: d.keys}
	verifier := oidc.NewVerifier(issuer, &keys, &oidc.Config{
		SupportedSigningAlgs: federation.Algorithms,
		SkipClientIDCheck:    true,
		SkipExpiryCheck:      true,
	})
	if _, err := verifier.Verify(oidc.ClientContext(ctx, s.client()), token); err != nil {
		if keys.unavailable {
			return tokenClaims{}, fmt.Errorf("its keys can't be fetched: %w", tokencheck.ErrUnavailable)
		}
		return tokenClaims{}, fmt.Errorf("it can't be verified: %w", tokencheck.ErrRefused)
	}
	return out, nil
}

// observedKeys records whether the keys could not be fetched, which go-oidc's verifier
// reports like a wrong signature.
type observedKeys struct {
	oidc.KeySet
	unavailable bool
}

func (w *observedKeys) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := w.KeySet.VerifySignature(ctx, jwt)
	if errors.Is(err, errJustFetched) { // the keys may have come after the first lookup
		payload, err = w.KeySet.VerifySignature(ctx, jwt)
	}
	w.unavailable = err != nil && strings.HasPrefix(err.Error(), "fetching keys") && !errors.Is(err, errJustFetched)
	return payload, err
}
