package h2_test

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"postern/testkit"
)

// A frame that ends the connection, behind a complete call on stream 1 (RFC 9113 sections 4 to 6).
func TestServer_invalidFrames(t *testing.T) {
	const (
		protocol   = http2.ErrCodeProtocol
		size       = http2.ErrCodeFrameSize
		padded     = http2.FlagHeadersPadded | http2.FlagHeadersEndHeaders
		endHeaders = http2.FlagHeadersEndHeaders
	)
	for name, tc := range map[string]struct {
		kind    http2.FrameType
		flags   http2.Flags
		stream  uint32
		payload []byte
		want    http2.ErrCode
	}{
		"a frame that is too large":       {http2.FrameHeaders, 0, 3, make([]byte, 64<<10+1), size},
		"PUSH_PROMISE":                    {http2.FramePushPromise, 4, 3, make([]byte, 4), protocol},
		"HEADERS of stream 0":             {http2.FrameHeaders, endHeaders, 0, nil, protocol},
		"HEADERS of an even stream":       {http2.FrameHeaders, endHeaders, 2, nil, protocol},
		"HEADERS of a closed stream":      {http2.FrameHeaders, endHeaders, 1, nil, http2.ErrCodeStreamClosed},
		"HEADERS of padding alone":        {http2.FrameHeaders, padded, 3, []byte{9, 0}, protocol},
		"HEADERS without their padding":   {http2.FrameHeaders, padded, 3, nil, protocol},
		"HEADERS of half a priority":      {http2.FrameHeaders, 0x24, 3, make([]byte, 4), size},
		"a header with an index of 0":     {http2.FrameHeaders, endHeaders, 3, []byte{0x80}, http2.ErrCodeCompression},
		"a header that is cut off":        {http2.FrameHeaders, endHeaders, 3, []byte{0, 9}, http2.ErrCodeCompression},
		"CONTINUATION alone":              {http2.FrameContinuation, 4, 3, nil, protocol},
		"DATA of stream 0":                {http2.FrameData, 0, 0, nil, protocol},
		"DATA of an idle stream":          {http2.FrameData, 0, 3, nil, protocol},
		"RST_STREAM of an idle stream":    {http2.FrameRSTStream, 0, 3, make([]byte, 4), protocol},
		"RST_STREAM of stream 0":          {http2.FrameRSTStream, 0, 0, make([]byte, 4), protocol},
		"RST_STREAM of another length":    {http2.FrameRSTStream, 0, 1, make([]byte, 3), size},
		"WINDOW_UPDATE of 0":              {http2.FrameWindowUpdate, 0, 0, make([]byte, 4), protocol},
		"WINDOW_UPDATE of an idle stream": {http2.FrameWindowUpdate, 0, 3, []byte{0, 0, 0, 1}, protocol},
		"WINDOW_UPDATE of another length": {http2.FrameWindowUpdate, 0, 0, make([]byte, 3), size},
		"WINDOW_UPDATE of too much": {
			http2.FrameWindowUpdate, 0, 0, []byte{0x7f, 0xff, 0xff, 0xff}, http2.ErrCodeFlowControl,
		},
		"PING of a stream":                 {http2.FramePing, 0, 1, make([]byte, 8), protocol},
		"PING of another length":           {http2.FramePing, 0, 0, make([]byte, 7), size},
		"GOAWAY of a stream":               {http2.FrameGoAway, 0, 1, make([]byte, 8), protocol},
		"GOAWAY that is too short":         {http2.FrameGoAway, 0, 0, make([]byte, 7), size},
		"PRIORITY of stream 0":             {http2.FramePriority, 0, 0, make([]byte, 5), protocol},
		"SETTINGS of a stream":             {http2.FrameSettings, 0, 1, nil, protocol},
		"SETTINGS of another length":       {http2.FrameSettings, 0, 0, make([]byte, 5), size},
		"SETTINGS ACK that says something": {http2.FrameSettings, 1, 0, make([]byte, 6), size},
		"SETTINGS_ENABLE_PUSH of 2":        {http2.FrameSettings, 0, 0, []byte{0, 2, 0, 0, 0, 2}, protocol},
		"SETTINGS_INITIAL_WINDOW_SIZE": {
			http2.FrameSettings, 0, 0, []byte{0, 4, 0x80, 0, 0, 0}, http2.ErrCodeFlowControl,
		},
		"SETTINGS_MAX_FRAME_SIZE, small": {http2.FrameSettings, 0, 0, []byte{0, 5, 0, 0, 0x3f, 0xff}, protocol},
		"SETTINGS_MAX_FRAME_SIZE, large": {http2.FrameSettings, 0, 0, []byte{0, 5, 1, 0, 0, 0}, protocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newRig(t, limits(), answerOK).dial()
			c.works()
			_ = c.raw(tc.kind, tc.flags, tc.stream, tc.payload)
			c.wantAway(tc.want)
		})
	}
}

func TestServer_connectionErrors(t *testing.T) {
	for name, tc := range testkit.ByName(map[string]struct {
		do   func(*caller)
		want http2.ErrCode
	}{
		"HEADERS of an earlier stream": {func(c *caller) {
			_ = c.headers(5, true, get()...)
			_ = c.headers(3, true, get()...)
		}, http2.ErrCodeProtocol},
		"a frame within a header": {func(c *caller) {
			_ = c.raw(http2.FrameHeaders, 0, 1, c.head(get()...))
			_ = c.frames.WritePing(false, [8]byte{})
		}, http2.ErrCodeProtocol},
		"a header within another": {func(c *caller) {
			_ = c.raw(http2.FrameHeaders, 0, 1, c.head(get()...))
			_ = c.raw(http2.FrameContinuation, 4, 3, nil)
		}, http2.ErrCodeProtocol},
		"DATA of padding alone": {func(c *caller) {
			_ = c.raw(http2.FrameData, http2.FlagDataPadded, c.send(false, waiting()...), []byte{9, 0})
		}, http2.ErrCodeProtocol},
		"DATA without its padding": {func(c *caller) {
			_ = c.raw(http2.FrameData, http2.FlagDataPadded, c.send(false, waiting()...), nil)
		}, http2.ErrCodeFrameSize},
		"DATA beyond the window": {func(c *caller) {
			id := c.send(false, waiting()...)
			for range 65 {
				_ = c.frames.WriteData(id, false, make([]byte, 16384))
			}
		}, http2.ErrCodeFlowControl},
		"a window that SETTINGS overflow": {func(c *caller) {
			_ = c.frames.WriteWindowUpdate(c.send(false, waiting()...), 1<<31-1-65535)
			setting(http2.SettingInitialWindowSize, 65536)(c)
		}, http2.ErrCodeFlowControl},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newRig(t, limits(), func(_ http.ResponseWriter, req *http.Request) {
				if req.Header.Get("X-Wait") != "" {
					<-req.Context().Done()
				}
			}).dial()
			tc.do(c)
			c.wantAway(tc.want)
		})
	}
	t.Run("no preface", func(t *testing.T) {
		c := newRig(t, limits(), answerOK).silent()
		_, _ = io.WriteString(c.conn, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
		c.wantAway(http2.ErrCodeProtocol)
	})
	t.Run("another frame before SETTINGS", func(t *testing.T) {
		c := newRig(t, limits(), answerOK).silent()
		_, _ = io.WriteString(c.conn, http2.ClientPreface)
		_ = c.frames.WritePing(false, [8]byte{})
		c.wantAway(http2.ErrCodeProtocol)
	})
}

// waiting is the header of a call that waits for its end.
func waiting() []string { return post("x-wait", "1") }

func setting(id http2.SettingID, value uint32) func(*caller) {
	return func(c *caller) { _ = c.frames.WriteSettings(http2.Setting{ID: id, Val: value}) }
}

// RFC 9113 section 6.9.2: SETTINGS may make a window negative.
func TestServer_shrinkingWindows(t *testing.T) {
	r := newRig(t, limits(), func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 100)) })
	c := r.dial(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 40})
	id := c.send(true, get()...)
	size := 0
	for size < 40 {
		frame, err := c.frames.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := frame.(*http2.DataFrame); ok {
			size += len(data.Data())
		}
	}
	setting(http2.SettingInitialWindowSize, 10)(c) // -30
	_ = c.frames.WriteWindowUpdate(id, 20)         // -10
	_ = c.frames.WritePing(false, [8]byte{1})
	for {
		frame, err := c.frames.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := frame.(*http2.DataFrame); ok {
			t.Fatal("sent beyond the window")
		}
		if _, ok := frame.(*http2.PingFrame); ok {
			break
		}
	}
	_ = c.frames.WriteWindowUpdate(id, 70)
	if g := c.receive(id); len(g.body) != 60 {
		t.Errorf("%d bytes are the rest, want 60", len(g.body))
	}
}

// A stream whose window is used up is reset, although that of the connection has room.
func TestServer_dataBeyondWindow(t *testing.T) {
	const part = 6 * 16384
	r := newRig(t, limits(), func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.CopyN(io.Discard, req.Body, part)
		<-req.Context().Done()
	})
	c := r.dial()
	first, second := c.send(false, post()...), c.send(false, post()...)
	for _, id := range []uint32{first, second} { // of both, the connection's window is opened again
		for range part / 16384 {
			_ = c.frames.WriteData(id, false, make([]byte, 16384))
		}
	}
	for {
		frame, err := c.frames.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if update, ok := frame.(*http2.WindowUpdateFrame); ok && update.StreamID == 0 && update.Increment < 500_000 {
			break
		}
	}
	for left := 1<<20 - part + 1; left > 0; left -= 16384 {
		_ = c.frames.WriteData(first, false, make([]byte, min(left, 16384)))
	}
	if g := c.receive(first); g.String() != "reset: FLOW_CONTROL_ERROR" {
		t.Errorf("got %v", g)
	}
}

func TestShutdown(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, limits(), func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			close(began)
			<-release
		}
		_, _ = io.WriteString(w, "late")
	})
	c := r.dial()
	id := c.send(true, post()...)
	within(t, "the call", began)
	idle := r.dial()
	idle.works()
	stopped, released := make(chan error, 1), atomic.Bool{}
	go func() {
		err := r.server.Shutdown(t.Context())
		if !released.Load() {
			err = fmt.Errorf("stopped with a running call: %w", err)
		}
		stopped <- err
	}()
	idle.wantAway(http2.ErrCodeNo)
	for {
		frame, err := c.frames.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if away, ok := frame.(*http2.GoAwayFrame); ok {
			if away.LastStreamID != id || away.ErrCode != http2.ErrCodeNo {
				t.Errorf("GOAWAY with %d and %v", away.LastStreamID, away.ErrCode)
			}
			break
		}
	}
	late := c.send(true, get()...) // is ignored: the caller sends it on another connection
	released.Store(true)
	close(release)
	if g := c.receive(id); g.body != "late" {
		t.Errorf("the running call is answered %v %q", g, g.body)
	}
	if g := c.receive(late); !g.hungUp {
		t.Errorf("the late call is answered %v", g)
	}
	if err := within(t, "the stop", stopped); err != nil {
		t.Error(err)
	}
}

// The handler learns that the caller has reset its call, or has left.
func TestServer_disconnects(t *testing.T) {
	for name, leave := range testkit.ByName(map[string]func(*caller, uint32){
		"RST_STREAM": func(c *caller, id uint32) { _ = c.frames.WriteRSTStream(id, http2.ErrCodeCancel) },
		"the end":    func(c *caller, _ uint32) { _ = c.conn.Close() },
	}) {
		t.Run(name, func(t *testing.T) {
			began, ended := make(chan struct{}), make(chan error, 1)
			r := newRig(t, limits(), func(_ http.ResponseWriter, req *http.Request) {
				close(began)
				<-req.Context().Done()
				_, err := io.ReadAll(req.Body)
				ended <- err
			})
			c := r.dial()
			id := c.send(false, post()...)
			within(t, "the call", began)
			leave(c, id)
			if err := within(t, "the end of the call", ended); err == nil {
				t.Error("the body ended as if it were whole")
			}
		})
	}
}
