package gateway_test

import (
	"fmt"
	"slices"
	"strings"

	"postern/core/policy"
)

// versionCases have versions, targets and methods that the engine hands over.
func versionCases() []exchangeCase {
	return []exchangeCase{
		{
			name: "HTTP/1.0",
			bytes: "GET /1.0.0/prod/a HTTP/1.0\r\nHost: shop.proxy.test\r\n" +
				"X-API-Key: KEY\r\n\r\n",
			cut: false,
		},
		{
			name: "HTTP/1.0 kept alive",
			bytes: "GET /1.0.0/prod/a HTTP/1.0\r\nHost: shop.proxy.test\r\n" +
				"X-API-Key: KEY\r\nConnection: keep-alive\r\n\r\n",
		},
		{
			name: "absolute form",
			bytes: "GET http://shop.proxy.test/1.0.0/prod/a?x HTTP/1.1\r\n" +
				"Host: shop.proxy.test\r\nX-API-Key: KEY\r\n\r\n",
		},
		{
			name: "absolute form in upper case",
			bytes: "GET HTTP://SHOP.proxy.test/1.0.0/prod/a HTTP/1.1\r\n" +
				"Host: shop.proxy.test\r\nX-API-Key: KEY\r\n\r\n",
		},
		{
			name:  "absolute form without a path",
			bytes: "GET http://shop.proxy.test HTTP/1.1\r\nHost: shop.proxy.test\r\n\r\n",
		},
		{
			name:  "absolute form of another scheme",
			bytes: "GET ftp://shop.proxy.test/1.0.0/prod HTTP/1.1\r\nHost: shop.proxy.test\r\n\r\n",
		},
		{name: "OPTIONS *", bytes: request("OPTIONS", "*", "shop.proxy.test"), methods: []string{"OPTIONS"}},
		{name: "GET *", bytes: request("GET", "*", "shop.proxy.test")},
		{name: "a target without a slash", bytes: request("GET", "1.0.0/prod", "shop.proxy.test")},
		{name: "CONNECT", bytes: request("CONNECT", "shop.proxy.test:80", "shop.proxy.test:80")},
		{name: "CONNECT with a path", bytes: request("CONNECT", "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key: KEY")},
		{
			name:    "TRACE",
			bytes:   request("TRACE", "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key: KEY"),
			methods: []string{"TRACE"},
		},
	}
}

// chunkedCases have chunked bodies and trailers.
func chunkedCases() []exchangeCase {
	return []exchangeCase{
		{
			name:    "chunked",
			methods: []string{"POST"},
			bytes:   post("/1.0.0/prod/a", "5\r\nhello\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
		},
		{
			name:    "Chunked",
			methods: []string{"POST"},
			bytes:   post("/1.0.0/prod/a", "5\r\nhello\r\n0\r\n\r\n", "Transfer-Encoding: Chunked"),
		},
		{
			name:    "chunk extensions",
			methods: []string{"POST"},
			bytes:   post("/1.0.0/prod/a", "5;a=b;c=\"d\"\r\nhello\r\n0;e\r\n\r\n", "Transfer-Encoding: chunked"),
		},
		{
			name:    "chunked with trailers",
			methods: []string{"POST"},
			bytes: post(
				"/1.0.0/prod/a", "5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Consumer-ID: forged\r\n\r\n",
				"Transfer-Encoding: chunked", "Trailer: X-Sum",
			),
		},
		{name: "a trailer that is announced and not sent", bytes: get("/1.0.0/prod/a", "Trailer: X-Sum")},
	}
}

// hopByHopCases have fields about one connection.
func hopByHopCases() []exchangeCase {
	return []exchangeCase{
		{name: "TE: trailers", bytes: get("/1.0.0/prod/a", "TE: trailers")},
		{name: "Pragma", bytes: get("/1.0.0/prod/a", "Pragma: no-cache")},
		{name: "Cache-Control", bytes: get("/1.0.0/prod/a", "Cache-Control: no-cache")},
		{name: "Expect of something else", bytes: get("/1.0.0/prod/a", "Expect: the unexpected")},
		{
			name: "Upgrade to h2c",
			bytes: get(
				"/1.0.0/prod/a", "Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings",
				"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
			),
		},
		{name: "HTTP2-Settings alone", bytes: get("/1.0.0/prod/a", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA")},
		{name: "Connection names a header", bytes: get("/1.0.0/prod/a", "Connection: X-Private", "X-Private: 1")},
		{name: "Connection names the key", bytes: get("/1.0.0/prod/a", "Connection: X-API-Key")},
		{
			name:  "Connection names ours",
			bytes: get("/1.0.0/prod/a", "Connection: keep-alive, X-Consumer-ID, X-Forwarded-For, Host"),
		},
		{name: "Connection twice", bytes: get("/1.0.0/prod/a", "Connection: keep-alive", "Connection: close")},
		{name: "Connection empty", bytes: get("/1.0.0/prod/a", "Connection:")},
		{
			name: "Proxy-Connection and Keep-Alive",
			bytes: get(
				"/1.0.0/prod/a",
				"Proxy-Connection: keep-alive",
				"Keep-Alive: timeout=5",
				"Proxy: http://evil.test",
			),
		},
	}
}

// hostCases have odd Host lines.
func hostCases() []exchangeCase {
	return []exchangeCase{
		{name: "Host empty", bytes: "GET /shop/1.0.0/prod/a HTTP/1.1\r\nHost:\r\nX-API-Key: KEY\r\n\r\n"},
		{name: "Host of a port alone", bytes: "GET /shop/1.0.0/prod/a HTTP/1.1\r\nHost: :80\r\nX-API-Key: KEY\r\n\r\n"},
		{
			name:  "Host in IPv6 without brackets",
			bytes: "GET /shop/1.0.0/prod/a HTTP/1.1\r\nHost: ::1\r\nX-API-Key: KEY\r\n\r\n",
		},
		{
			name:  "Host with a slash",
			bytes: "GET /1.0.0/prod/a HTTP/1.1\r\nHost: shop.proxy.test/x\r\nX-API-Key: KEY\r\n\r\n",
		},
		{
			name:  "Host with a user",
			bytes: "GET /1.0.0/prod/a HTTP/1.1\r\nHost: a@shop.proxy.test\r\nX-API-Key: KEY\r\n\r\n",
		},
		{
			name:  "Host of the customer",
			bytes: "GET /a?x=1 HTTP/1.1\r\nHost: API.example.com.:80\r\nX-API-Key: KEY\r\n\r\n",
		},
		{
			name:  "Host of the customer at its root",
			bytes: "GET / HTTP/1.1\r\nHost: " + ownHost + "\r\nX-API-Key: KEY\r\n\r\n",
		},
		{name: "Host in IPv6", bytes: "GET /shop/1.0.0/prod/a HTTP/1.1\r\nHost: [::1]:80\r\nX-API-Key: KEY\r\n\r\n"},
	}
}

// malformedCases have bytes that HTTP does not allow.
func malformedCases() []exchangeCase {
	return []exchangeCase{
		{name: "an empty line first", bytes: "\r\n" + get("/1.0.0/prod/a")},
		{name: "two blanks in the request line", bytes: strings.Replace(get("/1.0.0/prod/a"), " HTTP", "  HTTP", 1)},
		{
			name:  "a blank at the end of the request line",
			bytes: strings.Replace(get("/1.0.0/prod/a"), "HTTP/1.1", "HTTP/1.1 ", 1),
		},
		{name: "http/1.1 in lower case", bytes: strings.Replace(get("/1.0.0/prod/a"), "HTTP/1.1", "http/1.1", 1)},
		{name: "DEL in a value", bytes: get("/1.0.0/prod/a", "X-A: b\x7f")},
		{name: "a tab in a value", bytes: get("/1.0.0/prod/a", "X-A: b\tc")},
		{name: "a vertical tab in a value", bytes: get("/1.0.0/prod/a", "X-A: b\x0bc")},
		{name: "a name with a parenthesis", bytes: get("/1.0.0/prod/a", "X(A): b")},
		{name: "a name beyond ASCII", bytes: get("/1.0.0/prod/a", "X-\xc3\xa9: b")},
	}
}

// lengthCases have odd fields about the length of the body.
func lengthCases() []exchangeCase {
	return []exchangeCase{
		{
			name:    "Transfer-Encoding with an underscore",
			methods: []string{"POST"},
			bytes:   post("/1.0.0/prod/a", "ok", "Content-Length: 2", "Transfer_Encoding: chunked"),
		},
		{
			name:    "Content-Length with an underscore",
			methods: []string{"POST"},
			bytes:   post("/1.0.0/prod/a", "ok", "Content-Length: 2", "Content_Length: 100"),
		},
		{
			name:    "Content-Length with a tab",
			methods: []string{"POST"},
			bytes:   post("/1.0.0/prod/a", "ok", "Content-Length:\t2"),
		},
		{
			name:    "Content-Length in two cases",
			methods: []string{"POST"},
			bytes:   post("/1.0.0/prod/a", "ok", "Content-Length: 2", "content-length: 2"),
		},
	}
}

// spoofedCases have fields that only the gateway may set.
func spoofedCases() []exchangeCase {
	var out []exchangeCase
	names := slices.Concat(policy.IdentityHeaders(), policy.ForwardedHeaders(), familyNames())
	for _, name := range append(names, "X-API-Key") {
		if name != "X-API-Key" {
			out = append(out,
				exchangeCase{name: "spoofed " + name, bytes: get("/1.0.0/prod/a", name+": forged", name+": again")},
				exchangeCase{
					name:  "spoofed in lower case " + name,
					bytes: get("/1.0.0/prod/a", strings.ToLower(name)+": forged"),
				})
		}
		out = append(out, exchangeCase{
			name:  "spoofed with _ " + name,
			bytes: get("/1.0.0/prod/a", strings.ReplaceAll(name, "-", "_")+": forged"),
		})
	}
	for n, via := range []string{
		"1.1 postern", strings.Repeat("1.1 postern, ", 9) + "1.1 x",
		strings.Repeat("1.1 postern, ", 9) + "1.1 postern", "1.1 postern (comment), 2 postern",
	} {
		out = append(out, exchangeCase{name: fmt.Sprintf("Via %d", n), bytes: get("/1.0.0/prod/a", "Via: "+via)})
	}
	return out
}
