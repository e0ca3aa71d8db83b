package e2e

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/idp"
)

// overwriteRounds is after how much traffic the test gives up. One or two rounds are
// usual. It isn't a time, since a busy machine needs longer for a round.
const overwriteRounds = 40

// TestMemory_providerTokens signs in with each kind of token that is handed on,
// and calls the gateway with the tokens. Afterward a core dump of the process contains
// none of the provider's tokens. With GODEBUG=clobberfree=1 (pkg.go.dev/runtime) Go
// overwrites memory when it frees it; otherwise freed memory keeps its content until it
// is used again. The buffers that encoding/json and net/http keep in a sync.Pool are not
// freed while they are in use. A short write overwrites only their beginning, so the
// test has the server write and read more than the tokens took.
func TestMemory_providerTokens(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		t.Parallel()
		// The plain program, because the race detector reserves more memory than can be read.
		// A low GOGC collects after little garbage, so that the test needs few requests.
		server := harness.ServePlain(t, t.TempDir(), databaseURL, "GODEBUG=clobberfree=1", "GOGC=10")
		upstream, fake := testkit.NewUpstream(t), idp.StartFake(t)
		var idTokens []string
		fake.Sign = func(claims map[string]any) string {
			idTokens = append(idTokens, fake.Signed(claims))
			return idTokens[len(idTokens)-1]
		}
		user := newHeadlessUser(t, fake)
		var workspaceKeys []string
		ours := []contract.NewTokenType{{Client: "service"}, {
			Client:   "service",
			Upstream: "provider_access_token",
		}, {Client: "service", Upstream: "provider_id_token"}}
		for auth, types := range map[*contract.NewRequestsAuth][]contract.NewTokenType{
			{Methods: []string{"jwt"}}: ours,
			{Mode: "passthrough"}:      {{Client: "provider"}},
		} {
			made := user.makes(server.URL, upstream.URL, auth, types)
			workspaceKeys = append(workspaceKeys, made.WorkspaceKey.Reveal())
			for i := range 3 * len(types) {
				user.calls(made.Project.Environments[0].URL, user.signsIn(*made.Login, i%len(types)))
			}
		}
		if findInMemory(t, server, map[string]string{"access token": fake.Access}) == "" {
			t.Error("the provider's token is not in the memory that has just had it: the memory was not read")
		}
		secrets := map[string]string{
			"access token":  fake.Access,
			"refresh token": "canary-refresh",
			"client secret": idp.ClientSecret,
		}
		for i, text := range idTokens {
			secrets[fmt.Sprintf("ID token %d", i)] = text[len(text)-100:] // of the signature
		}
		user.leaves()
		fake.HangUp() // ends idle connections, whose buffers hold what was read last
		upstream.HangUp()
		left := ""
		for round := range overwriteRounds {
			user.overwrites(server.URL, workspaceKeys)
			if left = findInMemory(t, server, secrets); left == "" {
				t.Logf("clean after round %d", round+1)
				return
			}
		}
		t.Errorf("after %d rounds, the memory still holds %s", overwriteRounds, left)
	})
}

// makes creates a project whose users can sign in, with one provider for each sort of token.
func (v *headlessUser) makes(
	server, upstream string,
	auth *contract.NewRequestsAuth,
	types []contract.NewTokenType,
) contract.Proxy {
	v.t.Helper()
	login := &contract.NewLogin{RedirectURIs: []string{appCallback}}
	for i := range types {
		login.Providers = append(login.Providers, contract.NewProvider{
			Type:   "oidc",
			Issuer: v.fake.Issuer,
			ProviderSettings: contract.ProviderSettings{
				ClientID:     new(idp.ClientID),
				ClientSecret: new(contract.Secret(idp.ClientSecret)),
				TokenType:    types[i],
			},
		})
	}
	body, err := json.Marshal(contract.NewProxy{Target: upstream, RequestsAuth: auth, Login: login})
	if err != nil {
		v.t.Fatal(err)
	}
	_, _, text := v.asks(
		http.NewRequestWithContext(v.t.Context(), http.MethodPost, server+"/proxy", bytes.NewReader(body)),
	)
	var made contract.Proxy
	if err := json.Unmarshal(text, &made); err != nil || made.Login == nil {
		v.t.Fatalf("no login was made: %v", err)
	}
	return made
}

// appCallback is where the user's application waits; no server listens there.
const appCallback = "http://127.0.0.1/app/callback"

// headlessUser signs in without a browser, which would be slow at garbage.
type headlessUser struct {
	t    *testing.T
	fake *idp.Fake
	http *http.Client
}

func newHeadlessUser(t *testing.T, fake *idp.Fake) *headlessUser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &headlessUser{t: t, fake: fake, http: &http.Client{Jar: jar, Transport: &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// asks returns where the answer leads, its page and its text.
func (v *headlessUser) asks(r *http.Request, err error) (to *url.URL, page *goquery.Document, text []byte) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if strings.HasSuffix(r.URL.Path, "/proxy") {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := v.http.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil || answer.StatusCode >= http.StatusBadRequest {
		v.t.Fatalf("%s: %s, %v", r.URL.Path, answer.Status, err)
	}
	if page, err = goquery.NewDocumentFromReader(bytes.NewReader(text)); err != nil {
		v.t.Fatal(err)
	}
	to, _ = answer.Location()
	return to, page, text
}

func (v *headlessUser) gets(address string) (to *url.URL, page *goquery.Document) {
	v.t.Helper()
	to, page, _ = v.asks(http.NewRequestWithContext(v.t.Context(), http.MethodGet, address, nil))
	return to, page
}

// signsIn goes the whole way with the provider of that number, and returns the
// access token that the application gets.
func (v *headlessUser) signsIn(login contract.ProxyLogin, number int) string {
	v.t.Helper()
	verifier := strings.Repeat("verifier", 6)
	challenge := sha256.Sum256([]byte(verifier))
	to, page := v.gets(login.AuthorizeURL + "?" + url.Values{
		"client_id":             {login.ClientID},
		"redirect_uri":          {appCallback},
		"response_type":         {"code"},
		"scope":                 {"openid email"},
		"code_challenge_method": {"S256"},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
	}.Encode())
	if to == nil { // there is a choice
		server := strings.Join(strings.SplitAfterN(login.Issuer, "/", 4)[:3], "")
		href := page.Find("a[data-provider]").Eq(number).AttrOr("href", "")
		to, _ = v.gets(server + strings.TrimPrefix(href, "/"))
	}
	to, page = v.gets(v.fake.Authorize(v.t, to.String()).String())
	if to == nil { // it is the first time
		form := url.Values{"answer": {"agree"}}
		page.Find(
			"input[type=hidden]",
		).Each(
			func(_ int, input *goquery.Selection) { form.Set(input.AttrOr("name", ""), input.AttrOr("value", "")) },
		)
		to, _, _ = v.asks(
			http.NewRequestWithContext(
				v.t.Context(), http.MethodPost, login.Issuer+"/consent", strings.NewReader(form.Encode()),
			),
		)
	}
	form := url.Values{
		"grant_type":    {"authorization_code"},
		"client_id":     {login.ClientID},
		"code":          {to.Query().Get("code")},
		"redirect_uri":  {appCallback},
		"code_verifier": {verifier},
	}
	_, _, text := v.asks(
		http.NewRequestWithContext(
			v.t.Context(), http.MethodPost, login.Issuer+"/token", strings.NewReader(form.Encode()),
		),
	)
	var got struct {
		Access string `json:"access_token"`
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Access == "" {
		v.t.Fatalf("no token for the login with provider %d: %v", number, err)
	}
	return got.Access
}

// calls the gateway with the token.
func (v *headlessUser) calls(address, token string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, address+"/hello", nil)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := v.http.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		v.t.Fatalf("the gateway answers %s", answer.Status)
	}
}

// leaves closes every connection.
func (v *headlessUser) leaves() { v.http.CloseIdleConnections() }

// overwrites makes garbage, so that memory is collected, and fills the server's pooled
// buffers: with a long request, a page, and a long JSON answer.
func (v *headlessUser) overwrites(server string, workspaceKeys []string) {
	v.t.Helper()
	const longest = 3 << 10            // bytes, more than any text with a token
	long := strings.Repeat("x", 4<<10) // the size of net/http's buffers
	for i := range 100 {
		r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, server+"/", nil)
		if err != nil {
			v.t.Fatal(err)
		}
		r.Header.Set("X-Long", long)
		v.asks(r, nil)
		r, err = http.NewRequestWithContext(v.t.Context(), http.MethodGet, server+"/api/v1/audit", nil)
		if err != nil {
			v.t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+workspaceKeys[i%len(workspaceKeys)])
		if _, _, text := v.asks(r, nil); len(text) < longest {
			v.t.Fatalf("the audit log is only %d bytes long", len(text))
		}
		if i%10 == 0 {
			v.leaves() // a new connection takes other buffers
		}
	}
	v.leaves()
}

// findInMemory reads all memory that the process may write to, as a core dump contains it. It returns which of the
// secrets is there and what surrounds it, or "" if none is.
func findInMemory(t *testing.T, p *harness.Process, secrets map[string]string) string {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.Command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.Command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		var from, to uint64
		var rights string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &rights); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(rights, "rw") {
			continue
		}
		region := make([]byte, to-from)
		n, _ := memory.ReadAt(region, int64(from)) // the kernel's own regions cannot be read
		for what, text := range secrets {
			if at := bytes.Index(region[:n], []byte(text)); at >= 0 {
				around := region[max(0, at-100):min(n, at+len(text)+100)]
				address := from + uint64(at)
				return fmt.Sprintf("the provider's %s at %x in %s, within %q", what, address, lines.Text(), around)
			}
		}
	}
	return ""
}
