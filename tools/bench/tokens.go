package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// issuer is one of tokens, with a key of each kind that is measured.
type issuer struct {
	server *httptest.Server
	tokens map[jose.SignatureAlgorithm]string // one that every call sends
}

const tokenAudience = "bench"

func startIssuer() (*issuer, error) {
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make an RSA key: %w", err)
	}
	es, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make an ECDSA key: %w", err)
	}
	var set jose.JSONWebKeySet
	out := &issuer{tokens: map[jose.SignatureAlgorithm]string{}}
	out.server = httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(set) }),
	)
	now := time.Now()
	claims := jwt.Claims{
		Issuer:   out.server.URL,
		Audience: jwt.Audience{tokenAudience},
		Subject:  "user-1",
		IssuedAt: jwt.NewNumericDate(now),
		Expiry:   jwt.NewNumericDate(now.Add(24 * time.Hour)),
	}
	for algorithm, key := range map[jose.SignatureAlgorithm]crypto.Signer{jose.RS256: rs, jose.ES256: es} {
		set.Keys = append(set.Keys, jose.JSONWebKey{
			Key:       key.Public(),
			KeyID:     string(algorithm),
			Algorithm: string(algorithm),
			Use:       "sig",
		})
		signer, err := jose.NewSigner(jose.SigningKey{
			Algorithm: algorithm,
			Key:       key,
		}, (&jose.SignerOptions{}).WithType("at+jwt").WithHeader("kid", string(algorithm)))
		if err != nil {
			return nil, fmt.Errorf("sign with %s: %w", algorithm, err)
		}
		scope := map[string]any{"scope": "read write"}
		out.tokens[algorithm], err = jwt.Signed(signer).Claims(claims).Claims(scope).Serialize()
		if err != nil {
			return nil, fmt.Errorf("sign with %s: %w", algorithm, err)
		}
	}
	return out, nil
}

// access is the requests_auth of a project that takes the issuer's tokens.
func (i *issuer) access() map[string]any {
	pair := map[string]string{"iss": i.server.URL, "aud": tokenAudience, "jwks_url": i.server.URL}
	return map[string]any{
		"mode":    "authenticate",
		"methods": []string{"jwt"},
		"jwt":     map[string]any{"allowed_pairs": []any{pair}},
	}
}

// tokenScenario compares calls that a token lets through with those that a key
// does, both without limits. With an earlier build, each kind of token is measured on both.
func tokenScenario(
	ctx context.Context, s settings, m testbed, p, earlier *postern, target string, nginx peer,
) (scenario, error) {
	i, err := startIssuer()
	if err != nil {
		return scenario{}, err
	}
	people, err := startIdentity()
	if err != nil {
		return scenario{}, err
	}
	nginx.key = m.keys[len(m.keys)/2]
	sc := scenario{
		name:        fmt.Sprintf("JWT instead of key, forward 1 KiB, %d connections", s.connections),
		connections: s.connections,
		path:        "/orders/42",
		peers:       []peer{nginx},
		done:        func() { i.server.Close(); people.server.Close() },
	}
	own, err := tokenPeers(ctx, p, i, people, target)
	if err != nil {
		return scenario{}, err
	}
	sc.peers = append(sc.peers, own...)
	if earlier != nil {
		twins, err := tokenPeers(ctx, earlier, i, people, target)
		if err != nil {
			return scenario{}, err
		}
		for n, twin := range twins {
			twin.earlierOf, twin.name = own[n].name, twin.name+earlierSuffix
			sc.peers = append(sc.peers, twin)
		}
	}
	sc.peers = append(sc.peers, peer{name: "key", url: m.plain.url, key: m.plain.key, pids: p.pids})
	return sc, nil
}

// tokenPeers creates a project for the issuer's tokens and one with a login on p,
// and returns a peer for each kind of token.
func tokenPeers(ctx context.Context, p *postern, i *issuer, people *identity, target string) ([]peer, error) {
	made, err := p.create(ctx, "tokens", target, i.access())
	if err != nil {
		return nil, err
	}
	var out []peer
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.ES256} {
		signedIn, own, err := p.ownToken(ctx, target, people, algorithm)
		if err != nil {
			return nil, err
		}
		out = append(out,
			peer{name: string(algorithm), url: made.url, token: i.tokens[algorithm], pids: p.pids},
			peer{name: string(algorithm) + " of a login", url: signedIn.url, token: own, pids: p.pids})
	}
	return out, nil
}
