package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"postern/testkit/scripted"
)

// The exported gateway is nginx, which reads capital letters, - and _ only.
func TestNginx_methods(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		r := newRig(t, nil, path)
		for method, status := range map[string]int{
			"GET": 200, "M-SEARCH": 200, "FOO_BAR": 200, "-": 200, "CUSTOM": 200,
			"get": 400, "Get": 400, "GET1": 400, "FOO.BAR": 400, "FOO+BAR": 400, "'GET'": 400, "1": 400, "TRACE": 405,
		} {
			if got := r.call(method, "/shop/1.0.0/prod/x"); got.StatusCode != status {
				t.Errorf("%s: %d %s, want %d", method, got.StatusCode, got.body, status)
			}
		}
	})
}

// The upstream gets exactly what Kong sends it.
func TestNginx_requestFields(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		for name, c := range map[string]struct {
			lines []string
			field string
			want  []string
		}{
			"no X-Forwarded-For":       {nil, "X-Forwarded-For", []string{"127.0.0.1"}},
			"an empty X-Forwarded-For": {[]string{"X-Forwarded-For:"}, "X-Forwarded-For", []string{", 127.0.0.1"}},
			"an empty one before another": {[]string{"X-Forwarded-For:", "X-Forwarded-For: 1.2.3.4"},
				"X-Forwarded-For", []string{", 127.0.0.1"}},
			"an empty Via":                  {[]string{"Via:"}, "Via", []string{", 1.1 postern"}},
			"an empty cookie":               {[]string{"Cookie:"}, "Cookie", []string{""}},
			"a cookie of the dashboard":     {[]string{"Cookie: postern=1"}, "Cookie", nil},
			"an empty cookie next to other": {[]string{"Cookie: a=1", "Cookie:"}, "Cookie", []string{"a=1", ""}},
		} {
			t.Run(name, func(t *testing.T) {
				r := newRig(t, nil, path)
				r.get("/shop/1.0.0/prod/x", c.lines...)
				if got := r.lastCall().header[c.field]; strings.Join(got, "|") != strings.Join(c.want, "|") ||
					len(got) != len(c.want) {
					t.Errorf("the upstream got %s %q, want %q", c.field, got, c.want)
				}
			})
		}
	})
}

func TestNginx_answerFields(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		r := newRig(t, nil, path, withTarget(scripted.Start(t, nil).URL))
		for script, c := range map[string]struct {
			field string
			want  []string
		}{
			"accel-redirect":     {"X-Accel-Redirect", nil},
			"accel-buffering-no": {"X-Accel-Buffering", nil},
			"accel-expires":      {"X-Accel-Expires", nil},
			"accel-limit-rate":   {"X-Accel-Limit-Rate", nil},
			"accel-charset":      {"X-Accel-Charset", nil},
			"accel-lower-case":   {"X-Accel-Redirect", nil},
			"accel-pad":          {"X-Pad", nil},
			"accel-unknown":      {"X-Accel-Other", []string{"1"}},
			"accel-sendfile":     {"X-Sendfile", []string{"/etc/passwd"}},
			"type-empty":         {"Content-Type", nil},
			"type-twice":         {"Content-Type", []string{"text/plain"}},
		} {
			got := r.get("/shop/1.0.0/prod" + scripted.Path + script)
			if lines := got.Header[c.field]; got.body != "answer" || strings.Join(lines, "|") != strings.Join(c.want,
				"|") {
				t.Errorf("%s: %d %q with %s %q, want %q", script, got.StatusCode, got.body, c.field, lines, c.want)
			}
		}
	})
}

// Kong carries a WebSocket by whatever request names one in Upgrade.
func TestNginx_upgrade(t *testing.T) {
	const asks, upgrade = "Connection: Upgrade", "Upgrade: websocket"
	onBothPaths(t, func(t *testing.T, path rigOption) {
		r := newRig(t, nil, path, withTarget(scripted.Start(t, nil).URL))
		for name, c := range map[string]struct {
			method, protocol string
			lines            []string
			status           int
		}{
			"as usual":             {"GET", "HTTP/1.1", []string{asks, upgrade}, 101},
			"without Connection":   {"GET", "HTTP/1.1", []string{upgrade}, 101},
			"Connection: close":    {"GET", "HTTP/1.1", []string{"Connection: close", upgrade}, 101},
			"by POST":              {"POST", "HTTP/1.1", []string{asks, upgrade, "Content-Length: 0"}, 101},
			"by PUT":               {"PUT", "HTTP/1.1", []string{asks, upgrade}, 101},
			"in HTTP/1.0":          {"GET", "HTTP/1.0", []string{asks, upgrade}, 101},
			"the first of two":     {"GET", "HTTP/1.1", []string{asks, upgrade, "Upgrade: h2c"}, 101},
			"to h2c":               {"GET", "HTTP/1.1", []string{asks, "Upgrade: h2c"}, 200},
			"to websocket and h2c": {"GET", "HTTP/1.1", []string{asks, "Upgrade: websocket, h2c"}, 200},
			"to nothing":           {"GET", "HTTP/1.1", []string{asks, "Upgrade:"}, 200},
		} {
			t.Run(name, func(t *testing.T) {
				text := request(c.method, "/shop/1.0.0/prod/ws", r.addr, append(c.lines, "X-API-Key: "+r.key)...)
				conn := r.dial()
				defer func() { _ = conn.Close() }()
				status, echo := r.echo(conn, c.method, strings.Replace(text, "HTTP/1.1", c.protocol, 1))
				if status != c.status || (status == 101) != (echo == "a message") {
					t.Errorf("%d, echo %q; want %d", status, echo, c.status)
				}
			})
		}
	})
}

// A response does not show which path it came on: large heads, odd types and
// statuses, interim, early, slow, malformed and surplus answers, and none.
func TestParity_scripts(t *testing.T) {
	target := withTarget(scripted.Start(t, nil).URL)
	fast, slow := newRig(t, nil, target), newRig(t, nil, target, onNetHTTP)
	for _, script := range scripted.Scripts() {
		for _, method := range []string{"GET", "HEAD", "POST"} {
			if method == "HEAD" && len(script.Interim) > 0 {
				continue // the transcript would take the interim response for the one without a body
			}
			tc := exchangeCase{methods: []string{method}, cut: true, waits: true}
			if len(script.Interim) > 0 {
				tc.methods = nil
			}
			tc.bytes = request(method, "/1.0.0/prod"+scripted.Path+script.Name, "shop.proxy.test",
				"X-API-Key: KEY", "Connection: close", "Content-Length: 5") + "hello"
			got, want := fast.transcript(tc), slow.transcript(tc)
			if got != want {
				got, want = firstDifference(got, want)
				t.Errorf("%s to %s\nwith the engine: %.900s\nnet/http alone:  %.900s", script.Name, method, got, want)
			}
		}
	}
}

// echo sends a handshake and, where it is taken, a message.
func (r *rig) echo(conn net.Conn, method, handshake string) (status int, back string) {
	r.t.Helper()
	if _, err := io.WriteString(conn, handshake); err != nil {
		r.t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		r.t.Fatal(err)
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		return answer.StatusCode, ""
	}
	const message = "a message"
	if _, err := io.WriteString(conn, message); err != nil {
		r.t.Fatal(err)
	}
	echoed := make([]byte, len(message))
	if _, err := io.ReadFull(in, echoed); err != nil {
		r.t.Fatalf("read the echo: %v", err)
	}
	return answer.StatusCode, string(echoed)
}
