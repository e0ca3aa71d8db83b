package conformance

import (
	"fmt"
	"strings"

	"postern/testkit/sample"
)

func forwardingHeaders(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	all := []string{k, "X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example", "X-Forwarded-Port: 1",
		"X-Forwarded-Path: /evil",
		"X-Forwarded-Prefix: /evil", "X-Real-IP: 1.2.3.4"}
	under := []string{k, "X_Forwarded_Proto: https", "X_Forwarded_Host: evil.example", "X_Forwarded_Port: 1",
		"X_Forwarded_Path: /evil",
		"X_Forwarded_Prefix: /evil", "X_Real_IP: 1.2.3.4", "X_Real-IP: 1.2.3.4"}
	return append(differs([]Case{
		get("forwarded for with underscores", prod+"/x", k, "X_Forwarded_For: 1.2.3.4"),
	}, ForwardedFor),
		get("asked for Kong's timings", prod+"/x", k, "X-Kong-Request-Debug: *"),
		get("asked for Kong's timings without a key", prod+"/x", "X-Kong-Request-Debug: *"),
		get("forwarded for with one underscore", prod+"/x", k, "X-Forwarded_For: 1.2.3.4"),
		get("forwarded for", prod+"/x", k, "X-Forwarded-For: 1.2.3.4"),
		get("forwarded for list", prod+"/x", k, "X-Forwarded-For: 1.2.3.4, 5.6.7.8"),
		get("forwarded for twice", prod+"/x", k, "X-Forwarded-For: 1.2.3.4", "X-Forwarded-For: 5.6.7.8"),
		get("forwarded for of nothing", prod+"/x", k, "X-Forwarded-For:"),
		get("forwarded for of blanks", prod+"/x", k, "X-Forwarded-For:   "),
		get("forwarded for of nothing, then of something", prod+"/x", k, "X-Forwarded-For:",
			"X-Forwarded-For: 1.2.3.4"),
		get("forwarded for of commas", prod+"/x", k, "X-Forwarded-For: , ,"),
		get("forwarded for of text", prod+"/x", k, "X-Forwarded-For: unknown, \"[::1]:80\""),
		get("forwarded for in lower case", prod+"/x", k, "x-forwarded-for: 1.2.3.4"),
		get("forwarded for at open", "/open/prod/x", "X-Forwarded-For: 1.2.3.4"),
		get("via of nothing", prod+"/x", k, "Via:"),
		get("forwarded others", prod+"/x", all...),
		get("forwarded others with underscores", prod+"/x", under...),
		get("forwarded of RFC 7239", prod+"/x", k, "Forwarded: for=1.2.3.4;proto=https"),
		get("via", prod+"/x", k, "Via: 1.1 proxy.example"),
		get("forwarded at open", "/open/prod/x", all[1:]...),
		one("forwarded host with port", "GET", projectHost+":8080", prod+"/x", k),
		one("forwarded host in upper case", "GET", "SHOP.LOCALHOST", prod+"/x", k),
		one("forwarded prefix in path form", "GET", bareHost, "/shop"+prod, k),
		get("forwarded path is as sent", "/1.0.0//prod/%2e/a%2fb?q=1", k))
}

func ordinaryHeaders(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	out := []Case{
		get("headers twice", prod+"/x", k, "X-Twice: 1", "X-Twice: 2", "Accept: a", "Accept: b"),
		get("an empty header", prod+"/x", k, "X-Empty:"),
		get("blanks around a value", prod+"/x", k, "X-Blanks:   a  b   "),
		get("a tab in a value", prod+"/x", k, "X-Tab: a\tb"),
		get("non-ASCII header value", prod+"/x", k, "X-Latin: \xe9", "X-Utf8: é"),
		get("underscored header", prod+"/x", k, "X_Mine: 1", "x_mine_too: 2"),
		get("names of digits and hyphens", prod+"/x", k, "9: 1", "-: 2", "_: 3", "--X--: 4"),
		get("common headers", prod+"/x", k, "User-Agent: test/1", "Accept: */*", "Accept-Encoding: gzip, br",
			"Accept-Language: en",
			"Range: bytes=0-1", "If-None-Match: \"x\"", "Cache-Control: no-cache", "Origin: https://a.example",
			"Referer: https://a.example/"),
		get("conditions", prod+"/scripted/fields-last-modified", k, "If-None-Match: \"x\"",
			"If-Modified-Since: Tue, 15 Nov 1994 08:12:31 GMT"),
		get("a range", prod+"/scripted/fields-last-modified", k, "Range: bytes=0-1"),
		get("pragma", prod+"/x", k, "Pragma: no-cache"),
		get("preflight is a call like any", prod+"/x", "Origin: https://a.example",
			"Access-Control-Request-Method: GET"),
		get("names of Kong's own headers", prod+"/x", k, "X-Kong-Debug: 1", "Kong-Debug: 1", "X-Credential: 1",
			"X-Kong-Request-Id: 1"),
		get("fields that CGI takes for others", prod+"/x", k, "Proxy: 1", "Content_Type: a",
			"Transfer_Encoding: chunked", "Content_Length: 3", "HTTP_HOST: x"),
		get("method overrides", prod+"/x", k, "X-HTTP-Method-Override: DELETE", "X-Original-URL: /evil",
			"X-Rewrite-URL: /evil"),
	}
	for _, name := range []string{
		"X.Dotted", "X!Bang", "X#Hash", "X$Dollar", "X%Percent", "X&And", "X'Quote", "X*Star", "X+Plus", "X^Caret",
		"X`Tick", "X|Bar", "X~Tilde", "X.Consumer.ID",
	} {
		out = append(out, get("odd name "+name, prod+"/x", k, name+": 1", "X-Plain: 2"))
	}
	return append(out, largeRequests(k)...)
}

// largeRequests are heads up to what both gateways take.
func largeRequests(k string) []Case {
	var out []Case
	for _, size := range []int{1000, 4000, 6000, 7168, 8000} {
		out = append(out, get(fmt.Sprintf("a header of %d bytes", size), prod+"/x", k, "X-Large: "+strings.Repeat("y",
			size)))
	}
	for _, count := range []int{10, 80, 99, 100, 150, 250} {
		lines := []string{k}
		for i := range count {
			lines = append(lines, fmt.Sprintf("X-Many-%d: %d", i, i))
		}
		out = append(out, get(fmt.Sprintf("%d headers", count), prod+"/x", lines...))
	}
	seven := "X-Seven: " + strings.Repeat("7", 7<<10)
	out = append(out,
		get("four headers of 7 KB", prod+"/x", k, seven, seven, seven, seven),
		get("a long query and long headers", prod+"/x?"+strings.Repeat("q", 7<<10), k, seven, seven),
		get("a target of 9 KB", prod+"/"+strings.Repeat("y", 9<<10), k),
		get("a header of 30 KB", prod+"/x", k, "X-Large: "+strings.Repeat("y", 30<<10)))
	five := get("five headers of 7 KB", prod+"/x", k, seven, seven, seven, seven, seven)
	return append(out, five)
}

func requestCookies(keys map[string]sample.Plain) []Case {
	k := key(keys["active"])
	out := []Case{
		get("cookies", prod+"/x", k, "Cookie: a=1; b=2"),
		get("cookies on two lines", prod+"/x", k, "Cookie: a=1", "Cookie: b=2"),
		get("an empty cookie", prod+"/x", k, "Cookie:"),
		get("odd cookies", prod+"/x", k, "Cookie: a=1;b=2;;c; =d; \"e\"=\"f\""),
		get("cookies named nearly like ours", prod+"/x", k, "Cookie: posterns=1; my-postern=2; Postern=3; a=postern"),
		get("many cookies", prod+"/x", k, "Cookie: "+strings.TrimSuffix(strings.Repeat("name=value; ", 200), "; ")),
	}
	return append(out, differs([]Case{
		get("a cookie of the dashboard", prod+"/x", k, "Cookie: postern=1"),
		get("a cookie of the dashboard among others", prod+"/x", k, "Cookie: a=1; __Host-postern-session=2; b=3"),
		get("a cookie of the dashboard at open", "/open/prod/x", "Cookie: postern-csrf=1"),
	}, ControlCookies)...)
}
