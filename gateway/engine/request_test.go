package engine

import (
	"strings"
	"testing"
)

func withLine(line string) string { return "GET / HTTP/1.1\r\nHost: a\r\n" + line + "\r\n\r\n" }

var verdicts = map[string]verdict{
	"":                                      partial,
	"G":                                     partial,
	"GET / HTTP/1.1":                        partial,
	"GET / HTTP/1.1\r":                      partial,
	"GET / HTTP/1.1\r\n":                    partial,
	"GET / HTTP/1.1\r\nHost: a\r\n":         partial,
	"GET / HTTP/1.1\r\nHost: a\r\n\r":       partial,
	"GET / HTTP/1.1\r\nHost: a\r\n\r\n":     plain,
	"GET / HTTP/1.1\r\nHost: a\r\n\r\nmore": plain,
	"GET /?a=b&c=%zz HTTP/1.1\r\nHost: a\r\n\r\n": plain,

	"GET / HTTP/1.0\r\nHost: a\r\n\r\n":         unusual,
	"GET / HTTP/1.2\r\nHost: a\r\n\r\n":         unusual,
	"GET / http/1.1\r\nHost: a\r\n\r\n":         unusual,
	"GET / HTTP/1.11\r\nHost: a\r\n\r\n":        unusual,
	"GET /\r\nHost: a\r\n\r\n":                  unusual,
	"GET  / HTTP/1.1\r\nHost: a\r\n\r\n":        unusual,
	"GET /  HTTP/1.1\r\nHost: a\r\n\r\n":        unusual,
	" GET / HTTP/1.1\r\nHost: a\r\n\r\n":        unusual,
	"G\tT / HTTP/1.1\r\nHost: a\r\n\r\n":        unusual,
	"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n":     unusual,
	"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n": unusual,
	"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n":     unusual,
	"CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n":     unusual,
	"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n":       unusual,
	"GET /#a HTTP/1.1\r\nHost: a\r\n\r\n":       unusual,
	"GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n":     unusual,
	"GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n":     unusual,
	"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n":     unusual,
	"GET / a HTTP/1.1\r\nHost: a\r\n\r\n":       unusual,
	"GET / HTTP/1.1\nHost: a\r\n\r\n":           unusual,
	"GET / HTTP/1.1\r\nHost: a\n\r\n":           unusual,
	"\n":                                        unusual,
	"GET / HTTP/1.1\r\nHost: a\r\r\n\r\n":       unusual,
	"GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n":      unusual,

	"GET / HTTP/1.1\r\n\r\n":              unusual,
	"GET / HTTP/1.1\r\nHost:\r\n\r\n":     unusual,
	"GET / HTTP/1.1\r\nHost: a b\r\n\r\n": unusual,
	"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n": unusual,
	"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n": unusual,
	"GET / HTTP/1.1\r\nHost : a\r\n\r\n":  unusual,
	"GET / HTTP/1.1\r\n Host: a\r\n\r\n":  unusual,
	withLine("host: a"):                   unusual,
	withLine("HOST: b"):                   unusual,

	withLine("Content-Length: 0"):                      plain,
	withLine("content-length: 12"):                     plain,
	withLine("Content-Length: 65536"):                  plain,
	withLine("Content-Length: 65537"):                  unusual,
	withLine("Content-Length: -1"):                     unusual,
	withLine("Content-Length: +1"):                     unusual,
	withLine("Content-Length: 1,1"):                    unusual,
	withLine("Content-Length: 0x1"):                    unusual,
	withLine("Content-Length:"):                        unusual,
	withLine("Content-Length: 1 1"):                    unusual,
	withLine("Content-Length: 1_0"):                    unusual,
	withLine("Content-Length: 9999999999999999999999"): unusual,
	withLine("Content-Length: 18446744073709551617"):   unusual,
	withLine("Content-Length: 1\r\nContent-Length: 1"): unusual,
	withLine("Content-Length: 1\r\nCONTENT-LENGTH: 2"): unusual,

	withLine("Transfer-Encoding: chunked"):    unusual,
	withLine("transfer-encoding:"):            unusual,
	withLine("TE: trailers"):                  unusual,
	withLine("Trailer: a"):                    unusual,
	withLine("Expect: 100-continue"):          unusual,
	withLine("Upgrade: websocket"):            unusual,
	withLine("Pragma: no-cache"):              unusual,
	withLine("Connection: keep-alive"):        plain,
	withLine("connection: CLOSE"):             plain,
	withLine("Connection: close, keep-alive"): unusual,
	withLine("Connection: Upgrade"):           unusual,
	withLine("Connection: X-A"):               unusual,
	withLine("Connection:"):                   unusual,

	withLine("X: a\tb"):    plain,
	withLine("X: \xff"):    plain,
	withLine("X:"):         plain,
	withLine("X: a\x00"):   unusual,
	withLine("X: a\x1f"):   unusual,
	withLine("X: \x7f"):    unusual,
	withLine("X"):          unusual,
	withLine(": a"):        unusual,
	withLine("X : a"):      unusual,
	withLine(" X: a"):      unusual,
	withLine("\tX: a"):     unusual,
	withLine("X Y: a"):     unusual,
	withLine("X\x80: a"):   unusual,
	withLine("(X): a"):     unusual,
	withLine("X: a\r\n b"): unusual,
	withLine(strings.TrimSuffix(strings.Repeat("X: a\r\n", maxFields), "\r\n")):   plain,
	withLine(strings.TrimSuffix(strings.Repeat("X: a\r\n", maxFields+1), "\r\n")): unusual,
}

func TestRequestHead_plain(t *testing.T) {
	for text, want := range verdicts {
		var r Request
		if got := r.parse(text); got != want {
			t.Errorf("%.200q: %v, want %v", text, got, want)
		}
	}
}

func TestRequestHead_parts(t *testing.T) {
	var r Request
	if r.parse(
		"POST /a?b HTTP/1.1\r\nhost:\t h:1 \r\nX-A: 1\r\nContent-Length: 007\r\nx-a:2 3\t\r\nConnection: Close\r\n\r\n",
	) != plain {
		t.Fatal("it is plain")
	}
	if r.Method != "POST" || r.Target != "/a?b" || r.Host != "h:1" || r.Length != 7 || !r.Close {
		t.Errorf("%+v", r)
	}
	if len(r.Fields) != 2 || r.Fields[0] != (Field{"X-A", "1"}) || r.Fields[1] != (Field{"x-a", "2 3"}) {
		t.Errorf("%+v", r.Fields)
	}
	if r.parse("GET / HTTP/1.1\r\nHost: b\r\n\r\n") != plain || r.Length != 0 || r.Close || len(r.Fields) != 0 {
		t.Errorf("what was before shows: %+v", r)
	}
}
