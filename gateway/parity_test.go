package gateway_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
)

// onNetHTTP leaves every call of a rig to net/http.
func onNetHTTP(r *rig, _ *gateway.Options) { r.netHTTPOnly = true }

// The engine is an optimization: neither the response nor what the upstream gets may show which
// path a call took.
func TestParity_answers(t *testing.T) {
	cases := parityCases()
	if len(cases) < 150 {
		t.Fatalf("%d cases, want at least 150", len(cases))
	}
	compare(t, cases, newRig(t, parityUpstream), newRig(t, parityUpstream, onNetHTTP))
}

func TestParity_takenDown(t *testing.T) {
	taken := withProject(func(p *snapshot.Project) { p.TakenDown = true })
	for _, tc := range parityCases() {
		fast, slow := newRig(t, parityUpstream, taken), newRig(t, parityUpstream, taken, onNetHTTP)
		if got, want := fast.transcript(tc), slow.transcript(tc); got != want ||
			strings.Contains(want, "upstream got") {
			t.Errorf("%s\nwith the engine: %s\nnet/http alone:  %s", tc.name, got, want)
		}
	}
}

func TestParity_tls(t *testing.T) {
	pair := newPair(t)
	compare(
		t, parityCases(), newRig(t, parityUpstream, overTLS(pair)),
		newRig(t, parityUpstream, onNetHTTP, overTLS(pair)),
	)
}

func compare(t *testing.T, cases []exchangeCase, fast, slow *rig) {
	t.Helper()
	carried := 0
	for _, tc := range cases {
		got, want := fast.transcript(tc), slow.transcript(tc)
		if got != want {
			got, want = firstDifference(got, want)
			t.Errorf("%s\n%.300q\nwith the engine: %s\nnet/http alone:  %s", tc.name, tc.bytes, got, want)
		}
		if strings.Contains(want, "upstream got") {
			carried++
		}
	}
	if carried < len(cases)/4 {
		t.Errorf("%d of %d cases reached the upstream: there is little to compare", carried, len(cases))
	}
}

// parityUpstream sends back what it got of the body.
func parityUpstream(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "up %s %v %x %v", r.Method, err, sha256.Sum256(body), r.Trailer)
}

// firstDifference is the first line in which two transcripts differ.
func firstDifference(a, b string) (string, string) {
	linesA, linesB := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	for i := range min(len(linesA), len(linesB)) {
		if linesA[i] != linesB[i] {
			return linesA[i], linesB[i]
		}
	}
	return a, b
}

// transcript is the outcome of a case on its own connection: the responses and the requests that the upstream got,
// without what differs between two runs.
func (r *rig) transcript(tc exchangeCase) string {
	r.t.Helper()
	before := len(r.upstreamCalls())
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	text := strings.NewReplacer("KEY", r.key, "SHOP", r.addr).Replace(tc.bytes)
	if !tc.cut {
		text += request("GET", "/1.0.0/prod/last", "shop.proxy.test", "X-API-Key: "+r.key, "Connection: close")
	}
	go func() {
		_, _ = io.WriteString(conn, text) // may fail: the gateway hangs up on what is malformed
		if half, ok := conn.(interface{ CloseWrite() error }); ok && tc.cut && !tc.waits {
			_ = half.CloseWrite()
		}
	}()
	var out strings.Builder
	from := bufio.NewReader(conn)
	for i := 0; ; i++ {
		method := "GET"
		if i < len(tc.methods) {
			method = tc.methods[i]
		}
		resp, err := http.ReadResponse(from, &http.Request{Method: method})
		if err != nil {
			break
		}
		body, err := io.ReadAll(resp.Body)
		fmt.Fprintf(
			&out, "%s %s %q %v close=%v te=%v whole=%v\n", resp.Proto, resp.Status, body,
			headerText(resp.Header), resp.Close, resp.TransferEncoding, err == nil,
		)
	}
	_, port, _ := net.SplitHostPort(r.addr)
	upstream := strings.TrimPrefix(r.project.Versions[0].Environments[0].Target, "http://")
	for _, call := range r.upstreamCalls()[before:] {
		fmt.Fprintf(
			&out, "upstream got %s %s %s length=%d te=%v %s\n", call.method, call.uri, call.host, call.length,
			call.encoding, headerText(call.header),
		)
	}
	return strings.NewReplacer(
		r.addr,
		"GATEWAY",
		upstream,
		"UPSTREAM",
		`"`+port+`"`,
		"PORT",
		r.key,
		"KEY",
	).Replace(
		out.String(),
	)
}

func headerText(h http.Header) string {
	var out []string
	for name, lines := range h {
		if name != "Date" {
			out = append(out, fmt.Sprintf("%s=%q", name, lines))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// It doesn't matter where the bytes of a request are split on their way.
func TestParity_splitRequests(t *testing.T) {
	fast := newRig(t, nil, withMode(snapshot.Passthrough))
	pipes := newPipes()
	server := fast.gateway.Server("")
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(pipes) }()
	t.Cleanup(func() { _ = server.Close(); <-served })

	for _, text := range []string{
		request("GET", "/1.0.0/prod/a?b=c", "shop.proxy.test", "Accept: */*"),
		request("POST", "/1.0.0/prod/a", "shop.proxy.test", "Content-Length: 5") + "hello",
		request("POST", "/1.0.0/prod/a", "shop.proxy.test", "Transfer-Encoding: chunked") + "5;x\r\nhello\r\n0\r\n\r\n",
		request("GET", "/9.9.9/prod", "shop.proxy.test"),
		"GET /1.0.0/prod HTTP/1.1\r\nHost: shop.proxy.test\nX: y\r\n\r\n",
		"POST /1.0.0/prod HTTP/1.1\r\nHost: shop.proxy.test\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
		"GET /1.0.0/prod HTTP/1.1\r\nHost: shop.proxy.test\r\nX: y\r\n z\r\n\r\n",
	} {
		want := ""
		for at := range len(text) + 1 {
			got := fast.answerTo(pipes.dial(), text[:at], text[at:])
			if at == 0 {
				want = got
			} else if got != want {
				t.Errorf("%q cut at %d: %s, want %s", text, at, got, want)
			}
		}
	}
}

// answerTo writes the pieces, one read of the gateway each, and describes the response
// and what reached the upstream.
func (r *rig) answerTo(conn net.Conn, pieces ...string) string {
	r.t.Helper()
	defer func() { _ = conn.Close() }()
	before := len(r.upstreamCalls())
	_ = conn.SetDeadline(time.Now().Add(patience))
	go func() {
		for _, piece := range pieces {
			_, _ = io.WriteString(conn, piece)
		}
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err.Error()
	}
	var body bytes.Buffer
	_, err = body.ReadFrom(resp.Body)
	out := fmt.Sprintf("%d %q %v", resp.StatusCode, body.String(), err)
	for _, call := range r.upstreamCalls()[before:] {
		out += fmt.Sprintf("; %s %s %q", call.method, call.uri, call.body)
	}
	return out
}

// pipes is a listener of connections in memory, where each write is read separately.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) dial() net.Conn {
	near, far := net.Pipe()
	p.conns <- far
	return near
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
