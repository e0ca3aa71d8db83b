package gateway_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

// sameJSON reports whether two texts are the same bytes, or JSON of the same value.
func sameJSON(a, b string) bool {
	decode := func(text string) (out any, err error) {
		from := json.NewDecoder(strings.NewReader(text))
		from.UseNumber()
		err = from.Decode(&out)
		return out, err
	}
	x, errX := decode(a)
	y, errY := decode(b)
	return a == b || errX == nil && errY == nil && cmp.Equal(x, y)
}

var bodyTransforms = snapshot.Changes{
	Remove:  []string{"gone", "null"},
	Rename:  []string{"old:new", "no:yes"},
	Replace: []string{"known:replaced", "absent:replaced", "false:replaced"},
	Add:     []string{"known:never", "added:a/b <c>", "empty:added"},
	Append:  []string{"text:2", "list:2", "list:3", "object:1", "number:x", "more:1"},
}

// The results of Kong 3.9.3's request-transformer for the same bodies.
func TestTransforms_requestBody(t *testing.T) {
	file := part("file\"; filename=\"a", "a\r\n--c")
	long := strings.Repeat("x", policy.MaxChangedBody)
	for _, tc := range []struct{ name, contentType, body, want string }{
		{"object", "application/json", `{"gone":1,"old":[1.50, {"a":"\u00e4/"}],"known":1,"text":"1","list":[1],` +
			`"object":{"a":1},"number":12345678901234567890,"null":null,"empty":""}`,
			`{"new":[1.50,{"a":"ä/"}],"known":"replaced",` +
				`"text":["1","2"],"list":[1,"2","3"],"object":{"a":1,"1":"1"},` +
				`"number":["x"],"empty":"","added":"a/b <c>","more":["1"]}`},
		{"false", "application/json; charset=utf-8",
			`{"no":false,"false":false,"known":false,"text":null,"list":{},"object":[]}`,
			`{"no":false,"false":false,"known":"never","added":"a/b <c>",` +
				`"empty":"added","text":["2"],"list":["2","3"],` +
				`"object":["1"],"number":["x"],"more":["1"]}`},
		{"repeated", "application/json", `{"gone":1,"known":1,"known":2,"gone":2,"a":1,"a":2,"text":"1"}`,
			`{"known":"replaced","a":2,"text":["1","2"],"added":"a/b <c>","empty":"added","list":["2","3"],` +
				`"object":["1"],"number":["x"],"more":["1"]}`},
		{"empty", "application/json", "",
			`{"known":"never","added":"a/b <c>","empty":"added","text":["2"],"list":["2","3"],` +
				`"object":["1"],"number":["x"],"more":["1"]}`},
		{"array", "application/json", `[{"gone":1}]`, `[{"gone":1}]`},
		{"invalid", "application/json", `{"gone":1`, `{"gone":1`},
		{"surrogate", "application/json", `{"gone":"\ud800"}`, `{"gone":"\ud800"}`},
		{"too deep", "application/json", strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
			strings.Repeat("[", 1001) + strings.Repeat("]", 1001)},
		{"gzip", "application/json\r\nContent-Encoding: gzip", compressed(`{"gone":1}`), compressed(`{"gone":1}`)},
		{"text", "text/plain", `{"gone":1}`, `{"gone":1}`},
		{"problem", "application/problem+json", `{"gone":1}`, `{"gone":1}`},
		{"large text", "text/plain", long + "y", long + "y"},
		{"form", "application/x-www-form-urlencoded", "gone=1&old=a+b&known=1&known=2&text=1&number&z=%2F",
			"added=a%2Fb%20%3Cc%3E&empty=added&known=replaced&list=2&list=3&more=1&new=a%20b&number=x&object=1&" +
				"text=1&text=2&z=%2F"},
		{"multipart", "multipart/form-data; boundary=b",
			part("gone", "1") + part("old", "x") + part("known", "1") + file + "--b--\r\n",
			part("known", "replaced") + file + part("new", "x") + part("added", "a/b <c>") + part("empty", "added") +
				"--b--\r\n"},
		{"no multipart", "multipart/form-data; boundary=b", "gone", "gone"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, path rigOption) {
				r := newRig(t, nil, path, withTransforms(snapshot.Transforms{RequestBody: bodyTransforms}))
				for framing, sent := range framedBodies(tc.body) {
					got := r.raw(request("POST", "/shop/1.0.0/prod/x", r.addr, "X-API-Key: "+r.key,
						"Content-Digest: sha-256=:x:", "Content-Type: "+tc.contentType, framing) + sent)
					calls := r.upstreamCalls()
					if got.StatusCode != 200 || len(calls) == 0 {
						t.Fatalf("%s: %d %s", framing, got.StatusCode, got.body)
					}
					seen := calls[len(calls)-1]
					if !sameJSON(seen.body, tc.want) && !sameParts(seen.body, tc.want) {
						t.Errorf("%s: the upstream got\n%.500s\nnot\n%.500s", framing, seen.body, tc.want)
					}
					if seen.body != tc.body && seen.length != int64(len(seen.body)) ||
						seen.header.Get("Content-Digest") != "" {
						t.Errorf("%s: length %d of %d bytes, %v", framing, seen.length, len(seen.body), seen.header)
					}
				}
			})
		})
	}
}

// sameParts compares forms whose parts may be in another order.
func sameParts(a, b string) bool {
	parts := func(text string) map[string]int {
		out := map[string]int{}
		for one := range strings.SplitSeq(text, "--b") {
			out[one]++
		}
		return out
	}
	return cmp.Equal(parts(a), parts(b))
}

// framedBodies returns a body by the field that frames it.
func framedBodies(body string) map[string]string {
	out := map[string]string{fmt.Sprintf("Content-Length: %d", len(body)): body}
	if body != "" {
		out["Transfer-Encoding: chunked"] = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	}
	return out
}

func compressed(text string) string {
	var out bytes.Buffer
	to := gzip.NewWriter(&out)
	_, _ = io.WriteString(to, text)
	_ = to.Close()
	return out.String()
}

func part(name, value string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
}

// Bodies that cannot be changed as Kong would do it are refused before the upstream is called.
func TestTransforms_requestBodyRefused(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		r := newRig(t, nil, path, withTransforms(snapshot.Transforms{RequestBody: bodyTransforms}))
		large := `{"a":"` + strings.Repeat("x", policy.MaxChangedBody) + `"}`
		for _, tc := range []struct {
			name, contentType, body, framing string
			status                           int
			code                             string
		}{
			{"announced", "application/json", "", "Content-Length: 10485760", 413, "body_too_large"},
			{"announced, expecting 100", "application/json", "", "Content-Length: 10485760\r\nExpect: 100-continue",
				413, "body_too_large"},
			{"chunked", "application/json", large, "", 413, "body_too_large"},
			{"arguments", "application/x-www-form-urlencoded", strings.Repeat("a&", 1000), "", 413, "body_too_large"},
			{"string", "application/json", ` "a"`, "", 400, "bad_body"},
			{"number", "application/json", "1", "", 400, "bad_body"},
			{"null", "application/json", "null", "", 400, "bad_body"},
			{"broken off", "application/json", `{`, "Content-Length: 10", 400, "bad_request"},
			{"bad chunk", "application/json", "zz\r\n", "Transfer-Encoding: chunked", 400, "bad_request"},
		} {
			framing, body := tc.framing, tc.body
			if framing == "" {
				framing, body = "Transfer-Encoding: chunked", framedBodies(body)["Transfer-Encoding: chunked"]
			}
			conn := r.dial()
			go func() {
				_, _ = io.WriteString(conn, request("POST", "/shop/1.0.0/prod/x", r.addr, "X-API-Key: "+r.key,
					"Content-Type: "+tc.contentType, framing)+body)
				if half, ok := conn.(interface{ CloseWrite() error }); ok && tc.code == "bad_request" {
					_ = half.CloseWrite()
				}
			}()
			got, err := io.ReadAll(io.LimitReader(conn, 12))
			if err != nil || tc.code != "bad_request" && string(got) != fmt.Sprintf("HTTP/1.1 %d", tc.status) {
				t.Errorf("%s: %q, %v", tc.name, got, err)
			}
			_ = conn.Close()
			if calls := r.upstreamCalls(); len(calls) > 0 {
				t.Errorf("%s: the upstream got %+v", tc.name, calls)
			}
		}
	})
}

var answerTransforms = snapshot.BodyChanges{
	Changes: snapshot.Changes{
		Remove:  []string{"gone"},
		Rename:  []string{"old:new", "no:yes"},
		Replace: []string{"known:2", "code:changed"},
		Add:     []string{"added:true", "zero:0"},
		Append:  []string{"list:3", "list:4"},
	},
	Types: snapshot.ChangeTypes{
		Replace: []string{snapshot.JSONNumber, snapshot.JSONString},
		Add:     []string{snapshot.JSONBoolean, snapshot.JSONNumber},
		Append:  []string{snapshot.JSONNumber, snapshot.JSONString},
	},
}

// The results of Kong 3.9.3's response-transformer for the same answers.
func TestTransforms_responseBody(t *testing.T) {
	var status int
	var head http.Header
	var body string
	var asked http.Header
	upstream := func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header.Clone()
		for name, lines := range head {
			w.Header()[name] = lines
		}
		if head.Get("Trailer") != "" {
			w.Header().Set("Trailer", "X-Sum")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		if head.Get("Trailer") != "" {
			w.Header().Set("X-Sum", "1")
		}
	}
	for _, tc := range []struct {
		name, contentType, body, want string
		status                        int
		more                          http.Header
	}{
		{"object", "application/json", `{"gone":1,"old":{"id":12345678901234567890},"known":1,"no":false,"list":[1]}`,
			`{"new":{"id":12345678901234567890},"known":2,"yes":false,"list":[1,3,"4"],"added":true,"zero":0}`, 200,
			nil},
		{"suffix", "Application/Problem+JSON; charset=utf-8", `{"code":"x"}`,
			`{"code":"changed","added":true,"zero":0,"list":[3,"4"]}`, 404, nil},
		{"array", "application/json", `[1]`, `[1]`, 200, nil},
		{"scalar", "application/json", `"a"`, `"a"`, 200, nil},
		{"invalid", "application/json", `{"gone":`, `{"gone":`, 200, nil},
		{"empty", "application/json", "", "", 200, nil},
		{"gzip", "application/json", compressed(`{"gone":1}`), compressed(`{"gone":1}`), 200,
			http.Header{"Content-Encoding": {"gzip"}}},
		{"part", "application/json", `{"gone":1`, `{"gone":1`, 206, http.Header{"Content-Range": {"bytes 0-8/10"}}},
		{"events", "text/event-stream", "data: {\"gone\":1}\n\n", "data: {\"gone\":1}\n\n", 200, nil},
		{"lines", "application/x-ndjson", "{\"gone\":1}\n", "{\"gone\":1}\n", 200, nil},
		{"no content", "application/json", "", "", 204, nil},
		{"not modified", "application/json", "", "", 304, http.Header{"Etag": {`"a"`}}},
		{"validators", "application/json", `{"gone":1}`, `{"added":true,"zero":0,"list":[3,"4"]}`, 200,
			http.Header{"Etag": {`"a"`}, "Content-Digest": {"sha-256=:x:"}}},
		{"trailer", "application/json", `{"gone":1}`, `{"added":true,"zero":0,"list":[3,"4"]}`, 200,
			http.Header{"Trailer": {"X-Sum"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, head, body = tc.status, http.Header{"Content-Type": {tc.contentType}}, tc.body
			for name, lines := range tc.more {
				head[name] = lines
			}
			onBothPaths(t, func(t *testing.T, path rigOption) {
				r := newRig(t, upstream, path, withTransforms(snapshot.Transforms{ResponseBody: answerTransforms}))
				got := r.get("/shop/1.0.0/prod/x", "Accept-Encoding: gzip, br")
				if got.StatusCode != tc.status || !sameJSON(got.body, tc.want) {
					t.Errorf("%d %s, not %d %s", got.StatusCode, got.body, tc.status, tc.want)
				}
				if asked.Get("Accept-Encoding") != "identity" {
					t.Errorf("the upstream is asked for %q", asked["Accept-Encoding"])
				}
				if got.Header.Get("Etag") != tc.more.Get("Etag") || got.Header.Get("Content-Digest") != "" ||
					tc.more.Get("Trailer") != "" && got.Trailer.Get("X-Sum") != "1" {
					t.Errorf("%v, trailers %v", got.Header, got.Trailer)
				}
				length := r.call("HEAD", "/shop/1.0.0/prod/x").Header["Content-Length"]
				if isJSON(tc.contentType) && length != nil {
					t.Errorf("HEAD: Content-Length %v", length)
				}
			})
		})
	}
	t.Run("refusal", func(t *testing.T) {
		onBothPaths(t, func(t *testing.T, path rigOption) {
			r := newRig(t, upstream, path, withTransforms(snapshot.Transforms{ResponseBody: answerTransforms}))
			got := r.get("/shop/1.0.0/prod/x", noKey)
			want := `{"message":"Send an API key in the X-API-Key header.","code":"changed",` +
				`"added":true,"zero":0,"list":[3,"4"]}`
			if got.StatusCode != 401 || !sameJSON(got.body, want) {
				t.Errorf("%d %s", got.StatusCode, got.body)
			}
		})
	})
	t.Run("too large", func(t *testing.T) {
		status, head = 200, http.Header{"Content-Type": {"application/json"}}
		body = `{"a":"` + strings.Repeat("x", policy.MaxChangedBody) + `"}`
		onBothPaths(t, func(t *testing.T, path rigOption) {
			r := newRig(t, upstream, path, withTransforms(snapshot.Transforms{ResponseBody: snapshot.BodyChanges{
				Changes: snapshot.Changes{Remove: []string{"b"}}}}))
			r.wantCode("too large", r.get("/shop/1.0.0/prod/x"), 502, "response_too_large")
		})
	})
}

func isJSON(contentType string) bool {
	contentType = strings.ToLower(contentType)
	return strings.Contains(contentType, "json") && !strings.Contains(contentType, "ndjson")
}

// Messages without a body to change pass as if there were no transforms.
func TestTransforms_withoutBodies(t *testing.T) {
	both := withTransforms(snapshot.Transforms{RequestBody: bodyTransforms, ResponseBody: answerTransforms})
	t.Run("trailers", func(t *testing.T) {
		onBothPaths(t, func(t *testing.T, path rigOption) {
			r := newRig(t, nil, path, both)
			r.raw(request("POST", "/shop/1.0.0/prod/x", r.addr, "X-API-Key: "+r.key, "Content-Type: application/json",
				"Transfer-Encoding: chunked", "Trailer: X-Sum") + "2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n")
			if seen := r.lastCall(); !strings.Contains(seen.body, "added") || seen.trailer == nil {
				t.Errorf("%s, trailers %v", seen.body, seen.trailer)
			}
		})
	})
	t.Run("GET", func(t *testing.T) {
		onBothPaths(t, func(t *testing.T, path rigOption) {
			r := newRig(t, nil, path, both)
			r.get("/shop/1.0.0/prod/x")
			if seen := r.lastCall(); seen.body != "" || seen.length != 0 {
				t.Errorf("the upstream got %q, length %d", seen.body, seen.length)
			}
		})
	})
	t.Run("websocket", func(t *testing.T) {
		onBothPaths(t, func(t *testing.T, path rigOption) {
			r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Upgrade", "websocket")
				w.Header().Set("Connection", "Upgrade")
				w.WriteHeader(http.StatusSwitchingProtocols)
			}, path, both)
			conn := r.dial()
			defer conn.Close()
			_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod/x", r.addr, "X-API-Key: "+r.key,
				"Content-Type: application/json", "Connection: Upgrade", "Upgrade: websocket"))
			answer := make([]byte, len("HTTP/1.1 101"))
			if _, err := io.ReadFull(conn, answer); string(answer) != "HTTP/1.1 101" {
				t.Errorf("%q, %v", answer, err)
			}
			if seen := r.lastCall(); seen.length != 0 {
				t.Errorf("the upstream got a body of %d bytes", seen.length)
			}
		})
	})
	t.Run("events", func(t *testing.T) {
		onBothPaths(t, func(t *testing.T, path rigOption) {
			release := make(chan struct{})
			r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: 1\n\n")
				w.(http.Flusher).Flush()
				<-release
			}, path, both)
			defer close(release)
			conn := r.dial()
			defer conn.Close()
			_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod/x", r.addr, "X-API-Key: "+r.key))
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			event := make([]byte, len("data: 1\n\n"))
			if _, err := io.ReadFull(answer.Body, event); err != nil || string(event) != "data: 1\n\n" {
				t.Errorf("before the end of the stream: %q, %v", event, err)
			}
		})
	})
	t.Run("early hints", func(t *testing.T) {
		onBothPaths(t, func(t *testing.T, path rigOption) {
			r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusEarlyHints)
				_, _ = io.WriteString(w, `{"gone":1}`)
			}, path, both)
			conn := r.dial()
			defer conn.Close()
			_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod/x", r.addr, "X-API-Key: "+r.key,
				"Connection: close"))
			all, _ := io.ReadAll(conn)
			if hints, rest, _ := strings.Cut(string(all), "\r\n\r\n"); !strings.HasPrefix(hints, "HTTP/1.1 103") ||
				!strings.Contains(rest, "added") {
				t.Errorf("%q", all)
			}
		})
	})
	t.Run("unclaimed", func(t *testing.T) {
		onBothPaths(t, func(t *testing.T, path rigOption) {
			r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"a":"`+strings.Repeat("x", 20)+`"}`)
			}, path, both, unclaimed, smallCaps)
			if got := r.get("/shop/1.0.0/prod/x"); got.StatusCode != 200 || !strings.Contains(got.body, "added") {
				t.Errorf("within the caps: %d %s", got.StatusCode, got.body)
			}
			post := request("POST", "/shop/1.0.0/prod/x", r.addr, "X-API-Key: "+r.key, "Content-Type: application/json",
				"Transfer-Encoding: chunked")
			r.wantCode("a larger body", r.raw(post+framedBodies(`{"a":"0123456789"}`)["Transfer-Encoding: chunked"]),
				413, "body_too_large")
			refused := r.get("/shop/1.0.0/prod/x", noKey)
			r.wantCode("a refusal, unchanged", refused, 401, "credentials_required")
		})
	})
}

func smallCaps(_ *rig, o *gateway.Options) { o.Caps = &gateway.Caps{Body: 10, Response: 30} }
