package idp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/testkit"
)

// Certified is an OpenID Connect provider in its own process: the certified npm package oidc-provider. It registers
// clients (RFC 7591), and tests pass its sign-in pages. The npm packages come from `npm ci` in this directory, which
// tools/setup runs.
type Certified struct {
	Issuer string // http://127.0.0.1:port
	input  io.Writer
	output *bufio.Reader
}

// Client is a client that Register created.
type Client struct {
	ID     string
	Secret string
}

// StartCertified runs a provider until the test ends. A test without Node.js or without
// the packages fails.
func StartCertified(t testing.TB) *Certified {
	t.Helper()
	command := exec.Command("node", "provider.mjs")
	command.Dir = NodeDirectory()
	var complaints bytes.Buffer
	command.Stderr = &complaints
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start oidc-provider: %v (run tools/setup)", err)
	}
	lines := bufio.NewReader(output)
	line, err := lines.ReadString('\n')
	t.Cleanup(func() {
		_ = input.Close() // which ends it
		_ = command.Wait()
	})
	if err != nil {
		_ = input.Close()
		_ = command.Wait()
		t.Fatalf("oidc-provider did not start (run tools/setup): %v\n%s", err, complaints.String())
	}
	return &Certified{Issuer: strings.TrimSpace(line), input: input, output: lines}
}

// Rotate has the provider sign with a new key from now on; it goes on publishing the
// old one.
func (p *Certified) Rotate(t testing.TB) {
	t.Helper()
	if _, err := io.WriteString(p.input, "rotate\n"); err != nil {
		t.Fatal(err)
	}
	for line := ""; line != "rotated\n"; { // behind notices of the package's own
		var err error
		if line, err = p.output.ReadString('\n'); err != nil {
			t.Fatalf("rotate the provider's key: %v", err)
		}
	}
}

// NodeDirectory is this directory, where the npm packages are; a test that runs its own script with them starts Node.js
// here.
func NodeDirectory() string { return testkit.Directory("idp") }

// Register creates a confidential client with the redirect URIs.
func (p *Certified) Register(t testing.TB, redirectURIs ...string) Client {
	t.Helper()
	asked := map[string]any{"redirect_uris": redirectURIs, "token_endpoint_auth_method": "client_secret_basic",
		"grant_types": []string{"authorization_code", "refresh_token"}}
	// A web client may redirect to https only (OpenID Connect registration, 2).
	if slices.ContainsFunc(redirectURIs, func(uri string) bool { return strings.HasPrefix(uri, "http://") }) {
		asked["application_type"] = "native"
	}
	body, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.Issuer+"/reg", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	var got struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err != nil || answer.StatusCode != http.StatusCreated || json.Unmarshal(raw, &got) != nil {
		t.Fatalf("register a client: %d %s, %v", answer.StatusCode, raw, err)
	}
	return Client{ID: got.ID, Secret: got.Secret}
}

// maxSteps bounds how many pages and redirects a sign-in may take.
const maxSteps = 20

// SignIn passes the provider's pages as the person of that name, from the
// authorization request to the redirect that leads away from the provider, whose
// address it returns.
func (p *Certified) SignIn(t testing.TB, authorizeURL, name string) *url.URL {
	t.Helper()
	back, _ := p.NewBrowser(t).SignIn(t, authorizeURL, name)
	return back
}

// Browser is one that the provider remembers from sign-in to sign-in.
type Browser struct {
	issuer string
	client *http.Client
}

// NewBrowser returns one that is not signed in.
func (p *Certified) NewBrowser(t testing.TB) *Browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(client.CloseIdleConnections)
	return &Browser{p.Issuer, client}
}

// SignIn is Certified.SignIn in this browser. It returns also how often the provider asked
// for a password.
func (b *Browser) SignIn(t testing.TB, authorizeURL, name string) (back *url.URL, passwords int) {
	t.Helper()
	answer, err := b.client.Get(authorizeURL) //nolint:bodyclose // step closes it
	for range maxSteps {
		if err != nil {
			t.Fatalf("sign in at the provider: %v", err)
		}
		next, form := step(t, answer, name)
		switch {
		case form != nil:
			if form.Get("prompt") == "login" {
				passwords++
			}
			answer, err = b.client.PostForm(next.String(), form) //nolint:bodyclose // step closes it
		case !strings.HasPrefix(next.String(), b.issuer+"/"):
			return next, passwords
		default:
			answer, err = b.client.Get(next.String()) //nolint:bodyclose // step closes it
		}
	}
	t.Fatal("sign in at the provider: no end of pages")
	return nil, 0
}

// step reads where an answer leads: a redirect, or a form to fill in.
func step(t testing.TB, answer *http.Response, name string) (next *url.URL, form url.Values) {
	t.Helper()
	defer answer.Body.Close()
	if next, err := answer.Location(); err == nil {
		return next, nil
	}
	page, err := goquery.NewDocumentFromReader(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	found := page.Find("form").First()
	next, err = answer.Request.URL.Parse(found.AttrOr("action", ""))
	if found.Length() == 0 || err != nil {
		t.Fatalf(
			"sign in at the provider: %s answers %d without a form: %s", answer.Request.URL.Path,
			answer.StatusCode, page.Find("body").Text(),
		)
	}
	form = url.Values{"login": {name}, "password": {"any"}}
	found.Find("input[type=hidden]").Each(func(_ int, input *goquery.Selection) {
		form.Set(input.AttrOr("name", ""), input.AttrOr("value", ""))
	})
	return next, form
}
