package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestResponseHead_framing(t *testing.T) {
	for _, tc := range []struct {
		method, head string
		want         string // framing, length, closes; "" for malformed
	}{
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "length 5"},
		{"GET", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n", "length 5"},
		{"GET", "HTTP/1.1 200 \nContent-Length: 5\n\n", "length 5"},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", "length 5"},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: foo, Close\r\n\r\n", "length 5, closes"},
		{"GET", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n", "length 5, closes"},
		{"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", "chunked"},
		{"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", "chunked, closes"},
		{"GET", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "until close, closes"},
		{"GET", "HTTP/1.1 200 OK\r\n\r\n", "until close, closes"},
		{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "none"},
		{"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "none"},
		{"GET", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "none"},
		{"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "none"},
		{"GET", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "none"},
		{"GET", "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", "length 0"},

		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nX: a\x00\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nX\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\n: a\r\n\r\n", ""},
		{"GET", "HTTP/2.0 200 OK\r\n\r\n", ""},
		{"GET", "HTTP/1.2 200 OK\r\n\r\n", ""},
		{"GET", "HTTP/1.1 20 OK\r\n\r\n", ""},
		{"GET", "HTTP/1.1 2000 OK\r\n\r\n", ""},
		{"GET", "HTTP/1.1 099 OK\r\n\r\n", ""},
		{"GET", "HTTP/1.1 +20 OK\r\n\r\n", ""},
		{"GET", "HTTP/1.1\r\n\r\n", ""},
		{"GET", "220 smtp ready for you\r\n\r\n", ""},
		{"GET", "\r\n\r\n", ""},
	} {
		var r Response
		got := ""
		if err := r.parse(tc.head, tc.method); err == nil {
			got = [...]string{"none", "length", "chunked", "until close"}[r.framing]
			if r.framing == lengthKnown {
				got += fmt.Sprint(" ", r.length)
			}
			if r.closes {
				got += ", closes"
			}
		} else if !errors.Is(err, ErrResponse) {
			t.Errorf("%q: %v", tc.head, err)
		}
		if got != tc.want {
			t.Errorf("%s %q: %q, want %q", tc.method, tc.head, got, tc.want)
		}
	}
}

func TestChunks(t *testing.T) {
	for _, tc := range []struct{ in, data, trailer, rest string }{
		{"0\r\n\r\n", "", "", ""},
		{"5\r\nhello\r\n0\r\n\r\n", "hello", "", ""},
		{"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nnext", "hello world", "", "next"},
		{"0000A\r\n0123456789\r\n0\r\n\r\n", "0123456789", "", ""},
		{"3;a=b;c=\"d\"\r\nabc\r\n0;e\r\n\r\n", "abc", "", ""},
		{"1 \t ;x\r\na\r\n0\t\r\n\r\n", "a", "", ""},
		{"3 \r\nabc\r\n000\r\nX-A: 1\r\nx-b:2\r\n\r\n", "abc", "[{X-A 1} {x-b 2}]", ""},
	} {
		for split := range len(tc.in) + 1 { // two reads, split at every byte
			var c chunks
			var data string
			rest := ""
			for _, piece := range []string{tc.in[:split], tc.in[split:]} {
				p := []byte(rest + piece)
				n, used, err := c.decode(p)
				if err != nil {
					t.Fatalf("%q cut at %d: %v", tc.in, split, err)
				}
				data, rest = data+string(p[:n]), string(p[used:])
			}
			trailer, err := c.trailerFields()
			if err != nil || c.at != atEnd {
				t.Errorf("%q cut at %d: ended %v, %v", tc.in, split, c.at == atEnd, err)
			}
			if data != tc.data || rest != tc.rest {
				t.Errorf(
					"%q cut at %d: data %q and rest %q, want %q and %q",
					tc.in, split, data, rest, tc.data, tc.rest,
				)
			}
			if (len(trailer) > 0 || tc.trailer != "") && fmt.Sprint(trailer) != tc.trailer {
				t.Errorf("%q cut at %d: trailer %v, want %s", tc.in, split, trailer, tc.trailer)
			}
		}
	}
	for _, in := range []string{
		"\r\n", "x\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1\n", "1\rx", "1\r\nab\r\n", "1\r\na\n",
		"1\r\na\rx", "0\r\n\n", "0\r\nX: a\n\r\n",
		"1;a\nb\r\n", "1 0\r\n", "1;\x00\r\n", "1000000000000000\r\n",
		"1;" + strings.Repeat("a", maxExtension+1), "0\r\n" + strings.Repeat("X: a\r\n", maxTrailer),
	} {
		var c chunks
		if _, _, err := c.decode([]byte(in)); !errors.Is(err, ErrResponse) {
			t.Errorf("%.40q: %v, want it refused", in, err)
		}
	}
	var c chunks
	if _, _, err := c.decode([]byte("0\r\nX A: b\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.trailerFields(); !errors.Is(err, ErrResponse) {
		t.Errorf("a malformed trailer: %v", err)
	}
}

// A head ends at its first empty line, at whichever byte it is split into two reads.
func TestHeadEnd_firstEmptyLine(t *testing.T) {
	const head = "HTTP/1.1 200 OK"
	for text, want := range map[string]int{
		head + "\r\n\r\nbody":           len(head) + 4,
		head + "\n\nbody":               len(head) + 2,
		head + "\n\r\nbody":             len(head) + 3,
		head + "\r\n\nbody":             len(head) + 3,
		head + "\n\n\r\n":               len(head) + 2,
		head + "\r\n\n\r\n":             len(head) + 3,
		head + "\r\n\r\n\n":             len(head) + 4,
		head + "\nA: b\r\n\r\nx\n\ny":   len(head) + 9,
		head + "\r\nA: b\n\nx\r\n\r\ny": len(head) + 8,
		head + "\r\nA: b\r\n":           0,
	} {
		for looked := range len(text) {
			part := text[:looked]
			if early := headEnd([]byte(part), 0); early > 0 {
				if early != want {
					t.Errorf("%q: the end of %q at %d, want %d", text, part, early, want)
				}
				break
			}
			if got := headEnd([]byte(text), looked); got != want {
				t.Errorf("%q, of which %d were seen before: %d, want %d", text, looked, got, want)
			}
		}
	}
}
