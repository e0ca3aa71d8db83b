package gateway_test

import (
	"bufio"
	"io"
	"net"
	"testing"

	"postern/gateway"
)

// proxied is a call from that address with what a proxy says of its caller.
func (r *rig) proxied(from string, lines ...string) {
	r.t.Helper()
	conn := r.from(from)
	defer conn.Close()
	lines = append(lines, "X-API-Key: "+r.key, "Connection: close")
	_, _ = io.WriteString(conn, request("GET", "/1.0.0/prod/a", "shop.proxy.test", lines...))
	if got := r.readReply(bufio.NewReader(conn), "GET"); got.StatusCode != 200 {
		r.t.Fatalf("%d %s", got.StatusCode, got.body)
	}
}

// spoken is what proxies and liars say alike.
var spoken = []string{
	"X-Forwarded-For: 198.51.100.66, 203.0.113.7",
	"X-Forwarded-Proto: https",
	"X-Forwarded-Host: www.example.com",
	"X-Forwarded-Port: 443",
	"X-Forwarded-Path: /api/a",
	"X-Forwarded-Prefix: /api",
	"X-Real-IP: 198.51.100.66",
}

func TestTrustedProxy_believed(t *testing.T) {
	for path, lines := range map[string][]string{
		"the engine": spoken,
		"net/http":   append(spoken[:len(spoken):len(spoken)], "TE: trailers"),
	} {
		told := outcomes{make(chan gateway.Outcome, 1)}
		r := newRig(t, nil, trusting("127.0.0.2/32"), func(_ *rig, o *gateway.Options) { o.Observer = told })
		_, port, _ := net.SplitHostPort(r.addr)
		for _, tc := range []struct {
			from string
			want map[string]string
			peer string
		}{
			{"127.0.0.2", map[string]string{
				"X-Forwarded-For":    "198.51.100.66, 203.0.113.7, 127.0.0.2",
				"X-Forwarded-Proto":  "https",
				"X-Forwarded-Host":   "www.example.com",
				"X-Forwarded-Port":   "443",
				"X-Forwarded-Path":   "/api/a",
				"X-Forwarded-Prefix": "/api",
				"X-Real-Ip":          "203.0.113.7",
			}, "203.0.113.7"},
			{"127.0.0.3", map[string]string{
				"X-Forwarded-For":    "198.51.100.66, 203.0.113.7, 127.0.0.3",
				"X-Forwarded-Proto":  "http",
				"X-Forwarded-Host":   "shop.proxy.test",
				"X-Forwarded-Port":   port,
				"X-Forwarded-Path":   "/1.0.0/prod/a",
				"X-Forwarded-Prefix": "/1.0.0/prod/",
				"X-Real-Ip":          "127.0.0.3",
			}, "127.0.0.3"},
		} {
			r.proxied(tc.from, lines...)
			calls := r.upstreamCalls()
			for name, want := range tc.want {
				if got := calls[len(calls)-1].header[name]; len(got) != 1 || got[0] != want {
					t.Errorf("%s, from %s: %s = %q, want %q", path, tc.from, name, got, want)
				}
			}
			if got := within(t, "the outcome", told.got).RemoteIP; got != tc.peer {
				t.Errorf("%s, from %s: observed as %s, want %s", path, tc.from, got, tc.peer)
			}
		}
	}
}

// One connection of a proxy carries the calls of many.
func TestTrustedProxy_eachCall(t *testing.T) {
	told := outcomes{make(chan gateway.Outcome, 1)}
	r := newRig(t, nil, trusting("127.0.0.0/8"), func(_ *rig, o *gateway.Options) { o.Observer = told })
	conn := r.from("127.0.0.2")
	from := bufio.NewReader(conn)
	for _, tc := range []struct{ line, want string }{
		{line: "X-Forwarded-For: 203.0.113.7", want: "203.0.113.7"}, {line: "X-A: b", want: "127.0.0.2"}, {
			line: "X-Forwarded-For: 203.0.113.8, 127.0.0.9",
			want: "203.0.113.8",
		},
		{
			line: "X-Forwarded-For: nonsense",
			want: "127.0.0.2",
		}, {line: "X_Forwarded_For: 203.0.113.9", want: "127.0.0.2"},
	} {
		_, _ = io.WriteString(conn, request("GET", "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key: "+r.key, tc.line))
		if got := r.readReply(from, "GET"); got.StatusCode != 200 {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
		if got := within(t, "the outcome", told.got).RemoteIP; got != tc.want {
			t.Errorf("%s: observed as %s, want %s", tc.line, got, tc.want)
		}
	}
}
