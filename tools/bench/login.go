package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// identity is an OpenID provider where one person is signed in for ever.
type identity struct {
	server *httptest.Server
	signer jose.Signer
	nonce  string // of the login under way
}

const (
	identityClient = "bench"
	backAt         = "http://127.0.0.1/back" // no server needs to answer there
)

func startIdentity() (*identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make an ECDSA key: %w", err)
	}
	i := &identity{}
	if i.signer, err = jose.NewSigner(jose.SigningKey{
		Algorithm: jose.ES256,
		Key:       key,
	}, (&jose.SignerOptions{}).WithHeader("kid", "1")); err != nil {
		return nil, fmt.Errorf("sign with ES256: %w", err)
	}
	mux := http.NewServeMux()
	answer := func(path string, with func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(with())
		})
	}
	answer("/.well-known/openid-configuration", func() any {
		at := i.server.URL
		return map[string]any{
			"issuer":                                at,
			"authorization_endpoint":                at + "/authorize",
			"token_endpoint":                        at + "/token",
			"jwks_uri":                              at + "/keys",
			"id_token_signing_alg_values_supported": []string{"ES256"},
		}
	})
	answer("/keys", func() any {
		return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{
			Key:       key.Public(),
			KeyID:     "1",
			Algorithm: "ES256",
			Use:       "sig",
		}}}
	})
	answer("/token", func() any {
		now := time.Now()
		claims := jwt.Claims{
			Issuer:   i.server.URL,
			Subject:  "ana",
			Audience: jwt.Audience{identityClient},
			IssuedAt: jwt.NewNumericDate(now),
			Expiry:   jwt.NewNumericDate(now.Add(time.Hour)),
		}
		id, _ := jwt.Signed(i.signer).Claims(claims).Claims(map[string]any{
			"nonce": i.nonce,
			"email": "ana@example.com",
		}).Serialize()
		return map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": id, "expires_in": 3600}
	})
	i.server = httptest.NewServer(mux)
	return i, nil
}

// loginProject is the answer to the creation of a project with a login.
type loginProject struct {
	Project struct {
		Environments []struct{ URL string }
	}
	Login struct {
		Issuer   string
		ClientID string `json:"client_id"`
	}
	WorkspaceKey string `json:"workspace_key"`
}

// ownToken creates a project with a login, signs the person in, and returns the project and an access token that is
// signed with the algorithm and lasts for a day.
func (p *postern) ownToken(
	ctx context.Context, target string, i *identity, algorithm jose.SignatureAlgorithm,
) (*project, string, error) {
	var created loginProject
	name := "login-" + strings.ToLower(string(algorithm))
	err := post(ctx, p.control+"/proxy", map[string]any{
		"name":          name,
		"target":        target,
		"requests_auth": map[string]any{"mode": "authenticate"},
		"login": map[string]any{
			"redirect_uris": []string{backAt},
			"providers":     []any{map[string]any{"type": "oidc", "client_id": identityClient, "issuer": i.server.URL}},
		},
	}, &created)
	if err != nil {
		return nil, "", err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, "", err
	}
	b := browser{
		ctx: ctx,
		client: &http.Client{
			Jar:           jar,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	b.send(http.MethodPatch, p.control+"/api/v1/app-clients/"+created.Login.ClientID, "application/json",
		`{"access_token_seconds":86400,"algorithm":"`+string(algorithm)+`"}`,
		"Authorization", "Bearer "+created.WorkspaceKey)
	b.signIn(p.control, &created, i)
	token := b.exchange(&created)
	if b.err != nil || token == "" || len(created.Project.Environments) == 0 {
		return nil, "", fmt.Errorf("sign in at %s: %d %.300s: %w", created.Login.Issuer, b.status, b.body, b.err)
	}
	return &project{
		control:      p.control,
		name:         name,
		workspaceKey: created.WorkspaceKey,
		url:          created.Project.Environments[0].URL,
	}, token, nil
}

// pkceVerifier is the code verifier of every login [RFC 7636 4.1].
var pkceVerifier = strings.Repeat("v", 43)

// signIn goes from the authorization request through the provider to the consent.
func (b *browser) signIn(control string, at *loginProject, i *identity) {
	challenge := sha256.Sum256([]byte(pkceVerifier))
	authorize := url.Values{
		"client_id":             {at.Login.ClientID},
		"redirect_uri":          {backAt},
		"response_type":         {"code"},
		"scope":                 {"openid"},
		"state":                 {"s"},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
		"code_challenge_method": {"S256"},
	}
	b.get(at.Login.Issuer + "/authorize?" + authorize.Encode())
	if b.back == nil { // a page shows the providers; without one there is only one to go to
		b.get(b.below(control, "a[data-provider]", "href"))
	}
	atProvider := b.to().Query()
	i.nonce = atProvider.Get("nonce")
	answer := url.Values{"code": {"c"}, "state": {atProvider.Get("state")}}
	b.get(atProvider.Get("redirect_uri") + "?" + answer.Encode())
	form := url.Values{"answer": {"agree"}}
	if b.page != nil {
		b.page.Find("input[type=hidden]").Each(func(_ int, input *goquery.Selection) {
			form.Set(input.AttrOr("name", ""), input.AttrOr("value", ""))
		})
	}
	const formType = "application/x-www-form-urlencoded"
	b.send(http.MethodPost, at.Login.Issuer+"/consent", formType, form.Encode(), "Origin", control)
}

// exchange returns the access token for the code of the consent.
func (b *browser) exchange(at *loginProject) string {
	form := url.Values{
		"grant_type":    {"authorization_code"},
		"client_id":     {at.Login.ClientID},
		"code":          {b.to().Query().Get("code")},
		"redirect_uri":  {backAt},
		"code_verifier": {pkceVerifier},
	}
	b.send(http.MethodPost, at.Login.Issuer+"/token", "application/x-www-form-urlencoded", form.Encode())
	var got struct {
		Access string `json:"access_token"`
	}
	if b.err == nil {
		b.err = json.Unmarshal(b.body, &got)
	}
	return got.Access
}

// browser goes from page to page until something fails.
type browser struct {
	ctx    context.Context //nolint:containedctx // it lives for one login
	client *http.Client
	page   *goquery.Document // of the last answer
	body   []byte
	status int
	back   *url.URL // where it leads to; nil for nowhere
	err    error
}

func (b *browser) get(address string) { b.send(http.MethodGet, address, "", "") }

func (b *browser) send(method, address, kind, body string, header ...string) {
	if b.err != nil {
		return
	}
	r, err := http.NewRequestWithContext(b.ctx, method, address, strings.NewReader(body))
	if err != nil {
		b.err = err
		return
	}
	r.Header.Set("Content-Type", kind)
	for n := 0; n+1 < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	answer, err := b.client.Do(r)
	if err != nil {
		b.err = err
		return
	}
	defer func() { _ = answer.Body.Close() }()
	var text bytes.Buffer
	if _, b.err = text.ReadFrom(answer.Body); b.err != nil {
		return
	}
	b.status, b.body = answer.StatusCode, text.Bytes()
	b.back, _ = answer.Location() // most answers lead nowhere
	if b.page, b.err = goquery.NewDocumentFromReader(bytes.NewReader(b.body)); b.status >= http.StatusBadRequest {
		b.err = fmt.Errorf("%s %s: %d %.300s", method, r.URL.Path, b.status, b.body)
	}
}

func (b *browser) to() *url.URL {
	if b.err == nil && b.back == nil {
		b.err = fmt.Errorf("the answer %d leads nowhere: %.300s", b.status, b.body)
	}
	if b.err != nil {
		return &url.URL{}
	}
	return b.back
}

// below is an address that an element of the page has.
func (b *browser) below(base, selector, attribute string) string {
	if b.err != nil {
		return base
	}
	at := b.page.Find(selector).AttrOr(attribute, "")
	if strings.HasPrefix(at, "/") {
		return base + at
	}
	return at
}
