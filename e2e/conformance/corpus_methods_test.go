package conformance

import (
	"fmt"
	"strings"

	"postern/testkit/sample"
)

// methods are those that nginx takes, capital letters with - and _ between them,
// and others.
func methods(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	var out []Case
	for _, method := range []string{
		"HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK",
		"UNLOCK", "PURGE", "REPORT",
		"QUERY", "CUSTOM", "M-SEARCH", "FOO_BAR", "A", "-", "_", strings.Repeat("LONG", 8),
	} {
		out = append(out,
			one(method+" with a key", method, projectHost, prod+"/x", k),
			one(method+" without a key", method, projectHost, prod+"/x"),
			withBody(method+" with a body", method, projectHost, prod+"/x", "hello", k, "Content-Length: 5"))
	}
	for _, method := range []string{
		"TRACE", "get", "Get", "gET", "GET1", "FOO.BAR", "FOO+BAR", "FOO!", "F*", "M~", "'GET'", "1", "G|T", "POST#",
		"MÉTHODE",
	} {
		out = append(out, differs([]Case{
			one(method+" with a key", method, projectHost, prod+"/x", k),
			one(method+" without a key", method, projectHost, prod+"/x"),
		}, ErrorBodies)...)
	}
	out = append(out, differs([]Case{one("CONNECT to the project", "CONNECT", projectHost, projectHost+":80", k)},
		RefusedRequests)...)
	return append(out, differs([]Case{one("CONNECT with a path", "CONNECT", projectHost, prod+"/x", k)},
		ErrorBodies)...)
}

func length(n int) string { return fmt.Sprintf("Content-Length: %d", n) }

const asChunks = "Transfer-Encoding: chunked"

func chunked(pieces ...string) string {
	var b strings.Builder
	for _, piece := range pieces {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(piece), piece)
	}
	return b.String() + "0\r\n\r\n"
}

func bodies(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	big := strings.Repeat("0123456789abcdef", 1<<14) // 256 KiB
	var out []Case
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		for _, at := range []string{prod, "/2.0.0/prod", "/open/prod"} {
			out = append(out,
				withBody(method+" of nothing to "+at, method, projectHost, at+"/x", "", k, length(0)),
				withBody(method+" of much to "+at, method, projectHost, at+"/x", big, k, length(len(big))),
				withBody(method+" of binary to "+at, method, projectHost, at+"/x",
					"\x00\xff\r\n\r\nGET / HTTP/1.1\r\n\r\n", k, length(24)))
			chunks := withBody(method+" chunked to "+at, method, projectHost, at+"/x", chunked("hello", ", ",
				"world"), k, asChunks)
			out = append(out, differs([]Case{chunks}, BodyFraming)...)
		}
	}
	post := func(name, body string, lines ...string) Case {
		return withBody("POST "+name, "POST", projectHost, prod+"/x", body, append([]string{k}, lines...)...)
	}
	trailers := post("with trailers", strings.TrimSuffix(chunked("hello"),
		"\r\n")+"X-Checksum: 5\r\nX-Consumer-ID: spoofed\r\n\r\n", asChunks, "Trailer: X-Checksum")
	out = append(out, differs([]Case{trailers}, Trailers, BodyFraming)...)
	out = append(out, differs([]Case{post("chunked of nothing", chunked(), asChunks)}, BodyFraming)...)
	return append(out,
		post("chunked of much", chunked(big, big), asChunks),
		post("of text", "hello", length(5), "Content-Type: text/plain"),
		post("of JSON", `{"a":1}`, length(7), "Content-Type: application/json"),
		post("of a form", "a=1&b=%20", length(9), "Content-Type: application/x-www-form-urlencoded"),
		post("that expects 100", "hello", length(5), "Expect: 100-continue"),
		post("packed", "hello", length(5), "Content-Encoding: gzip"),
		post("with a length that begins with 0", "hello", "Content-Length: 0005"),
		post("with a blank before its length", "hello", "Content-Length:  5"),
		withBody("POST with a body, no key", "POST", projectHost, prod+"/x", "hello", length(5)))
}

// socketLines are those of a WebSocket handshake but for Connection and Upgrade.
var socketLines = []string{"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}

const (
	asksUpgrade = "Connection: Upgrade"
	toSocket    = "Upgrade: websocket"
)

// websocket is a handshake with a message after it.
func websocket(name, target string, lines ...string) Case {
	c := get(name, target, append(append([]string{asksUpgrade, toSocket}, socketLines...), lines...)...)
	c.Tunnel = "a message"
	return c
}

func upgrades(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	tunnel := func(name, method, protocol string, lines ...string) Case {
		c := one(name, method, projectHost, prod+"/ws", append(append([]string{k}, socketLines...), lines...)...)
		c.Request = strings.Replace(c.Request, "HTTP/1.1", protocol, 1)
		c.Tunnel = "a message"
		return c
	}
	out := []Case{
		websocket("websocket", prod+"/ws", k),
		websocket("websocket at fallback", "/2.0.0/prod/ws"),
		websocket("websocket at open", "/open/prod/ws"),
		websocket("websocket with spoofed headers", prod+"/ws", k, "X-Consumer-ID: spoofed", "x_tenant_id: spoofed"),
		tunnel("websocket next to keep-alive", "GET", "HTTP/1.1", "Connection: keep-alive, Upgrade",
			"Upgrade: WebSocket"),
		tunnel("websocket in upper case", "GET", "HTTP/1.1", "CONNECTION: UPGRADE", "UPGRADE: WEBSOCKET"),
		tunnel("websocket without Connection", "GET", "HTTP/1.1", toSocket),
		tunnel("websocket next to Connection: keep-alive", "GET", "HTTP/1.1", "Connection: keep-alive", toSocket),
		tunnel("websocket next to Connection: close", "GET", "HTTP/1.1", "Connection: close", toSocket),
		tunnel("websocket in HTTP/1.0", "GET", "HTTP/1.0", asksUpgrade, toSocket),
		tunnel("websocket in HTTP/1.0 without Connection", "GET", "HTTP/1.0", toSocket),
		tunnel("websocket by POST", "POST", "HTTP/1.1", asksUpgrade, toSocket, length(0)),
		tunnel("websocket by PUT", "PUT", "HTTP/1.1", asksUpgrade, toSocket),
		tunnel("websocket by OPTIONS", "OPTIONS", "HTTP/1.1", asksUpgrade, toSocket),
		tunnel("websocket on a second Connection line", "GET", "HTTP/1.1", "Connection: keep-alive", asksUpgrade,
			toSocket),
		tunnel("websocket before h2c on its own line", "GET", "HTTP/1.1", asksUpgrade, toSocket, "Upgrade: h2c"),
		get("h2c before websocket on its own line", prod+"/x", k, asksUpgrade, "Upgrade: h2c", toSocket),
		get("websocket without a key", prod+"/ws", append([]string{asksUpgrade, toSocket}, socketLines...)...),
		get("websocket with a frozen key", prod+"/ws", append([]string{asksUpgrade, toSocket, key(keys["frozen"])},
			socketLines...)...),
		get("websocket that the upstream refuses", prod+"/scripted/status-403", append([]string{asksUpgrade, toSocket,
			k}, socketLines...)...),
		get("upgrade to h2c", prod+"/x", k, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
			"HTTP2-Settings: AAMAAABkAAQAAP__"),
		get("upgrade to h2c without Connection", prod+"/x", k, "Upgrade: h2c"),
		get("upgrade to TLS", prod+"/x", k, asksUpgrade, "Upgrade: TLS/1.0"),
		get("upgrade to websocket or h2c", prod+"/x", k, asksUpgrade, "Upgrade: websocket, h2c"),
		get("upgrade to a version of websocket", prod+"/x", k, asksUpgrade, "Upgrade: websocket/13"),
		get("upgrade to nothing", prod+"/x", k, asksUpgrade, "Upgrade:"),
		get("Connection: Upgrade alone", prod+"/x", k, asksUpgrade),
	}
	withBody := websocket("websocket with a body", prod+"/ws", k, length(5))
	withBody.Request += "hello"
	return append(out, withBody)
}
