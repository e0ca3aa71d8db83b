package h2_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"postern/gateway/h2"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test; it is reached only when the test fails.
const patience = time.Minute

func limits() h2.Limits {
	return h2.Limits{
		Streams:     8,
		HeaderBytes: 16 << 10,
		Header:      patience,
		Idle:        patience,
		Write:       patience,
	}
}

// rig is a server on its own listener.
type rig struct {
	t      *testing.T
	server *h2.Server
	addr   string

	running, most atomic.Int64 // handlers
}

func newRig(t *testing.T, l h2.Limits, handler http.HandlerFunc) *rig {
	t.Helper()
	r := &rig{t: t}
	r.server = &h2.Server{Limits: l, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		n := r.running.Add(1)
		for most := r.most.Load(); n > most && !r.most.CompareAndSwap(most, n); most = r.most.Load() {
		}
		defer r.running.Add(-1)
		handler(w, req)
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = listener.Addr().String()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			r.server.Serve(c)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
		_ = r.server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.server.Shutdown(ctx); err != nil {
			t.Errorf("a connection goes on after Close: %v", err)
		}
	})
	return r
}

// silent is a caller that has sent nothing.
func (r *rig) silent() *caller {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &caller{t: r.t, conn: conn, frames: http2.NewFramer(conn, conn), stream: 1}
}

// client returns net/http's client, which is independent of this package.
func (r *rig) client() *http.Client {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols, DisableCompression: true}
	r.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// caller speaks frames, and can say what no client would.
type caller struct {
	t      *testing.T
	conn   net.Conn
	frames *http2.Framer
	stream uint32 // of the next request
	block  bytes.Buffer
	pack   *hpack.Encoder
}

func (r *rig) dial(settings ...http2.Setting) *caller {
	r.t.Helper()
	c := r.silent()
	c.pack = hpack.NewEncoder(&c.block)
	c.frames.AllowIllegalWrites = true
	c.frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, err := io.WriteString(c.conn, http2.ClientPreface)
	if err := errors.Join(err, c.frames.WriteSettings(settings...), c.frames.WriteSettingsAck()); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// get is the header of a plain request, as pairs of name and value, and more fields.
func get(more ...string) []string {
	return append([]string{":method", "GET", ":scheme", "https", ":authority", "a.test", ":path", "/"}, more...)
}

// post is the header of a request with a body.
func post(more ...string) []string {
	return append([]string{":method", "POST", ":scheme", "https", ":authority", "a.test", ":path", "/"}, more...)
}

// head encodes a header.
func (c *caller) head(fields ...string) []byte {
	c.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = c.pack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return c.block.Bytes()
}

// send begins a call and returns its stream. A write may fail once the server has sent the caller away.
func (c *caller) send(end bool, fields ...string) uint32 {
	id := c.stream
	c.stream += 2
	_ = c.headers(id, end, fields...)
	return id
}

func (c *caller) headers(id uint32, end bool, fields ...string) error {
	return c.frames.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: c.head(fields...), EndStream: end, EndHeaders: true,
	})
}

// raw writes a frame with any header and payload.
func (c *caller) raw(kind http2.FrameType, flags http2.Flags, id uint32, payload []byte) error {
	out := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), byte(kind), byte(flags)}
	out = append(binary.BigEndian.AppendUint32(out, id), payload...)
	_, err := c.conn.Write(out)
	return err
}

// got has the frames of a stream, until its end or that of the connection.
type got struct {
	status  string
	header  map[string]string
	body    string
	trailer map[string]string
	interim []string // statuses
	reset   http2.ErrCode
	isReset bool
	away    http2.ErrCode // of GOAWAY
	hungUp  bool
}

// String is the status, or how the stream ended.
func (g got) String() string {
	switch {
	case g.isReset:
		return "reset: " + g.reset.String()
	case g.status != "":
		return g.status
	case g.hungUp:
		return "hung up"
	}
	return "away: " + g.away.String()
}

// receive reads until the end of a stream, or of the connection.
func (c *caller) receive(id uint32) (g got) {
	g.header, g.trailer = map[string]string{}, map[string]string{}
	for {
		frame, err := c.frames.ReadFrame()
		if err != nil {
			g.hungUp = true
			return g
		}
		if away, ok := frame.(*http2.GoAwayFrame); ok {
			g.away = away.ErrCode
			if away.ErrCode != http2.ErrCodeNo {
				return g
			}
		}
		if frame.Header().StreamID != id || id == 0 {
			continue
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			status := f.PseudoValue("status")
			to := g.header
			switch {
			case strings.HasPrefix(status, "1"):
				g.interim = append(g.interim, status)
				continue
			case status == "":
				to = g.trailer
			default:
				g.status = status
			}
			for _, one := range f.RegularFields() {
				to[one.Name] = one.Value
			}
			if f.StreamEnded() {
				return g
			}
		case *http2.DataFrame:
			g.body += string(f.Data())
			if f.StreamEnded() {
				return g
			}
		case *http2.RSTStreamFrame:
			g.reset, g.isReset = f.ErrCode, true
			return g
		}
	}
}

// wantAway reads until the connection ends and checks the reason.
func (c *caller) wantAway(want http2.ErrCode) {
	c.t.Helper()
	code, said := http2.ErrCodeNo, false
	for {
		frame, err := c.frames.ReadFrame()
		if err != nil {
			if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
				c.t.Error("the connection goes on")
			}
			break
		}
		if away, ok := frame.(*http2.GoAwayFrame); ok {
			code, said = away.ErrCode, true
		}
	}
	if !said || code != want {
		c.t.Errorf("sent away: %v for %v, want %v", said, code, want)
	}
}

// works checks that the connection still serves.
func (c *caller) works() {
	c.t.Helper()
	if g := c.receive(c.send(true, get()...)); g.status != "200" {
		c.t.Errorf("the connection answers %v", g)
	}
}

// within waits for a channel and fails the test when nothing comes.
func within[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
		panic("unreachable")
	}
}

func answerOK(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }
