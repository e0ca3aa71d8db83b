package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/service/ratelimit"
)

var ends = time.Now().Add(20 * 24 * time.Hour).UTC().Truncate(time.Second)

// unclaimed is a project under caps that are small enough to reach. Its target
// is on port 80 as the gateway is configured.
func unclaimed(r *rig, o *gateway.Options) {
	at, dial := upstreamOf(r), o.Dial
	o.Caps, o.Limiter = &gateway.Caps{Body: 1000, Response: 1000}, ratelimit.NewLocal()
	o.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) { return dial(ctx, network, at) }
	r.project.ExpiresAt = ends
	withTarget("http://up.test")(r, o)
}

func upstreamOf(r *rig) string {
	u, err := url.Parse(r.project.Versions[0].Environments[0].Target)
	if err != nil {
		r.t.Fatal(err)
	}
	return u.Host
}

// onBothPaths runs a test with the engine and with net/http alone.
func onBothPaths(t *testing.T, run func(t *testing.T, path rigOption)) {
	t.Helper()
	t.Run("engine", func(t *testing.T) { run(t, func(*rig, *gateway.Options) {}) })
	t.Run("net/http", func(t *testing.T) { run(t, onNetHTTP) })
}

// phishingPage answers with everything that a phishing page would.
func phishingPage(w http.ResponseWriter, _ *http.Request) {
	for name, value := range map[string]string{
		"Content-Type":              "text/html",
		"Set-Cookie":                "a=1",
		"Refresh":                   "0;url=https://evil.example",
		"Location":                  "https://evil.example",
		"Content-Disposition":       "attachment; filename=setup.exe",
		"Www-Authenticate":          `Basic realm="your bank"`,
		"Alt-Svc":                   `h3=":1"`,
		"Strict-Transport-Security": "max-age=99999999; includeSubDomains",
		"Clear-Site-Data":           `"*"`,
		"Service-Worker-Allowed":    "/",
		"Sunset":                    "Sat, 01 Jan 2000 00:00:00 GMT",
		"Nel":                       "{}",
		"Link":                      "</x.css>; rel=stylesheet",
		"X-Own":                     "kept",
	} {
		w.Header().Set(name, value)
	}
	_, _ = io.WriteString(w, "<form>")
}

var planted = []string{
	"Set-Cookie",
	"Refresh",
	"Alt-Svc",
	"Strict-Transport-Security",
	"Clear-Site-Data",
	"Service-Worker-Allowed",
	"Nel",
}

func TestUnclaimed_browser(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		r := newRig(t, phishingPage, unclaimed, path)
		for name, lines := range map[string][]string{
			"a navigation":           {"Sec-Fetch-Dest: document", "Accept: */*"},
			"a frame":                {"Sec-Fetch-Dest: iframe"},
			"an embedded object":     {"Sec-Fetch-Dest: object"},
			"a script":               {"Sec-Fetch-Dest: script"},
			"a service worker":       {"Sec-Fetch-Dest: serviceworker"},
			"what is not known yet":  {"Sec-Fetch-Dest: hologram"},
			"an old browser":         {"Accept: text/html,application/xhtml+xml,*/*;q=0.8"},
			"an old browser, shouty": {"Accept: TEXT/HTML"},
		} {
			got := r.get("/shop/1.0.0/prod/page", lines...)
			if got.StatusCode != 200 || got.body != "<form>" {
				t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
			}
			wantLines(t, name, got, "Content-Type", "text/plain; charset=utf-8")
			wantInert(t, name, got)
			for _, field := range append([]string{
				"Location", "Content-Disposition", "Www-Authenticate", "Link",
			}, planted...) {
				wantLines(t, name, got, field)
			}
		}
	})
}

func TestUnclaimed_apiClient(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		r := newRig(t, phishingPage, unclaimed, path)
		for name, lines := range map[string][]string{
			"curl":            {"Accept: */*"},
			"no Accept":       {},
			"a script's":      {"Sec-Fetch-Dest: empty", "Accept: text/html"},
			"an image's":      {"Sec-Fetch-Dest: image"},
			"a JSON client":   {"Accept: application/json"},
			"an event stream": {"Accept: text/event-stream"},
		} {
			got := r.get("/shop/1.0.0/prod/page", lines...)
			wantLines(t, name, got, "Content-Type", "text/html")
			wantLines(t, name, got, "Location", "https://evil.example")
			wantLines(t, name, got, "X-Own", "kept")
			wantInert(t, name, got)
			for _, field := range planted {
				wantLines(t, name, got, field)
			}
		}
	})
}

func wantInert(t *testing.T, name string, got reply) {
	t.Helper()
	wantLines(t, name, got, "X-Content-Type-Options", "nosniff")
	wantLines(t, name, got, "Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	wantLines(t, name, got, "Vary", "Accept, Sec-Fetch-Dest")
}

func wantLines(t *testing.T, name string, got reply, field string, want ...string) {
	t.Helper()
	if lines := got.Header.Values(field); fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("%s: %s is %q, want %q", name, field, lines, want)
	}
}

func TestUnclaimed_expiryHeader(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		uncapped := withProject(func(p *snapshot.Project) { p.ExpiresAt = ends })
		for name, option := range map[string]rigOption{"under caps": unclaimed, "without": uncapped} {
			got := newRig(t, phishingPage, option, path).get("/shop/1.0.0/prod")
			wantLines(t, name, got, "Sunset", ends.Format(http.TimeFormat))
			wantLines(t, name, got, "Postern-Expires", ends.Format(time.RFC3339))
		}
	})
}

func TestUnclaimed_webSocket(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		r := newRig(t, nil, unclaimed, path)
		r.wantCode(
			"a handshake",
			r.get(
				"/shop/1.0.0/prod", "Connection: upgrade", "Upgrade: WebSocket", "Sec-WebSocket-Version: 13",
				"Sec-WebSocket-Key: x",
			),
			403,
			"claim_required",
		)
		if calls := r.upstreamCalls(); len(calls) != 0 {
			t.Errorf("the upstream got %v", calls)
		}
		if got := r.get("/shop/1.0.0/prod", "Connection: upgrade", "Upgrade: h2c"); got.StatusCode != 200 {
			t.Errorf("an offer that is not taken: %d, want 200", got.StatusCode)
		}
	})
}

func TestUnclaimed_ports(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		for target, status := range map[string]int{
			"http://up.test":       200,
			"http://up.test:443":   200,
			"http://up.test:8080":  403,
			"http://up.test:25":    403,
			"https://up.test:6379": 403,
		} {
			r := newRig(t, nil, unclaimed, withTarget(target), path)
			if got := r.get("/shop/1.0.0/prod"); got.StatusCode != status {
				t.Errorf("%s: %d %s, want %d", target, got.StatusCode, got.body, status)
			}
		}
	})
}

func TestUnclaimed_requestBodies(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		r := newRig(t, nil, unclaimed, path)
		fits, tooMuch := strings.Repeat("x", 1000), strings.Repeat("x", 1001)
		chunked := func(body string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body) }
		send := func(framing, body string) reply {
			return r.raw(request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, framing) + body)
		}
		for name, got := range map[string]reply{
			"of a length that fits": send("Content-Length: 1000", fits),
			"in chunks that fit":    send("Transfer-Encoding: chunked", chunked(fits)),
		} {
			if got.StatusCode != 200 {
				t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
			}
		}
		r.wantCode("of a length", send("Content-Length: 1001", tooMuch), 413, "body_too_large")
		r.wantCode("in chunks", send("Transfer-Encoding: chunked", chunked(tooMuch)), 413, "body_too_large")
	})
}

func TestUnclaimed_answerBodies(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nConnection: close\r\n"
	for name, tc := range map[string]struct {
		head, ending string
		known        bool
	}{
		"of a length": {head + "Content-Length: %d\r\n\r\n", "", true},
		"in chunks":   {head + "Transfer-Encoding: chunked\r\n\r\n%x\r\n", "\r\n0\r\n\r\n", false},
		"until close": {head + "X-Size: %d\r\n\r\n", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			onBothPaths(t, func(t *testing.T, path rigOption) {
				var size atomic.Int64
				size.Store(1000)
				up := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
					if _, err := readHead(from); err == nil {
						n := int(size.Load())
						_, _ = fmt.Fprintf(conn, tc.head+"%s"+tc.ending, n, strings.Repeat("x", n))
					}
				})
				r := newRig(t, nil, withTarget(up), unclaimed, path)
				if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 || len(got.body) != 1000 {
					t.Errorf("an answer that fits: %d, %d bytes", got.StatusCode, len(got.body))
				}
				size.Store(5000)
				if tc.known {
					r.wantCode("too large", r.get("/shop/1.0.0/prod"), 403, "claim_required")
					return
				}
				if got, whole := r.readCut("/shop/1.0.0/prod"); whole || got > 1000 {
					t.Errorf("too large: %d bytes, whole: %v; want it broken off", got, whole)
				}
			})
		})
	}
}

// readCut calls and counts the bytes of the response's body; whole tells that it
// came to its end.
func (r *rig) readCut(path string) (size int, whole bool) {
	r.t.Helper()
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, request("GET", path, r.addr, r.withKey(nil)...)); err != nil {
		r.t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, false
	}
	body, err := io.ReadAll(answer.Body)
	return len(body), err == nil
}

// After a claim, calls work at once and unchanged.
func TestUnclaimed_claimed(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		r := newRig(t, phishingPage, unclaimed, withTarget("http://up.test:8080"), path)
		r.wantCode("unclaimed", r.get("/shop/1.0.0/prod"), 403, "claim_required")
		claimed := *r.project
		claimed.ExpiresAt = time.Time{}
		if err := r.gateway.Publish([]*snapshot.Project{&claimed}); err != nil {
			t.Fatal(err)
		}
		got := r.get("/shop/1.0.0/prod", "Sec-Fetch-Dest: document")
		wantLines(t, "claimed", got, "Content-Type", "text/html")
		wantLines(t, "claimed", got, "Set-Cookie", "a=1")
		wantLines(t, "claimed", got, "Sunset", "Sat, 01 Jan 2000 00:00:00 GMT")
		for _, field := range []string{"Postern-Expires", "Content-Security-Policy", "X-Content-Type-Options", "Vary"} {
			wantLines(t, "claimed", got, field)
		}
		body := strings.Repeat("x", 5000)
		head := request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, "Content-Length: 5000")
		if got := r.raw(head + body); got.StatusCode != 200 {
			t.Errorf("a body over the cap: %d %s", got.StatusCode, got.body)
		}
	})
}

// Two gateways that send calls to each other count each other's hops: they give
// themselves the same name in Via.
func TestLoop_secondGateway(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		other := newRig(t, nil, withMode(snapshot.Passthrough), path)
		first := newRig(
			t,
			nil,
			withMode(snapshot.Passthrough),
			withTarget("http://"+other.addr+"/shop/1.0.0/prod"),
			path,
		)
		back := *other.project
		back.Versions = []snapshot.Version{other.project.Versions[0]}
		back.Versions[0].Environments = []snapshot.Environment{{
			ID:     "env_prod",
			Name:   "prod",
			Target: "http://" + first.addr + "/shop/1.0.0/prod",
		}}
		if err := other.gateway.Publish([]*snapshot.Project{&back}); err != nil {
			t.Fatal(err)
		}
		first.wantCode("the loop", first.get("/shop/1.0.0/prod", noKey), 508, "loop_detected")
	})
}
