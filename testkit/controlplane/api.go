package controlplane

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

type Response struct {
	Status int
	Header http.Header
	Body   map[string]any
	Raw    string
}

func Call(t *testing.T, h http.Handler, method, path, token, body string, header ...string) Response {
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
	a := Response{Status: w.Code, Header: w.Header(), Raw: string(raw)}
	if strings.Contains(w.Header().Get("Content-Type"), "json") {
		if err := json.Unmarshal(raw, &a.Body); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	return a
}

// Errors are the problem's errors.
func (a Response) Errors() (list []map[string]any) {
	errs, _ := a.Body["errors"].([]any)
	for _, e := range errs {
		list = append(list, e.(map[string]any))
	}
	return list
}

func (a Response) Pointers() (list []string) {
	for _, field := range a.Errors() {
		list = append(list, field["pointer"].(string))
	}
	return list
}

// Shop is what POST /proxy answered for the project shop.
type Shop struct {
	Token, KeyID, VersionID, EnvironmentID string
}

func CreateShop(t *testing.T, h http.Handler) Shop {
	t.Helper()
	a := Call(t, h, "POST", "/proxy", "", ShopBody)
	if a.Status != 201 {
		t.Fatalf("%d %s", a.Status, a.Raw)
	}
	m := Shop{Token: a.Body["workspace_key"].(string)}
	m.KeyID = a.Body["api_keys"].(map[string]any)["prod"].(map[string]any)["id"].(string)
	p := Call(t, h, "GET", "/api/v1/projects/shop", m.Token, "")
	version := p.Body["versions"].([]any)[0].(map[string]any)
	m.VersionID = version["id"].(string)
	m.EnvironmentID = version["environments"].([]any)[0].(map[string]any)["id"].(string)
	return m
}

// PointerCodes lists the problem's fields, each as "pointer code".
func (a Response) PointerCodes() []string {
	var list []string
	errors, _ := a.Body["errors"].([]any)
	for _, e := range errors {
		if field, ok := e.(map[string]any); ok {
			list = append(list, fmt.Sprint(field["pointer"], " ", field["code"]))
		}
	}
	return list
}

func TargetBody(target string) string {
	text, err := json.Marshal(map[string]string{"target": target})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// SignUpOwner creates an account and returns the header that it sends.
func SignUpOwner(t *testing.T, s *handlers.Server) []string {
	t.Helper()
	code, err := s.Accounts.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session, err := s.Accounts.UseLink(t.Context(), code, accounts.SignUp{
		Email:    "ana@example.com",
		Name:     "Ana",
		Password: Password,
	})
	if err != nil {
		t.Fatal(err)
	}
	return cookie(session)
}

func IsAPI(route string) bool { return strings.HasPrefix(route, "/api/") || route == "/proxy" }

const DeviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// Events reads a stream of the API's server-sent events.
type Events struct {
	*bufio.Scanner
	T *testing.T
}

func FollowEvents(t *testing.T, url, token, last string) Events {
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
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" ||
		answer.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	e := Events{bufio.NewScanner(answer.Body), t}
	if retry, _ := e.Next(); retry != "" {
		t.Fatalf("the stream begins with an event: %q", retry)
	}
	return e
}

// Next is the next event: its id and its data.
func (e Events) Next() (id, data string) {
	e.T.Helper()
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
	e.T.Fatalf("the stream ended: %v", e.Err())
	return "", ""
}

const ShopBody = `{"target":"http://127.0.0.1:9","name":"shop","requests_auth":{"mode":"authenticate"}}`
