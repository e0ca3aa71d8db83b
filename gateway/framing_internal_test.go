package gateway

import (
	"strings"
	"testing"
)

const (
	plainGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
	sized    = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
	chunks   = "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n" +
		"3;a=b\r\nab\n\r\nA \r\n0123456789\r\n0\r\nX: y\r\n\r\n"
	absolute = "GET http://X/a HTTP/1.1\r\nHost: x\r\n\r\n"
)

// follow must see the same whatever the pieces: split a run of good requests at
// every place, and with a bad one behind them it must serve exactly the good.
func TestFraming_splits(t *testing.T) {
	good := plainGet + sized + chunks + absolute + plainGet
	for _, bad := range []string{
		"", "GET /b HTTP/1.1\nHost: x\r\n\r\n", "GET /b HTTP/1.1\r\nHost: x\r\n fold\r\n\r\n",
	} {
		for at := 1; at < len(good+bad); at++ {
			var f framing
			first, ok := f.follow([]byte((good + bad)[:at]))
			if !ok {
				if at <= len(good) || first != len(good) {
					t.Fatalf("cut at %d: refused with %d good bytes", at, first)
				}
				continue
			}
			second, ok := f.follow([]byte((good + bad)[at:]))
			if ok != (bad == "") || (!ok && at < len(good) && at+second != len(good)) {
				t.Fatalf("cut at %d with %q behind: ok %v, %d good bytes, want %d", at, bad, ok, at+second, len(good))
			}
			if ok && f.state != inRequestLine {
				t.Fatalf("cut at %d: state %d at the end", at, f.state)
			}
		}
	}
}

func TestFraming_unendedLine(t *testing.T) {
	var f framing
	piece := []byte(strings.Repeat("x", 4096))
	for range maxLine/len(piece) + 2 {
		if _, ok := f.follow(piece); !ok {
			return
		}
	}
	t.Errorf("%d bytes without a line end were kept", len(f.line))
}

func FuzzFraming(f *testing.F) {
	for _, seed := range []string{
		plainGet, sized, chunks, absolute, "GET /\n\n", chunks[:60], "\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		f.Add([]byte(seed), 7)
	}
	f.Fuzz(func(t *testing.T, p []byte, at int) {
		if at < 0 || at > len(p) {
			return
		}
		var whole, cut framing
		goodWhole, okWhole := whole.follow(p)
		goodCut, okCut := cut.follow(p[:at])
		if okCut {
			var n int
			n, okCut = cut.follow(p[at:])
			goodCut = max(goodCut, n+at*min(n, 1))
		}
		if okWhole != okCut || goodWhole < 0 || goodWhole > len(p) {
			t.Fatalf("%q: whole %v with %d, cut at %d %v with %d", p, okWhole, goodWhole, at, okCut, goodCut)
		}
	})
}
