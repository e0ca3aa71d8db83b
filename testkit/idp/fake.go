package idp

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// The app that the provider knows.
const (
	ClientID     = "the-client"
	ClientSecret = "the-client-secret"
	KeyID        = "key-1"
)

// Fake is an OpenID Connect provider that can be made to lie: the honest answers follow OpenID Connect Core 1.0 and
// Discovery 1.0, and each of them can be changed on its way out. The hooks are set before it is asked; nil leaves the
// honest answer.
type Fake struct {
	URL       string
	Base      string // path below which discovery is
	Issuer    string // that discovery and tokens name
	Subject   string
	Access    string // the access token it gives
	Claims    func(claims map[string]any)
	Sign      func(claims map[string]any) string
	Discovery func(document map[string]any)
	Token     func(answer map[string]any)
	Verdict   func(answer map[string]any)                       // changes the answer to introspection
	Serve     func(w http.ResponseWriter, r *http.Request) bool // true: it has answered
	HangUp    func()                                            // closes the connections that there are

	Introspects bool // discovery names an endpoint for it (RFC 8414, 2)

	Key   *rsa.PrivateKey
	mu    sync.Mutex
	codes map[string]url.Values
	taken map[string]int // answers by path
}

// StartFake runs a provider until the test ends.
func StartFake(t testing.TB) *Fake {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &Fake{
		Subject: "subject-1",
		Access:  "canary-access-" + rand.Text(),
		Key:     key,
		codes:   map[string]url.Values{},
		taken:   map[string]int{},
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.URL, p.Issuer, p.HangUp = server.URL, server.URL, server.CloseClientConnections
	return p
}

// Switch sets Serve while the provider may be answering.
func (p *Fake) Switch(serve func(w http.ResponseWriter, r *http.Request) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Serve = serve
}

// Requests returns how often a path was requested.
func (p *Fake) Requests(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken[path]
}

// Authorize answers an authorization request as if a user had signed in: the
// address that the browser is sent back to.
func (p *Fake) Authorize(t testing.TB, request string) *url.URL {
	t.Helper()
	asked, err := url.Parse(request)
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(asked.Query().Get("redirect_uri"))
	if err != nil {
		t.Fatal(err)
	}
	back.RawQuery = url.Values{"code": {p.Grant(asked.Query())}, "state": {asked.Query().Get("state")}}.Encode()
	return back
}

// Grant creates a code for an authorization request.
func (p *Fake) Grant(request url.Values) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	code := rand.Text()
	p.codes[code] = request
	return code
}

// ServeHTTP implements http.Handler.
func (p *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.taken[r.URL.Path]++
	serve := p.Serve
	p.mu.Unlock()
	if serve != nil && serve(w, r) {
		return
	}
	switch r.URL.Path {
	case p.Base + "/.well-known/openid-configuration":
		document := map[string]any{
			"issuer":                                p.Issuer,
			"authorization_endpoint":                p.URL + "/authorize",
			"token_endpoint":                        p.URL + "/token",
			"jwks_uri":                              p.URL + "/keys",
			"userinfo_endpoint":                     p.URL + "/userinfo",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		}
		if p.Introspects {
			document["introspection_endpoint"] = p.URL + "/introspect"
		}
		if p.Discovery != nil {
			p.Discovery(document)
		}
		Answer(w, http.StatusOK, document)
	case "/keys":
		Answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{
			Key:       p.Key.Public(),
			KeyID:     KeyID,
			Algorithm: "RS256",
			Use:       "sig",
		}}})
	case "/token":
		p.token(w, r)
	case "/introspect":
		p.introspect(w, r)
	case "/userinfo":
		Answer(w, http.StatusOK, map[string]any{"sub": p.Subject, "email": "Ana@Example.com", "email_verified": true})
	default:
		http.NotFound(w, r)
	}
}

// token exchanges a code once (RFC 6749, 4.1.3; RFC 7636, 4.6).
func (p *Fake) token(w http.ResponseWriter, r *http.Request) {
	request, ok := p.Redeem(r)
	if !ok {
		Answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	claims := map[string]any{
		"iss":            p.Issuer,
		"sub":            p.Subject,
		"aud":            ClientID,
		"iat":            now.Unix(),
		"exp":            now.Add(time.Hour).Unix(),
		"nonce":          request.Get("nonce"),
		"email":          "Ana@Example.com",
		"email_verified": true,
		"name":           "Ana",
	}
	if request.Has("max_age") { // auth_time is required then (Core, 2)
		claims["auth_time"] = now.Unix()
	}
	if p.Claims != nil {
		p.Claims(claims)
	}
	sign := p.Sign
	if sign == nil {
		sign = p.Signed
	}
	answer := map[string]any{
		"access_token":  p.Access,
		"token_type":    "Bearer",
		"expires_in":    3600,
		"id_token":      sign(claims),
		"refresh_token": "canary-refresh",
	}
	if p.Token != nil {
		p.Token(answer)
	}
	Answer(w, http.StatusOK, answer)
}

// introspect tells the app what a token is (RFC 7662, 2.2).
func (p *Fake) introspect(w http.ResponseWriter, r *http.Request) {
	name, secret, ok := r.BasicAuth()
	if !ok {
		name, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	if name != ClientID || secret != ClientSecret {
		Answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	if r.Method != http.MethodPost || r.PostFormValue("token") != p.Access {
		Answer(w, http.StatusOK, map[string]any{"active": false})
		return
	}
	answer := map[string]any{
		"active":     true,
		"client_id":  ClientID,
		"sub":        p.Subject,
		"iss":        p.Issuer,
		"token_type": "Bearer",
		"scope":      "openid",
		"exp":        time.Now().Add(time.Hour).Unix(),
	}
	if p.Verdict != nil {
		p.Verdict(answer)
	}
	Answer(w, http.StatusOK, answer)
}

// Redeem uses up the code of a token request; false unless everything fits.
func (p *Fake) Redeem(r *http.Request) (url.Values, bool) {
	name, secret, ok := r.BasicAuth()
	if err := r.ParseForm(); err != nil {
		return nil, false
	}
	if !ok {
		name, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	code := r.PostForm.Get("code")
	request, known := p.codes[code]
	delete(p.codes, code)
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	return request, known && name == ClientID && secret == ClientSecret &&
		request.Get("redirect_uri") == r.PostForm.Get("redirect_uri") &&
		request.Get("code_challenge") == base64.RawURLEncoding.EncodeToString(sum[:])
}

// Signed is the claims under the provider's own key.
func (p *Fake) Signed(claims map[string]any) string {
	return Sign(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.Key, KeyID: KeyID}}, claims)
}

// Sign signs with any key.
func Sign(key jose.SigningKey, claims map[string]any) string {
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		panic(err)
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		panic(err)
	}
	return text
}

// Unsigned is the claims under the algorithm none (RFC 7519, 6).
func Unsigned(claims map[string]any) string {
	body, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(
		[]byte(`{"alg":"none","typ":"JWT"}`),
	) + "." + base64.RawURLEncoding.EncodeToString(
		body,
	) + "."
}

// Answer writes JSON.
func Answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails if the caller has disconnected
}
