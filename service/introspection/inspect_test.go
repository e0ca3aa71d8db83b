package introspection_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/diagnosis"
	"postern/platform/egress"
	"postern/service/introspection"
	"postern/service/login/tokencheck"
	"postern/testkit"
)

// TestInspect has endpoints that answer as they should, and those that do not.
func TestInspect(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	good := `{"active":true,"sub":"alice","scope":"read","iss":"https://accounts.example","aud":["shop"]}`
	html := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<title>canary page</title>")) }
	redirect := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }
	huge := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat("a", 1<<20))) }
	status := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, tt := range testkit.ByName(map[string]struct {
		says    string
		does    func(http.ResponseWriter, *http.Request)
		secret  string
		token   string
		row     contract.Introspection
		step    string
		outcome diagnosis.Outcome
		text    string
	}{
		"no token, as it should be": {says: `{"active":false}`, step: "token", outcome: diagnosis.Pass,
			text: "never issued is inactive"},
		"any token is active": {says: good, step: "token", outcome: diagnosis.Fail,
			text: "Every call would be accepted"},
		"a good token": {says: good, token: "canary-token", step: "token", outcome: diagnosis.Pass,
			text: `"alice"`},
		"not active": {says: `{"active":false}`, token: "canary-token", step: "token", outcome: diagnosis.Fail,
			text: "it isn't active"},
		"expired": {says: `{"active":true,"sub":"a","exp":1}`, token: "canary-token", step: "token",
			outcome: diagnosis.Fail, text: "it has expired"},
		"another issuer": {says: good, token: "canary-token",
			row:  contract.Introspection{Issuer: "https://other.example"},
			step: "token", outcome: diagnosis.Fail, text: "a different issuer"},
		"another audience": {says: good, token: "canary-token", row: contract.Introspection{Audience: "blog"},
			step:    "token",
			outcome: diagnosis.Fail, text: "a different audience"},
		"no token at all": {says: good, token: "with blanks", step: "token", outcome: diagnosis.Fail,
			text: "isn't a valid token"},
		"a wrong secret": {says: good, secret: "other", step: "credentials", outcome: diagnosis.Fail,
			text: "it returned 401"},
		"HTML": {does: html, step: "endpoint", outcome: diagnosis.Fail,
			text: "isn't an introspection response"},
		"a redirect to itself": {does: redirect, step: "endpoint", outcome: diagnosis.Fail, text: "it returned 302"},
		"no end":               {does: huge, step: "endpoint", outcome: diagnosis.Fail, text: "more than 65536 bytes"},
		"500":                  {does: status(500), step: "endpoint", outcome: diagnosis.Fail, text: "it returned 500"},
		"404":                  {does: status(404), step: "endpoint", outcome: diagnosis.Fail, text: "it returned 404"},
	}) {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t)
			if e.says(tt.says); tt.does != nil {
				e.does(tt.does)
			}
			guard, err := egress.New(egress.Options{LoopbackAllowed: true})
			if err != nil {
				t.Fatal(err)
			}
			client := guard.Client()
			t.Cleanup(client.CloseIdleConnections)
			at := tokencheck.Endpoint{URL: e.URL, ClientID: "my-api", ClientSecret: "canary-secret"}
			if tt.secret != "" {
				at.ClientSecret = "other"
			}
			got := introspection.Inspect(t.Context(), client, at, tt.row, tt.token, now)
			last := got.Steps[len(got.Steps)-1]
			if last.Step != tt.step || last.Outcome != tt.outcome || !strings.Contains(last.Detail, tt.text) {
				t.Errorf("the last step is %+v, want %s %s with %q", last, tt.step, tt.outcome, tt.text)
			}
			if text := fmt.Sprint(got); strings.Contains(text, "canary") {
				t.Errorf("the report has a token, a secret or the answer: %s", text)
			}
		})
	}
	t.Run("a private address", func(t *testing.T) {
		guard, err := egress.New(egress.Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := tokencheck.Endpoint{URL: "http://10.0.0.1/introspect"}
		got := introspection.Inspect(t.Context(), guard.Client(), at, contract.Introspection{}, "", now)
		if text := fmt.Sprint(got); !strings.Contains(text, "isn't allowed") || strings.Contains(text, "10.0.0.1") {
			t.Error(text)
		}
	})
}
