package gateway_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
)

// answers are upstreams' responses, byte for byte. END stands for the end of the connection: without it the upstream
// waits for the next request.
var answers = map[string]string{
	"known length":               "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup",
	"known length, then the end": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nupEND",
	"the same length twice":      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nup",
	"two lengths":                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nup!END",
	"a length with a sign":       "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nupEND",
	"no body":                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
	"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nup\r\n3\r\n up\r\n" +
		"0\r\n\r\n",
	"chunked and empty": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"chunk extensions":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nup\r\n0;c\r\n\r\n",
	"trailers": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\n" +
		"up\r\n0\r\nX-Sum: 1\r\n\r\n",
	"chunked and a length": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"2\r\nup\r\n0\r\n\r\n",
	"chunked twice": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" +
		"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nEND",
	"an unknown encoding":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\nEND",
	"until the end":              "HTTP/1.1 200 OK\r\n\r\nup and awayEND",
	"until the end, in HTTP/1.0": "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nup and awayEND",
	"a length in HTTP/1.0":       "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nupEND",
	"no reason":                  "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nup",
	"a custom reason":            "HTTP/1.1 200 All is well\r\nContent-Length: 2\r\n\r\nup",
	"an unknown status":          "HTTP/1.1 299 Odd\r\nContent-Length: 2\r\n\r\nup",
	"lines that end in LF":       "HTTP/1.1 200 OK\nContent-Length: 2\nX-A: b\n\nup",
	"204":                        "HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n",
	"204 with a length":          "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
	"304": "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 10\r\n" +
		"Content-Type: text/plain\r\n\r\n",
	"100 first": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup",
	"103 first": "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: x\r\n\r\n" +
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup",
	"101 unasked": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nEND",
	"a field named by Connection": "HTTP/1.1 200 OK\r\nConnection: X-Private\r\nX-Private: 1\r\n" +
		"Content-Length: 2\r\n\r\nup",
	"fields about the connection": "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nProxy-Connection: x\r\n" +
		"Upgrade: h2c\r\nContent-Length: 2\r\n\r\nup",
	"Via in two lines": "HTTP/1.1 200 OK\r\nVia: 1.1 a\r\nvia: 1.0 b\r\nContent-Length: 2\r\n\r\nup",
	"cookies": "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n" +
		"Content-Length: 2\r\n\r\nup",
	"events": "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" +
		"Transfer-Encoding: chunked\r\n\r\nb\r\ndata: one\n\n\r\n0\r\n\r\n",
	"a status with a sign":         "HTTP/1.1 +20 OK\r\nContent-Length: 2\r\n\r\nupEND",
	"status 000":                   "HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nupEND",
	"status 099":                   "HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nupEND",
	"a status of four digits":      "HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nupEND",
	"status 999":                   "HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nup",
	"HTTP/1.2":                     "HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nupEND",
	"HTTP/2.0":                     "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nupEND",
	"a blank before the colon":     "HTTP/1.1 200 OK\r\nX-A : b\r\nContent-Length: 2\r\n\r\nupEND",
	"a folded line":                "HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 2\r\n\r\nupEND",
	"16 interim answers, first":    strings.Repeat(aHint, 15) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup",
	"interim answers alone, first": strings.Repeat(aHint, 1000) + "END",
	"102 first":                    "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup",
	"a broken trailer": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nup\r\n0\r\n" +
		"X : y\r\n\r\nEND",
	"a broken chunk":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nup\r\nz\r\nEND",
	"a body that breaks off": "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nupEND",
	"more than its length":   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup and away",
	"a head of 60 KB": "HTTP/1.1 200 OK\r\n" +
		strings.Repeat("X-Line: "+strings.Repeat("x", 990)+"\r\n", 60) + "Content-Length: 2\r\n\r\nup",
	"directions to nginx": "HTTP/1.1 200 OK\r\nX-Accel-Redirect: /x\r\nX-Accel-Buffering: no\r\n" +
		"Content-Length: 2\r\n\r\nup",
	"an odd content type": "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=\r\n" +
		"Content-Length: 2\r\n\r\nup",
	"nothing":                "END",
	"not HTTP":               "220 smtp\r\nEND",
	"a head that breaks off": "HTTP/1.1 200 OK\r\nContent-LenEND",
	"a NUL in a value":       "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\nupEND",
	"a line without a colon": "HTTP/1.1 200 OK\r\nX\r\nContent-Length: 2\r\n\r\nupEND",
	"a head over the limit": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n" +
		"Content-Length: 2\r\n\r\nupEND",
	"a long head": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 40<<10) + "\r\n" +
		"Content-Length: 2\r\n\r\nup",
	"a large body": "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" +
		strings.Repeat("0123456789", 30000),
	"a large chunk": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n493e0\r\n" +
		strings.Repeat("0123456789", 30000) + "\r\n0\r\n\r\n",
	"a large body until the end": "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("0123456789", 30000) + "END",
	"many small chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1\r\n"+
		"x\r\n", 20000) + "0\r\n\r\n",
}

const aHint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

func TestParity_upstreamAnswers(t *testing.T) {
	pair := newPair(t)
	trusts := func(_ *rig, o *gateway.Options) { o.UpstreamTLS = pair.client }
	for scheme, secure := range map[string]*tls.Config{"http": nil, "https": pair.server} {
		for name, answer := range answers {
			t.Run(scheme+"/"+name, func(t *testing.T) {
				target := secureUpstream(t, secure, saying(answer))
				for _, method := range []string{"GET", "HEAD"} {
					if method == "HEAD" && strings.Contains(name, "first") {
						continue
					}
					tc := exchangeCase{
						bytes: request(method, "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key: KEY") +
							request(method, "/1.0.0/prod/b", "shop.proxy.test", "X-API-Key: KEY", "Connection: close"),
						methods: []string{method, method}, cut: true, waits: true,
					}
					if strings.Contains(name, "first") {
						tc.methods = nil
					}
					got := newRig(t, nil, trusts, withTarget(target)).transcript(tc)
					want := newRig(t, nil, trusts, withTarget(target), onNetHTTP).transcript(tc)
					if got != want {
						got, want = firstDifference(got, want)
						t.Errorf("%s\nwith the engine: %.900s\nnet/http alone:  %.900s", method, got, want)
					}
				}
			})
		}
	}
}

func TestAnswer_malformed(t *testing.T) {
	for _, name := range []string{
		"a status with a sign", "status 000", "status 099", "a status of four digits", "HTTP/2.0",
		"a blank before the colon", "a folded line", "a line without a colon", "a NUL in a value", "chunked twice",
		"two lengths", "a length with a sign",
		"a head over the limit", "not HTTP", "nothing", "101 unasked",
	} {
		target := rawUpstream(t, saying(answers[name]))
		for way, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
			t.Run(name+"/"+way, func(t *testing.T) {
				r := newRig(t, nil, append(options, withTarget(target))...)
				r.wantCode("the response", r.get("/shop/1.0.0/prod"), 502, "upstream_unreachable")
			})
		}
	}
}

// An upstream that sends interim responses for ever is given up.
func TestAnswer_manyInterim(t *testing.T) {
	target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		_, err := readHead(from)
		for err == nil {
			_, err = io.WriteString(conn, aHint)
		}
	})
	for way, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(way, func(t *testing.T) {
			r := newRig(t, nil, append(options, withTarget(target))...)
			conn := r.dial()
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key))
			from := bufio.NewReader(conn)
			for hints := 0; ; hints++ {
				head, err := readHead(from)
				if err != nil || hints > 100 {
					t.Fatalf("after %d interim answers: %v", hints, err)
				}
				if strings.HasPrefix(head, "HTTP/1.1 502 ") {
					return
				}
			}
		})
	}
}

// saying serves a connection with one response after the other.
func saying(answer string) func(net.Conn, *bufio.Reader) {
	text, ends := strings.CutSuffix(answer, "END")
	return func(conn net.Conn, from *bufio.Reader) {
		for {
			if _, err := readHead(from); err != nil {
				return
			}
			if _, err := io.WriteString(conn, text); err != nil || ends {
				return
			}
		}
	}
}

// A connection that the upstream closed while it waited isn't a reason for an
// error, as long as nothing was said on it.
func TestAnswer_connectionEnded(t *testing.T) {
	served := make(chan struct{}, 4)
	target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		if _, err := readHead(from); err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup")
			served <- struct{}{}
		}
		_, _ = readHead(from) // takes one more request and hangs up on it
	})
	r := newRig(t, nil, withTarget(target))
	for i := range 3 {
		if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
			t.Errorf("call %d: %d %s", i, got.StatusCode, got.body)
		}
		within(t, "the call at the upstream", served)
	}
}

func TestUpstream_tls(t *testing.T) {
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "up over TLS with %s", r.Proto)
	}))
	defer upstream.Close()
	roots := x509.NewCertPool()
	roots.AddCert(upstream.Certificate())
	target := strings.Replace(upstream.URL, "127.0.0.1", "localhost", 1)

	r := newRig(t, nil, withTarget(target))
	r.wantCode("a certificate from no one we know", r.get("/shop/1.0.0/prod"), 502, "upstream_unreachable")

	for _, options := range [][]rigOption{nil, {onNetHTTP}} {
		trusting := newRig(
			t,
			nil,
			append(
				options,
				withTarget(strings.Replace(target, "localhost", "127.0.0.1", 1)),
				func(_ *rig, o *gateway.Options) {
					o.UpstreamTLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
				},
			)...)
		for range 2 { // the second call finds a connection that waits
			if got := trusting.get("/shop/1.0.0/prod"); got.body != "up over TLS with HTTP/1.1" {
				t.Errorf("%d %s", got.StatusCode, got.body)
			}
		}
	}
}

// Shutdown lets the calls that are under way end, and tells their callers that
// the connection does.
func TestShutdown_idleConnections(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-release
		_, _ = io.WriteString(w, "up")
	}, withMode(snapshot.Passthrough))
	idle := r.dial()
	defer func() { _ = idle.Close() }()
	_, _ = io.WriteString(idle, request("GET", "/nowhere", r.addr))
	if got := r.readReply(bufio.NewReader(idle), "GET"); got.StatusCode != 404 {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	busy := r.dial()
	defer func() { _ = busy.Close() }()
	_, _ = io.WriteString(busy, request("GET", "/shop/1.0.0/prod", r.addr))
	within(t, "the call at the upstream", began)

	down := make(chan error, 1)
	go func() { down <- r.server.Shutdown(t.Context()) }()
	_ = idle.SetReadDeadline(time.Now().Add(patience))
	if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the idle connection: %v, want its end", err)
	}
	close(release)
	if got := r.readReply(bufio.NewReader(busy), "GET"); got.body != "up" {
		t.Errorf("the call under way: %d %s", got.StatusCode, got.body)
	}
	if err := within(t, "the end of Shutdown", down); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := net.Dial("tcp", r.addr); err == nil {
		t.Error("a connection was accepted after Shutdown")
	}
}
