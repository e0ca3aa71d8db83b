package h2_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"postern/testkit"
)

// ignoresLeaving is a handler that does not notice that its caller has left.
func ignoresLeaving(t *testing.T) http.HandlerFunc {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	return func(http.ResponseWriter, *http.Request) { <-release }
}

// Streams that a caller resets, or has the server reset, count until their handlers have ended, and a caller that goes
// on is sent away.
func TestServer_resets(t *testing.T) {
	for name, reset := range testkit.ByName(map[string]func(*caller, uint32) error{
		"by the caller (CVE-2023-44487)": func(c *caller, id uint32) error {
			return c.frames.WriteRSTStream(id, http2.ErrCodeCancel)
		},
		// CVE-2025-8671
		"by a window of 0": func(c *caller, id uint32) error { return c.frames.WriteWindowUpdate(id, 0) },
		"by a window that is too large": func(c *caller, id uint32) error {
			return c.frames.WriteWindowUpdate(id, 1<<31-1)
		},
		"by DATA after the end": func(c *caller, id uint32) error {
			return c.frames.WriteData(id, false, []byte("x"))
		},
		"by HEADERS after the end": func(c *caller, id uint32) error { return c.headers(id, true, get()...) },
		"by PRIORITY of itself": func(c *caller, id uint32) error {
			return c.frames.WritePriority(id, http2.PriorityParam{StreamDep: id})
		},
		"by PRIORITY of another length": func(c *caller, id uint32) error {
			return c.raw(http2.FramePriority, 0, id, []byte{0})
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, limits(), ignoresLeaving(t))
			c := r.dial()
			go func() {
				for range 10_000 {
					if reset(c, c.send(true, get()...)) != nil {
						return
					}
				}
			}()
			c.wantAway(http2.ErrCodeEnhanceYourCalm)
			if most := r.most.Load(); most > int64(limits().Streams) {
				t.Errorf("%d handlers ran at once, want %d at most", most, limits().Streams)
			}
		})
	}
}

// A malformed request costs a caller as much as a reset.
func TestServer_endlessMalformedRequests(t *testing.T) {
	r := newRig(t, limits(), answerOK)
	c := r.dial()
	go func() {
		for range 10_000 {
			c.send(true, get("connection", "close")...)
		}
	}()
	c.wantAway(http2.ErrCodeEnhanceYourCalm)
	if r.most.Load() != 0 {
		t.Error("the handler was called")
	}
}

// A caller that resets some of its calls goes on.
func TestServer_fewResets(t *testing.T) {
	r := newRig(t, limits(), func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/wait" {
			<-req.Context().Done()
			return
		}
		answerOK(w, req)
	})
	c := r.dial()
	for range 400 {
		waits := []string{":method", "GET", ":scheme", "https", ":authority", "a.test", ":path", "/wait"}
		id := c.send(true, waits...)
		_ = c.frames.WriteRSTStream(id, http2.ErrCodeCancel)
		for range 2 {
			if g := c.receive(c.send(true, get()...)); g.status != "200" {
				t.Fatalf("answered %v", g)
			}
		}
	}
}

// Frames that bring neither a request nor data end the connection when there are too many.
func TestServer_floods(t *testing.T) {
	for name, flood := range testkit.ByName(map[string]func(*caller) error{
		"PING (CVE-2019-9512)":     func(c *caller) error { return c.frames.WritePing(false, [8]byte{}) },
		"PING ACK":                 func(c *caller) error { return c.frames.WritePing(true, [8]byte{}) },
		"SETTINGS (CVE-2019-9515)": func(c *caller) error { return c.frames.WriteSettings() },
		"SETTINGS ACK":             func(c *caller) error { return c.frames.WriteSettingsAck() },
		"SETTINGS of the window": func(c *caller) error {
			return c.frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: c.stream % 7})
		},
		"PRIORITY (CVE-2019-9513)": func(c *caller) error {
			return c.frames.WritePriority(99, http2.PriorityParam{StreamDep: 1})
		},
		"WINDOW_UPDATE": func(c *caller) error { return c.frames.WriteWindowUpdate(0, 1) },
		"unknown":       func(c *caller) error { return c.raw(0xbe, 0, 0, nil) },
		"RST_STREAM of a closed stream": func(c *caller) error {
			return c.frames.WriteRSTStream(1, http2.ErrCodeCancel)
		},
		"GOAWAY": func(c *caller) error { return c.frames.WriteGoAway(0, http2.ErrCodeNo, nil) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, limits(), answerOK)
			c := r.dial()
			c.works()
			go func() {
				for range 100_000 {
					if flood(c) != nil {
						return
					}
				}
			}()
			c.wantAway(http2.ErrCodeEnhanceYourCalm)
		})
	}
}

// CVE-2019-9518: DATA without data.
func TestServer_endlessEmptyData(t *testing.T) {
	r := newRig(t, limits(), func(_ http.ResponseWriter, req *http.Request) { _, _ = io.Copy(io.Discard, req.Body) })
	for name, flags := range map[string]http2.Flags{"empty": 0, "padding alone": http2.FlagDataPadded} {
		t.Run(name, func(*testing.T) {
			c := r.dial()
			id := c.send(false, post()...)
			var payload []byte
			if flags != 0 {
				payload = []byte{1, 0}
			}
			go func() {
				for range 100_000 {
					if c.raw(http2.FrameData, flags, id, payload) != nil {
						return
					}
				}
			}()
			c.wantAway(http2.ErrCodeEnhanceYourCalm)
		})
	}
}

// CVE-2024-27316: a header that does not end.
func TestServer_endlessContinuation(t *testing.T) {
	field := hpack.HeaderField{Name: "x-a", Value: strings.Repeat("y", 1000), Sensitive: true}
	for name, size := range map[string]int{"empty": 0, "of one byte": 1, "large": 1000} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, limits(), answerOK)
			c := r.dial()
			_ = c.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.head(get()...)})
			go func() {
				for range 100_000 {
					c.block.Reset()
					_ = c.pack.WriteField(field)
					if c.frames.WriteContinuation(1, false, c.block.Bytes()[:min(size, c.block.Len())]) != nil {
						return
					}
				}
			}()
			c.wantAway(http2.ErrCodeEnhanceYourCalm)
			if r.most.Load() != 0 {
				t.Error("the handler was called")
			}
		})
	}
}

// A few bytes that stand for a large header: a long value in the table of compression, named again and again.
func TestServer_largeHeader(t *testing.T) {
	r := newRig(t, limits(), answerOK)
	c := r.dial()
	long := strings.Repeat("y", 3900)
	if g := c.receive(c.send(true, get("x-a", long)...)); g.status != "200" {
		t.Fatalf("the first is answered %v", g)
	}
	fields := get()
	for range 10_000 {
		fields = append(fields, "x-a", long)
	}
	if g := c.receive(c.send(true, fields...)); g.status != "431" {
		t.Errorf("answered %v", g)
	}
	if n := r.most.Load(); n != 1 {
		t.Errorf("%d calls of the handler, want 1 at once", n)
	}
	c.works()

	t.Run("a string that is longer than all", func(*testing.T) {
		c := r.dial()
		// A literal with a name of 2^31 bytes.
		_ = c.raw(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, []byte{0, 0x7f, 0x80, 0xff, 0xff, 0xff, 0x07})
		c.wantAway(http2.ErrCodeCompression)
	})
	t.Run("a table that is too large", func(*testing.T) {
		c := r.dial()
		_ = c.raw(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, []byte{0x3f, 0xe2, 0x1f}) // 4097
		c.wantAway(http2.ErrCodeCompression)
	})
}

// CVE-2019-9517: a caller that opens no window gets nothing, and holds its call no longer than Limits.Write.
func TestServer_noWindow(t *testing.T) {
	ended := make(chan error, 1)
	l := limits()
	l.Write = 300 * time.Millisecond
	r := newRig(t, l, func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, 64<<10))
		ended <- err
	})
	c := r.dial(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	g := c.receive(c.send(true, get()...))
	if g.status != "200" || g.body != "" || !g.isReset {
		t.Errorf("got %v %q, %v", g, g.body, g.isReset)
	}
	if err := within(t, "the end of the call", ended); err == nil {
		t.Error("the write succeeded")
	}
}

// Small responses that are not read hold their calls no longer either.
func TestServer_manyCallsWithoutWindow(t *testing.T) {
	l := limits()
	l.Write = 300 * time.Millisecond
	r := newRig(t, l, answerOK)
	c := r.dial(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	for range l.Streams {
		c.send(true, get()...)
	}
	testkit.Eventually(t, "the end of all calls", func() bool { return r.running.Load() == 0 && r.most.Load() > 0 })
}

// A caller that does not read at all loses its connection.
func TestServer_silentReader(t *testing.T) {
	ended := make(chan struct{})
	l := limits()
	l.Write = 300 * time.Millisecond
	r := newRig(t, l, func(w http.ResponseWriter, req *http.Request) {
		defer close(ended)
		for req.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	c := r.dial(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1})
	_ = c.frames.WriteWindowUpdate(0, 1<<31-1-65535)
	c.send(true, get()...)
	within(t, "the end of the call", ended)
}

// A caller that asks for answers and does not read them.
func TestServer_unreadAnswers(t *testing.T) {
	r := newRig(t, limits(), answerOK)
	c := r.dial()
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	for range 1_000_000 {
		if c.frames.WritePing(false, [8]byte{}) != nil {
			return
		}
	}
	t.Error("all were taken")
}

// A window that opens by single bytes (CVE-2019-9511).
func TestServer_windowByBytes(t *testing.T) {
	r := newRig(t, limits(), func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
	c := r.dial(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	id := c.send(true, get()...)
	go func() {
		for range 100_000 {
			if c.frames.WriteWindowUpdate(id, 1) != nil {
				return
			}
		}
	}()
	c.wantAway(http2.ErrCodeEnhanceYourCalm)
}

func TestServer_slowCallers(t *testing.T) {
	l := limits()
	const soon = 3 * time.Second // room for the call before it on a busy machine
	l.Header, l.Idle = soon, time.Hour
	r := newRig(t, l, answerOK)
	for name, begin := range testkit.ByName(map[string]func(*caller){
		"a frame that is cut off":    func(c *caller) { _, _ = c.conn.Write([]byte{0, 0, 8, 6}) },
		"a payload that is cut off":  func(c *caller) { _, _ = c.conn.Write([]byte{0, 0, 8, 6, 0, 0, 0, 0, 0, 1}) },
		"a header that does not end": func(c *caller) { _ = c.raw(http2.FrameHeaders, 0, c.stream, c.head(get()...)) },
		"a header that comes slowly": func(c *caller) {
			_ = c.raw(http2.FrameHeaders, 0, c.stream, c.head(get()...))
			go func() {
				pause := time.NewTicker(50 * time.Millisecond)
				defer pause.Stop()
				for c.raw(http2.FrameContinuation, 0, c.stream, nil) == nil {
					<-pause.C
				}
			}()
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := r.dial()
			c.works()
			begin(c)
			c.wantAway(http2.ErrCodeEnhanceYourCalm)
		})
	}
	t.Run("no preface", func(t *testing.T) {
		t.Parallel()
		c := r.silent()
		c.wantAway(http2.ErrCodeEnhanceYourCalm)
	})
	t.Run("no SETTINGS", func(t *testing.T) {
		t.Parallel()
		c := r.silent()
		_, _ = io.WriteString(c.conn, http2.ClientPreface)
		c.wantAway(http2.ErrCodeEnhanceYourCalm)
	})
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		l := limits()
		l.Idle = soon
		r := newRig(t, l, answerOK)
		c := r.dial()
		c.works()
		c.wantAway(http2.ErrCodeNo)
	})
}
