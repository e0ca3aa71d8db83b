package engine

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// net/http must read each plain request as the engine does. Otherwise the two paths through
// the gateway would disagree about it.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST /a?b=c HTTP/1.1\r\nHost: a:80\r\nContent-Length: 2\r\nX-A: b\r\nConnection: close\r\n\r\nok",
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"GET / HTTP/1.1\nHost: a\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := strings.Index(text, "\r\n\r\n")
		var r Request
		v := r.parse(text)
		if v == plain && end < 0 {
			t.Fatalf("%q: plain without an end", text)
		}
		if v != plain {
			return
		}
		for cut := range end + 4 {
			var part Request
			if got := part.parse(text[:cut]); got != partial {
				t.Fatalf("%q: the first %d bytes are %v, the whole is plain", text, cut, got)
			}
		}
		want, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			if strings.Contains(err.Error(), "invalid URL escape") {
				return // the gateway looks at the escapes of a path, and leaves wrong ones to net/http
			}
			t.Fatalf("%q is plain, but: %v", text, err)
		}
		if want.Method != r.Method || want.RequestURI != r.Target || want.Host != r.Host {
			t.Fatalf("%q\nread as     %+v\nby net/http %+v", text, r, want)
		}
		if want.ContentLength != r.Length || len(want.TransferEncoding) != 0 {
			t.Fatalf("%q has length %d, by net/http %d %v", text, r.Length, want.ContentLength, want.TransferEncoding)
		}
		if want.Close != r.Close {
			t.Fatalf("%q closes: %v, by net/http %v", text, r.Close, want.Close)
		}
		n := 0
		for _, field := range r.Fields {
			lines := want.Header[http.CanonicalHeaderKey(field.Name)]
			if !contains(lines, field.Value) {
				t.Fatalf("%q: %q = %q, net/http has %q", text, field.Name, field.Value, lines)
			}
			n++
		}
		for name, lines := range want.Header {
			if name != "Connection" && name != "Content-Length" {
				n -= len(lines)
			}
		}
		if n != 0 {
			t.Fatalf("%q: fields %v, net/http has %v", text, r.Fields, want.Header)
		}
	})
}

func contains(lines []string, value string) bool {
	for _, line := range lines {
		if line == value {
			return true
		}
	}
	return false
}

// A response must end for the engine where it ends for net/http.
func FuzzResponse(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.0 200 OK\nX: y\n\nuntil the end",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n",
	} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, isGet bool) {
		size := headEnd([]byte(text), 0)
		if size == 0 {
			return
		}
		method := http.MethodHead
		if isGet {
			method = http.MethodGet
		}
		var r Response
		if r.parse(text[:size], method) != nil || r.Status < 200 {
			return
		}
		want, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), &http.Request{Method: method})
		if err != nil {
			if strings.Contains(err.Error(), "bad trailer key") {
				return // net/http refuses Trailer: Content-Length; here it is not passed on
			}
			t.Fatalf("%q is taken, but: %v", text, err)
		}
		if want.StatusCode != r.Status {
			t.Fatalf("%q: %d, want %d", text, r.Status, want.StatusCode)
		}
		got, whole := bodyOf(&r, text[size:])
		body, err := io.ReadAll(want.Body)
		if whole && (err != nil || !bytes.Equal(got, body)) {
			t.Fatalf("%q\nbody        %q\nby net/http %q, %v", text, got, body, err)
		}
	})
}

// bodyOf finds the body of a response, as the relay does, and reports whether all
// of it is there.
func bodyOf(r *Response, rest string) ([]byte, bool) {
	switch r.framing {
	case lengthKnown:
		return []byte(rest[:min(r.length, int64(len(rest)))]), int64(len(rest)) >= r.length
	case chunked:
		var c chunks
		p := []byte(rest)
		n, _, err := c.decode(p)
		_, trailerErr := c.trailerFields()
		return p[:n], err == nil && trailerErr == nil && c.at == atEnd
	case untilClose:
		return []byte(rest), true
	}
	return nil, true
}
