package bearer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// The bounds of a fetch: of a discovery document and a key set together, of each of
// them in bytes, of a set in keys, and of an RSA key in bits. Below, RSA can be
// broken (RFC 7518, 3.3); above, verifying would cost us more than signing cost them.
const (
	fetchTimeout = 5 * time.Second
	maxDocument  = 512 << 10
	maxKeys      = 100
	minRSA       = 2048
	maxRSA       = 8192
)

// fetch asks a source for its keys. It has no caller: whoever waits for it may leave,
// others go on waiting.
func (v *Verifier) fetch(from source) ([]publicKey, error) {
	ctx, stop := context.WithTimeout(v.open, fetchTimeout)
	defer stop()
	at := from.jwks
	if at == "" {
		var err error
		if at, err = v.discover(ctx, from.issuer); err != nil {
			return nil, fmt.Errorf("bearer: discover %s: %w", from.issuer, err)
		}
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := v.get(ctx, at, &set); err != nil {
		return nil, fmt.Errorf("bearer: fetch the keys at %s: %w", at, err)
	}
	keys := readKeys(set.Keys)
	if len(keys) == 0 {
		return nil, fmt.Errorf("bearer: fetch the keys at %s: none of the %d can verify a token", at, len(set.Keys))
	}
	return keys, nil
}

// discover finds where an issuer's keys are (OpenID Connect Discovery 1.0, 4). The
// document has to be the issuer's own, or another's could stand in for it (4.3).
func (v *Verifier) discover(ctx context.Context, issuer string) (jwks string, err error) {
	var document struct {
		Issuer string `json:"issuer"`
		JWKS   string `json:"jwks_uri"`
	}
	if err := v.get(ctx, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", &document); err != nil {
		return "", err
	}
	if document.Issuer != issuer {
		return "", fmt.Errorf("the document is of the issuer %q", document.Issuer)
	}
	secure := strings.HasPrefix(document.JWKS, "https://")
	if !secure && (strings.HasPrefix(issuer, "https://") || !strings.HasPrefix(document.JWKS, "http://")) {
		return "", fmt.Errorf("jwks_uri is %q, which is no https address", document.JWKS)
	}
	if !besidePort(document.JWKS, issuer) {
		return "", fmt.Errorf("jwks_uri is %q, which is at another port than the issuer and not at 80 or 443: name "+
			"it as jwks_url", document.JWKS)
	}
	return document.JWKS, nil
}

// besidePort tells whether a discovered address is at the issuer's own port or one of
// the web's. Where an issuer may be was judged; what its document names was not, and
// must lead to no port that could not have been asked for.
func besidePort(at, issuer string) bool {
	there, err := url.Parse(at)
	if err != nil {
		return false
	}
	switch there.Port() {
	case "", "80", "443":
		return true
	}
	named, err := url.Parse(issuer)
	return err == nil && there.Port() == named.Port()
}

// get reads a JSON document.
func (v *Verifier) get(ctx context.Context, at string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "postern")
	answer, err := v.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if err != nil {
		return err
	}
	if len(text) > maxDocument {
		return errors.New("it answers more than 512 KiB")
	}
	return json.Unmarshal(text, into)
}

// readKeys takes the public keys of a set that can verify, and leaves out the rest:
// a set may hold keys of kinds that a reader does not know (RFC 7517, 5).
func readKeys(raw []json.RawMessage) []publicKey {
	var out []publicKey
	for _, one := range raw[:min(len(raw), maxKeys)] {
		var key jose.JSONWebKey
		if json.Unmarshal(one, &key) != nil || !key.Valid() || !key.IsPublic() || (key.Use != "" && key.Use != "sig") {
			continue
		}
		if public, err := newPublicKey(key); err == nil {
			out = append(out, public)
		}
	}
	return out
}
