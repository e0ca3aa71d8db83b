package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"postern/testkit"
)

// TestClaimFromCurlToExport follows a user without an account: one call creates a proxy,
// its claim link leads to sign-up, and the claimed project then belongs to their team only.
func TestClaimFromCurlToExport(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := start(t)
	// The installation's operator, who has an account of their own.
	first := visitor(t)
	first.fills(t, server.FirstLink, "email", "ana@example.com", "name", "Ana", "password", "four unrelated words")

	made := createProxy(t, server.Config.PublicURL, upstream.URL)
	address, key := made.Project.Environments[0].URL, made.APIKeys["prod"].Key
	callsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)

	p := sit(t)
	p.open(made.Claim.URL)
	p.sees("Sign in")
	p.follows("Create an account")
	p.sees("Create an account")
	p.types("email", "bob@example.com")
	p.types("name", "Bob")
	p.types("password", "another four words")
	p.presses("Create account")
	p.sees("Claim this workspace")
	p.presses("Claim")
	p.sees("Projects")
	callsAnswer(t, address, key, http.StatusOK, http.StatusUnauthorized)
	p.follows("Export")
	p.waits("#dialog[open] [data-panel]")
	p.takesAway("shop-kong.zip", byItself)

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
		if status := first.opens(t, server.Config.PublicURL+path); status != want {
			t.Errorf("the other account gets %d at %s, want %d", status, path, want)
		}
	}
}

type createdProxy struct {
	Project struct {
		ID           string
		Environments []struct{ URL string }
	}
	APIKeys map[string]struct{ ID, Key string } `json:"api_keys"`
	Claim   struct{ URL string }

	WorkspaceKey string `json:"workspace_key"`
}

// createProxy is the call of the README, as curl sends it.
func createProxy(t *testing.T, server, target string) (made createdProxy) {
	t.Helper()
	body := `{"target":"` + target + `","name":"shop","requests_auth":{"mode":"authenticate"}}`
	answer := send(t, http.MethodPost, server+"/proxy", "application/json", body)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("%s, want 201", answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil {
		t.Fatal(err)
	}
	return made
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

func (b browserless) opens(t *testing.T, address string) int {
	t.Helper()
	answer, err := b.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}
