package oidc_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/core/contract"
	"postern/handlers"
	"postern/models"
	"postern/service/access"
	"postern/service/projects"
	"postern/testkit/controlplane"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// callback is the redirect URI of the application under test. No server listens there.
const callback = "http://127.0.0.1/app/callback"

// app is an application with hosted login.
type app struct {
	t      *testing.T
	db     *models.DB
	server *handlers.Server
	url    string
	owner  access.Principal
	tenant string
	client contract.SavedAppClient
}

func newLoginApp(t *testing.T, db *models.DB, in contract.AppClientSettings) *app {
	t.Helper()
	s := &app{t: t, db: db, server: controlplane.NewServer(t, db)}
	listener := httptest.NewUnstartedServer(nil)
	s.url = "http://" + listener.Listener.Addr().String()
	s.server.Config.PublicURL, s.server.AppClients.PublicURL = s.url, s.url
	listener.Config.Handler = s.server.Handler()
	listener.Start()
	t.Cleanup(listener.Close)
	o := &controlplane.Fixture{DB: db, Server: s.server}
	s.owner = o.NewTeamOwner(t)
	created, err := s.server.Projects.Create(t.Context(), s.owner, projects.CreateInput{
		Target: "http://127.0.0.1:9",
		Name:   "shop-" + strings.ToLower(rand.Text()[:8]),
	})
	if err != nil {
		t.Fatal(err)
	}
	tenants, err := db.Read(t.Context()).TenantsOf(created.Project.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.tenant = tenants[0].ID
	uris := []string{callback}
	in.RedirectURIs, in.LogoutURIs = &uris, &uris
	made := contract.NewAppClient{Name: "web", AppClientSettings: in}
	if s.client, err = s.server.AppClients.CreateClient(t.Context(), s.owner, made.In(s.tenant)); err != nil {
		t.Fatal(err)
	}
	taken := contract.RequestsAuthChange{Methods: &[]string{"jwt"}} // so that a provider may have any token type
	_, err = s.server.Projects.UpdateVersion(t.Context(), s.owner, contract.VersionChange{RequestsAuth: taken}.Of(
		created.Project.ID, created.Project.Versions[0].ID,
	))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// offer adds a provider of the kind with an app of the test's.
func (s *app) offer(in contract.NewProvider) contract.Provider {
	s.t.Helper()
	p, err := s.server.AppClients.CreateProvider(s.t.Context(), s.owner, in.In(s.client.ID))
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// offerReal adds the certified provider.
func (s *app) offerReal(real *idp.Certified, types ...contract.NewTokenType) contract.Provider {
	s.t.Helper()
	unset := "unset"
	p := s.offer(contract.NewProvider{
		Type:   "oidc",
		Issuer: real.Issuer,
		ProviderSettings: contract.ProviderSettings{
			ClientID: &unset, TokenType: append(types, contract.NewTokenType{})[0],
		},
	})
	app := real.Register(s.t, p.CallbackURL)
	secret := contract.Secret(app.Secret)
	p, err := s.server.AppClients.UpdateProvider(s.t.Context(), s.owner, contract.ProviderSettings{
		ClientID:     &app.ID,
		ClientSecret: &secret,
	}.Of(p.ID))
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// browser is a browser that keeps cookies and does not follow redirects.
func (s *app) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// step is one answer to a browser.
type step struct {
	*goquery.Document
	status int
	to     *url.URL // of a redirect
	header http.Header
	raw    string
}

func (s *app) do(browser *http.Client, r *http.Request) step {
	s.t.Helper()
	r.Header.Set("Accept", "text/html")
	answer, err := browser.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	page, err := goquery.NewDocumentFromReader(strings.NewReader(string(raw)))
	if err != nil {
		s.t.Fatal(err)
	}
	out := step{Document: page, status: answer.StatusCode, header: answer.Header, raw: string(raw)}
	out.to, _ = answer.Location()
	return out
}

func (s *app) get(browser *http.Client, address string) step {
	s.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = s.url + address
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.do(browser, r)
}

func (s *app) post(browser *http.Client, path string, form url.Values) step {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.do(browser, r)
}

// request is an authorization request with its PKCE verifier.
type request struct {
	verifier string
	query    url.Values
}

func (s *app) request(scope string) request {
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	return request{
		verifier: verifier,
		query: url.Values{
			"client_id":             {s.client.ID},
			"redirect_uri":          {callback},
			"response_type":         {"code"},
			"scope":                 {scope},
			"state":                 {"the state"},
			"nonce":                 {"the nonce"},
			"code_challenge":        {base64.RawURLEncoding.EncodeToString(sum[:])},
			"code_challenge_method": {"S256"},
		},
	}
}

func (s *app) path(below string) string { return "/oauth/" + s.client.ID + below }

// toProvider begins a login, and presses the button of a provider if there is a choice.
func (s *app) toProvider(browser *http.Client, r request, provider string) *url.URL {
	s.t.Helper()
	page := s.get(browser, s.path("/authorize?"+r.query.Encode()))
	if page.to != nil && !strings.HasPrefix(page.to.String(), callback) {
		return page.to
	}
	link, ok := page.Find("a[href$='/" + provider + "']").Attr("href")
	if page.status != http.StatusOK || !ok {
		s.t.Fatalf("the login page is %d and offers no %s: %s", page.status, provider, page.Text())
	}
	chosen := s.get(browser, link)
	if chosen.to == nil {
		s.t.Fatalf("the button leads to %d %s", chosen.status, chosen.Text())
	}
	return chosen.to
}

// agree goes on from a callback to the application, agreeing where it is asked.
func (s *app) agree(browser *http.Client, back string) *url.URL {
	s.t.Helper()
	page := s.get(browser, back)
	if page.to == nil && page.status == http.StatusOK {
		page = s.post(browser, s.path("/consent"), formOf(page, "agree"))
	}
	if page.to == nil || !strings.HasPrefix(page.to.String(), callback+"?") {
		s.t.Fatalf("not back at the application: %d %s", page.status, page.Find("main").Text())
	}
	return page.to
}

func formOf(page step, answer string) url.Values {
	form := url.Values{"answer": {answer}}
	page.Find("input[type=hidden]").Each(func(_ int, input *goquery.Selection) {
		form.Set(input.AttrOr("name", ""), input.AttrOr("value", ""))
	})
	return form
}

// got is the token endpoint's answer.
type got struct {
	status  int
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	ID      string `json:"id_token"`
	Expires int64  `json:"expires_in"`
	Scope   string `json:"scope"`
	Error   string `json:"error"`
}

func (s *app) token(form url.Values) got {
	s.t.Helper()
	if !form.Has("client_id") {
		form.Set("client_id", s.client.ID)
	}
	if !form.Has("client_secret") && s.client.ClientSecret != "" {
		form.Set("client_secret", s.client.ClientSecret.Reveal())
	}
	answer := s.post(http.DefaultClient, s.path("/token"), form)
	out := got{status: answer.status}
	if err := json.Unmarshal([]byte(answer.raw), &out); err != nil {
		s.t.Fatalf("the token endpoint answers %d %s", answer.status, answer.raw)
	}
	return out
}

func (s *app) exchange(r request, back *url.URL) got {
	s.t.Helper()
	return s.token(url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {back.Query().Get("code")},
		"redirect_uri":  {callback},
		"code_verifier": {r.verifier},
	})
}

// claims reads a token without looking at its signature.
func claims(t *testing.T, token string) map[string]any {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is not a JWT", token)
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	var out map[string]any
	if err != nil || json.Unmarshal(raw, &out) != nil {
		t.Fatalf("%q is not a JWT", token)
	}
	return out
}

// The whole way through a certified provider: the first time with consent, the
// second without, as the same person.
func TestLogin_realProvider(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := newLoginApp(t, db, contract.AppClientSettings{})
	real := idp.StartCertified(t)
	provider := s.offerReal(real)
	browser := s.browser()
	var subjects []string
	for range 2 {
		r := s.request("openid profile email offline_access")
		back := s.agree(browser, real.SignIn(t, s.toProvider(browser, r, provider.ID).String(), "ana").String())
		if q := back.Query(); q.Get("state") != "the state" || q.Get("iss") != s.server.Login.Issuer(s.client.ID) {
			t.Errorf("back with %s", back)
		}
		got := s.exchange(r, back)
		if got.status != http.StatusOK || got.Access == "" || got.Refresh == "" || got.Expires != 600 {
			t.Fatalf("got %+v", got)
		}
		id := claims(t, got.ID)
		if id["email"] != "ana@example.com" || id["nonce"] != "the nonce" || id["aud"] != s.client.ID {
			t.Errorf("the ID token says %v", id)
		}
		subjects = append(subjects, id["sub"].(string))
	}
	if subjects[0] != subjects[1] || !strings.HasPrefix(subjects[0], "usr_") {
		t.Errorf("the same person is %v", subjects)
	}
}
