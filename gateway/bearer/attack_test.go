package bearer_test

import (
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"postern/core/policy"
	"postern/core/snapshot"
)

func TestVerify(t *testing.T) {
	rs, es, es384, ed := keyOf(jose.RS256, "r"), keyOf(jose.ES256, "e"), keyOf(jose.ES384, "e3"), keyOf(jose.EdDSA, "d")
	of := newIssuer(t, rs, es, es384, ed)
	v := newVerifier(t)
	want := policy.Token{Issuer: of.URL, Subject: "alice", Scopes: []string{"read", "write"}, Tenant: "acme"}
	ends := map[string]time.Time{"a clock behind": now.Add(time.Second), "fractions of a second": now.Add(time.Minute)}
	inAMinute := now.Add(time.Minute).Unix()
	pair := of.Pair()
	pair.Tenant = "acme"
	other := snapshot.TokenIssuer{Issuer: "https://other.example", Audience: audience}
	for name, token := range map[string]string{
		"RS256":                 rs.Sign(t, nil, of.Claims()),
		"ES256":                 es.Sign(t, nil, of.Claims()),
		"ES384":                 es384.Sign(t, nil, of.Claims()),
		"EdDSA":                 ed.Sign(t, nil, of.Claims()),
		"typ JWT":               rs.Sign(t, map[jose.HeaderKey]any{"typ": "JWT"}, of.Claims()),
		"no typ":                rs.Sign(t, map[jose.HeaderKey]any{"typ": nil}, of.Claims()),
		"application/at+jwt":    rs.Sign(t, map[jose.HeaderKey]any{"typ": "application/AT+JWT"}, of.Claims()),
		"one audience of two":   rs.Sign(t, nil, of.Claims(with("aud", []string{"x", audience}))),
		"scp as a list":         rs.Sign(t, nil, of.Claims(with("scope", nil), with("scp", []string{"read", "write"}))),
		"a clock behind":        rs.Sign(t, nil, of.Claims(with("exp", now.Add(-59*time.Second).Unix()))),
		"a clock ahead":         rs.Sign(t, nil, of.Claims(with("nbf", inAMinute), with("iat", inAMinute))),
		"fractions of a second": rs.Sign(t, nil, of.Claims(with("exp", float64(now.Unix())+0.5))),
		"no kid, one key fits":  es.Sign(t, map[jose.HeaderKey]any{"kid": nil}, of.Claims()),
		"jku and x5u, ignored": rs.Sign(t, map[jose.HeaderKey]any{
			"jku": "http://127.0.0.1:1/",
			"x5u": "http://127.0.0.1:1/",
		}, of.Claims()),
	} {
		t.Run(name, func(t *testing.T) {
			want := want
			if want.Expires = ends[name]; want.Expires.IsZero() {
				want.Expires = now.Add(time.Hour + time.Minute) // with the leeway
			}
			got, denial := verify(v, token, now, other, pair)
			wantDenial(t, "Verify", denial, accepted)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("token (-want +got):\n%s", diff)
			}
		})
	}
	if n := of.Fetches(); n != 1 {
		t.Errorf("the keys were fetched %d times, want once", n)
	}
}

// forgery is the source of forged tokens: a token that is accepted, the keys and issuers of the version, and a key that
// no issuer has published.
type forgery struct {
	rs, es, forger key
	of, partner    *issuer
	good           string
	parts          []string // of good
}

func newForgery(t *testing.T) *forgery {
	t.Helper()
	f := &forgery{rs: keyOf(jose.RS256, "r"), es: keyOf(jose.ES256, "e"), forger: keyOf(jose.RS256, "forger")}
	f.of, f.partner = newIssuer(t, f.rs, f.es), newIssuer(t, keyOf(jose.RS256, "p"))
	f.good = f.rs.Sign(t, nil, f.of.Claims())
	f.parts = strings.Split(f.good, ".")
	return f
}

func (f *forgery) signatures(t *testing.T) map[string]string {
	t.Helper()
	payload := segment(f.of.Claims())
	otherPayload := segment(f.of.Claims(with("sub", "root")))
	algNone := segment(map[string]string{"alg": "None", "kid": "r"})
	duplicateAlg := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","alg":"RS256","kid":"r"}`))
	return map[string]string{
		"alg none":                       segment(map[string]string{"alg": "none", "kid": "r"}) + "." + payload + ".",
		"alg None with a signature":      algNone + "." + payload + "." + f.parts[2],
		"no alg":                         segment(map[string]string{"kid": "r"}) + "." + payload + "." + f.parts[2],
		"HS256 with the public key, PEM": hmacToken(f.of, publicPEM(t, f.rs)),
		"HS256 with the public key, DER": hmacToken(f.of, f.rs.Private.Public().(*rsa.PublicKey).N.Bytes()),
		"RS256 under the kid of ES256":   keyAs("e", jose.RS256, f.forger).Sign(t, nil, f.of.Claims()),
		"ES256 under the kid of RS256":   keyAs("r", jose.ES256, f.es).Sign(t, nil, f.of.Claims()),
		"PS256 with a key for RS256":     keyAs("r", jose.PS256, f.rs).Sign(t, nil, f.of.Claims()),
		"duplicate alg":                  duplicateAlg + "." + f.parts[1] + "." + f.parts[2],
		"no signature":                   f.parts[0] + "." + f.parts[1] + ".",
		"half a signature":               f.parts[0] + "." + f.parts[1] + "." + f.parts[2][:40],
		"another payload":                f.parts[0] + "." + otherPayload + "." + f.parts[2],
	}
}

func (f *forgery) headers(t *testing.T) map[string]string {
	t.Helper()
	kid := func(value string) string {
		return keyAs(value, jose.RS256, f.forger).Sign(t, nil, f.of.Claims())
	}
	head := func(name jose.HeaderKey, value any) string {
		return f.rs.Sign(t, map[jose.HeaderKey]any{name: value}, f.of.Claims())
	}
	noKid := f.forger.Sign(t, map[jose.HeaderKey]any{"kid": nil}, f.of.Claims())
	return map[string]string{
		"another key, known kid":     kid("r"),
		"kid that is a path":         kid("../../../../dev/null"),
		"kid that is SQL":            kid("r' OR '1'='1"),
		"kid that is a URL":          kid("http://127.0.0.1:1/key"),
		"no kid, several keys match": noKid,
		"jwk in the header":          f.withOwnKey(t),
		"jku of the forger": f.forger.Sign(t, map[jose.HeaderKey]any{
			"jku": f.partner.URL + "/jwks.json",
			"kid": "p",
		}, f.of.Claims()),
		"crit":                  critical(f.rs, f.of),
		"b64 false":             head("b64", false),
		"typ of a logout token": head("typ", "logout+jwt"),
		"typ of a DPoP proof":   head("typ", "dpop+jwt"),
		"typ that isn't a text": head("typ", 7),
	}
}

// withOwnKey returns a token of the forger with the forger's public key in its header.
func (f *forgery) withOwnKey(t *testing.T) string {
	t.Helper()
	signingKey := jose.SigningKey{Algorithm: jose.RS256, Key: f.forger.Private}
	signer, err := jose.NewSigner(signingKey, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(mustText(f.of.Claims())))
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (f *forgery) claims(t *testing.T) map[string]string {
	t.Helper()
	claim := func(name string, value any) string { return f.rs.Sign(t, nil, f.of.Claims(with(name, value))) }
	ofPartner := f.of.Claims(with("iss", f.partner.URL), with("aud", "partner"))
	return map[string]string{
		"expired":                        claim("exp", now.Add(-time.Minute).Unix()),
		"no exp":                         claim("exp", nil),
		"exp as text":                    claim("exp", fmt.Sprint(now.Add(time.Hour).Unix())),
		"not yet":                        claim("nbf", now.Add(61*time.Second).Unix()),
		"issued in the future":           claim("iat", now.Add(time.Hour).Unix()),
		"another audience":               claim("aud", "https://api.example.com.evil.example"),
		"audience in another case":       claim("aud", "https://API.example.com"),
		"audiences without ours":         claim("aud", []string{"a", "b"}),
		"no audience":                    claim("aud", nil),
		"the audience of the other pair": claim("aud", "partner"),
		"the issuer of the other pair":   f.rs.Sign(t, nil, ofPartner),
		"an issuer in no pair":           claim("iss", "https://unknown.example"),
		"the issuer with a slash":        claim("iss", f.of.URL+"/"),
		"iss as a list":                  claim("iss", []string{f.of.URL}),
		"no sub":                         claim("sub", nil),
		"a sub with a line break":        claim("sub", "alice\r\nX-Consumer-Username: root"),
		"a sub with a NUL":               claim("sub", "alice\x00"),
		"a sub with a blank behind":      claim("sub", "alice "),
		"a sub that is not ASCII":        claim("sub", "alíce"),
		"a sub of 256 bytes":             claim("sub", strings.Repeat("a", 256)),
		"a sub that is a number":         claim("sub", 7),
		"a scope with a line break":      claim("scp", []string{"read\x01"}),
		"scopes without end":             claim("scope", strings.Repeat("scope ", 700)),
	}
}

func (f *forgery) forms(t *testing.T) map[string]string {
	t.Helper()
	duplicate := func(member string) string {
		return f.rs.Sign(t, nil, strings.Replace(mustText(f.of.Claims()), "{", "{"+member+",", 1))
	}
	serialized := fmt.Sprintf(`{"payload":"%s","protected":"%s","signature":"%s"}`, f.parts[1], f.parts[0], f.parts[2])
	return map[string]string{
		"a huge token":                   f.rs.Sign(t, nil, f.of.Claims(with("pad", strings.Repeat("a", 17<<10)))),
		"a payload that isn't an object": f.rs.Sign(t, nil, `[]`),
		"a payload that isn't JSON":      f.rs.Sign(t, nil, `alice`),
		"iss twice":                      duplicate(`"iss":"https://unknown.example"`),
		"sub twice":                      duplicate(`"sub":"root"`),
		"a name twice, inside":           duplicate(`"realm_access":{"roles":[],"roles":["admin"]}`),
		"two parts":                      f.parts[0] + "." + f.parts[1],
		"four parts":                     f.good + ".x",
		"five parts, a JWE":              encrypted(t, f.rs, f.of),
		"JSON serialization":             serialized,
		"a blank behind":                 f.good + " ",
		"a comma and another":            f.good + "," + f.good,
		"nothing":                        "",
		"an opaque token":                "gho_16C7e42F292c6912E7710c838347Ae178B4a",
	}
}

// The response to each of these is 401 invalid_token.
func TestVerify_forged(t *testing.T) {
	f := newForgery(t)
	pairs := []snapshot.TokenIssuer{f.of.Pair(), {Issuer: f.partner.URL, Audience: "partner"}}
	v := newVerifier(t)
	if _, denial := verify(v, f.good, now, pairs...); denial != accepted {
		t.Fatalf("the token that the others are derived from: %v", denial)
	}
	for subject, tokens := range map[string]map[string]string{
		"signature": f.signatures(t),
		"header":    f.headers(t),
		"claim":     f.claims(t),
		"form":      f.forms(t),
	} {
		for name, token := range tokens {
			t.Run(subject+"/"+name, func(t *testing.T) {
				if got, denial := verify(v, token, now, pairs...); denial != policy.InvalidToken {
					t.Errorf("%v, %+v", denial, got)
				}
			})
		}
	}
	if n := f.of.Fetches() + f.partner.Fetches(); n != 2 {
		t.Errorf("forged tokens had keys fetched %d times, want once for each issuer", n)
	}
}

func mustText(claims map[string]any) string {
	raw, err := base64.RawURLEncoding.DecodeString(segment(claims))
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func hmacToken(of *issuer, secret []byte) string {
	text := segment(map[string]string{"alg": "HS256", "kid": "r", "typ": "JWT"}) + "." + segment(of.Claims())
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func publicPEM(t *testing.T, k key) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(k.Private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// critical signs without the library, which refuses to write a crit that it does not support.
func critical(k key, of *issuer) string {
	head := segment(map[string]any{
		"alg":  "RS256",
		"kid":  k.ID,
		"crit": []string{"exp"},
		"exp":  1,
	})
	text := head + "." + segment(of.Claims())
	return text + "." + base64.RawURLEncoding.EncodeToString(rawSign(k, text))
}

func encrypted(t *testing.T, k key, of *issuer) string {
	t.Helper()
	encrypter, err := jose.NewEncrypter(jose.A128GCM, jose.Recipient{
		Algorithm: jose.RSA_OAEP_256,
		Key:       k.Private.Public(),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := encrypter.Encrypt([]byte(mustText(of.Claims())))
	if err != nil {
		t.Fatal(err)
	}
	text, err := sealed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
