package gateway_test

import (
	"fmt"
	"slices"
	"strings"
)

// exchangeCase is the bytes that a caller writes on one connection. Unless it ends the connection itself, the test adds
// a last request that does. KEY stands for a valid key, SHOP for the gateway's own address.
type exchangeCase struct {
	name    string
	bytes   string
	methods []string // of its requests; GET for the others
	cut     bool     // the caller stops writing after these bytes
	waits   bool     // and does not close its side
}

func get(target string, lines ...string) string {
	return request("GET", target, "shop.proxy.test", append([]string{"X-API-Key: KEY"}, lines...)...)
}

func post(target, body string, lines ...string) string {
	return request("POST", target, "shop.proxy.test", append([]string{"X-API-Key: KEY"}, lines...)...) + body
}

// parityCases are requests of every kind: those that the engine serves, those that it hands
// over, and those that are refused.
func parityCases() []exchangeCase {
	out := slices.Concat(
		targetCases(), headerCases(), connectionCases(), refusedCases(), bodyCases(), truncatedCases(),
		methodCases(), pathCases(),
		versionCases(), chunkedCases(), hopByHopCases(), hostCases(), malformedCases(), lengthCases(),
		spoofedCases(),
	)
	for name, bytes := range corpus {
		out = append(out, exchangeCase{name: name, bytes: bytes})
	}
	return out
}

// targetCases have targets and hosts that the engine serves.
func targetCases() []exchangeCase {
	return []exchangeCase{
		{name: "plain", bytes: get("/1.0.0/prod/a")},
		{name: "with a query", bytes: get("/1.0.0/prod/a?x=1&y=%20")},
		{name: "with an empty query", bytes: get("/1.0.0/prod/a?")},
		{name: "with a question in the query", bytes: get("/1.0.0/prod/a?b?c=/../d//e")},
		{name: "environment alone", bytes: get("/1.0.0/prod")},
		{name: "environment with a slash", bytes: get("/1.0.0/prod/")},
		{name: "path form", bytes: "GET /shop/1.0.0/prod/a HTTP/1.1\r\nHost: SHOP\r\nX-API-Key: KEY\r\n\r\n"},
		{
			name:  "Host in upper case with a port",
			bytes: strings.Replace(get("/1.0.0/prod/a"), "shop.proxy.test", "SHOP.Proxy.TEST:8080", 1),
		},
		{
			name:  "Host with a dot at its end",
			bytes: strings.Replace(get("/1.0.0/prod/a"), "shop.proxy.test", "shop.proxy.test.", 1),
		},
	}
}

// headerCases have headers of every size and spelling.
func headerCases() []exchangeCase {
	return []exchangeCase{
		{
			name:  "header names in odd case",
			bytes: "GET /1.0.0/prod/a HTTP/1.1\r\nhOST: shop.proxy.test\r\nx-aPI-kEY: KEY\r\nACCEPT: x\r\n\r\n",
		},
		{
			name: "blanks around values",
			bytes: "GET /1.0.0/prod/a HTTP/1.1\r\nHost: \t shop.proxy.test \t\r\n" +
				"X-API-Key:KEY\r\nAccept:\r\nX-A: \t b c\t \r\n\r\n",
		},
		{name: "the same name twice", bytes: get("/1.0.0/prod/a", "Cookie: a=1", "Cookie: b=2", "X-A: 1", "x-a: 2")},
		{
			name:  "cookies of the dashboard",
			bytes: get("/1.0.0/prod/a", "Cookie: a=1; postern=s; __Host-postern-done=x; b=2", "Cookie: postern=s"),
		},
		{
			name:  "names that nginx drops",
			bytes: get("/1.0.0/prod/a", "X.Consumer.ID: evil", "X-Consumer-ID': evil", "X!A: 1"),
		},
		{name: "letters beyond ASCII in a value", bytes: get("/1.0.0/prod/a", "X-A: gr\xfc\xdf", "X-B: \xe2\x82\xac")},
		{name: "many headers", bytes: get("/1.0.0/prod/a", manyLines(90)...)},
		{name: "more headers than are plain", bytes: get("/1.0.0/prod/a", manyLines(150)...)},
		{name: "a long header", bytes: get("/1.0.0/prod/a", "X-Long: "+strings.Repeat("x", 12<<10))},
		{name: "a header longer than is plain", bytes: get("/1.0.0/prod/a", "X-Long: "+strings.Repeat("x", 24<<10))},
		{name: "a long target", bytes: get("/1.0.0/prod/" + strings.Repeat("y", 8<<10))},
		{
			name:  "a header over the limit",
			bytes: get("/1.0.0/prod/a", "X-Long: "+strings.Repeat("x", 80<<10)),
			cut:   true,
		},
	}
}

// connectionCases share a connection, or end it.
func connectionCases() []exchangeCase {
	return []exchangeCase{
		{name: "Connection: keep-alive", bytes: get("/1.0.0/prod/a", "Connection: keep-alive")},
		{name: "Connection: close", bytes: get("/1.0.0/prod/a", "Connection: close")},
		{
			name:  "Connection: Close before another",
			bytes: get("/1.0.0/prod/a", "Connection: Close") + get("/1.0.0/prod/never"),
		},
		{name: "pipelined", bytes: get("/1.0.0/prod/a") + get("/1.0.0/prod/b") + get("/1.0.0/prod/c")},
		{
			name:  "pipelined, the second refused",
			bytes: get("/1.0.0/prod/a") + get("/2.0.0/prod/b") + get("/1.0.0/prod/c"),
		},
		{
			name: "pipelined, the second malformed",
			bytes: get("/1.0.0/prod/a") +
				"GET /1.0.0/prod/b HTTP/1.1\nHost: shop.proxy.test\n\n" +
				get("/1.0.0/prod/c"),
		},
		{
			name:    "pipelined, the second chunked",
			methods: []string{"GET", "POST", "GET"},
			bytes: get("/1.0.0/prod/a") +
				post("/1.0.0/prod/b", "2\r\nok\r\n0\r\n\r\n", "Transfer-Encoding: chunked") +
				get("/1.0.0/prod/c"),
		},
		{
			name:    "pipelined behind a body",
			methods: []string{"POST", "GET"},
			bytes:   post("/1.0.0/prod/a", "hello", "Content-Length: 5") + get("/1.0.0/prod/b"),
		},
	}
}

// refusedCases have credentials or addresses that are refused, mostly.
func refusedCases() []exchangeCase {
	return []exchangeCase{
		{
			name:    "HEAD",
			methods: []string{"HEAD"},
			bytes:   request("HEAD", "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key: KEY"),
		},
		{name: "HEAD refused", methods: []string{"HEAD"}, bytes: request("HEAD", "/1.0.0/prod/a", "shop.proxy.test")},
		{name: "no key", bytes: request("GET", "/1.0.0/prod/a", "shop.proxy.test")},
		{name: "an empty key", bytes: request("GET", "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key:")},
		{name: "a malformed key", bytes: request("GET", "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key: nonsense")},
		{name: "two keys", bytes: get("/1.0.0/prod/a", "X-API-Key: KEY")},
		{name: "two keys in two cases", bytes: get("/1.0.0/prod/a", "x-api-key: other")},
		{name: "a key as a list", bytes: request("GET", "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key: KEY, KEY")},
		{name: "a key with an underscore", bytes: request("GET", "/1.0.0/prod/a", "shop.proxy.test", "X_API_Key: KEY")},
		{
			name:  "a key in Authorization",
			bytes: request("GET", "/1.0.0/prod/a", "shop.proxy.test", "Authorization: Bearer KEY"),
		},
		{name: "Authorization next to the key", bytes: get("/1.0.0/prod/a", "Authorization: Basic eDp5")},
		{
			name:    "refused with a body",
			methods: []string{"POST", "GET"},
			bytes: request("POST", "/1.0.0/prod/a", "shop.proxy.test", "Content-Length: 5") + "hello" +
				get("/1.0.0/prod/b"),
		},
		{name: "no such version", bytes: get("/9.9.9/prod/a")},
		{name: "no such host", bytes: strings.Replace(get("/1.0.0/prod/a"), "shop.", "unknown.", 1)},
		{name: "a foreign host", bytes: strings.Replace(get("/1.0.0/prod/a"), "shop.proxy.test", "example.org", 1)},
	}
}

// bodyCases have bodies of a known length.
func bodyCases() []exchangeCase {
	return []exchangeCase{
		{
			name:    "a body that looks like a request",
			methods: []string{"POST"},
			bytes: post(
				"/1.0.0/prod/a", get("/1.0.0/prod/smuggled"),
				fmt.Sprintf("Content-Length: %d", len(get("/1.0.0/prod/smuggled"))),
			),
		},
		{
			name:    "a body of 60 KiB",
			methods: []string{"POST"},
			bytes:   post("/1.0.0/prod/a", strings.Repeat("z", 60<<10), "Content-Length: 61440"),
		},
		{
			name:    "a body of 100 KiB",
			methods: []string{"POST"},
			bytes:   post("/1.0.0/prod/a", strings.Repeat("z", 100<<10), "Content-Length: 102400"),
		},
		{name: "GET with a body", bytes: get("/1.0.0/prod/a", "Content-Length: 2") + "ok"},
		{
			name:    "Content-Length with zeros before it",
			methods: []string{"POST"},
			bytes:   post("/1.0.0/prod/a", "ok", "Content-Length: 002"),
		},
	}
}

// truncatedCases end in the middle of a request.
func truncatedCases() []exchangeCase {
	return []exchangeCase{
		{name: "an early end, in the request line", bytes: "GET /1.0.0/pr", cut: true},
		{name: "an early end, in the header", bytes: "GET /1.0.0/prod/a HTTP/1.1\r\nHost: shop.pro", cut: true},
		{
			name:  "an early end, before the empty line",
			bytes: "GET /1.0.0/prod/a HTTP/1.1\r\nHost: shop.proxy.test\r\n",
			cut:   true,
		},
		{
			name:    "an early end, of a refused body",
			methods: []string{"POST"},
			bytes:   request("POST", "/1.0.0/prod/a", "shop.proxy.test", "Content-Length: 50") + "part",
			cut:     true,
		},
		{name: "an early end, behind a whole request", bytes: get("/2.0.0/prod/a") + "GET /", cut: true},
		{name: "nothing at all", cut: true},
	}
}

// methodCases have methods with and without a body.
func methodCases() (out []exchangeCase) {
	for _, method := range []string{
		"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "get", "M!#$%&'*+-.^_`|~9",
	} {
		out = append(out,
			exchangeCase{
				name:    method,
				bytes:   request(method, "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key: KEY"),
				methods: []string{method},
			},
			exchangeCase{
				name:    method + " with length 0",
				bytes:   request(method, "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key: KEY", "Content-Length: 0"),
				methods: []string{method},
			},
			exchangeCase{
				name: method + " with a body",
				bytes: request(
					method, "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key: KEY", "Content-Length: 2",
				) + "ok",
				methods: []string{method},
			})
	}
	return out
}

// pathCases have paths that two readers could resolve differently.
func pathCases() (out []exchangeCase) {
	for _, path := range []string{
		"/1.0.0/prod/%2e%2e/%2e%2e/x", "/1.0.0/prod/../dev/a", "/1.0.0/prod/..%2fdev",
		"/1.0.0/prod/%2E%2E%2Fdev", "/../1.0.0/prod/a", "/%2e%2e/1.0.0/prod",
		"//1.0.0/prod/a", "/1.0.0//prod///a//b", "/1.0.0/prod/./a/.", "/1.0.0/prod/a/..", "/1.0.0/prod/a;b=c",
		"/1.0.0/prod/a%3Bb", "/1.0.0/prod/%00", "/1.0.0/prod/%0d%0aX: y",
		"/1.0.0/prod/%zz", "/1.0.0/prod/%", "/1.0.0/prod/%4", "/1.0.0/prod/%41", "/1.0.0/prod/%2f",
		"/1.0.0/prod/%2F/..", "/1.0.0/prod/a%20b", "/1.0.0/prod/~%7e", "/%31.0.0/prod/a",
		"/1.0.0%2fprod/a", "/1.0.0/prod%2fa", "/1.0.0/prod/\xc3\xa9", "/1.0.0/prod/%c3%a9", "/1.0.0/prod/a#b",
		"/1.0.0/prod/a?b#c", "/1.0.0/prod/a\\b", "/1.0.0/prod/{a}|\"<>^`",
		"/1.0.0/prod/*'();:@&=+$,!", "/1.0.0/prod/[::1]", "/1.0.0/prod/a\x7f", "/1.0.0/prod/a\x01",
		"/1.0.0/prod/a?\x01", "/1.0.0/prod/a?\xff", "/1.0.0/prod/a?%zz", "/1.0.0/prodx", "/1.0.0", "/",
		"/1.0.0/dev/a?key=KEY",
	} {
		out = append(out, exchangeCase{name: "path " + path, bytes: get(path)})
	}
	return out
}

func manyLines(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("X-Line-%d: %d", i, i)
	}
	return out
}
