package gateway_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
)

// h2conn is a caller who speaks frames, and can say what no client would.
type h2conn struct {
	t      *testing.T
	conn   net.Conn
	frames *http2.Framer
	stream uint32
	block  bytes.Buffer
	pack   *hpack.Encoder
}

func (r *rig) dialHTTP2(t *testing.T) *h2conn {
	t.Helper()
	config := r.secure.Clone()
	config.NextProtos = []string{"h2"}
	conn, err := tls.Dial("tcp", r.addr, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	c := &h2conn{t: t, conn: conn, frames: http2.NewFramer(conn, conn), stream: 1}
	c.pack = hpack.NewEncoder(&c.block)
	c.frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, err = io.WriteString(conn, http2.ClientPreface)
	if err := errors.Join(err, c.frames.WriteSettings(), c.frames.WriteSettingsAck()); err != nil {
		t.Fatal(err)
	}
	return c
}

// send begins a call with the fields, pairs of name and value, and returns its
// stream.
func (c *h2conn) send(end bool, fields ...string) uint32 {
	c.t.Helper()
	c.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		if err := c.pack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}); err != nil {
			c.t.Fatal(err)
		}
	}
	id := c.stream
	c.stream += 2
	if err := c.frames.WriteHeaders(http2.HeadersFrameParam{
		StreamID:      id,
		BlockFragment: c.block.Bytes(),
		EndStream:     end,
		EndHeaders:    true,
	}); err != nil {
		c.t.Fatal(err)
	}
	return id
}

// outcome is the status of the response, or how the call or the connection ended.
func (c *h2conn) outcome(stream uint32) string {
	c.t.Helper()
	for {
		frame, err := c.frames.ReadFrame()
		if err != nil {
			return "hung up"
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			if f.StreamID == stream {
				return f.PseudoValue("status")
			}
		case *http2.RSTStreamFrame:
			if f.StreamID == stream {
				return "reset"
			}
		case *http2.GoAwayFrame:
			return "go away: " + f.ErrCode.String()
		}
	}
}

// sentAway reads until the connection is closed, a second after net/http has said
// why, and returns the reason.
func (c *h2conn) sentAway() http2.ErrCode {
	code := http2.ErrCodeNo
	for {
		frame, err := c.frames.ReadFrame()
		if err != nil {
			return code
		}
		if away, ok := frame.(*http2.GoAwayFrame); ok {
			code = away.ErrCode
		}
	}
}

func pseudo(key string, more ...string) []string {
	return append(
		[]string{
			":method",
			"GET",
			":scheme",
			"https",
			":authority",
			"shop.proxy.test",
			":path",
			"/1.0.0/prod/a",
			"x-api-key",
			key,
		},
		more...)
}

func TestHTTP2_spoofedIdentity(t *testing.T) {
	r := newRig(t, nil, overTLS(newPair(t)))
	c := r.dialHTTP2(t)
	fields := pseudo(r.key)
	names := append(policy.IdentityHeaders(), policy.ForwardedHeaders()...)
	for _, name := range names {
		name = strings.ToLower(name)
		if name == "via" {
			continue // it is appended to, as X-Forwarded-For is
		}
		if name != "x-forwarded-for" {
			fields = append(fields, name, "forged")
		}
		fields = append(
			fields, strings.ReplaceAll(name, "-", "_"), "forged", strings.ReplaceAll(name, "-", "."),
			"forged",
		)
	}
	fields = append(
		fields,
		"te",
		"trailers",
		"proxy",
		"http://forged",
		"cookie",
		"a=1",
		"cookie",
		"postern=forged",
		"cookie",
		"b=2",
	)
	if got := c.outcome(c.send(true, fields...)); got != "200" {
		t.Fatal(got)
	}
	call := r.lastCall()
	for name, lines := range call.header {
		if strings.Contains(strings.Join(lines, ","), "forged") {
			t.Errorf("the upstream got %s: %q", name, lines)
		}
	}
	if got := call.header; got.Get("X-Consumer-Username") != "billing" || got.Get("Via") != "2 postern" ||
		got.Get("Cookie") != "a=1; b=2" ||
		got.Get("Te") != "trailers" {
		t.Errorf("the upstream got %v", got)
	}
}

func TestHTTP2_spoofedTrailers(t *testing.T) {
	trailers := make(chan http.Header, 1)
	r := newRig(t, func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		trailers <- req.Trailer
	}, overTLS(newPair(t)))
	req, err := http.NewRequestWithContext(
		t.Context(),
		"POST",
		"https://shop.proxy.test/1.0.0/prod/a",
		io.NopCloser(strings.NewReader("hello")),
	)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", r.key)
	req.Trailer = http.Header{
		"X-Sum":           {"1"},
		"X-Consumer-Id":   {"forged"},
		"X_consumer_id":   {"forged"},
		"X-Api-Key":       {"forged"},
		"X-Forwarded-For": {"forged"},
	}
	resp, err := r.http2().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if got := within(t, "the trailers", trailers); len(got) != 1 || got.Get("X-Sum") != "1" {
		t.Errorf("the upstream got the trailers %v", got)
	}
}

// Requests that cannot be written as HTTP/1.1, or would be read differently there, are refused.
func TestHTTP2_requestsUnlikeHTTP1(t *testing.T) {
	r := newRig(t, nil, withMode(snapshot.Passthrough), overTLS(newPair(t)))
	replaced := func(name, value string) []string {
		fields := pseudo(r.key)
		for i := 0; i < len(fields); i += 2 {
			if fields[i] == name {
				fields[i+1] = value
			}
		}
		return fields
	}
	for name, fields := range map[string][]string{
		"a method with a space":              replaced(":method", "GET /1.0.0/prod/b HTTP/1.1"),
		"an empty method":                    replaced(":method", ""),
		"a method with a line end":           replaced(":method", "GET\r\nX: y"),
		"CONNECT":                            replaced(":method", "CONNECT"),
		"TRACE":                              replaced(":method", "TRACE"),
		"a path with a space":                replaced(":path", "/1.0.0/prod/a HTTP/1.1"),
		"a query with a space":               replaced(":path", "/1.0.0/prod/a?b HTTP/1.1"),
		"a path with a line end":             replaced(":path", "/1.0.0/prod/a\r\nX: y"),
		"a path with a fragment":             replaced(":path", "/1.0.0/prod/a#b"),
		"a path with NUL":                    replaced(":path", "/1.0.0/prod/a\x00"),
		"a path with DEL":                    replaced(":path", "/1.0.0/prod/a\x7f"),
		"an absolute path":                   replaced(":path", "https://shop.proxy.test/1.0.0/prod/a"),
		"a path without a slash":             replaced(":path", "1.0.0/prod/a"),
		"no path":                            replaced(":path", ""),
		"another scheme":                     replaced(":scheme", "gopher"),
		"a traversal":                        replaced(":path", "/1.0.0/prod/%2e%2e/%2e%2e/x"),
		"Connection":                         pseudo(r.key, "connection", "x-api-key"),
		"Transfer-Encoding":                  pseudo(r.key, "transfer-encoding", "chunked"),
		"Upgrade":                            pseudo(r.key, "upgrade", "websocket"),
		"Keep-Alive":                         pseudo(r.key, "keep-alive", "timeout=5"),
		"Proxy-Connection":                   pseudo(r.key, "proxy-connection", "keep-alive"),
		"TE of more than trailers":           pseudo(r.key, "te", "gzip"),
		"a name in upper case":               pseudo(r.key, "X-Consumer-ID", "forged"),
		"a value with a line end":            pseudo(r.key, "x-a", "b\r\nx-consumer-id: forged"),
		"a value with NUL":                   pseudo(r.key, "x-a", "b\x00"),
		"a name with a colon":                pseudo(r.key, "x-a: b", "c"),
		"an authority of a port alone":       replaced(":authority", ":80"),
		"Host next to another authority":     pseudo(r.key, "host", "other.proxy.test"),
		"Host twice":                         pseudo(r.key, "host", "shop.proxy.test", "host", "shop.proxy.test"),
		"Content-Length that isn't a number": pseudo(r.key, "content-length", "+0"),
		"Content-Length twice":               pseudo(r.key, "content-length", "0", "content-length", "0"),
		"Content-Length without a body":      pseudo(r.key, "content-length", "5"),
		"a pseudo-header of another kind":    pseudo(r.key, ":consumer", "forged"),
		"a pseudo-header twice":              append(pseudo(r.key)[:8:8], ":path", "/1.0.0/prod/b"),
		"a pseudo-header behind others":      append(pseudo(r.key)[2:], ":method", "GET"),
		"an extended CONNECT": append([]string{
			":protocol", "websocket",
		}, replaced(":method", "CONNECT")...),
	} {
		c := r.dialHTTP2(t)
		got := c.outcome(c.send(true, fields...))
		if got == "" || got[0] == '2' || got[0] == '3' || got[0] == '5' && got != "501" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, call := range r.upstreamCalls() {
		t.Errorf("the upstream got %s %s", call.method, call.uri)
	}
}

// Without TLS neither the preface of HTTP/2 nor the upgrade to h2c is accepted: they would hide
// requests from the gateway.
func TestHTTP2_withoutTLS(t *testing.T) {
	r := newRig(t, nil)
	got := r.get(
		"/shop/1.0.0/prod/a", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
		"HTTP2-Settings: AAMAAABkAAQAAP__",
	)
	if got.StatusCode != 200 || got.ProtoMajor != 1 || got.Header.Get("Upgrade") != "" {
		t.Errorf("the upgrade: %s %d %v", got.Proto, got.StatusCode, got.Header)
	}
	if h := r.lastCall().header; h.Get("Upgrade") != "" || h.Get("Http2-Settings") != "" {
		t.Errorf("the upstream got %v", h)
	}
	conn := r.dial()
	defer conn.Close()
	frames := http2.NewFramer(conn, conn)
	_, _ = io.WriteString(conn, http2.ClientPreface)
	_ = frames.WriteSettings()
	if frame, err := frames.ReadFrame(); err == nil {
		t.Errorf("the preface was answered by %v", frame)
	}
}

// slowKeys answers when it is released.
type slowKeys struct {
	asked   atomic.Int64
	release chan struct{}
}

func (k *slowKeys) Lookup(string, [32]byte, *snapshot.Key) (found, old bool) {
	k.asked.Add(1)
	<-k.release
	return false, false
}

func (k *slowKeys) Gone(string, [32]byte) bool { return false }

func TestHTTP2_bounds(t *testing.T) {
	release := make(chan struct{})
	r := newRig(t, nil, overTLS(newPair(t)))
	t.Cleanup(func() { close(release) })

	c := r.dialHTTP2(t)
	frame, err := c.frames.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	settings, ok := frame.(*http2.SettingsFrame)
	if !ok {
		t.Fatalf("the first frame is %v", frame)
	}
	if n, _ := settings.Value(http2.SettingMaxConcurrentStreams); n != 128 {
		t.Errorf("%d streams at once are announced", n)
	}
	if n, _ := settings.Value(http2.SettingMaxHeaderListSize); n == 0 || n > 40<<10 {
		t.Errorf("a header of %d bytes is announced", n)
	}

	t.Run("a header over the limit", func(t *testing.T) {
		c := r.dialHTTP2(t)
		value := strings.Repeat("x", 12<<10)
		fields := pseudo(r.key, "x-a", value, "x-b", value, "x-c", value)
		if got := c.outcome(c.send(true, fields...)); got != "431" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("calls that are reset at once", func(t *testing.T) {
		// slowKeys does not notice that the caller has left.
		slow := slowKeys{release: release}
		r := newRig(t, nil, overTLS(newPair(t)), func(_ *rig, o *gateway.Options) { o.Keys = &slow })
		c := r.dialHTTP2(t)
		go func() {
			for range 10_000 {
				c.block.Reset()
				for i, fields := 0, pseudo(r.key); i < len(fields); i += 2 {
					_ = c.pack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
				}
				head := http2.HeadersFrameParam{
					StreamID:      c.stream,
					BlockFragment: c.block.Bytes(),
					EndStream:     true,
					EndHeaders:    true,
				}
				if errors.Join(
					c.frames.WriteHeaders(head), c.frames.WriteRSTStream(c.stream, http2.ErrCodeCancel),
				) != nil {
					return
				}
				c.stream += 2
			}
		}()
		code := c.sentAway()
		if n := slow.asked.Load(); code != http2.ErrCodeEnhanceYourCalm || n > 128 {
			t.Errorf("sent away for %s after %d calls at once", code, n)
		}
	})
	t.Run("a header without an end", func(t *testing.T) {
		c := r.dialHTTP2(t)
		c.block.Reset()
		_ = c.pack.WriteField(hpack.HeaderField{Name: ":method", Value: "GET"})
		_ = c.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.block.Bytes()})
		go func() {
			for range 100_000 {
				c.block.Reset()
				_ = c.pack.WriteField(hpack.HeaderField{Name: "x-a", Value: strings.Repeat("y", 1000), Sensitive: true})
				if c.frames.WriteContinuation(1, false, c.block.Bytes()) != nil {
					return
				}
			}
		}()
		if code := c.sentAway(); code == http2.ErrCodeNo {
			t.Error("it was listened to all the way")
		}
	})
}
