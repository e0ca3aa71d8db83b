package login

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/idp"
)

// TestLogin_oneCall creates a project with a login by one POST /proxy
// and nothing else: its people then sign in at a certified provider, in a real
// browser, and the application has a token that Postern's keys vouch for.
func TestLogin_oneCall(t *testing.T) {
	t.Parallel()
	upstream, issuer, app := testkit.NewUpstream(t), idp.StartCertified(t), newApplication(t)
	server := harness.Start(t)
	made, err := client.Do(t.Context(), harness.Connect(t, server.Config.PublicURL, ""), contract.CreateProxy,
		contract.NewProxy{
			Target: upstream.URL,
			Name:   "shop",
			Login: &contract.NewLogin{RedirectURIs: []string{app.callback}, Providers: []contract.NewProvider{
				{Type: "oidc", Issuer: issuer.Issuer, ProviderSettings: contract.ProviderSettings{
					ClientID: new("later"),
				}}}},
		}.Request())
	if err != nil {
		t.Fatal(err)
	}
	registerApp(t, harness.Connect(t, server.Config.PublicURL, made.WorkspaceKey.Reveal()), issuer, *made.Login)

	signsIn(t, issuer, app, *made.Login)
	claims := app.exchange(t, *made.Login)
	if claims.Subject == "" || claims.Email != "ana@example.com" || claims.Nonce != app.nonce {
		t.Errorf("the ID token says %+v", claims.idClaims)
	}
}

// signsIn has ana sign in at the provider in a new browser, and agree: it is her first time
// here, or there is more to agree to than before. With no other provider there is no choice.
func signsIn(t *testing.T, issuer *idp.Certified, app *application, login contract.ProxyLogin) {
	t.Helper()
	p := passesProvider(t, issuer, app, login)
	p.Presses("Agree and continue")
	p.Sees("Back at the application")
}

// comesBack is signsIn for a user who agreed to all of it before.
func comesBack(t *testing.T, issuer *idp.Certified, app *application, login contract.ProxyLogin) {
	t.Helper()
	passesProvider(t, issuer, app, login).Sees("Back at the application")
}

func passesProvider(
	t *testing.T, issuer *idp.Certified, app *application, login contract.ProxyLogin,
) *harness.Person {
	t.Helper()
	p := harness.NewPerson(t)
	p.IgnoresErrorsAt(issuer.Issuer, "https://fonts.googleapis.com/") // the issuer's own pages
	p.Open(app.authorize(login))
	p.Types("login", "ana")
	p.Types("password", "any")
	p.Presses("Sign-in")
	p.Presses("Continue")
	return p
}

// registerApp gives the issuer our callback, and us the app that it registered.
func registerApp(t *testing.T, api *client.Client, issuer *idp.Certified, made contract.ProxyLogin) {
	t.Helper()
	registered := issuer.Register(t, made.Callbacks["oidc"])
	change := contract.ProviderSettings{
		ClientID: &registered.ID, ClientSecret: new(contract.Secret(registered.Secret)),
	}
	of := contract.AppClientPath{Client: made.ClientID}
	for provider, err := range client.Each(t.Context(), api, contract.ListProviders, of) {
		if err == nil {
			_, err = client.Do(t.Context(), api, contract.UpdateProvider, change.Of(provider.ID))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// application is one whose people sign in, as a browser meets it.
type application struct {
	callback               string
	scope                  string
	state, nonce, verifier string
	back                   chan url.Values
}

func newApplication(t *testing.T) *application {
	t.Helper()
	app := &application{
		scope:    "openid profile email",
		state:    "state-of-this-browser",
		nonce:    "nonce-of-this-login",
		verifier: strings.Repeat("verifier", 6),
		back:     make(chan url.Values, 1),
	}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/callback" {
			w.WriteHeader(http.StatusNoContent) // a browser asks for an icon
			return
		}
		_, _ = w.Write([]byte("<!doctype html><title>app</title><h1>Back at the application</h1>"))
		app.back <- r.URL.Query()
	}))
	t.Cleanup(listener.Close)
	app.callback = listener.URL + "/callback"
	return app
}

func (a *application) authorize(login contract.ProxyLogin) string {
	challenge := sha256.Sum256([]byte(a.verifier))
	return login.AuthorizeURL + "?" + url.Values{
		"client_id":             {login.ClientID},
		"redirect_uri":          {a.callback},
		"response_type":         {"code"},
		"scope":                 {a.scope},
		"state":                 {a.state},
		"nonce":                 {a.nonce},
		"code_challenge_method": {"S256"},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
	}.Encode()
}

// idClaims has the claims of an ID token that the application reads.
type idClaims struct {
	jwt.Claims
	Email    string           `json:"email"`
	Nonce    string           `json:"nonce"`
	AuthTime *jwt.NumericDate `json:"auth_time"`
}

// signedIn has what the application gets from a sign-in.
type signedIn struct {
	idClaims
	access, id string
}

// exchange turns the code that the browser brought into an ID token, and checks it
// and the access token against the keys that the issuer publishes.
func (a *application) exchange(t *testing.T, login contract.ProxyLogin) signedIn {
	t.Helper()
	back := <-a.back
	if back.Get("state") != a.state || back.Get("iss") != login.Issuer {
		t.Fatalf("the browser came back with %v", back)
	}
	form := url.Values{
		"grant_type":    {"authorization_code"},
		"client_id":     {login.ClientID},
		"code":          {back.Get("code")},
		"redirect_uri":  {a.callback},
		"code_verifier": {a.verifier},
	}
	var tokens struct {
		Access string `json:"access_token"`
		ID     string `json:"id_token"`
	}
	const formType = "application/x-www-form-urlencoded"
	readJSON(t, harness.Send(t, http.MethodPost, login.Issuer+"/token", formType, form.Encode()), &tokens)
	var keys jose.JSONWebKeySet
	readJSON(t, harness.Send(t, http.MethodGet, login.Issuer+"/jwks.json", "", ""), &keys)
	verified[jwt.Claims](t, tokens.Access, keys)
	claims := verified[idClaims](t, tokens.ID, keys)
	if err := claims.Validate(jwt.Expected{
		Issuer:      login.Issuer,
		AnyAudience: jwt.Audience{login.ClientID},
		Time:        time.Now(),
	}); err != nil {
		t.Errorf("the ID token: %v", err)
	}
	return signedIn{claims, tokens.Access, tokens.ID}
}

func verified[T any](t *testing.T, token string, keys jose.JSONWebKeySet) (claims T) {
	t.Helper()
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.Claims(keys, &claims); err != nil {
		t.Fatalf("check a token against the published keys: %v", err)
	}
	return claims
}

func readJSON(t *testing.T, answer *http.Response, into any) {
	t.Helper()
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", answer.Request.URL.Path, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}
