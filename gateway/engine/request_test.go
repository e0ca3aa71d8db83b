package engine

import (
	"strings"
	"testing"
)

func TestWhichRequestsArePlain(t *testing.T) {
	with := func(line string) string { return "GET / HTTP/1.1\r\nHost: a\r\n" + line + "\r\n\r\n" }
	for text, want := range map[string]verdict{
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
		with("host: a"):                       unusual,
		with("HOST: b"):                       unusual,

		with("Content-Length: 0"):                      plain,
		with("content-length: 12"):                     plain,
		with("Content-Length: 65536"):                  plain,
		with("Content-Length: 65537"):                  unusual,
		with("Content-Length: -1"):                     unusual,
		with("Content-Length: +1"):                     unusual,
		with("Content-Length: 1,1"):                    unusual,
		with("Content-Length: 0x1"):                    unusual,
		with("Content-Length:"):                        unusual,
		with("Content-Length: 1 1"):                    unusual,
		with("Content-Length: 1_0"):                    unusual,
		with("Content-Length: 9999999999999999999999"): unusual,
		with("Content-Length: 18446744073709551617"):   unusual,
		with("Content-Length: 1\r\nContent-Length: 1"): unusual,
		with("Content-Length: 1\r\nCONTENT-LENGTH: 2"): unusual,

		with("Transfer-Encoding: chunked"):    unusual,
		with("transfer-encoding:"):            unusual,
		with("TE: trailers"):                  unusual,
		with("Trailer: a"):                    unusual,
		with("Expect: 100-continue"):          unusual,
		with("Upgrade: websocket"):            unusual,
		with("Pragma: no-cache"):              unusual,
		with("Connection: keep-alive"):        plain,
		with("connection: CLOSE"):             plain,
		with("Connection: close, keep-alive"): unusual,
		with("Connection: Upgrade"):           unusual,
		with("Connection: X-A"):               unusual,
		with("Connection:"):                   unusual,

		with("X: a\tb"):    plain,
		with("X: \xff"):    plain,
		with("X:"):         plain,
		with("X: a\x00"):   unusual,
		with("X: a\x1f"):   unusual,
		with("X: \x7f"):    unusual,
		with("X"):          unusual,
		with(": a"):        unusual,
		with("X : a"):      unusual,
		with(" X: a"):      unusual,
		with("\tX: a"):     unusual,
		with("X Y: a"):     unusual,
		with("X\x80: a"):   unusual,
		with("(X): a"):     unusual,
		with("X: a\r\n b"): unusual,
		with(strings.TrimSuffix(strings.Repeat("X: a\r\n", maxFields), "\r\n")):   plain,
		with(strings.TrimSuffix(strings.Repeat("X: a\r\n", maxFields+1), "\r\n")): unusual,
	} {
		var r Request
		if got := r.parse(text); got != want {
			t.Errorf("%.200q: %v, want %v", text, got, want)
		}
	}
}

func TestAPlainRequestInItsParts(t *testing.T) {
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
