package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"postern/core/snapshot"
)

// The beginnings of most requests of the corpus.
const (
	getFromShop   = "GET /shop/1.0.0/prod HTTP/1.1\r\nHost: SHOP\r\n"
	postToShop    = "POST /shop/1.0.0/prod HTTP/1.1\r\nHost: SHOP\r\n"
	chunkedToShop = postToShop + "Transfer-Encoding: chunked\r\n\r\n"
)

// corpus holds requests that two parsers could read differently. Each is a valid request with
// one change; SHOP stands for the gateway's own host.
var corpus = map[string]string{
	"Content-Length and Transfer-Encoding": postToShop +
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding and Content-Length": postToShop +
		"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
	"Content-Length twice, different": postToShop + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
	"Content-Length twice, the same":  postToShop + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab",
	"Content-Length as a list":        postToShop + "Content-Length: 2, 2\r\n\r\nab",
	"Content-Length with a sign":      postToShop + "Content-Length: +2\r\n\r\nab",
	"Content-Length in hex":           postToShop + "Content-Length: 0x2\r\n\r\nab",
	"Content-Length below zero":       postToShop + "Content-Length: -1\r\n\r\n",
	"Content-Length empty":            postToShop + "Content-Length:\r\n\r\n",
	"Content-Length too long":         postToShop + "Content-Length: 99999999999999999999\r\n\r\n",
	"Transfer-Encoding twice": postToShop +
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding as a list":           postToShop + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding unknown":             postToShop + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding identity":            postToShop + "Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding with a form feed":    postToShop + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding, space before colon": postToShop + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
	"Transfer-Encoding in HTTP/1.0": "POST /shop/1.0.0/prod HTTP/1.0\r\nHost: SHOP\r\n" +
		"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"bare LF after the request line": "GET /shop/1.0.0/prod HTTP/1.1\nHost: SHOP\r\n\r\n",
	"bare LF after a header":         "GET /shop/1.0.0/prod HTTP/1.1\r\nHost: SHOP\nX-A: b\r\n\r\n",
	"bare LF for the empty line":     getFromShop + "\n",
	"bare LF throughout":             "GET /shop/1.0.0/prod HTTP/1.1\nHost: SHOP\n\n",
	"bare CR in a value":             getFromShop + "X-A: b\rX-C: d\r\n\r\n",
	"CR CR LF":                       "GET /shop/1.0.0/prod HTTP/1.1\r\nHost: SHOP\r\r\n\r\n",
	"folded value":                   getFromShop + "X-A: b\r\n c\r\n\r\n",
	"folded by a tab":                getFromShop + "X-A: b\r\n\tTransfer-Encoding: chunked\r\n\r\n",
	"folded first line":              "GET /shop/1.0.0/prod HTTP/1.1\r\n Host: SHOP\r\nHost: SHOP\r\n\r\n",
	"Host twice, different":          getFromShop + "Host: other.proxy.test\r\n\r\n",
	"Host twice, the same":           getFromShop + "Host: SHOP\r\n\r\n",
	"no Host":                        "GET /shop/1.0.0/prod HTTP/1.1\r\nX-A: b\r\n\r\n",
	"Host of a port alone":           "GET /shop/1.0.0/prod HTTP/1.1\r\nHost: :80\r\n\r\n",
	"Host of a dot alone":            "GET /shop/1.0.0/prod HTTP/1.1\r\nHost: .\r\n\r\n",
	"Host of a dot and a port":       "GET /shop/1.0.0/prod HTTP/1.1\r\nHost: .:80\r\n\r\n",
	"Host of IPv6 without brackets":  "GET /shop/1.0.0/prod HTTP/1.1\r\nHost: ::1\r\n\r\n",
	"absolute form without a host":   "GET http://:80/shop/1.0.0/prod HTTP/1.1\r\nHost: :80\r\n\r\n",
	"Host with a space":              "GET /shop/1.0.0/prod HTTP/1.1\r\nHost: SHOP other\r\n\r\n",
	"absolute form of another host": "GET http://SHOP/shop/1.0.0/prod HTTP/1.1\r\n" +
		"Host: other.proxy.test\r\n\r\n",
	"absolute form of another port": "GET http://shop.proxy.test:1/1.0.0/prod HTTP/1.1\r\n" +
		"Host: shop.proxy.test\r\n\r\n",
	"absolute form with a user": "GET http://a@shop.proxy.test/1.0.0/prod HTTP/1.1\r\n" +
		"Host: shop.proxy.test\r\n\r\n",
	"absolute form without Host":     "GET http://shop.proxy.test/1.0.0/prod HTTP/1.0\r\n\r\n",
	"NUL in a value":                 getFromShop + "X-A: b\x00c\r\n\r\n",
	"NUL in a name":                  getFromShop + "X\x00A: b\r\n\r\n",
	"NUL in the target":              "GET /shop/1.0.0/prod/\x00 HTTP/1.1\r\nHost: SHOP\r\n\r\n",
	"control character in a value":   getFromShop + "X-A: b\x01\r\n\r\n",
	"a name with a space":            getFromShop + "X A: b\r\n\r\n",
	"a name with a space at its end": getFromShop + "X-A : b\r\n\r\n",
	"an empty name":                  getFromShop + ": b\r\n\r\n",
	"a line without a colon":         getFromShop + "X-A\r\n\r\n",
	"a space in the target":          "GET /shop/1.0.0/prod /x HTTP/1.1\r\nHost: SHOP\r\n\r\n",
	"a tab for a space":              "GET\t/shop/1.0.0/prod HTTP/1.1\r\nHost: SHOP\r\n\r\n",
	"no version":                     "GET /shop/1.0.0/prod\r\nHost: SHOP\r\n\r\n",
	"HTTP/0.9":                       "GET /shop/1.0.0/prod HTTP/0.9\r\nHost: SHOP\r\n\r\n",
	"HTTP/1.2":                       "GET /shop/1.0.0/prod HTTP/1.20\r\nHost: SHOP\r\n\r\n",
	"HTTP/2 preface":                 "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"an empty line first, with LF":   "\nGET /shop/1.0.0/prod HTTP/1.1\r\nHost: SHOP\r\n\r\n",
	"a chunk of a bare LF":           chunkedToShop + "1\nx\r\n0\r\n\r\n",
	"a chunk longer than it says":    chunkedToShop + "1\r\nxy\r\n0\r\n\r\n",
	"a chunk size with a sign":       chunkedToShop + "+1\r\nx\r\n0\r\n\r\n",
	"a chunk size with a prefix":     chunkedToShop + "0x1\r\nx\r\n0\r\n\r\n",
	"a chunk size that overflows":    chunkedToShop + "10000000000000001\r\nx\r\n0\r\n\r\n",
	"an empty chunk size":            chunkedToShop + "\r\nx\r\n0\r\n\r\n",
	"a folded trailer":               chunkedToShop + "0\r\nX: y\r\n z\r\n\r\n",
}

func TestSmuggling_refused(t *testing.T) {
	r := newRig(t, nil, withMode(snapshot.Passthrough))
	for name, bytes := range corpus {
		// Behind each is a request that a parser which read it differently would serve.
		got := r.raw(strings.ReplaceAll(bytes, "SHOP", r.addr) + request("GET", "/shop/1.0.0/prod/smuggled", r.addr))
		if got.StatusCode < 400 || got.StatusCode > 505 || got.StatusCode == 404 {
			t.Errorf("%s: %d %s, want it refused as malformed", name, got.StatusCode, got.body)
		}
		if !got.Close {
			t.Errorf("%s: the connection stays open", name)
		}
	}
	if calls := r.upstreamCalls(); len(calls) != 0 {
		for _, call := range calls {
			t.Errorf("the upstream got %s %s", call.method, call.uri)
		}
	}
}

// The refusal must not depend on how the bytes arrive.
func TestSmuggling_byteByByte(t *testing.T) {
	r := newRig(t, nil, withMode(snapshot.Passthrough))
	for _, name := range []string{
		"Content-Length and Transfer-Encoding", "bare LF throughout", "folded value",
		"absolute form of another host", "Content-Length twice, the same",
	} {
		conn := r.dial()
		for _, b := range []byte(strings.ReplaceAll(corpus[name], "SHOP", r.addr)) {
			if _, err := conn.Write([]byte{b}); err != nil {
				break // refused before its end
			}
		}
		// The status line is enough: bytes written after the refusal may reset
		// the connection behind it.
		if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 400 ") {
			t.Errorf("%s: %q, %v; want 400", name, line, err)
		}
		_ = conn.Close()
	}
	if calls := r.upstreamCalls(); len(calls) != 0 {
		t.Errorf("the upstream got %v", calls)
	}
}

func TestSmuggling_goodRequestFirst(t *testing.T) {
	r := newRig(t, nil, withMode(snapshot.Passthrough))
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(
		conn,
		request("POST", "/shop/1.0.0/prod/good", r.addr, "Transfer-Encoding: chunked")+"2\r\nok\r\n0\r\n\r\n"+
			"GET /shop/1.0.0/prod/bad HTTP/1.1\nHost: x\n\n"+request("GET", "/shop/1.0.0/prod/after", r.addr),
	)
	from := bufio.NewReader(conn)
	if got := r.readReply(from, "POST"); got.StatusCode != 200 {
		t.Errorf("the good one: %d %s", got.StatusCode, got.body)
	}
	if got := r.readReply(from, "GET"); got.StatusCode != 400 {
		t.Errorf("the bad one: %d %s", got.StatusCode, got.body)
	}
	if _, err := http.ReadResponse(from, nil); err == nil {
		t.Error("a third answer came")
	}
	if call := r.lastCall(); call.uri != "/base/good" || call.body != "ok" {
		t.Errorf("the upstream got %s %q", call.uri, call.body)
	}
}

// A response must not be able to smuggle one either: what an upstream sends
// beyond its response is not the next caller's.
func TestSmuggling_bytesAfterAnswer(t *testing.T) {
	target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		for {
			if _, err := readHead(from); err != nil {
				return
			}
			_, _ = io.WriteString(
				conn,
				"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nupHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison",
			)
		}
	})
	r := newRig(t, nil, withTarget(target))
	for range 3 {
		if got := r.get("/shop/1.0.0/prod"); got.body == "poison" {
			t.Fatal("an answer that no one asked for was given to a caller")
		}
	}
}

// A body that turns out to be malformed after its beginning has been forwarded is
// answered as long as nothing of a response has been.
func TestSmuggling_brokenChunk(t *testing.T) {
	r := newRig(t, parityUpstream)
	for _, broken := range []string{"zz\r\n", "5\r\nhello!\r\n", "5\nhello\n", "0\r\n folded\r\n\r\n"} {
		before := len(r.upstreamCalls())
		conn := r.dial()
		_, _ = io.WriteString(
			conn,
			request(
				"POST",
				"/shop/1.0.0/prod",
				r.addr,
				"X-API-Key: "+r.key,
				"Transfer-Encoding: chunked",
			)+"5\r\nhello\r\n",
		)
		r.waitForCalls(t, before+1)
		_, _ = io.WriteString(conn, broken)
		r.wantCode(broken, r.readReply(bufio.NewReader(conn), "POST"), 400, "bad_request")
		_ = conn.Close()
	}
}
