package federated_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"postern/platform/config"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/accounts/federated"
	"postern/testkit"
)

// issuer is one that answers what a test wants of it.
type issuer struct {
	*httptest.Server
	key     *rsa.PrivateKey
	idToken func(claims map[string]any) string
	claims  map[string]any // over the usual ones
	moves   string         // where the token endpoint redirects to
}

const clientID = "postern"

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key}
	i.idToken = func(claims map[string]any) string { return signed(t, jose.RS256, key, "1", claims) }
	mux := http.NewServeMux()
	answer := func(path string, body func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if path == "/token" && i.moves != "" {
				http.Redirect(w, r, i.moves, http.StatusTemporaryRedirect)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(body())
		})
	}
	answer("/.well-known/openid-configuration", func() any {
		return map[string]any{
			"issuer":                                i.URL,
			"authorization_endpoint":                i.URL + "/auth",
			"token_endpoint":                        i.URL + "/token",
			"jwks_uri":                              i.URL + "/jwks",
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
			"authorization_response_iss_parameter_supported": true,
		}
	})
	answer("/jwks", func() any {
		return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{
			Key:       key.Public(),
			KeyID:     "1",
			Algorithm: "RS256",
			Use:       "sig",
		}}}
	})
	answer("/token", func() any {
		claims := map[string]any{
			"iss":            i.URL,
			"sub":            "vic",
			"aud":            clientID,
			"exp":            time.Now().Add(time.Hour).Unix(),
			"iat":            time.Now().Unix(),
			"nonce":          attempt.Nonce,
			"email":          "vic@example.com",
			"email_verified": true,
		}
		maps.Copy(claims, i.claims)
		return map[string]any{"access_token": "at", "token_type": "Bearer", "id_token": i.idToken(claims)}
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func signed(t *testing.T, algorithm jose.SignatureAlgorithm, key any, kid string, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: algorithm,
		Key:       key,
	}, (&jose.SignerOptions{}).WithHeader("kid", kid))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	object, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var attempt = federation.Attempt{
	State:       "state",
	Nonce:       "nonce",
	Verifier:    "verifier-verifier-verifier-verifier-verifier",
	RedirectURL: "http://127.0.0.1/callback",
}

// complete judges the answer that the usual query gets, changed by a test.
func (i *issuer) complete(t *testing.T, change func(url.Values)) (federation.Identity, error) {
	t.Helper()
	p := federated.FromConfig(config.SignIn{OIDC: config.OIDC{
		Issuer:       i.URL,
		ClientID:     clientID,
		ClientSecret: "s3cret",
		Name:         "Example ID",
	}})[0]
	query := url.Values{"state": {attempt.State}, "code": {"c"}, "iss": {i.URL}}
	if change != nil {
		change(query)
	}
	return p.Complete(t.Context(), attempt, query)
}

func unsigned(claims map[string]any) string {
	payload, _ := json.Marshal(claims)
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none"}`)) + "." + encode(payload) + "."
}

var forgeries = map[string]struct {
	prepare func(*testing.T, *issuer)
	change  func(url.Values)
}{
	"another nonce": {
		prepare: func(_ *testing.T, i *issuer) { i.claims = map[string]any{"nonce": "other"} },
	},
	"no nonce": {
		prepare: func(_ *testing.T, i *issuer) { i.claims = map[string]any{"nonce": nil} },
	},
	"another audience": {
		prepare: func(_ *testing.T, i *issuer) { i.claims = map[string]any{"aud": "other"} },
	},
	"another issuer's token": {
		prepare: func(_ *testing.T, i *issuer) { i.claims = map[string]any{"iss": "https://evil.example"} },
	},
	"many audiences, no azp": {
		prepare: func(_ *testing.T, i *issuer) { i.claims = map[string]any{"aud": []string{clientID, "other"}} },
	},
	"another authorized party": {
		prepare: func(_ *testing.T, i *issuer) { i.claims = map[string]any{"azp": "other"} },
	},
	"expired": {
		prepare: func(_ *testing.T, i *issuer) {
			i.claims = map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}
		},
	},
	"no subject": {prepare: func(_ *testing.T, i *issuer) { i.claims = map[string]any{"sub": ""} }},
	"another access token": {
		prepare: func(_ *testing.T, i *issuer) { i.claims = map[string]any{"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"} },
	},
	"alg none": {prepare: func(_ *testing.T, i *issuer) { i.idToken = unsigned }},
	"HS256 with the public key": {prepare: func(t *testing.T, i *issuer) {
		der, err := x509.MarshalPKIXPublicKey(i.key.Public())
		if err != nil {
			t.Fatal(err)
		}
		public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		i.idToken = func(claims map[string]any) string { return signed(t, jose.HS256, public, "1", claims) }
	}},
	"HS256 with the client secret": {prepare: func(t *testing.T, i *issuer) {
		i.idToken = func(claims map[string]any) string {
			return signed(t, jose.HS256, []byte("s3cret-s3cret-s3cret-s3cret-s3cret"), "1", claims)
		}
	}},
	"an unknown key": {prepare: func(t *testing.T, i *issuer) {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		i.idToken = func(claims map[string]any) string { return signed(t, jose.RS256, key, "2", claims) }
	}},
	"no ID token": {
		prepare: func(_ *testing.T, i *issuer) { i.idToken = func(map[string]any) string { return "" } },
	},
	"no iss":            {change: func(q url.Values) { q.Del("iss") }},
	"another iss":       {change: func(q url.Values) { q.Set("iss", "https://evil.example") }},
	"two of iss":        {change: func(q url.Values) { q.Add("iss", "https://evil.example") }},
	"another state":     {change: func(q url.Values) { q.Set("state", "other") }},
	"two codes":         {change: func(q url.Values) { q.Add("code", "d") }},
	"no code":           {change: func(q url.Values) { q.Del("code") }},
	"cancelled":         {change: func(q url.Values) { q.Set("error", "access_denied") }},
	"another error":     {change: func(q url.Values) { q.Set("error", "server_error") }},
	"a moved token URL": {prepare: func(_ *testing.T, i *issuer) { i.moves = i.URL + "/jwks" }},
}

func TestComplete_forged(t *testing.T) {
	for name, tt := range testkit.ByName(forgeries) {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t)
			if tt.prepare != nil {
				tt.prepare(t, i)
			}
			if person, err := i.complete(t, tt.change); fault.KindOf(err) != fault.Unauthenticated {
				t.Errorf("got %+v, %v", person, err)
			}
		})
	}
}

func TestComplete_honest(t *testing.T) {
	i := newIssuer(t)
	want := federation.Identity{Issuer: i.URL, Subject: "vic", Email: "vic@example.com", EmailVerified: true}
	if person, err := i.complete(t, nil); err != nil || person != want {
		t.Errorf("got %+v, %v", person, err)
	}
	i.claims = map[string]any{"email_verified": "false"}
	if _, err := i.complete(t, nil); fault.CodeOf(err) != "email_unverified" {
		t.Errorf("an unverified address: %v", err)
	}
	i.Close()
	if _, err := i.complete(t, nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("an issuer that is down: %v", err)
	}
}
