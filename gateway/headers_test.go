package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
)

func TestHeaders_spoofed(t *testing.T) {
	r := newRig(t, nil)
	var lines []string
	for _, name := range slices.Concat(policy.IdentityHeaders(), policy.ForwardedHeaders(), familyNames()) {
		for _, spelling := range []string{
			name, strings.ToLower(name), strings.ToUpper(name), strings.ReplaceAll(name, "-", "_"),
			strings.ToLower(strings.ReplaceAll(name, "-", "_")), strings.Replace(name, "-", "_", 1),
		} {
			lines = append(lines, spelling+": forged")
		}
	}
	lines = append(
		lines,
		"x_api_key: forged",
		"X-Api_Key: forged",
		"Transfer_Encoding: forged",
		"content_length: forged",
	)
	if got := r.get("/shop/1.0.0/prod", lines...); got.StatusCode != 200 {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	for name, values := range r.lastCall().header {
		if strings.Contains(name, "_") {
			t.Errorf("%s reached the upstream", name)
		}
		forged := strings.Contains(strings.Join(values, " "), "forged")
		if appended := name == "X-Forwarded-For" || name == "Via"; forged && !appended {
			t.Errorf("%s: %v reached the upstream", name, values)
		}
		if policy.IsIdentityHeader(name) && len(values) != 1 {
			t.Errorf("%s has %d lines, want ours alone", name, len(values))
		}
	}
}

// Both paths treat each header in the same way, and so does the exported gateway, whose plugin is tested with the same
// table.
func TestHeaders_table(t *testing.T) {
	table, err := os.ReadFile("../core/policy/testdata/headers.txt")
	if err != nil {
		t.Fatal(err)
	}
	onBothPaths(t, func(t *testing.T, path rigOption) {
		for line := range strings.Lines(string(table)) {
			name, fate, isRow := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if !isRow || strings.HasPrefix(line, "#") {
				continue
			}
			t.Run(name, func(t *testing.T) {
				r := newRig(t, nil, path, withMode(snapshot.Passthrough))
				r.get("/shop/1.0.0/prod", noKey, name+": sent")
				want := fate
				switch fate {
				case "key": // and no key is checked here
					want = "kept"
				case "replaced":
					want = "set"
				}
				if got := fateOf(r.lastCall().header, name); got != want {
					t.Errorf("%s, want %s", got, want)
				}
			})
		}
	})
}

// fateOf is the fate, as the table names it, of a header that was sent with the value "sent".
func fateOf(received http.Header, name string) string {
	for got, values := range received {
		switch value := strings.Join(values, "; "); {
		case !strings.EqualFold(got, name):
		case value == "sent":
			return "kept"
		case strings.HasPrefix(value, "sent, "):
			return "appended"
		default:
			return "set"
		}
	}
	return "removed"
}

// familyNames are headers that no gateway sends, of the families that only one may send.
func familyNames() []string {
	names := []string{
		"Forwarded", "X-Authenticated-Groups", "X-Forwarded-User", "X-Forwarded-Ssl", "X-Forwarded-Scheme",
		"X-Forwarded-Client-Cert", "X-Tenant-Name", "X-Project-Name", "X-Consumer-Tags", "X-Credential-Scopes",
	}
	for _, family := range policy.HeaderFamilies() {
		names = append(names, family+"Made-Up")
	}
	return names
}

func TestTrailers_spoofed(t *testing.T) {
	trailers := make(chan http.Header, 1)
	r := newRig(t, func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		trailers <- req.Trailer
	})
	var lines strings.Builder
	for _, name := range slices.Concat(policy.IdentityHeaders(), policy.ForwardedHeaders(), familyNames()) {
		lines.WriteString(name + ": forged\r\n" + strings.ReplaceAll(name, "-", "_") + ": forged\r\n")
	}
	lines.WriteString("X_API_Key: forged\r\nContent_Length: 3\r\nX-Sum: 1\r\n")
	chunked := request("POST", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, "Transfer-Encoding: chunked")
	if got := r.raw(chunked + "2\r\nup\r\n0\r\n" + lines.String() + "\r\n"); got.StatusCode != 200 {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	if got := within(t, "the trailers", trailers); len(got) != 1 || got.Get("X-Sum") != "1" {
		t.Errorf("the upstream got the trailers %v, want X-Sum alone", got)
	}
}

var forwardedCases = []struct {
	name, host, path string
	lines            []string
	want             map[string]string
}{
	{
		name: "plain",
		host: "shop.proxy.test:9999",
		path: "/1.0.0/prod//a/../b?x=1",
		want: map[string]string{
			"X-Forwarded-For": "127.0.0.1", "X-Real-Ip": "127.0.0.1", "X-Forwarded-Proto": "http",
			"X-Forwarded-Host":   "shop.proxy.test",                    // nginx's $host: lower case, no port
			"X-Forwarded-Port":   "LISTENER",                           // the listener's, not the Host line's
			"X-Forwarded-Path":   "/1.0.0/prod//a/../b",                // as sent, without the query
			"X-Forwarded-Prefix": "/1.0.0/prod/", "Via": "1.1 postern", // the whole match of the route's expression
		},
	},
	{
		name: "environment alone",
		host: "SHOP.proxy.test",
		path: "/1.0.0/prod",
		want: map[string]string{
			"X-Forwarded-Host":   "shop.proxy.test",
			"X-Forwarded-Path":   "/1.0.0/prod",
			"X-Forwarded-Prefix": "/1.0.0/prod",
		},
	},
	{
		name: "path form",
		host: "127.0.0.1:1",
		path: "/shop/1.0.0/prod/",
		want: map[string]string{
			"X-Forwarded-Host": "127.0.0.1", "X-Forwarded-Prefix": "/shop/1.0.0/prod/",
		},
	},
	{
		name:  "appended to",
		host:  "proxy.test",
		path:  "/shop/1.0.0/prod",
		lines: []string{"X-Forwarded-For: 8.8.8.8, 9.9.9.9", "Via: 1.1 cdn"},
		want: map[string]string{
			"X-Forwarded-For": "8.8.8.8, 9.9.9.9, 127.0.0.1",
			"X-Real-Ip":       "127.0.0.1",
			"Via":             "1.1 cdn, 1.1 postern",
		},
	},
	{
		name:  "the first line counts",
		host:  "proxy.test",
		path:  "/shop/1.0.0/prod",
		lines: []string{"X-Forwarded-For: 8.8.8.8", "X-Forwarded-For: 9.9.9.9", "Via: 1.1 a", "Via: 1.1 b"},
		want: map[string]string{
			"X-Forwarded-For": "8.8.8.8, 127.0.0.1",
			"Via":             "1.1 a, 1.1 postern", // get_header(name, ctx) takes the first
		},
	},
	{
		name: "nothing else is believed",
		host: "proxy.test",
		path: "/shop/1.0.0/prod",
		lines: []string{
			"X-Forwarded-Proto: https", "X-Forwarded-Host: evil.test", "X-Forwarded-Port: 1",
			"X-Forwarded-Path: /x", "X-Forwarded-Prefix: /y", "X-Real-IP: 1.2.3.4",
		},
		want: map[string]string{
			"X-Forwarded-Proto":  "http",
			"X-Forwarded-Host":   "proxy.test",
			"X-Forwarded-Port":   "LISTENER",
			"X-Forwarded-Path":   "/shop/1.0.0/prod",
			"X-Forwarded-Prefix": "/shop/1.0.0/prod",
			"X-Real-Ip":          "127.0.0.1",
		},
	},
}

// The headers that Kong 3.9 sends for a client it does not trust: kong/runloop/handler.lua, access.before, and the
// proxy_set_header lines of nginx_kong.lua.
func TestForwardedHeaders(t *testing.T) {
	for _, tc := range forwardedCases {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, nil, withMode(snapshot.Passthrough))
			r.raw(request("GET", tc.path, tc.host, tc.lines...))
			_, port, _ := net.SplitHostPort(r.addr)
			h := r.lastCall().header
			for name, want := range tc.want {
				if want == "LISTENER" {
					want = port
				}
				if got := h[name]; len(got) != 1 || got[0] != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestHeaders_hopByHop(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Connection", "X-Private, keep-alive")
		h.Set("X-Private", "for the gateway")
		h.Set("Keep-Alive", "timeout=5")
		h.Set("Proxy-Connection", "keep-alive")
		h.Set("Upgrade", "h2c")
		h.Set("X-Kept", "yes")
		h.Add("Via", "1.1 a")
		h.Add("Via", "1.1 b")
	})
	got := r.get(
		"/shop/1.0.0/prod",
		"Connection: X-Private, X-Consumer-ID, X-Forwarded-For, Te",
		"Connection: x-more,keep-alive",
		"X-Private: 1",
		"X-More: 2",
		"Keep-Alive: timeout=5",
		"Proxy-Connection: keep-alive",
		"TE: gzip;q=0.5, trailers",
		"Proxy: http://evil.test",
		"Upgrade: h2c",
		"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
		"Expect: 100-continue",
		"X-Kept: yes",
	)
	h := r.lastCall().header
	for _, name := range []string{
		"X-Private", "X-More", "Keep-Alive", "Proxy-Connection", "Proxy", "Upgrade", "Http2-Settings",
		"Expect",
	} {
		if h[name] != nil {
			t.Errorf("%s: %v reached the upstream", name, h[name])
		}
		if name != "X-More" && name != "Proxy" && got.Header[name] != nil {
			t.Errorf("%s: %v reached the caller", name, got.Header[name])
		}
	}
	for name, want := range map[string]string{
		"X-Kept":          "yes",
		"Te":              "trailers",
		"Connection":      "keep-alive",
		"X-Consumer-Id":   policy.ConsumerID("prj_shop", "billing"),
		"X-Forwarded-For": "127.0.0.1", // naming ours in Connection does not remove them
	} {
		if h.Get(name) != want {
			t.Errorf("%s = %q, want %q", name, h.Get(name), want)
		}
	}
	if got.Header.Get("X-Kept") != "yes" || got.Header.Get("Via") != "1.1 a, 1.1 b, 1.1 postern" {
		t.Errorf("the caller got %v", got.Header)
	}
}

// Byte for byte what arrives: nothing is invented that the caller did not send.
func TestHeaders_nothingAdded(t *testing.T) {
	heads := make(chan string, 1)
	target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		head, err := readHead(from)
		if err != nil {
			return
		}
		heads <- head
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup")
	})
	r := newRig(t, nil, withTarget(target))
	got := r.get("/shop/1.0.0/prod/a", "Accept: */*")
	head := within(t, "the upstream's request", heads)
	var names []string
	for line := range strings.SplitSeq(head, "\r\n") {
		if name, _, ok := strings.Cut(line, ": "); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	want := "Accept Connection Host Via X-Authenticated-Scope X-Consumer-Custom-Id X-Consumer-Id " +
		"X-Consumer-Username X-Credential-Identifier " +
		"X-Forwarded-For X-Forwarded-Host X-Forwarded-Path X-Forwarded-Port X-Forwarded-Prefix X-Forwarded-Proto " +
		"X-Project-Id X-Real-Ip X-Tenant-Id"
	if strings.Join(names, " ") != want {
		t.Errorf("the upstream got\n%s\nwant the names %s", head, want)
	}
	names = names[:0]
	for name := range got.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	if strings.Join(names, " ") != "Content-Length Date Via" {
		t.Errorf("the caller got %v, want no Content-Type nor Server that the upstream did not send", got.Header)
	}
}

func TestHeaders_userAgentAndEncoding(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte("\x1f\x8bnot really"))
	})
	got := r.get("/shop/1.0.0/prod", "User-Agent: curl/8", "Accept-Encoding: gzip, br")
	h := r.lastCall().header
	if h.Get("User-Agent") != "curl/8" || h.Get("Accept-Encoding") != "gzip, br" {
		t.Errorf("the upstream got %v", h)
	}
	if got.Header.Get("Content-Encoding") != "gzip" || got.body != "\x1f\x8bnot really" {
		t.Errorf("the caller got %q as %v, want it packed as it was", got.body, got.Header)
	}
}

func TestLoop_refused(t *testing.T) {
	r := newRig(t, nil)
	through := func(n int) string { return "Via: 1.1 cdn" + strings.Repeat(", 1.1 postern", n) }
	if got := r.get("/shop/1.0.0/prod", through(9)); got.StatusCode != 200 {
		t.Errorf("nine times through: %d %s", got.StatusCode, got.body)
	}
	r.wantCode("ten times through", r.get("/shop/1.0.0/prod", through(10)), 508, "loop_detected")
	r.wantCode(
		"ten times through, in lines",
		r.get("/shop/1.0.0/prod", through(4), through(4), "Via: 1.0 postern (a comment), 1.1 postern"),
		508,
		"loop_detected",
	)
	r.wantCode("no way around the key", r.get("/shop/1.0.0/prod", noKey, through(10)), 401, "credentials_required")
	others := "Via: " + strings.Repeat("1.1 not-postern, 1.1 postern.example, ", 20) + "1.1 x"
	if got := r.get("/shop/1.0.0/prod", others); got.StatusCode != 200 {
		t.Errorf("other names: %d %s", got.StatusCode, got.body)
	}
}

// A project whose upstream is the gateway itself: the guard on addresses is not
// there in this rig, so that only the hop counter can end it.
func TestLoop_cutOff(t *testing.T) {
	r := newRig(t, nil, withMode(snapshot.Passthrough))
	looped := *r.project
	looped.Versions = slices.Clone(r.project.Versions)
	looped.Versions[0].Environments = []snapshot.Environment{{
		ID:     "env_prod",
		Name:   "prod",
		Target: "http://" + r.addr + "/shop/1.0.0/prod",
	}}
	if err := r.gateway.Publish([]*snapshot.Project{&looped}); err != nil {
		t.Fatal(err)
	}
	r.wantCode("a loop", r.get("/shop/1.0.0/prod"), 508, "loop_detected")
}
