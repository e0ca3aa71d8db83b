package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/snapshot"
)

// switching is an upstream that accepts the handshake and then hands the
// connection to talk.
func switching(t *testing.T, heads chan<- string, talk func(net.Conn, *bufio.Reader)) string {
	return rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		head, err := readHead(from)
		if err != nil {
			return
		}
		heads <- head
		_, _ = io.WriteString(
			conn,
			"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n"+
				"Sec-WebSocket-Accept: x\r\n\r\n",
		)
		talk(conn, from)
	})
}

var handshake = []string{
	"Connection: keep-alive, Upgrade",
	"Upgrade: WebSocket",
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
	"Sec-WebSocket-Version: 13",
}

// open does the handshake and returns the connection behind it.
func (r *rig) open() (net.Conn, *bufio.Reader, *http.Response) {
	r.t.Helper()
	conn := r.dial()
	r.t.Cleanup(func() { _ = conn.Close() })
	_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod/ws", r.addr, r.withKey(handshake)...))
	from := bufio.NewReader(conn)
	resp, err := http.ReadResponse(from, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return conn, from, resp
}

func echo(conn net.Conn, from *bufio.Reader) { _, _ = io.Copy(conn, from) }

func TestTunnel_webSocket(t *testing.T) {
	heads := make(chan string, 1)
	r := newRig(t, nil, withTarget(switching(t, heads, echo)))
	conn, from, resp := r.open()
	if resp.StatusCode != 101 || resp.Header.Get("Upgrade") != "WebSocket" ||
		resp.Header.Get("Connection") != "Upgrade" ||
		resp.Header.Get("Sec-Websocket-Accept") != "x" {
		t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	head := within(t, "the handshake at the upstream", heads)
	for _, line := range []string{
		"Connection: keep-alive, Upgrade\r\n", "Upgrade: websocket\r\n", "Sec-Websocket-Version: 13\r\n",
		"X-Consumer-Username: billing\r\n",
	} {
		if !strings.Contains(head, line) {
			t.Errorf("the upstream's handshake has no %q:\n%s", line, head)
		}
	}
	// The bytes after it are not HTTP, and nothing may parse them as HTTP.
	for _, frame := range []string{"\x81\x05hello", "\n\r\x00 not http\n", "GET / HTTP/1.1\nTransfer-Encoding: x\n\n"} {
		_, _ = io.WriteString(conn, frame)
		got := make([]byte, len(frame))
		if _, err := io.ReadFull(from, got); err != nil || string(got) != frame {
			t.Fatalf("got %q, %v; want %q back", got, err, frame)
		}
	}
}

func TestTunnel_end(t *testing.T) {
	t.Run("the caller", func(t *testing.T) {
		ended := make(chan struct{})
		r := newRig(t, nil, withTarget(switching(t, make(chan string, 1), func(_ net.Conn, from *bufio.Reader) {
			_, _ = io.Copy(io.Discard, from)
			close(ended)
		})))
		conn, _, _ := r.open()
		_ = conn.Close()
		within(t, "the end at the upstream", ended)
	})
	t.Run("the upstream", func(t *testing.T) {
		r := newRig(
			t,
			nil,
			withTarget(
				switching(
					t,
					make(chan string, 1),
					func(conn net.Conn, _ *bufio.Reader) { _, _ = io.WriteString(conn, "bye") },
				),
			),
		)
		_, from, _ := r.open()
		if rest, err := io.ReadAll(from); err != nil || string(rest) != "bye" {
			t.Errorf("read %q, %v; want the last words and the end", rest, err)
		}
	})
	t.Run("the gateway", func(t *testing.T) {
		r := newRig(t, nil, withTarget(switching(t, make(chan string, 1), echo)))
		_, from, _ := r.open()
		r.gateway.Close()
		if _, err := from.ReadByte(); err == nil {
			t.Error("the tunnel outlived the gateway")
		}
	})
}

func TestTunnel_handshakeKey(t *testing.T) {
	r := newRig(t, nil)
	lines := slices.Concat(handshake, []string{noKey})
	r.wantCode("no key", r.get("/shop/1.0.0/prod/ws", lines...), 401, "credentials_required")
	if calls := r.upstreamCalls(); len(calls) != 0 {
		t.Errorf("the upstream got %v", calls)
	}
}

func TestTunnel_declined(t *testing.T) {
	r := newRig(
		t,
		func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no sockets", http.StatusUpgradeRequired) },
	)
	if got := r.get("/shop/1.0.0/prod/ws", handshake...); got.StatusCode != 426 || got.body != "no sockets\n" {
		t.Errorf("%d %q, want the upstream's own answer", got.StatusCode, got.body)
	}
}

func TestTunnel_unrequestedSwitch(t *testing.T) {
	r := newRig(t, nil, withTarget(switching(t, make(chan string, 1), echo)))
	r.wantCode("a plain GET", r.get("/shop/1.0.0/prod"), 502, "upstream_unreachable")
}

// h2c would carry requests past every check, and other upgrades are nothing
// this gateway can follow: the call goes on as the plain request it also is.
func TestTunnel_otherUpgrades(t *testing.T) {
	for name, lines := range map[string][]string{
		"h2c": {
			"Connection: Upgrade, HTTP2-Settings",
			"Upgrade: h2c",
			"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
		},
		"h2c next to websocket": {"Connection: Upgrade", "Upgrade: websocket, h2c"},
		"h2c on a line before":  {"Connection: Upgrade", "Upgrade: h2c", "Upgrade: websocket"},
		"tls":                   {"Connection: Upgrade", "Upgrade: TLS/1.0"},
	} {
		r := newRig(t, nil, withMode(snapshot.Passthrough))
		if got := r.get("/shop/1.0.0/prod", lines...); got.StatusCode != 200 {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
		if h := r.lastCall().header; h["Upgrade"] != nil || h["Http2-Settings"] != nil ||
			h.Get("Connection") != "keep-alive" {
			t.Errorf("%s: the upstream got %v", name, h)
		}
	}
}

// The upstream switches while the caller still sends the request's body: two readers of
// the caller's connection would take each other's bytes.
func TestTunnel_earlySwitch(t *testing.T) {
	for name, framing := range map[string]string{
		"length":  "Content-Length: 1000000",
		"chunked": "Transfer-Encoding: chunked",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, withTarget(switching(t, make(chan string, 1), echo)))
			conn := r.dial()
			defer func() { _ = conn.Close() }()
			lines := r.withKey(append(slices.Clone(handshake), framing))
			_, _ = io.WriteString(conn, request("POST", "/shop/1.0.0/prod/ws", r.addr, lines...)+"5\r\nhello\r\n")
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				pause := time.NewTicker(time.Millisecond)
				defer pause.Stop()
				for range 100 {
					if _, err := io.WriteString(conn, "3\r\nout\r\n"); err != nil {
						return
					}
					<-pause.C
				}
			}()
			got := r.readReply(bufio.NewReader(conn), "POST")
			r.wantCode(name, got, 502, "upstream_unreachable")
			within(t, "the end of the body", sent)
		})
	}
}
