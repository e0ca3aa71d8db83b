package gateway_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"postern/testkit/browser"
)

// connects opens a WebSocket with the protocols of its arguments, and resolves to the one that was selected.
const connects = `new Promise(resolve => {
	const socket = new WebSocket(ADDRESS, OFFERED);
	socket.onopen = () => { resolve("selected " + socket.protocol); socket.close(); };
	socket.onerror = () => resolve("failed");
})`

// A browser opens a WebSocket with a key among the protocols, though its upstream knows none of them.
func TestKeyPlaces_browser(t *testing.T) {
	upstream := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		head, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
		sum := sha1.Sum([]byte(head.Header.Get("Sec-WebSocket-Key") + guid)) // RFC 6455, 4.2.2
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Accept: "+base64.StdEncoding.EncodeToString(sum[:])+"\r\n\r\n")
		_, _ = io.Copy(io.Discard, from)
	})
	r := newRig(t, nil, withTarget(upstream), inPlaces(inProtocol))
	page := httptest.NewServer(http.NotFoundHandler())
	defer page.Close()
	ctx := browser.Open(t)
	if err := chromedp.Do(ctx, chromedp.Navigate(page.URL)); err != nil {
		t.Fatal(err)
	}
	for offered, want := range map[string]string{
		`["postern", "postern.key.KEY64"]`: "selected postern",
		`["postern.key.KEY64"]`:            "failed",
		`["postern", "postern.key.none"]`:  "failed",
		`["postern"]`:                      "failed",
	} {
		address := `"ws://` + r.addr + `/shop/1.0.0/prod/ws"`
		script := strings.NewReplacer("ADDRESS", address, "OFFERED", r.fill(t).Replace(offered)).Replace(connects)
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
		if err != nil || got != want {
			t.Errorf("%s: %q, error %v, want %q", offered, got, err, want)
		}
	}
}
