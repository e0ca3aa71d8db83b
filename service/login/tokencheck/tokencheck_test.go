package tokencheck_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"postern/platform/egress"
	"postern/service/login/tokencheck"
)

var now = time.Unix(1_800_000_000, 0)

// endpoint is one that tokens are introspected at.
type endpoint struct {
	*httptest.Server
	answer func(w http.ResponseWriter, r *http.Request)
	seen   *http.Request
	form   map[string][]string
}

func newEndpoint(t *testing.T, body string) *endpoint {
	t.Helper()
	e := &endpoint{answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		e.seen, e.form = r, r.PostForm
		e.answer(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

func guarded(t *testing.T) *http.Client {
	t.Helper()
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	client := guard.Client()
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func TestIntrospect(t *testing.T) {
	e := newEndpoint(t, `{
		"active": true, "sub": "alice", "scope": "read write", "client_id": "web", "iss": "https://i.example",
		"aud": ["a", "b"], "exp": 1800000001, "nbf": 1800000000, "token_type": "Bearer", "more": {}
	}`)
	at := tokencheck.Endpoint{URL: e.URL + "/introspect?tenant=1", ClientID: "us:er", ClientSecret: "se cret"}
	got, err := tokencheck.Introspect(t.Context(), guarded(t), at, "the-token", now)
	if err != nil {
		t.Fatal(err)
	}
	want := tokencheck.Introspection{
		Subject:  "alice",
		ClientID: "web",
		Issuer:   "https://i.example",
		Audience: []string{"a", "b"},
		Scope:    "read write",
		Expires:  got.Expires, // in its own test
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if e.seen.Method != http.MethodPost {
		t.Errorf("the method is %s", e.seen.Method)
	}
	if name, secret, _ := e.seen.BasicAuth(); name != "us%3Aer" || secret != "se+cret" {
		t.Errorf("the credentials are %q and %q", name, secret)
	}
	if strings.Contains(e.seen.URL.String(), "the-token") {
		t.Errorf("the address has the token: %s", e.seen.URL)
	}
	form := map[string][]string{"token": {"the-token"}, "token_type_hint": {"access_token"}}
	if !reflect.DeepEqual(e.form, form) {
		t.Errorf("the form is %v, want %v", e.form, form)
	}
	at.InForm = true
	if _, err := tokencheck.Introspect(t.Context(), guarded(t), at, "the-token", now); err != nil ||
		e.form["client_secret"][0] != "se cret" ||
		e.seen.Header.Get("Authorization") != "" {
		t.Errorf("credentials in the form: %v, %v", e.form, err)
	}
	_, err = tokencheck.Introspect(t.Context(), guarded(t), tokencheck.Endpoint{URL: e.URL}, "the-token", now)
	if err != nil ||
		e.seen.Header.Get("Authorization") != "" {
		t.Errorf("without credentials: %v", err)
	}
}

func TestIntrospect_refused(t *testing.T) {
	for body, want := range map[string]error{
		`{"active":false}`: tokencheck.ErrRefused,
		`{}`:               tokencheck.ErrRefused,
		`{"active":true,"sub":"a","exp":1799999940}`:             tokencheck.ErrRefused,
		`{"active":true,"sub":"a","nbf":1800000061}`:             tokencheck.ErrRefused,
		`{"active":true,"sub":"a","token_type":"refresh_token"}`: tokencheck.ErrRefused,
		`{"active":true,"sub":"a","token_type":"DPoP"}`:          tokencheck.ErrRefused,
		`{"active":true,"sub":"a","cnf":{"jkt":"x"}}`:            tokencheck.ErrRefused,
		`{"active":"true","sub":"a"}`:                            tokencheck.ErrBadAnswer,
		`{"active":1,"sub":"a"}`:                                 tokencheck.ErrBadAnswer,
		`{"active":true,"sub":7}`:                                tokencheck.ErrBadAnswer,
		`{"Active":true,"sub":"a"}`:                              tokencheck.ErrRefused,
		`{"active":true,"sub":"a","sub":"b"}`:                    tokencheck.ErrBadAnswer,
		`null`:                                                   tokencheck.ErrBadAnswer,
		`true`:                                                   tokencheck.ErrBadAnswer,
		``:                                                       tokencheck.ErrBadAnswer,
		`{"active":true,"sub":"a"`:                               tokencheck.ErrBadAnswer,
		`{"active":true,"sub":"a","x":"` + strings.Repeat("x", 70<<10) + `"}`: tokencheck.ErrBadAnswer,
	} {
		e := newEndpoint(t, body)
		_, err := tokencheck.Introspect(t.Context(), guarded(t), tokencheck.Endpoint{URL: e.URL}, "token", now)
		if !errors.Is(err, want) {
			t.Errorf("%.60s: %v, want %v", body, err, want)
		}
	}
	e := newEndpoint(t, "")
	for status, want := range map[int]error{
		401: tokencheck.ErrBadAnswer,
		302: tokencheck.ErrBadAnswer,
		500: tokencheck.ErrUnavailable,
		503: tokencheck.ErrUnavailable,
		429: tokencheck.ErrUnavailable,
	} {
		e.answer = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"active":true,"sub":"alice"}`))
		}
		_, err := tokencheck.Introspect(t.Context(), guarded(t), tokencheck.Endpoint{URL: e.URL}, "token", now)
		if !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", status, err, want)
		}
		if e.seen.URL.Path != "/" {
			t.Errorf("%d: the redirect is followed", status)
		}
	}
	e.Close()
	_, err := tokencheck.Introspect(t.Context(), guarded(t), tokencheck.Endpoint{URL: e.URL + "/?canary"}, "token", now)
	if !errors.Is(err, tokencheck.ErrUnavailable) ||
		strings.Contains(err.Error(), "canary") {
		t.Errorf("a closed endpoint: %v", err)
	}
}

// TestSend_unreachable tells a request without an answer from an answer that is an error.
func TestSend_unreachable(t *testing.T) {
	e := newEndpoint(t, "")
	e.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	ask := func() error {
		_, err := tokencheck.Introspect(t.Context(), guarded(t), tokencheck.Endpoint{URL: e.URL}, "token", now)
		if !errors.Is(err, tokencheck.ErrUnavailable) {
			t.Errorf("%v, want ErrUnavailable", err)
		}
		return err
	}
	if err := ask(); errors.Is(err, tokencheck.ErrUnreachable) || tokencheck.Reason(err) != "it returned 502" {
		t.Errorf("an answer: %v, its reason is %q", err, tokencheck.Reason(err))
	}
	e.Close()
	if err := ask(); !errors.Is(err, tokencheck.ErrUnreachable) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a closed port: %v", err)
	}
}
