package handlers_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"postern/handlers"
	"postern/service/accounts"
)

type answer struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

func call(t *testing.T, h http.Handler, method, path, token, body string, header ...string) answer {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 { // which may replace ours, and name one twice
		r.Header.Del(header[i])
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	raw, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: w.Code, header: w.Header(), raw: string(raw)}
	if strings.Contains(w.Header().Get("Content-Type"), "json") {
		if err := json.Unmarshal(raw, &a.body); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	return a
}

// fields are the problem's errors.
func (a answer) fields() (list []map[string]any) {
	errs, _ := a.body["errors"].([]any)
	for _, e := range errs {
		list = append(list, e.(map[string]any))
	}
	return list
}

func (a answer) pointers() (list []string) {
	for _, field := range a.fields() {
		list = append(list, field["pointer"].(string))
	}
	return list
}

// made is what POST /proxy answered for the project shop.
type made struct {
	token, keyID, versionID, environmentID string
}

func makeShop(t *testing.T, h http.Handler) made {
	t.Helper()
	a := call(t, h, "POST", "/proxy", "", shop)
	if a.status != 201 {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	m := made{token: a.body["workspace_key"].(string)}
	m.keyID = a.body["api_keys"].(map[string]any)["prod"].(map[string]any)["id"].(string)
	p := call(t, h, "GET", "/api/v1/projects/shop", m.token, "")
	version := p.body["versions"].([]any)[0].(map[string]any)
	m.versionID = version["id"].(string)
	m.environmentID = version["environments"].([]any)[0].(map[string]any)["id"].(string)
	return m
}

func pointers(a answer) []string {
	var list []string
	errors, _ := a.body["errors"].([]any)
	for _, e := range errors {
		if field, ok := e.(map[string]any); ok {
			list = append(list, fmt.Sprint(field["pointer"], " ", field["code"]))
		}
	}
	return list
}

func asTarget(target string) string {
	text, err := json.Marshal(map[string]string{"target": target})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// newOwnerOf makes an account and returns the header that it sends.
func newOwnerOf(t *testing.T, s *handlers.Server) []string {
	t.Helper()
	code, err := s.Accounts.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session, err := s.Accounts.UseLink(t.Context(), code, accounts.SignUp{Email: "ana@example.com", Name: "Ana", Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return cookie(session)
}

func isAPI(route string) bool { return strings.HasPrefix(route, "/api/") || route == "/proxy" }

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// events reads a stream of the API's server-sent events.
type events struct {
	*bufio.Scanner
	t *testing.T
}

func follow(t *testing.T, url, token, last string) events {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" || answer.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	e := events{bufio.NewScanner(answer.Body), t}
	if retry, _ := e.next(); retry != "" {
		t.Fatalf("the stream begins with an event: %q", retry)
	}
	return e
}

// next is the next event: its id and its data.
func (e events) next() (id, data string) {
	e.t.Helper()
	for e.Scan() {
		switch name, value, _ := strings.Cut(e.Text(), ": "); name {
		case "id":
			id = value
		case "data":
			data += value
		case "":
			return id, data
		}
	}
	e.t.Fatalf("the stream ended: %v", e.Err())
	return "", ""
}

const shop = `{"target":"http://127.0.0.1:9","name":"shop","requests_auth":{"mode":"authenticate"}}`
