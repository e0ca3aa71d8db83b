package h2_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func without(fields []string, name string) []string {
	at := slices.Index(fields, name)
	return slices.Delete(slices.Clone(fields), at, at+2)
}

func with(fields []string, name, value string) []string {
	fields = slices.Clone(fields)
	fields[slices.Index(fields, name)+1] = value
	return fields
}

// RFC 9113 sections 8.1.1 to 8.5: a malformed request is a stream error, and the connection goes on.
func TestServer_malformedRequests(t *testing.T) {
	for name, fields := range map[string][]string{
		"no method":                      without(get(), ":method"),
		"no scheme":                      without(get(), ":scheme"),
		"no path":                        without(get(), ":path"),
		"an empty path":                  with(get(), ":path", ""),
		"a path that isn't a path":       with(get(), ":path", "a"),
		"another scheme":                 with(get(), ":scheme", "gopher"),
		"a method twice":                 append(get()[:2:2], get()...),
		"a path twice":                   append(slices.Clone(get()), ":path", "/"),
		"an unknown pseudo-header":       append([]string{":other", "a"}, get()...),
		"a status":                       append([]string{":status", "200"}, get()...),
		"a pseudo-header behind a field": append([]string{"x-a", "b"}, get()...),
		"a name in upper case":           get("X-A", "b"),
		"an empty name":                  get("", "b"),
		"a name with a space":            get("x a", "b"),
		"a name with a colon":            get("x:a", "b"),
		"a value with a line end":        get("x-a", "b\r\nx-c: d"),
		"a value with NUL":               get("x-a", "\x00"),
		"Connection":                     get("connection", "x-a"),
		"Keep-Alive":                     get("keep-alive", "timeout=5"),
		"Proxy-Connection":               get("proxy-connection", "keep-alive"),
		"Transfer-Encoding":              get("transfer-encoding", "chunked"),
		"Upgrade":                        get("upgrade", "h2c"),
		"TE":                             get("te", "gzip"),
		"Content-Length without a body":  get("content-length", "5"),
		"Content-Length twice":           get("content-length", "0", "content-length", "0"),
		"Content-Length with a sign":     get("content-length", "+0"),
		"user in the authority":          with(get(), ":authority", "u@a.test"),
		"an authority with a space":      with(get(), ":authority", "a test"),
		"CONNECT with a path":            with(get(), ":method", "CONNECT"),
		"CONNECT without authority":      {":method", "CONNECT"},
		"an extended CONNECT": append([]string{
			":protocol", "websocket",
		}, with(get(), ":method", "CONNECT")...),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, limits(), answerOK)
			c := r.dial()
			g := c.receive(c.send(true, fields...))
			if g.String() != "reset: PROTOCOL_ERROR" {
				t.Errorf("got %v", g)
			}
			if r.most.Load() != 0 {
				t.Error("the handler was called")
			}
			c.works()
		})
	}
}

// RFC 9113 section 8.1.1: a body that is not as long as stated is never taken for a whole one.
func TestServer_bodyLength(t *testing.T) {
	for name, tc := range map[string]struct {
		length string
		pieces []string // of which the last ends the stream
		want   string
	}{
		"as stated":       {"4", []string{"ab", "cd"}, "200"},
		"not stated":      {"", []string{"ab", "cd"}, "200"},
		"empty":           {"0", []string{""}, "200"},
		"too short":       {"5", []string{"ab", "cd"}, "reset: PROTOCOL_ERROR"},
		"too long":        {"3", []string{"ab", "cd"}, "reset: PROTOCOL_ERROR"},
		"none but stated": {"3", []string{""}, "reset: PROTOCOL_ERROR"},
		"some but 0":      {"0", []string{"ab"}, "reset: PROTOCOL_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			read := make(chan error, 1)
			r := newRig(t, limits(), func(_ http.ResponseWriter, req *http.Request) {
				if req.Method == http.MethodPost {
					body, err := io.ReadAll(req.Body)
					if err == nil && string(body) != strings.Join(tc.pieces, "") {
						err = errors.New("another body")
					}
					read <- err
				}
			})
			c := r.dial()
			fields := post()
			if tc.length != "" {
				fields = post("content-length", tc.length)
			}
			id := c.send(false, fields...)
			for i, piece := range tc.pieces {
				_ = c.frames.WriteData(id, i == len(tc.pieces)-1, []byte(piece))
			}
			if g := c.receive(id); g.String() != tc.want {
				t.Errorf("got %v, want %s", g, tc.want)
			}
			if err := within(t, "the end of the body", read); (err == nil) != (tc.want == "200") {
				t.Errorf("the handler read it with %v", err)
			}
			c.works()
		})
	}
}

func TestServer_trailers(t *testing.T) {
	for name, tc := range map[string]struct {
		fields []string
		end    bool
		want   string
	}{
		"announced":           {[]string{"x-sum", "1"}, true, "X-Sum=1"},
		"not announced":       {[]string{"x-other", "1"}, true, "X-Sum="},
		"a pseudo-header":     {[]string{":path", "/b"}, true, "reset: PROTOCOL_ERROR"},
		"connection-specific": {[]string{"connection", "close"}, true, "reset: PROTOCOL_ERROR"},
		"without the end":     {[]string{"x-sum", "1"}, false, "reset: PROTOCOL_ERROR"},
		"too long":            {[]string{"x-sum", strings.Repeat("~", 16<<10-30)}, true, "reset: PROTOCOL_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, limits(), func(w http.ResponseWriter, req *http.Request) {
				if _, err := io.Copy(io.Discard, req.Body); err == nil && req.Method == http.MethodPost {
					_, _ = io.WriteString(w, "X-Sum="+req.Trailer.Get("X-Sum")+req.Trailer.Get("X-Other"))
				}
			})
			c := r.dial()
			id := c.send(false, post("trailer", "x-sum")...)
			_ = c.frames.WriteData(id, false, []byte("ab"))
			_ = c.headers(id, tc.end, tc.fields...)
			if g := c.receive(id); g.body != tc.want && g.String() != tc.want {
				t.Errorf("got %v %q, want %s", g, g.body, tc.want)
			}
			c.works()
		})
	}
}

// More calls at once than were announced are refused, and can be sent again.
func TestServer_concurrentCalls(t *testing.T) {
	release := make(chan struct{})
	r := newRig(t, limits(), func(http.ResponseWriter, *http.Request) { <-release })
	c := r.dial()
	for range limits().Streams {
		c.send(true, get()...)
	}
	if g := c.receive(c.send(true, get()...)); g.String() != "reset: REFUSED_STREAM" {
		t.Errorf("one too many: %v", g)
	}
	close(release)
	if g := c.receive(1); g.status != "200" {
		t.Errorf("the first: %v", g)
	}
	c.works()
}

// A handler that ends before the body has arrived: what is on its way is dropped, and its window given back.
func TestServer_earlyResponse(t *testing.T) {
	r := newRig(t, limits(), answerOK)
	c := r.dial()
	for range 5 {
		id := c.send(false, post("trailer", "x-sum")...)
		if g := c.receive(id); g.status != "200" {
			t.Fatalf("got %v", g)
		}
		for range 30 { // half of the window
			_ = c.frames.WriteData(id, false, make([]byte, 16384))
		}
		_ = c.headers(id, true, "x-sum", "1")
	}
	c.works()
}

// A goroutine that still reads a body after the handler has ended never mistakes a part for the whole.
func TestServer_lateBodyRead(t *testing.T) {
	read := make(chan error, 1)
	body := make(chan io.Reader, 1)
	r := newRig(t, limits(), func(_ http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			_, _ = req.Body.Read(make([]byte, 1))
			body <- req.Body
		}
	})
	c := r.dial()
	id := c.send(false, post()...)
	_ = c.frames.WriteData(id, true, []byte("hello"))
	c.receive(id)
	go func() {
		_, err := io.Copy(io.Discard, within(t, "the call", body))
		read <- err
	}()
	if err := within(t, "the end of the body", read); err == nil {
		t.Error("the rest was read as if it were all")
	}
}

func TestServer_largeBodies(t *testing.T) {
	r := newRig(t, limits(), func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Trailer", "X-Done")
		_, err := io.Copy(w, req.Body)
		w.Header().Set("X-Done", "yes")
		w.Header().Set(http.TrailerPrefix+"X-Late", "too")
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	})
	want := bytes.Repeat([]byte("0123456789abcdef"), 512<<10) // 8 MiB
	client := r.client()
	for range 2 {
		req, _ := http.NewRequestWithContext(t.Context(), "POST", "http://"+r.addr, bytes.NewReader(want))
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || !bytes.Equal(body, want) {
			t.Errorf("%d bytes came back, %v", len(body), err)
		}
		if resp.Trailer.Get("X-Done") != "yes" || resp.Trailer.Get("X-Late") != "too" {
			t.Errorf("trailers %v", resp.Trailer)
		}
	}
}
