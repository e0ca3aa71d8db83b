package conformance

import (
	"postern/core/policy"
	"postern/testkit/sample"
)

func hopByHop(keys map[string]sample.Plain) []Case {
	k := key(keys["writer"])
	return []Case{
		get("connection names a header", prod+"/x", k, "Connection: X-Mine", "X-Mine: 1", "X-Other: 2"),
		get("connection names two headers", prod+"/x", k, "Connection: X-Mine, X-Other", "X-Mine: 1", "X-Other: 2"),
		get("connection names the key", prod+"/x", k, "Connection: X-API-Key"),
		get("connection names the key header at open", "/open/prod/x", k, "Connection: X-API-Key"),
		get("connection names forwarded for", prod+"/x", k, "Connection: X-Forwarded-For, X-Real-IP, Via"),
		get("connection close", prod+"/x", k, "Connection: close"),
		get("keep-alive", prod+"/x", k, "Connection: keep-alive", "Keep-Alive: timeout=5"),
		get("te trailers", prod+"/x", k, "TE: trailers"),
		get("te gzip", prod+"/x", k, "TE: gzip"),
		get("te both", prod+"/x", k, "TE: gzip, trailers"),
		get("proxy headers", prod+"/x", k, "Proxy: http://evil.example", "Proxy-Connection: keep-alive",
			"Proxy-Authorization: Basic eA=="),
	}
}

// connectionOptions names fields in Connection that no caller may remove, because
// they frame the message or are the gateway's, and others that he may.
func connectionOptions(keys map[string]sample.Plain) []Case {
	k := key(keys["readonly"])
	var out []Case
	names := append(policy.IdentityHeaders(), policy.ForwardedHeaders()...)
	names = append(names, "Content-Length", "Transfer-Encoding", "Host", "Connection", "Upgrade", "X-API-Key",
		"Authorization", "Cookie", "Content-Type",
		"User-Agent", "Date", "Te", "Trailer", "Expect", "keep-alive", "close", "X-Mine", "x_mine")
	for _, name := range names {
		out = append(out,
			get("Connection names "+name, prod+"/x", k, "Connection: "+name, "X-Mine: 1", "Authorization: x",
				"Cookie: a=1", "User-Agent: u", "Content-Type: t"),
			withBody("Connection names "+name+" of a POST", "POST", projectHost, prod+"/x", "hello", k, length(5),
				"Connection: close, "+name, "X-Mine: 1", "Content-Type: t"))
	}
	framing := withBody("Connection names the framing of a chunked POST", "POST", projectHost, prod+"/x",
		chunked("hello"), k, asChunks,
		"Connection: Transfer-Encoding")
	out = append(out, differs([]Case{framing}, BodyFraming)...)
	return append(out,
		get("Connection on two lines", prod+"/x", k, "Connection: X-Mine", "Connection: X-Other", "X-Mine: 1",
			"X-Other: 2"),
		get("Connection on two lines, keep-alive first", prod+"/x", k, "Connection: keep-alive", "Connection: X-Mine",
			"X-Mine: 1"),
		get("Connection on two lines, the second ours", prod+"/x", k, "Connection: keep-alive",
			"Connection: X-Consumer-ID"),
		get("Connection on three lines", prod+"/x", k, "Connection: close", "Connection:", "Connection: X-Mine",
			"X-Mine: 1"),
		get("Connection empty", prod+"/x", k, "Connection:"),
		get("Connection of commas", prod+"/x", k, "Connection: ,, ,X-Mine,", "X-Mine: 1"),
		get("Connection of what isn't a name", prod+"/x", k, "Connection: a b;c=\"d\", X-Mine", "X-Mine: 1"))
}
