package conformance

import (
	"fmt"
	"strings"

	"postern/testkit/sample"
)

func paths(keys map[string]sample.Plain) []Case {
	k := key(keys["allenvs"])
	targets := []string{
		prod, prod + "/", prod + "//", prod + "x", prod + "/x/", prod + "-x", prod + "%2Fx", prod + ".", prod + "/.", prod + "/..",
		"/1.0.0", "/1.0.0/", "/", "//", "/shop", "/1.0.0/PROD/x", "/1x0x0/prod/x", "/1.0.0/nope/x", "/9.9.9/prod/x",
		"//1.0.0/prod/x", "/1.0.0//prod/x", "/./1.0.0/./prod/./x", "/1.0.0/prod/../prod/x", "/1.0.0/prod/../dev/x", "/1.0.0/dev/../prod/../../2.0.0/prod/x",
		"/%31.0.0/%70rod/x", "/1.0.0%2Fprod/x", "/1%2E0%2e0/prod/x", "/1.0.0/%2e%2e/1.0.0/prod/x",
		prod + "/../../../x", "/../1.0.0/prod/x", "/%2e%2e/x", prod + "/%2e%2e%2f%2e%2e%2f%2e%2e%2fx",
		prod + "/a//b///c", prod + "/a/./b/../c", prod + "/a/b/..", prod + "/a/b/.", prod + "/a/%2e%2e/%41%2fb", prod + "/a%2Fb%2fc",
		prod + "/%41%7a%7E%2d%5f%2e", prod + "/%20%21%22%23%24%25%26%27", prod + "/%3a%3B%3c%3d%3e%3F%40", prod + "/%5b%5C%5d%5e%60%7b%7C%7d",
		prod + "/a;b=c;d/e", prod + "/!$&'()*+,;=:@-._~", prod + "/é/ü", prod + "/%c3%a9/%C3%BC", prod + "/%e2%80%ae",
		prod + "/[x]", prod + "/{x}|\\^`\"<>", prod + "/a+b%2Bc", prod + "/%", prod + "/%4", prod + "/%zz", prod + "/%00", prod + "/a%0d%0aX-Evil:%201",
		"/v3-optional/prod/x", "/2.0.0/prod", "/open/prod", "/open/prod/",
	}
	var out []Case
	for _, target := range targets {
		out = append(out, get("path "+target, target, k))
	}
	for _, target := range []string{"/shop" + prod, "/shop" + prod + "/", "/shop" + prod + "x", "/shop//1.0.0/prod/x", "/Shop" + prod + "/x", "/other" + prod + "/x", "/shop/open/prod/x"} {
		out = append(out, one("bare host, path "+target, "GET", bareHost, target, k))
	}
	text := get("path that is no UTF-8", prod+"/%ff%fe", k)
	text.Allowed = AllowUTF8
	fragment := get("path with a fragment", prod+"/x#y", k)
	fragment.Allowed = AllowFragment
	return append(out, text, fragment,
		get("absolute form", "http://"+projectHost+prod+"/x?q=1", k),
		get("absolute form without a path", "http://"+projectHost, k),
		one("asterisk form", "OPTIONS", projectHost, "*", k),
		get("long path", prod+"/"+strings.Repeat("abcdefgh/", 300), k),
		get("upstream that is not there", "/zdead/prod/x", k),
		get("upstream that is not there, no key", "/zdead/prod/x"),
		get("unknown path without a key", "/9.9.9/prod/x"),
		get("prefix boundary without a key", prod+"x"))
}

func queries(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	var out []Case
	for _, query := range []string{
		"?", "?a", "?a=b&a=c&b=", "?a=%2F%2f+%20", "?a=b?c=d", "??", "?&&", "?a=%zz&b=%", "?{}|\\^`\"<>", "?é=ü", "?a[]=1&a[0]=2",
		"?../../x", "?a=//b", "?%61=%62", "?a;b", "?q=" + strings.Repeat("x", 3000), "?a=b&%00", "?ngx.var=$host", "?a=${HOME}$(id)",
	} {
		out = append(out, get("query "+query[:min(len(query), 20)], prod+"/x"+query, k))
	}
	return append(out, get("query right after the prefix", prod+"?a=b", k), get("empty query after the prefix", prod+"?", k))
}

func methodsAndBodies(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	var out []Case
	for _, method := range []string{"HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "PURGE", "TRACE"} {
		out = append(out,
			one(method+" with a key", method, projectHost, prod+"/x", k),
			one(method+" without a key", method, projectHost, prod+"/x"))
	}
	length := func(n int) string { return fmt.Sprintf("Content-Length: %d", n) }
	chunked := func(pieces ...string) string {
		var b strings.Builder
		for _, piece := range pieces {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(piece), piece)
		}
		return b.String() + "0\r\n"
	}
	big := strings.Repeat("0123456789abcdef", 1<<14) // 256 KiB
	trailers := withBody("body with trailers", "POST", projectHost, prod+"/x", chunked("hello")+"X-Checksum: 5\r\nX-Consumer-ID: spoofed\r\n\r\n",
		k, "Transfer-Encoding: chunked", "Trailer: X-Checksum")
	trailers.Allowed = AllowTrailers
	for _, body := range []struct{ name, text string }{
		{"", chunked("hello", ", ", "world")}, {" of much", chunked(big, big)}, {", empty", "0\r\n"},
	} {
		c := withBody("POST chunked"+body.name, "POST", projectHost, prod+"/x", body.text+"\r\n", k, "Transfer-Encoding: chunked")
		c.Allowed = AllowFraming
		out = append(out, c)
	}
	return append(out, trailers,
		withBody("POST with a body", "POST", projectHost, prod+"/x", "hello", k, length(5), "Content-Type: text/plain"),
		withBody("PUT with a body", "PUT", projectHost, prod+"/x", `{"a":1}`, k, length(7), "Content-Type: application/json"),
		withBody("PATCH with a body", "PATCH", projectHost, prod+"/x", "hello", k, length(5)),
		withBody("DELETE with a body", "DELETE", projectHost, prod+"/x", "hello", k, length(5)),
		withBody("GET with a body", "GET", projectHost, prod+"/x", "hello", k, length(5)),
		withBody("POST with an empty body", "POST", projectHost, prod+"/x", "", k, length(0)),
		withBody("POST of binary", "POST", projectHost, prod+"/x", "\x00\xff\r\n\r\nGET / HTTP/1.1\r\n\r\n", k, length(24)),
		withBody("POST of much", "POST", projectHost, prod+"/x", big, k, length(len(big))),
		withBody("POST with a body, no key", "POST", projectHost, prod+"/x", "hello", length(5)),
		withBody("POST that expects 100", "POST", projectHost, prod+"/x", "hello", k, length(5), "Expect: 100-continue"),
		withBody("POST packed", "POST", projectHost, prod+"/x", "hello", k, length(5), "Content-Encoding: gzip"),
		withBody("POST to fallback", "POST", projectHost, "/2.0.0/prod/x", "hello", length(5)),
		withBody("POST to open", "POST", projectHost, "/open/prod/x", "hello", length(5)))
}

func upgrades(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	socket := []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
	open := get("websocket", prod+"/ws", append(socket, k)...)
	open.Tunnel = "a message"
	lists := get("websocket beside keep-alive", prod+"/ws", "Connection: keep-alive, Upgrade", "Upgrade: WebSocket", k)
	lists.Tunnel = "another"
	spoofed := get("websocket with spoofed headers", prod+"/ws", append(socket, k, "X-Consumer-ID: spoofed", "x_tenant_id: spoofed")...)
	spoofed.Tunnel = "third"
	return []Case{open, lists, spoofed,
		get("websocket without a key", prod+"/ws", socket...),
		get("websocket with a frozen key", prod+"/ws", append(socket, key(keys["frozen"]))...),
		get("upgrade to h2c", prod+"/x", k, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"),
	}
}

func ordinaryHeaders(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	many := []string{k}
	for i := range 80 {
		many = append(many, fmt.Sprintf("X-Many-%d: %d", i, i))
	}
	return []Case{
		get("odd header names", prod+"/x", k, "X.Dotted: 1", "X!Bang: 2", "X-Plain: 3"),
		get("many headers", prod+"/x", many...),
		get("a large header", prod+"/x", k, "X-Large: "+strings.Repeat("y", 6000)),
		get("headers twice", prod+"/x", k, "X-Twice: 1", "X-Twice: 2", "Accept: a", "Accept: b"),
		get("cookies", prod+"/x", k, "Cookie: a=1; b=2"),
		get("an empty header", prod+"/x", k, "X-Empty:"),
		get("non-ASCII header value", prod+"/x", k, "X-Latin: \xe9", "X-Utf8: é"),
		get("underscored header", prod+"/x", k, "X_Mine: 1", "x_mine_too: 2"),
		get("common headers", prod+"/x", k, "User-Agent: test/1", "Accept: */*", "Accept-Encoding: gzip, br", "Accept-Language: en",
			"Range: bytes=0-1", "If-None-Match: \"x\"", "Cache-Control: no-cache", "Origin: https://a.example", "Referer: https://a.example/"),
		get("preflight is a call like any", prod+"/x", "Origin: https://a.example", "Access-Control-Request-Method: GET"),
		get("names of Kong's own headers", prod+"/x", k, "X-Kong-Debug: 1", "Kong-Debug: 1", "X-Credential: 1"),
	}
}
