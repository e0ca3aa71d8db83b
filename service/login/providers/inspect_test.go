package providers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"postern/core/diagnosis"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/service/login/providers"
	"postern/testkit/idp"
	"postern/testkit/reports"
)

// published is an issuer whose document, keys and token endpoint a test can replace.
func published(t *testing.T, answers map[string]http.HandlerFunc) string {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer, ok := answers[r.URL.Path]; ok {
			answer(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
			_ = json.NewEncoder(w).Encode(map[string]string{
				"issuer":                 server.URL,
				"authorization_endpoint": server.URL + "/authorize",
				"token_endpoint":         server.URL + "/token",
				"jwks_uri":               server.URL + "/keys",
			})
		case "/keys":
			key := idp.KeyOf(jose.ES256, "e").Public()
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{key}})
		case "/token":
			id, secret, ok := r.BasicAuth()
			w.WriteHeader(http.StatusBadRequest)
			code := "invalid_grant"
			if !ok || id != "app" || secret != "canary-secret" {
				code = "invalid_client"
			}
			_ = json.NewEncoder(w).Encode(map[string]string{"error": code})
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestInspect(t *testing.T) {
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(strings.ReplaceAll(text, "ISSUER", "http://"+r.Host)))
		}
	}
	const document, keys, token = "/.well-known/openid-configuration", "/keys", "/token"
	for name, tt := range map[string]struct {
		answers map[string]http.HandlerFunc
		secret  secrets.Secret
		step    string
		outcome diagnosis.Outcome
		text    string
	}{
		"it works":       {step: "client", outcome: diagnosis.Pass, text: "accepts the client ID and secret"},
		"a wrong secret": {secret: "other", step: "client", outcome: diagnosis.Fail, text: "(invalid_client)"},
		"no secret":      {secret: "-", step: "client", outcome: diagnosis.Fail, text: "(invalid_client)"},
		"HTML": {answers: map[string]http.HandlerFunc{document: says("<title>canary</title>")}, step: "discovery",
			outcome: diagnosis.Fail, text: "isn't the expected JSON"},
		"another issuer": {answers: map[string]http.HandlerFunc{document: says(`{"issuer":"ISSUER/"}`)},
			step: "discovery", outcome: diagnosis.Fail, text: "must match exactly"},
		"a redirect": {answers: map[string]http.HandlerFunc{document: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		}}, step: "discovery", outcome: diagnosis.Fail, text: "which isn't followed"},
		"no endpoints": {answers: map[string]http.HandlerFunc{document: says(`{"issuer":"ISSUER"}`)}, step: "endpoints",
			outcome: diagnosis.Fail, text: "endpoint"},
		"no keys": {answers: map[string]http.HandlerFunc{keys: says(`{"keys":[]}`)}, step: "keys",
			outcome: diagnosis.Fail, text: "None of the 0 keys"},
		"a token for anything": {
			answers: map[string]http.HandlerFunc{token: says(`{"access_token":"canary","token_type":"bearer"}`)},
			step:    "client", outcome: diagnosis.Fail, text: "a code that was never issued",
		},
		"HTML at the token endpoint": {answers: map[string]http.HandlerFunc{token: says("<title>canary</title>")},
			step: "client", outcome: diagnosis.Warn, text: "doesn't show"},
		"another error": {
			answers: map[string]http.HandlerFunc{token: func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"error":"canary"}`))
			}},
			step: "client", outcome: diagnosis.Warn, text: "another error",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := providers.Config{Type: providers.OIDC, ClientID: "app", ClientSecret: "canary-secret"}
			c.Issuer = published(t, tt.answers)
			switch tt.secret {
			case "":
			case "-":
				c.ClientSecret = ""
			default:
				c.ClientSecret = tt.secret
			}
			got := newInspected(t).Inspect(t.Context(), c)
			reports.WantStep(t, got, tt.step, tt.outcome, tt.text)
			if text := fmt.Sprint(got); strings.Contains(text, "canary") {
				t.Errorf("the report has a secret or the answer: %s", text)
			}
		})
	}
}

// TestInspect_kinds has kinds without a document, and those that are not finished.
func TestInspect_kinds(t *testing.T) {
	guard, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set := &providers.Set{HTTP: guard.Client(), GitHubURL: "http://10.0.0.1", FacebookGraph: "http://10.0.0.1"}
	github := providers.Config{Type: providers.GitHub, ClientID: "app", ClientSecret: "canary-secret"}
	got := set.Inspect(t.Context(), github)
	reports.WantStep(t, got, "discovery", diagnosis.Skip, "GitHub doesn't publish a discovery document")
	reports.WantStep(t, got, "client", diagnosis.Fail, "that isn't allowed")
	reports.WantStep(t, got, "callback", diagnosis.Skip, "Test login")
	github.ClientID = ""
	reports.WantStep(t, set.Inspect(t.Context(), github), "client", diagnosis.Fail, "client ID isn't set")
	facebook := providers.Config{Type: providers.Facebook, ClientID: "app"}
	reports.WantStep(t, set.Inspect(t.Context(), facebook), "client", diagnosis.Fail, "client secret isn't set")
}

// TestInspect_differentDocuments has an issuer whose first document names a key set that may not be fetched, and whose
// later ones name one that may.
func TestInspect_differentDocuments(t *testing.T) {
	documents, keys := 0, 0
	var issuer string
	issuer = published(t, map[string]http.HandlerFunc{
		"/.well-known/openid-configuration": func(w http.ResponseWriter, _ *http.Request) {
			documents++
			set := issuer + "/keys"
			if documents > 1 {
				set = "http://127.0.0.1/keys"
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]string{
				"issuer":                 issuer,
				"authorization_endpoint": "http://127.0.0.1/authorize",
				"token_endpoint":         "http://127.0.0.1/token",
				"jwks_uri":               set,
			})
		},
		"/keys": func(http.ResponseWriter, *http.Request) { keys++ },
	})
	c := providers.Config{Type: providers.OIDC, ClientID: "app", Issuer: issuer, WebPorts: true}
	got := newInspected(t).Inspect(t.Context(), c)
	reports.WantStep(t, got, "endpoints", diagnosis.Fail, "a port other than 80 and 443")
	if keys > 0 {
		t.Error("the test fetched keys from an address that is refused")
	}
}

// TestInspect_statelessness has a provider whose document is broken, repaired and broken again between tests and
// sign-ins.
func TestInspect_statelessness(t *testing.T) {
	broken := true
	var issuer string
	issuer = published(t, map[string]http.HandlerFunc{
		"/.well-known/openid-configuration": func(w http.ResponseWriter, _ *http.Request) {
			document := map[string]string{
				"issuer":                 issuer,
				"authorization_endpoint": issuer + "/authorize",
				"token_endpoint":         issuer + "/token",
				"jwks_uri":               issuer + "/keys",
			}
			if broken {
				document["jwks_uri"] = ""
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(document)
		},
	})
	set := newInspected(t)
	c := providers.Config{Type: providers.OIDC, ClientID: "app", ClientSecret: "canary-secret", Issuer: issuer}
	reports.WantStep(t, set.Inspect(t.Context(), c), "endpoints", diagnosis.Fail, "an endpoint without https")
	broken = false
	if _, err := set.AuthorizeURL(t.Context(), c, providers.Request{State: "s", Verifier: "v"}); err != nil {
		t.Errorf("a sign-in right after a failed test: %v", err)
	}
	broken = true
	reports.WantStep(t, set.Inspect(t.Context(), c), "endpoints", diagnosis.Fail, "an endpoint without https")
}

func newInspected(t *testing.T) *providers.Set {
	t.Helper()
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	client := guard.Client()
	t.Cleanup(client.CloseIdleConnections)
	return &providers.Set{HTTP: client}
}
