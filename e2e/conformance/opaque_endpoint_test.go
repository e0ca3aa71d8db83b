//go:build conformance

package conformance

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// endpoint is an introspection endpoint. answers has its answers by token.
type endpoint struct {
	*httptest.Server
	answers map[string]http.HandlerFunc

	mu    sync.Mutex
	asked []question
}

// question is a gateway's request to the endpoint.
type question struct {
	Line, Host, ContentType, Authorization, Accept, UserAgent, Body string
}

func startEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{answers: opaqueAnswers()}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	e.mu.Lock()
	e.asked = append(e.asked, question{
		r.Method + " " + r.RequestURI, r.Host, r.Header.Get("Content-Type"), r.Header.Get("Authorization"),
		r.Header.Get("Accept"), r.UserAgent(), string(body),
	})
	e.mu.Unlock()
	answer := e.answers[r.PostFormValue("token")]
	if answer == nil {
		answer = says(`{"active":true,"sub":"shown","aud":"shop","iss":"https://id.example"}`)
	}
	answer(w, r)
}

// take returns the questions since the last call.
func (e *endpoint) take() []question {
	e.mu.Lock()
	defer e.mu.Unlock()
	asked := e.asked
	e.asked = nil
	return asked
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

// raw answers with these bytes, and then does what then says with the connection.
func raw(text string, then func(net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
		if then != nil {
			then(conn)
		}
	}
}

// drip writes a byte every half a second, for longer than a gateway waits.
func drip(to net.Conn) {
	pause := time.NewTicker(500 * time.Millisecond)
	defer pause.Stop()
	for range 20 {
		if _, err := io.WriteString(to, "a"); err != nil {
			return
		}
		<-pause.C
	}
}

// opaqueAnswers are answers about tokens, each by the token that gets it.
func opaqueAnswers() map[string]http.HandlerFunc {
	now := time.Now().Unix()
	const good = `{"active":true,"sub":"alice","scope":"read write","aud":["x","shop"],"iss":"https://id.example"}`
	out := map[string]http.HandlerFunc{}
	for name, edit := range map[string][2]string{
		"good":               {},
		"inactive":           {"true", "false"},
		"active-as-text":     {"true", `"true"`},
		"active-null":        {"true", "null"},
		"active-missing":     {`"active":true,`, ""},
		"active-upper-case":  {`"active"`, `"Active"`},
		"expired":            {"{", fmt.Sprintf(`{"exp":%d,`, now-120)},
		"just-expired":       {"{", fmt.Sprintf(`{"exp":%d,`, now-20)},
		"exp-with-fractions": {"{", fmt.Sprintf(`{"exp":%d.5,`, now+600)},
		"exp-exponent":       {"{", `{"exp":4e9,`},
		"exp-infinite":       {"{", `{"exp":1e999,`},
		"exp-text":           {"{", `{"exp":"4000000000",`},
		"not-yet":            {"{", fmt.Sprintf(`{"nbf":%d,`, now+600)},
		"a-clock-ahead":      {"{", fmt.Sprintf(`{"nbf":%d,`, now+20)},
		"another-audience":   {"shop", "shoppe"},
		"audience-as-text":   {`["x","shop"]`, `"shop"`},
		"audience-null":      {`["x","shop"]`, `null`},
		"audience-empty":     {`["x","shop"]`, `[]`},
		"audience-number":    {`["x","shop"]`, `7`},
		"audience-numbers":   {`["x","shop"]`, `["shop",7]`},
		"audience-object":    {`["x","shop"]`, `{}`},
		"another-issuer":     {"id.example", "other.example"},
		"no-issuer":          {`,"iss":"https://id.example"`, ""},
		"issuer-list":        {`"https://id.example"`, `["https://id.example"]`},
		"no-subject":         {`"sub":"alice",`, ""},
		"empty-subject":      {"alice", ""},
		"subject-number":     {`"alice"`, "7"},
		"subject-line-break": {"alice", `alice\r\nX-Consumer-Username: root`},
		"subject-not-ascii":  {"alice", "alíce"},
		"subject-blank":      {"alice", "alice "},
		"subject-255":        {"alice", strings.Repeat("a", 255)},
		"subject-256":        {"alice", strings.Repeat("a", 256)},
		"subject-twice":      {"{", `{"sub":"root",`},
		"subject-escaped":    {"alice", `\u0061lice`},
		"scope-list":         {`"read write"`, `["read"]`},
		"scope-null":         {`"read write"`, `null`},
		"scope-quote":        {"read write", `a\"b`},
		"scope-tabs":         {"read write", `\tread\n write `},
		"scope-no-break":     {"read write", "read\u00a0write"},
		"scope-without-end":  {"read write", strings.Repeat("scope ", 700)},
		"bearer":             {"{", `{"token_type":"Bearer",`},
		"access-token":       {"{", `{"token_type":"access_token",`},
		"refresh-token":      {"{", `{"token_type":"refresh_token",`},
		"dpop":               {"{", `{"token_type":"DPoP",`},
		"bound":              {"{", `{"cnf":{"jkt":"x"},`},
		"bound-null":         {"{", `{"cnf":null,`},
		"bound-false":        {"{", `{"cnf":false,`},
		"client-number":      {"{", `{"client_id":7,`},
		"nested-duplicates":  {"{", `{"x":{"a":1,"a":2,"s":"\"}{"},`},
		"subject-emoji":      {"alice", `alice\ud83d\ude00`},
		"subject-cut-emoji":  {"alice", `alice\ud83d`},
		"claim-cut-emoji":    {"{", `{"name":"Ana \ud83d",`},
		"claim-not-utf-8":    {"{", "{\"name\":\"Ana \xff\","},
		"100-levels":         {"{", `{"x":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `,`},
		"101-levels":         {"{", `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `,`},
		"1000-levels":        {"{", `{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `,`},
		"number-ends-in-dot": {"{", `{"x":1.,`},
		"number-too-large":   {"{", `{"x":1e400,`},
		"white-space":        {"{", " \r\n\t{"},
		"text-behind":        {`id.example"}`, `id.example"} x`},
		"half":               {`,"iss":"https://id.example"}`, ""},
		"64-KiB":             {"{", `{"x":"` + strings.Repeat("x", 64<<10-len(good)-7) + `",`},
		"over-64-KiB":        {"{", `{"x":"` + strings.Repeat("x", 64<<10-len(good)-6) + `",`},
		"huge":               {"{", `{"x":"` + strings.Repeat("x", 4<<20) + `",`},
	} {
		out[name] = says(strings.Replace(good, edit[0], edit[1], 1))
	}
	for name, body := range map[string]string{
		"null": "null", "true": "true", "list": "[]", "empty": "", "html": "<html>", "object": "{}",
		"a-text": `"active"`,
	} {
		out[name] = says(body)
	}
	for _, status := range []int{201, 204, 400, 401, 403, 404, 408, 429, 500, 503} {
		out[fmt.Sprint("status-", status)] = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			if status != http.StatusNoContent {
				_, _ = io.WriteString(w, good)
			}
		}
	}
	out["redirect"] = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}
	maps.Copy(out, opaqueConnections(good))
	return out
}

// opaqueConnections are answers that the connection has to do with.
func opaqueConnections(good string) map[string]http.HandlerFunc {
	const head = "HTTP/1.1 200 OK\r\n"
	return map[string]http.HandlerFunc{
		"chunks": func(w http.ResponseWriter, _ *http.Request) {
			for _, c := range []byte(good) {
				_, _ = w.Write([]byte{c})
				w.(http.Flusher).Flush()
			}
		},
		"ended-by-the-connection": raw(head+"\r\n"+good, nil),
		"http-1.0":                raw("HTTP/1.0 200 OK\r\n\r\n"+good, nil),
		"closed":                  raw("", nil),
		"no-http":                 raw("220 mail.example ESMTP\r\n", nil),
		"half-a-head":             raw(head+"Content-Le", nil),
		"half-a-body":             raw(head+"Content-Length: 1000\r\n\r\n"+good, nil),
		"half-a-chunk":            raw(head+"Transfer-Encoding: chunked\r\n\r\n1000\r\n"+good, nil),
		"a-negative-length":       raw(head+"Content-Length: -5\r\n\r\n"+good, nil),
		"a-length-of-letters":     raw(head+"Content-Length: x\r\n\r\n"+good, nil),
		"a-redirect-that-breaks":  raw("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 10\r\n\r\n", nil),
		"silence":                 raw("", func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }),
		"a-head-that-drips":       raw(head+"X-Drip: ", drip),
		"a-body-that-drips":       raw(head+"Content-Length: 1000\r\n\r\n", drip),
	}
}
