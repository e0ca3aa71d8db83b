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

	"postern/platform/federation"
	"postern/service/login/tokencheck"
)

// said is what a JSON Web Token says (RFC 7519, 4.1; RFC 9068, 2.2; OpenID Connect
// Core 1.0, 2; Microsoft's from learn.microsoft.com/entra/identity-platform/
// access-token-claims-reference), which nobody vouches for before it is verified.
// The reader takes member names byte by byte and refuses one that comes twice:
// whoever verifies might take the other.
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

// readToken tells a JSON Web Token in the compact form apart from an opaque one, and
// reads it. One that cannot be read says nothing, and is no opaque one for that. Of
// an encrypted one (RFC 7516) that names an issuer, that is all there is to read.
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
	return err == nil && json.Unmarshal(raw, into) == nil
}

// now tells whether it is within the token's time. One without an end is not: who
// finds it could use it for ever.
func (t tokenClaims) isCurrent() bool {
	const leeway = 60
	at := float64(time.Now().Unix())
	return t.Expires != nil && *t.Expires+leeway > at && (t.NotBefore == nil || *t.NotBefore-leeway <= at)
}

// of tells whether the token was issued for the app. What names the app that asked
// counts more than for whom it is: another app may have asked for one for this one.
func (t tokenClaims) issuedTo(app string) bool {
	for _, party := range []string{t.AuthorizedParty, t.ClientID, t.AppID} {
		if party != "" && party != app {
			return false
		}
	}
	return t.AuthorizedParty == app || t.ClientID == app || t.AppID == app || slices.Contains(t.Audience, app)
}

// access tells whether it is an access token. An issuer signs its ID tokens with the
// same keys, and they go where access tokens never do: into the hints of logouts, into
// logs, to whoever asks who signed in.
//
// A token that says what it is, is that: by the typ of its header (RFC 9068, 2.1, as
// node-oidc-provider writes it) or, as Keycloak does, by that of its payload, whose ID
// tokens say ID (keycloak.org/docs-api, org.keycloak.util.TokenUtil). What says nothing, such as Auth0's
// (auth0.com/docs/secure/tokens/access-tokens/access-token-profiles), must have nothing
// that only ID tokens have, and either leave out what each of those has, the app among
// its aud (OpenID Connect Core 1.0, 2 and 3.1.3.6), or say a scope, which none of them
// has. That azp or client_id are the app's tells nothing: ID tokens may have both. A nonce
// alone tells nothing either: a refreshed ID token has none (12.2), and an access token
// of Keycloak's can have one (org.keycloak.protocol.oidc.mappers.NonceBackwardsCompatibleMapper).
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

// signed verifies a JSON Web Token with the issuer's keys and reads it: an ID token,
// or an access token where identity is false. issuer is what it has to name.
func (d discovery) verifyToken(ctx context.Context, s *Set, c Config, issuer, token string, identity bool) (tokenClaims, error) {
	out, jwt := readToken(token)
	switch {
	case !jwt || out.Issuer != issuer:
		return tokenClaims{}, fmt.Errorf("it is no token of this issuer: %w", tokencheck.ErrRefused)
	case out.Type != "" && out.Type != "jwt" && (identity || out.Type != "at+jwt"):
		return tokenClaims{}, fmt.Errorf(
			"it says that it is something else: %w", tokencheck.ErrRefused,
		) // such as a logout token, signed with the same keys (RFC 8725, 3.11)
	case !identity && !out.isAccessToken(c.ClientID):
		return tokenClaims{}, fmt.Errorf("it is no access token: %w", tokencheck.ErrRefused)
	case !out.issuedTo(c.ClientID), identity && !slices.Contains(out.Audience, c.ClientID):
		return tokenClaims{}, fmt.Errorf("it was issued for another app: %w", tokencheck.ErrRefused)
	case !out.isCurrent():
		return tokenClaims{}, fmt.Errorf("it is not its time: %w", tokencheck.ErrRefused)
	case len(out.Confirmation) > 0:
		return tokenClaims{}, fmt.Errorf(
			"it is bound to a key of whoever got it: %w", tokencheck.ErrRefused,
		) // which is not proved to us (RFC 7800)
	}
	keys := observedKeys{KeySet: d.keys}
	verifier := oidc.NewVerifier(issuer, &keys, &oidc.Config{
		SupportedSigningAlgs: federation.Algorithms,
		SkipClientIDCheck:    true,
		SkipExpiryCheck:      true,
	})
	if _, err := verifier.Verify(oidc.ClientContext(ctx, s.client()), token); err != nil {
		if keys.unavailable {
			return tokenClaims{}, fmt.Errorf("its keys cannot be had: %w", tokencheck.ErrUnavailable)
		}
		return tokenClaims{}, fmt.Errorf("it does not verify: %w", tokencheck.ErrRefused)
	}
	return out, nil
}

// observedKeys notes whether keys could not be had, which go-oidc's verifier does not tell
// apart from a bad signature.
type observedKeys struct {
	oidc.KeySet
	unavailable bool
}

func (w *observedKeys) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := w.KeySet.VerifySignature(ctx, jwt)
	if errors.Is(err, errJustFetched) { // they may have come after the key set had looked for them
		payload, err = w.KeySet.VerifySignature(ctx, jwt)
	}
	w.unavailable = err != nil && strings.HasPrefix(err.Error(), "fetching keys") && !errors.Is(err, errJustFetched)
	return payload, err
}
