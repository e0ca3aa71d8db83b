package bearer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"

	"postern/core/diagnosis"
	"postern/platform/exactjson"
)

// The bounds of a fetch.
const (
	fetchTimeout = 5 * time.Second // for the discovery document and the key set together
	maxDocument  = 512 << 10       // bytes, of each of the two
	maxKeys      = 100
	minRSA       = 2048 // bits; shorter keys can be broken (RFC 7518, 3.3)
	maxRSA       = 8192 // bits; with longer keys, verifying costs us more than signing costs the issuer
)

// fetch returns the keys of a source. It does not end with ctx: a caller may leave while
// others still wait for the keys.
func (v *Verifier) fetch(ctx context.Context, from source) ([]*publicKey, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer stop()
	defer context.AfterFunc(v.open, stop)()
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
		return nil, fmt.Errorf("bearer: fetch the keys at %s: none of the %d keys can verify tokens", at, len(set.Keys))
	}
	return keys, nil
}

// discoveryPath is behind an issuer without its trailing slash (OpenID Connect Discovery 1.0, 4).
const discoveryPath = "/.well-known/openid-configuration"

// discover returns the URL of an issuer's keys (OpenID Connect Discovery 1.0, 4). The
// document must name the issuer (4.3), or that of another issuer could replace it.
func (v *Verifier) discover(ctx context.Context, issuer string) (jwks string, err error) {
	var document struct {
		Issuer string `json:"issuer"`
		JWKS   string `json:"jwks_uri"`
	}
	if err := v.get(ctx, strings.TrimSuffix(issuer, "/")+discoveryPath, &document); err != nil {
		return "", err
	}
	if document.Issuer != issuer {
		return "", documentErrorf("The document is from the issuer %s.", diagnosis.Quote(document.Issuer))
	}
	secure := strings.HasPrefix(document.JWKS, "https://")
	if !secure && (strings.HasPrefix(issuer, "https://") || !strings.HasPrefix(document.JWKS, "http://")) {
		return "", documentErrorf("Its jwks_uri is %s, which isn't an https URL.", diagnosis.Quote(document.JWKS))
	}
	if !isAllowedPort(document.JWKS, issuer) {
		return "", documentErrorf("Its jwks_uri is %s, whose port isn't 80, 443 or the issuer's port. To allow this "+
			"URL, set it as the issuer's jwks_url.", diagnosis.Quote(document.JWKS))
	}
	return document.JWKS, nil
}

// isAllowedPort reports whether a discovered address has the issuer's port, 80 or 443.
// The issuer's address was checked when the pair was set; the address that its
// document names was not, and must not reach further ports.
func isAllowedPort(discovered, issuer string) bool {
	u, err := url.Parse(discovered)
	if err != nil {
		return false
	}
	switch u.Port() {
	case "", "80", "443":
		return true
	}
	of, err := url.Parse(issuer)
	return err == nil && u.Port() == of.Port()
}

// get fetches a JSON document.
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
	switch status := answer.StatusCode; {
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return documentErrorf("The response is a redirect (%d), which isn't followed. Use the URL it points to.",
			status)
	case status != http.StatusOK:
		return documentErrorf("The response has status %d.", status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if err != nil {
		return err
	}
	if len(text) > maxDocument {
		return documentErrorf("The response is longer than 512 KiB.")
	}
	if err := exactjson.Unmarshal(text, into); err != nil {
		// The decoder's error may quote the response.
		return documentErrorf("The response isn't the expected JSON document.")
	}
	return nil
}

// readKeys returns the public keys of a set that can verify signatures, and skips the
// rest: a set may have keys of unknown types (RFC 7517, 5).
func readKeys(raw []json.RawMessage) []*publicKey {
	var out []*publicKey
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
