package pages

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"postern/e2e/harness"
	"postern/testkit"
)

// TestClaim_curlToExport follows a user without an account: one call creates a proxy,
// its claim link leads to sign-up, and the claimed project then belongs to their team only.
func TestClaim_curlToExport(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := harness.Start(t)
	// The installation's operator, who has their own account.
	first := visitor(t)
	first.fills(t, server.FirstLink, "email", "ana@example.com", "name", "Ana", "password", "four unrelated words")

	made := harness.CreateProxy(t, server.Config.PublicURL, upstream.URL)
	address, key := made.Project.Environments[0].URL, made.APIKeys["prod"].Key.Reveal()
	harness.CallsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)

	p := sit(t)
	p.Open(made.Claim.URL)
	p.Sees("Sign in")
	p.Follows("Create an account")
	p.Sees("Create an account")
	p.Types("email", "bob@example.com")
	p.Types("name", "Bob")
	p.Types("password", "another four words")
	p.Presses("Create account")
	p.Sees("Claim this project")
	p.Presses("Claim")
	p.Sees("Projects")
	harness.CallsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
	p.Follows("Export")
	p.Waits("#dialog[open] [data-panel]")
	p.exportsZip("shop-kong.zip", byItself)

	_, claimCode, found := strings.Cut(made.Claim.URL, "/claim/")
	if !found {
		t.Fatalf("the claim link is %s", made.Claim.URL)
	}
	for _, path := range []string{
		"/projects/shop",
		"/projects/shop/usage",
		"/projects/shop/requests",
		"/projects/shop/export",
		"/claim/" + claimCode,
		"/api/v1/projects/shop",
		"/api/v1/projects/" + made.Project.ID,
		"/api/v1/projects/shop/keys",
		"/api/v1/projects/shop/exports",
		"/api/v1/keys/" + made.APIKeys["prod"].ID,
	} {
		want := http.StatusNotFound
		if strings.HasPrefix(path, "/claim/") {
			want = http.StatusConflict // who has the code may know that it is used
		}
		if status := first.visit(t, server.Config.PublicURL+path); status != want {
			t.Errorf("the other account gets %d at %s, want %d", status, path, want)
		}
	}
}

// browserless is a person whose cookies a plain client keeps.
type browserless struct{ *http.Client }

func visitor(t *testing.T) browserless {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return browserless{&http.Client{Jar: jar}}
}

func (b browserless) fills(t *testing.T, address string, form ...string) {
	t.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	answer, err := b.PostForm(address, values)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("a form is answered %s", answer.Status)
	}
}

func (b browserless) visit(t *testing.T, address string) int {
	t.Helper()
	answer, err := b.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}
