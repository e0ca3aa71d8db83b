package gateway_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
	"postern/testkit/sample"
)

// calledWith is the target of all environments, which are called with a version of HTTP.
func calledWith(version contract.UpstreamHTTP, target string) rigOption {
	return withProject(func(p *snapshot.Project) {
		for i := range p.Versions[0].Environments {
			e := &p.Versions[0].Environments[i]
			e.Target, e.Upstream.HTTP = target, version
		}
	})
}

// serving starts an upstream that speaks some of HTTP/1.1, HTTP/2 over TLS and h2c, and returns what makes it the
// target of a rig.
func serving(t *testing.T, version contract.UpstreamHTTP, speaks string, h http.HandlerFunc) rigOption {
	t.Helper()
	up := httptest.NewUnstartedServer(h)
	var protocols http.Protocols
	protocols.SetHTTP1(strings.Contains(speaks, "1.1"))
	protocols.SetHTTP2(strings.Contains(speaks, "h2 "))
	protocols.SetUnencryptedHTTP2(strings.Contains(speaks, "h2c"))
	up.Config.Protocols = &protocols
	up.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(up.Close)
	if !strings.Contains(speaks, "TLS") {
		up.Start()
		return calledWith(version, up.URL)
	}
	up.EnableHTTP2 = protocols.HTTP2()
	up.StartTLS()
	roots := x509.NewCertPool()
	roots.AddCert(up.Certificate())
	return func(r *rig, o *gateway.Options) {
		calledWith(version, up.URL)(r, o)
		o.UpstreamTLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
}

func TestUpstreamHTTP_versions(t *testing.T) {
	says := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }
	for _, tc := range []struct {
		version contract.UpstreamHTTP
		speaks  string
		want    string
	}{
		{"", "1.1 h2c", "200 HTTP/1.1 complete"},
		{contract.HTTP1, "1.1 h2 TLS", "200 HTTP/1.1 complete"},
		{contract.HTTP2, "h2c", "200 HTTP/2.0 complete"},
		{contract.HTTP2, "h2 TLS", "200 HTTP/2.0 complete"},
		{contract.HTTP2, "1.1 h2 TLS", "200 HTTP/2.0 complete"},
		{contract.HTTP2, "1.1 TLS", "502 upstream_unreachable"},
		{contract.HTTP2, "1.1", "502 upstream_unreachable"},
		{contract.HTTPAuto, "1.1 h2 TLS", "200 HTTP/2.0 complete"},
		{contract.HTTPAuto, "1.1 TLS", "200 HTTP/1.1 complete"},
		{contract.HTTPAuto, "1.1 h2c", "200 HTTP/1.1 complete"},
	} {
		for path, start := range paths(t) {
			t.Run(fmt.Sprintf("%s, %s, %s", tc.version, tc.speaks, path), func(t *testing.T) {
				r, client := start(nil, serving(t, tc.version, tc.speaks, says))
				for range 2 { // on a new connection, and on one that is reused
					got := r.told(client)
					if !strings.HasPrefix(got, tc.want) && !strings.Contains(got, `"upstream_unreachable"`) {
						t.Errorf("%s, want %s", got, tc.want)
					}
					if strings.HasPrefix(tc.want, "502") != strings.HasPrefix(got, "502") {
						t.Errorf("%s, want %s", got, tc.want)
					}
				}
			})
		}
	}
}

// What the upstream gets over HTTP/2 is what it gets over HTTP/1.1, and what it answers arrives the same way.
func TestUpstreamHTTP_alike(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := w.Header()
		h.Set("X-Uri", r.RequestURI)
		h.Set("X-Host", r.Host)
		h.Set("X-Length", fmt.Sprint(r.ContentLength))
		h.Set("X-Encoding", strings.Join(r.TransferEncoding, ","))
		for name, lines := range r.Header {
			h["Seen-"+name] = lines
		}
		h["Set-Cookie"] = []string{"a=1", "b=2"}
		if r.Method != http.MethodHead {
			h.Set("Trailer", "X-Sum")
		}
		w.WriteHeader(http.StatusTeapot)
		_ = http.NewResponseController(w).Flush() // or else net/http adds the length of a short body to HTTP/2 alone
		_, _ = w.Write(body)
		h.Set("X-Sum", fmt.Sprint(len(body)))
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PROPFIND"} {
		for _, body := range []string{"", "small", strings.Repeat("large ", 50_000)} {
			if method == "GET" || method == "HEAD" {
				body = ""
			}
			t.Run(fmt.Sprintf("%s %d", method, len(body)), func(t *testing.T) {
				told := func(option rigOption) string {
					r := newRig(t, nil, option, overTLS(newPair(t)))
					req, _ := http.NewRequestWithContext(t.Context(), method,
						"https://shop.proxy.test/1.0.0/prod/a%20b?x=%31&", strings.NewReader(body))
					if body == "" {
						req.Body = nil
					}
					req.Header.Set("X-API-Key", r.key)
					req.Header.Set("Cookie", "c=1; d=2")
					req.Header.Set("Te", "trailers")
					resp, err := r.http2().Do(req)
					if err != nil {
						t.Fatal(err)
					}
					defer resp.Body.Close()
					got, err := io.ReadAll(resp.Body)
					if err != nil {
						t.Fatal(err)
					}
					h := resp.Header
					for _, name := range []string{"Date", "X-Host", "Seen-Connection", "Via", "Seen-X-Forwarded-Port"} {
						h.Del(name) // the port, hop-by-hop fields, and the version of HTTP
					}
					return fmt.Sprint(resp.Status, h, len(got), resp.ContentLength, resp.Trailer)
				}
				one := told(serving(t, contract.HTTP1, "1.1", echo))
				if two := told(serving(t, contract.HTTP2, "h2c", echo)); one != two {
					t.Errorf("over HTTP/1.1:\n%s\nover HTTP/2:\n%s", one, two)
				}
			})
		}
	}
}

// HTTP/2 ignores an Upgrade, and a WebSocket takes HTTP/1.1 where both are offered.
func TestUpstreamHTTP_upgrade(t *testing.T) {
	says := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto+r.Header.Get("Upgrade"))
	}
	for version, want := range map[contract.UpstreamHTTP]string{
		contract.HTTP2:    "HTTP/2.0",
		contract.HTTPAuto: "HTTP/1.1websocket",
	} {
		r := newRig(t, nil, serving(t, version, "1.1 h2 TLS", says))
		got := r.get("/shop/1.0.0/prod", "Connection: Upgrade", "Upgrade: websocket")
		if got.StatusCode != 200 || got.body != want {
			t.Errorf("%s: %d %q, want %q", version, got.StatusCode, got.body, want)
		}
	}
}

func TestUpstreamHTTP_timeouts(t *testing.T) {
	stuck := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, tc := range map[string]struct {
		upstream http.HandlerFunc
		set      func(t *snapshot.UpstreamTimeouts, ms *int)
		want     string
	}{
		"no response": {stuck, func(t *snapshot.UpstreamTimeouts, ms *int) { t.ResponseMS = ms },
			`504 {"message":"The upstream didn't respond in time.","code":"upstream_timeout"} complete`},
		"a pause": {pausing("text/plain"), func(t *snapshot.UpstreamTimeouts, ms *int) { t.IdleMS = ms },
			"200 one broken off"},
		"a silent stream": {pausing("text/event-stream"),
			func(t *snapshot.UpstreamTimeouts, ms *int) { t.StreamIdleMS = ms }, "200 one broken off"},
		"a stream that pauses": {pausing("text/event-stream"),
			func(t *snapshot.UpstreamTimeouts, ms *int) { t.IdleMS = ms }, "200 onetwo complete"},
	} {
		t.Run(name, func(t *testing.T) {
			ms := soon
			for _, start := range paths(t) {
				r, client := start(nil, serving(t, contract.HTTP2, "h2c", tc.upstream),
					allNever(func(t *snapshot.UpstreamTimeouts) { tc.set(t, &ms) }))
				if got := r.told(client); got != tc.want {
					t.Errorf("%s, want %s", got, tc.want)
				}
			}
		})
	}
}

// The upstream learns that a caller has left.
func TestUpstreamHTTP_disconnect(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	r := newRig(t, nil, overTLS(newPair(t)), serving(t, contract.HTTP2, "h2c",
		func(_ http.ResponseWriter, r *http.Request) {
			close(began)
			<-r.Context().Done()
			close(ended)
		}))
	c := r.dialHTTP2(t)
	c.send(true, pseudo(r.key)...)
	within(t, "the call at the upstream", began)
	_ = c.conn.Close()
	within(t, "the end at the upstream", ended)
}

// framed is an upstream that speaks frames: each call of a connection is answered by answer.
func framed(t *testing.T, answer func(f *http2.Framer, conn, stream uint32)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var conns atomic.Uint32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			go func(n uint32) {
				_, _ = io.CopyN(io.Discard, conn, int64(len(http2.ClientPreface)))
				f := http2.NewFramer(conn, conn)
				f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
				_ = f.WriteSettings()
				for {
					frame, err := f.ReadFrame()
					if err != nil {
						return
					}
					switch frame := frame.(type) {
					case *http2.SettingsFrame:
						if !frame.IsAck() {
							_ = f.WriteSettingsAck()
						}
					case *http2.MetaHeadersFrame:
						answer(f, n, frame.StreamID)
					}
				}
			}(conns.Add(1))
		}
	}()
	return "http://" + l.Addr().String()
}

func answerEmpty(f *http2.Framer, stream uint32) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: []byte{0x88}, EndHeaders: true, EndStream: true, // :status 200
	})
}

// A call of any method is sent again if the upstream says that it didn't process it (RFC 9113 section 8.7).
func TestUpstreamHTTP_unprocessed(t *testing.T) {
	for name, tc := range map[string]struct {
		refuse func(f *http2.Framer, stream uint32)
		want   int
	}{
		"a refused stream": {func(f *http2.Framer, stream uint32) {
			_ = f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
		}, 200},
		"above GOAWAY": {func(f *http2.Framer, stream uint32) {
			_ = f.WriteGoAway(stream-2, http2.ErrCodeNo, nil)
		}, 200},
		"an error of the stream": {func(f *http2.Framer, stream uint32) {
			_ = f.WriteRSTStream(stream, http2.ErrCodeInternal)
		}, 502},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			target := framed(t, func(f *http2.Framer, _, stream uint32) {
				if calls.Add(1) == 2 {
					tc.refuse(f, stream)
					return
				}
				answerEmpty(f, stream)
			})
			r := newRig(t, nil, calledWith(contract.HTTP2, target))
			if got := r.call("POST", "/shop/1.0.0/prod"); got.StatusCode != 200 {
				t.Fatalf("the first call got %d %s", got.StatusCode, got.body)
			}
			if got := r.call("POST", "/shop/1.0.0/prod"); got.StatusCode != tc.want {
				t.Errorf("%d %s, want %d", got.StatusCode, got.body, tc.want)
			}
		})
	}
}

// An upstream that refuses all streams is asked a few times, not until the caller leaves.
func TestUpstreamHTTP_alwaysRefused(t *testing.T) {
	var calls atomic.Int32
	target := framed(t, func(f *http2.Framer, _, stream uint32) {
		if calls.Add(1) == 1 {
			answerEmpty(f, stream)
			return
		}
		_ = f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
	})
	r := newRig(t, nil, calledWith(contract.HTTP2, target))
	if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
		t.Fatalf("the first call got %d %s", got.StatusCode, got.body)
	}
	r.wantCode("a refused call", r.get("/shop/1.0.0/prod"), 502, "upstream_unreachable")
	if n := calls.Load(); n > 5 {
		t.Errorf("the upstream got %d streams for two calls", n)
	}
}

// Calls share a connection, and projects none.
func TestUpstreamHTTP_connections(t *testing.T) {
	var conns, first atomic.Uint32
	target := framed(t, func(f *http2.Framer, conn, stream uint32) {
		conns.Store(max(conns.Load(), conn))
		first.CompareAndSwap(0, stream)
		answerEmpty(f, stream)
	})
	r := newRig(t, nil, calledWith(contract.HTTP2, target))
	other := *r.project
	other.ID, other.Name = "prj_other", "other"
	other.Versions = append([]snapshot.Version(nil), r.project.Versions...)
	other.Versions[0].Access.Mode, other.Versions[0].Access.Methods = snapshot.Passthrough, nil
	other.Versions[0].Environments = []snapshot.Environment{{ID: "env_other", Name: "prod", Target: target,
		Upstream: snapshot.Upstream{HTTP: contract.HTTP2}}}
	for range 5 {
		if got := r.get("/shop/1.0.0/prod"); got.StatusCode != 200 {
			t.Fatalf("%d %s", got.StatusCode, got.body)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("five calls took %d connections", n)
	}
	if err := r.gateway.Publish([]*snapshot.Project{r.project, &other}); err != nil {
		t.Fatal(err)
	}
	if got := r.get("/other/1.0.0/prod"); got.StatusCode != 200 || conns.Load() != 2 {
		t.Errorf("%d %s, and %d connections for two projects", got.StatusCode, got.body, conns.Load())
	}
}

// With gateway-h2c, callers may begin with HTTP/2 on a listener without TLS.
func TestPlainHTTP2(t *testing.T) {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	for name, tc := range map[string]struct {
		set  func(*gateway.Options)
		want bool
	}{
		"allowed":             {func(o *gateway.Options) { o.PlainHTTP2 = true }, true},
		"allowed to net/http": {func(o *gateway.Options) { o.PlainHTTP2, o.HTTP2 = true, gateway.HTTP2NetHTTP }, true},
		"not allowed":         {func(*gateway.Options) {}, false},
		"HTTP/2 is off":       {func(o *gateway.Options) { o.PlainHTTP2, o.HTTP2 = true, gateway.HTTP2Off }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, func(_ *rig, o *gateway.Options) { tc.set(o) })
			transport := &http.Transport{Protocols: &protocols}
			t.Cleanup(transport.CloseIdleConnections)
			client := &http.Client{Transport: transport, Timeout: patience}
			req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+r.addr+"/shop/1.0.0/prod", nil)
			req.Header.Set("X-API-Key", r.key)
			resp, err := client.Do(req)
			if err == nil {
				defer resp.Body.Close()
			}
			if got := err == nil && resp.StatusCode == 200 && resp.ProtoMajor == 2; got != tc.want {
				t.Errorf("served: %t, want %t: %v", got, tc.want, err)
			}
			// A connection that began with HTTP/1.1 stays that.
			conn := r.dial()
			defer conn.Close()
			call := request("GET", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key)
			_, _ = io.WriteString(conn, call+http2.ClientPreface)
			_ = conn.SetReadDeadline(time.Now().Add(patience))
			all, _ := io.ReadAll(conn)
			if text := string(all); !strings.Contains(text, "200 OK") || !strings.Contains(text, "HTTP/1.1 400") {
				t.Errorf("a preface behind a call: %q", text)
			}
		})
	}
}

func TestGRPC_refusals(t *testing.T) {
	own := testkit.ByName(map[string]struct {
		authority string
		path      string
		version   contract.UpstreamHTTP
		fields    []string
		want      string
	}{
		"no custom domain":  {"shop.proxy.test", "/1.0.0/prod/a.B/C", contract.HTTP2, nil, "12 grpc_needs_domain"},
		"stripped prefix":   {"stripped.example.com", "/a.B/C", contract.HTTP2, nil, "12 grpc_needs_domain"},
		"kept prefix":       {"kept.example.com", "/a.B/C", contract.HTTP2, nil, "16 credentials_required"},
		"other prefix":      {"kept.example.com", "/a.X/C", contract.HTTP2, nil, "5 no_route"},
		"HTTP/1.1 upstream": {ownHost, "/a.B/C", contract.HTTP1, nil, "12 grpc_needs_http2"},
		"no key":            {ownHost, "/a.B/C", contract.HTTP2, nil, "16 credentials_required"},
		"wrong key":         {ownHost, "/a.B/C", contract.HTTP2, []string{"x-api-key", "pst_wrong"}, "16 invalid_key"},
		"unknown host":      {"nowhere.proxy.test", "/a.B/C", contract.HTTP2, nil, "5 no_route"},
		"upstream not there": {
			ownHost, "/a.B/C", contract.HTTP2, []string{"x-api-key", "OK"}, "14 upstream_unreachable",
		},
	})
	for name, tc := range own {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, overTLS(newPair(t)), calledWith(tc.version, "http://127.0.0.1:1"),
				withProject(func(p *snapshot.Project) {
					prod := &p.Versions[0].Environments[1]
					prod.Domains = append(prod.Domains, sample.DomainAt("stripped.example.com", "/a.B"),
						sample.Kept(sample.DomainAt("kept.example.com", "/a.B", http.MethodPost)))
				}))
			c := r.dialHTTP2(t)
			fields := []string{":method", "POST", ":scheme", "https", ":authority", tc.authority, ":path", tc.path,
				"content-type", "application/grpc+proto", "te", "trailers"}
			for _, f := range tc.fields {
				fields = append(fields, strings.Replace(f, "OK", r.key, 1))
			}
			c.send(true, fields...)
			for {
				frame, err := c.frames.ReadFrame()
				if err != nil {
					t.Fatal(err)
				}
				head, ok := frame.(*http2.MetaHeadersFrame)
				if !ok {
					continue
				}
				got := map[string]string{}
				for _, f := range head.Fields {
					got[f.Name] = f.Value
				}
				if told := got["grpc-status"] + " " + got["postern-code"]; told != tc.want || got[":status"] != "200" ||
					got["content-type"] != "application/grpc" || got["grpc-message"] == "" || !head.StreamEnded() {
					t.Errorf("%v, want %s in one header", got, tc.want)
				}
				return
			}
		})
	}
}
