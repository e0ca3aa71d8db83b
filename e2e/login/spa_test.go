package login

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/platform/fault"
	"postern/testkit"
	"postern/testkit/idp"
)

// spa serves a single-page application whose users sign in with oidc-client-ts. Its API is
// the gateway, below its own origin.
type spa struct {
	origin   string
	settings struct {
		Issuer   string `json:"issuer"`
		ClientID string `json:"client_id"`
	}
	api   *url.URL
	first string // link of the installation's first account
}

func newSPA(t *testing.T) *spa {
	t.Helper()
	app := &spa{}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join("testdata", "spa", "index.html"))
	})
	mux.HandleFunc("/app.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join("testdata", "spa", "app.js"))
	})
	mux.HandleFunc("/oidc-client-ts.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(
			idp.NodeDirectory(), "node_modules", "oidc-client-ts", "dist", "browser", "oidc-client-ts.js",
		))
	})
	mux.HandleFunc("/settings.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(app.settings)
	})
	mux.Handle("/api/", http.StripPrefix("/api", &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(app.api) },
	}))
	listener := httptest.NewServer(mux)
	t.Cleanup(listener.Close)
	app.origin = listener.URL
	return app
}

// signedInSPA goes from one POST /proxy to the application's page whose user has signed in.
// The browser may complain of the addresses named, which refuse in the end.
func signedInSPA(
	t *testing.T, app *spa, upstream *testkit.Upstream, refuse func(contract.Proxy) []string,
) (*harness.Person, contract.Proxy) {
	t.Helper()
	issuer, server := idp.StartCertified(t), harness.Start(t)
	made, err := client.Do(t.Context(), harness.Connect(t, server.Config.PublicURL, ""), contract.CreateProxy,
		contract.NewProxy{
			Target: upstream.URL,
			Name:   "shop",
			Login: &contract.NewLogin{
				RedirectURIs: []string{app.origin + "/callback"},
				Providers: []contract.NewProvider{
					{Type: "oidc", Issuer: issuer.Issuer, ProviderSettings: contract.ProviderSettings{
						ClientID: new("later"),
					}}},
			},
		}.Request())
	if err != nil {
		t.Fatal(err)
	}
	registerApp(t, harness.Connect(t, server.Config.PublicURL, made.WorkspaceKey.Reveal()), issuer, *made.Login)
	app.settings.Issuer, app.settings.ClientID = made.Login.Issuer, made.Login.ClientID
	app.first = server.FirstLink
	if app.api, err = url.Parse(made.Project.Environments[0].URL); err != nil {
		t.Fatal(err)
	}

	p := harness.NewPerson(t)
	p.IgnoresErrorsAt(append(refuse(made), issuer.Issuer, "https://fonts.googleapis.com/")...)
	p.Open(app.origin)
	p.Sees("Signed out")
	p.Presses("Sign in")
	p.Types("login", "ana")
	p.Types("password", "any")
	p.Presses("Sign-in")
	p.Presses("Continue")
	p.Sees("Continue to shop?")
	p.Presses("Agree and continue")
	p.Sees("Signed in")
	return p, made
}

// TestSPA_signIn goes from one POST /proxy to a single-page application whose user is signed
// in by oidc-client-ts, calls the API through the gateway, renews the tokens and revokes
// them. The browser calls discovery, keys, token, userinfo and revocation across origins.
func TestSPA_signIn(t *testing.T) {
	t.Parallel()
	upstream, app := testkit.NewUpstream(t), newSPA(t)
	p, _ := signedInSPA(t, app, upstream, func(made contract.Proxy) []string {
		return []string{made.Login.Issuer + "/userinfo"}
	})
	if status := p.Reads("#status"); status != "200" {
		t.Errorf("the API answers %s to the application: %s", status, p.Reads("#upstream"))
	}
	if email := p.Reads("#email"); email != "ana@example.com" {
		t.Errorf("email %q, want that of userinfo", email)
	}
	calls := upstream.Requests()
	if len(calls) != 1 {
		t.Fatalf("%d calls arrived, want 1", len(calls))
	}
	subject := p.Reads("#subject")
	got := calls[0].Headers.Get("X-Authenticated-Userid")
	if got != subject || !strings.HasPrefix(subject, "usr_") {
		t.Errorf("the upstream sees the user %q, want %q", got, subject)
	}
	p.Presses("Renew")
	p.Sees("Renewed")
	if renewed := p.Reads("#renewed"); renewed != "true" {
		t.Error("the renewed access token is the old one")
	}
	p.Presses("Sign out")
	p.Sees("Revoked")
	if status := p.Reads("#userinfo"); status != "401" {
		t.Errorf("after revocation, userinfo answers %s", status)
	}
}

// TestSPA_accountDeletion goes on from a signed-in application to the hosted account page,
// where the user deletes their account: the gateway no longer accepts the application's token.
func TestSPA_accountDeletion(t *testing.T) {
	t.Parallel()
	upstream, app := testkit.NewUpstream(t), newSPA(t)
	p, made := signedInSPA(t, app, upstream, func(contract.Proxy) []string {
		return []string{app.origin + "/api/"}
	})
	if status := p.Reads("#status"); status != "200" {
		t.Fatalf("the API answers %s to the application", status)
	}
	user := p.Reads("#subject")
	p.Open(made.Login.Issuer + "/account")
	p.Sees("Your account")
	p.Clicks("#account-delete-confirm")
	p.Presses("Delete my account")
	p.Sees("Your account has been deleted")

	// Other replicas hear of it within a second, this one at once.
	p.Open(app.origin)
	p.Sees("Signed in") // the application has its tokens still
	if status := p.Reads("#status"); status != "401" {
		t.Errorf("after the deletion the API answers %s to the application: %s", status, p.Reads("#upstream"))
	}
	if n := len(upstream.Requests()); n != 1 {
		t.Errorf("%d calls arrived, want the one before the deletion", n)
	}
	api := harness.Connect(
		t,
		strings.TrimSuffix(made.Login.Issuer, "/oauth/"+made.Login.ClientID),
		made.WorkspaceKey.Reveal(),
	)
	if _, err := client.Do(
		t.Context(), api, contract.GetUser, contract.UserPath{User: user},
	); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the user after the deletion: %v", err)
	}
}

// TestSPA_silentSignIn has oidc-client-ts ask for a sign-in in a hidden frame: with the
// user's session at the hosted pages it succeeds, and after the user has signed out
// everywhere it does not, nor does the application's token open the gateway.
func TestSPA_silentSignIn(t *testing.T) {
	t.Parallel()
	upstream, app := testkit.NewUpstream(t), newSPA(t)
	p, made := signedInSPA(t, app, upstream, func(contract.Proxy) []string {
		return []string{app.origin + "/api/"}
	})
	subject := p.Reads("#subject")
	// The frame of an unclaimed application gets a page that no frame may show.
	p.Open(app.first)
	p.Sees("Welcome to Postern")
	p.Types("email", "ana@example.com")
	p.Types("name", "Ana")
	p.Types("password", "four unrelated words")
	p.Presses("Create account and sign in")
	p.Sees("Projects")
	p.Open(made.Claim.URL)
	p.Presses("Claim")
	p.Sees("Projects")
	p.Open(app.origin)
	p.Sees("Signed in")

	p.Presses("Ask silently")
	p.Sees("Signed in silently")
	if again, same := p.Reads("#again"), p.Reads("#same"); again != subject || same != "true" {
		t.Errorf("signed in silently as %s (the same session: %s), want %s", again, same, subject)
	}
	p.Open(made.Login.Issuer + "/account")
	p.Sees("Your account")
	p.Presses("Sign out everywhere")
	p.Sees("You're signed out everywhere")
	p.Open(app.origin)
	p.Sees("Signed in") // the application has its tokens still
	if status := p.Reads("#status"); status != "401" {
		t.Errorf("after the sign-out everywhere the API answers %s to the application", status)
	}
	p.Presses("Ask silently")
	p.Sees("Failed: the user must sign in")
}
