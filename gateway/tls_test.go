package gateway_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"postern/gateway"
	"postern/testkit"
)

// pair is the certificate of a listener, and what its callers trust.
type pair struct {
	server *tls.Config
	client *tls.Config
	pem    []byte
}

func newPair(t *testing.T) pair {
	t.Helper()
	cert, key := testkit.Certificate(t, "shop.proxy.test")
	return newPairOf(t, cert, key)
}

// newPairOf is newPair with a certificate.
func newPairOf(t *testing.T, cert, key []byte) pair {
	t.Helper()
	own, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	return pair{
		server: &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12},
		client: &tls.Config{RootCAs: roots, ServerName: "shop.proxy.test", NextProtos: []string{"http/1.1"}},
		pem:    cert,
	}
}

// overTLS makes callers of a rig speak TLS, and HTTP/1.1 within.
func overTLS(p pair) rigOption {
	return func(r *rig, o *gateway.Options) { r.secure, o.CallerTLS = p.client, p.server }
}

// http2 calls the rig as net/http's client does where HTTP/2 is agreed on.
func (r *rig) http2() *http.Client {
	r.t.Helper()
	config := r.secure.Clone()
	config.NextProtos = nil // the transport's own
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	transport := &http.Transport{TLSClientConfig: config, Protocols: &protocols, DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", r.addr)
		}}
	r.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

func (r *rig) over(c *http.Client, method, path string, body io.Reader, lines ...string) reply {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "https://shop.proxy.test"+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, line := range r.withKey(lines) {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	resp, err := c.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return reply{resp, string(text)}
}

func TestTLS_protocols(t *testing.T) {
	r := newRig(t, nil, overTLS(newPair(t)))
	for _, tc := range []struct {
		offers []string
		want   string
	}{
		{[]string{"h2", "http/1.1"}, "h2"}, {[]string{"http/1.1"}, "http/1.1"}, {nil, ""},
	} {
		config := r.secure.Clone()
		config.NextProtos = tc.offers
		conn, err := tls.Dial("tcp", r.addr, config)
		if err != nil {
			t.Fatal(err)
		}
		if got := conn.ConnectionState().NegotiatedProtocol; got != tc.want {
			t.Errorf("of %v: %q, want %q", tc.offers, got, tc.want)
		}
		_ = conn.Close()
	}
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		config := r.secure.Clone()
		config.MinVersion, config.MaxVersion = version, version
		if conn, err := tls.Dial("tcp", r.addr, config); err == nil {
			_ = conn.Close()
			t.Errorf("%s was spoken", tls.VersionName(version))
		}
	}
}

func TestTLS_forwardedProto(t *testing.T) {
	r := newRig(t, nil, overTLS(newPair(t)))
	_, port, _ := net.SplitHostPort(r.addr)
	calls := map[string]func() reply{
		"the engine": func() reply { return r.get("/shop/1.0.0/prod/a", "X-Forwarded-Proto: gopher") },
		"net/http, HTTP/1.1": func() reply {
			return r.get("/shop/1.0.0/prod/a", "X-Forwarded-Proto: gopher", "TE: trailers")
		},
		"net/http and HTTP/2": func() reply {
			return r.over(r.http2(), "GET", "/1.0.0/prod/a", nil, "X-Forwarded-Proto: gopher")
		},
	}
	for name, call := range testkit.ByName(calls) {
		if got := call(); got.StatusCode != 200 {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
		all := r.upstreamCalls()
		h := all[len(all)-1].header
		if h.Get("X-Forwarded-Proto") != "https" || h.Get("X-Forwarded-Port") != port ||
			h.Get("X-Real-IP") != "127.0.0.1" {
			t.Errorf("%s: the upstream got %v", name, h)
		}
	}
}

func TestTLS_plainHTTP(t *testing.T) {
	r := newRig(t, nil, overTLS(newPair(t)))
	r.secure = nil
	got := r.get("/shop/1.0.0/prod/a")
	if got.StatusCode != 400 || !strings.Contains(got.body, "HTTPS") {
		t.Errorf("%d %q", got.StatusCode, got.body)
	}
	if calls := r.upstreamCalls(); len(calls) != 0 {
		t.Errorf("the upstream got %v", calls)
	}
}

// A stalled handshake times out like a head, and does not delay Shutdown.
func TestTLS_stalledHandshake(t *testing.T) {
	r := newRig(t, nil, overTLS(newPair(t)))
	r.secure = nil
	conn := r.dial()
	defer conn.Close()
	_, _ = conn.Write([]byte{22, 3, 1, 0, 200})
	stopped := make(chan error, 1)
	go func() { stopped <- r.server.Shutdown(t.Context()) }()
	if err := within(t, "the stop", stopped); err != nil {
		t.Error(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("the connection goes on: %d, %v", n, err)
	}
}

// Over TLS a goodbye comes before the end of the stream, and must not hide it.
func TestTLS_disconnect(t *testing.T) {
	gone := make(chan struct{})
	arrived := make(chan struct{})
	r := newRig(
		t,
		func(_ http.ResponseWriter, req *http.Request) { close(arrived); <-req.Context().Done(); close(gone) },
		overTLS(newPair(t)),
	)
	conn := r.dial()
	if _, err := io.WriteString(conn, request("GET", "/shop/1.0.0/prod/a", r.addr, "X-API-Key: "+r.key)); err != nil {
		t.Fatal(err)
	}
	within(t, "the call at the upstream", arrived)
	_ = conn.Close()
	within(t, "the end of the upstream's call", gone)
}

// curl is an independent client of both protocols.
func TestTLS_curl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal("curl is not installed (Debian package curl)")
	}
	p := newPair(t)
	r := newRig(t, nil, overTLS(p))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, p.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(r.addr)
	for flag, want := range map[string]string{"--http1.1": "up 1.1 200", "--http2": "up 2 200"} {
		out, err := exec.CommandContext(
			t.Context(),
			curl,
			"-sS",
			flag,
			"--cacert",
			ca,
			"--resolve",
			"shop.proxy.test:"+port+":127.0.0.1",
			"-H",
			"X-API-Key: "+r.key,
			"-d",
			"hello",
			"-w",
			" %{http_version} %{http_code}",
			"https://shop.proxy.test:"+port+"/1.0.0/prod/a",
		).CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("curl %s: %q, %v; want %q", flag, out, err, want)
		}
	}
}

// An ACME server's check is over with the handshake (RFC 8737, section 3): nothing is served
// to it, and the gateway's own protocols come first for all other callers.
func TestTLS_otherProtocol(t *testing.T) {
	own := newPair(t)
	own.server.NextProtos = []string{"acme-tls/1"}
	r := newRig(t, nil, overTLS(own))
	config := r.secure.Clone()
	config.NextProtos = []string{"acme-tls/1"}
	conn, err := tls.Dial("tcp", r.addr, config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.ConnectionState().NegotiatedProtocol; got != "acme-tls/1" {
		t.Errorf("agreed on %q", got)
	}
	_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: shop.proxy.test\r\n\r\n")
	if answer, err := io.ReadAll(conn); len(answer) > 0 {
		t.Errorf("answered %q, %v; want a closed connection", answer, err)
	}
	config.NextProtos = []string{"acme-tls/1", "http/1.1"}
	other, err := tls.Dial("tcp", r.addr, config)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if got := other.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
		t.Errorf("of acme-tls/1 and http/1.1: %q", got)
	}
}

// Every value of the setting serves calls over TLS. The client agrees on HTTP/2, except where it isn't offered.
func TestServer_http2(t *testing.T) {
	for name, http2 := range testkit.ByName(map[string]gateway.HTTP2{
		"own": gateway.HTTP2Own, "nethttp": gateway.HTTP2NetHTTP, "off": gateway.HTTP2Off,
	}) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(w, r.Body)
			}, overTLS(newPair(t)), func(_ *rig, o *gateway.Options) { o.HTTP2 = http2 })
			client := r.http2()
			transport, _ := client.Transport.(*http.Transport)
			transport.Protocols.SetHTTP1(true)
			wanted := 2
			if http2 == gateway.HTTP2Off {
				wanted = 1
			}
			for range 2 {
				got := r.over(client, http.MethodPost, "/1.0.0/dev/orders", strings.NewReader("content"))
				if got.StatusCode != http.StatusOK || got.body != "content" || got.ProtoMajor != wanted {
					t.Errorf("got %d %q over HTTP/%d, want HTTP/%d", got.StatusCode, got.body, got.ProtoMajor, wanted)
				}
			}
		})
	}
}
