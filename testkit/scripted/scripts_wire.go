package scripted

import (
	"fmt"
	"strings"
)

// Fields are those of ordinary answers that a gateway could be tempted to change.
func Fields() []Script {
	sets := map[string][]string{
		"server":       {"Server: Apache/2.4 (Unix)"},
		"server-nginx": {"Server: nginx/1.0"},
		"powered-by":   {"X-Powered-By: PHP/5.2"},
		"date":         {"Date: Tue, 15 Nov 1994 08:12:31 GMT"},
		"date-invalid": {"Date: yesterday"},
		"via":          {"Via: 1.1 cache.example"},
		"via-twice":    {"Via: 1.0 a", "Via: 1.1 b"},
		"caching": {"Cache-Control: max-age=60", "Expires: Wed, 21 Oct 2037 07:28:00 GMT", "Age: 7",
			"Vary: Accept", "Vary: Origin", `ETag: W/"x"`},
		"no-store":      {"Cache-Control: no-store, private", "Pragma: no-cache", "Expires: 0"},
		"last-modified": {"Last-Modified: Tue, 15 Nov 1994 08:12:31 GMT", `ETag: "x"`, "Accept-Ranges: bytes"},
		"encoding-gzip": {"Content-Encoding: gzip"},
		"encoding-odd":  {"Content-Encoding: aws-chunked, br"},
		"disposition":   {`Content-Disposition: attachment; filename="a b.txt"; filename*=UTF-8''%e2%82%ac`},
		"link":          {"Link: </a>; rel=next", "Link: </b>; rel=prev"},
		"security": {"Strict-Transport-Security: max-age=1", "Content-Security-Policy: default-src 'none'",
			"X-Frame-Options: DENY"},
		"cors": {"Access-Control-Allow-Origin: *", "Access-Control-Expose-Headers: X-A",
			"Timing-Allow-Origin: *"},
		"alt-svc":          {`Alt-Svc: h3=":443"`},
		"refresh":          {"Refresh: 5; url=http://127.0.0.1/x"},
		"location-200":     {"Location: /x"},
		"content-location": {"Content-Location: /base/x"},
		"kong": {"X-Kong-Upstream-Latency: 1", "X-Kong-Proxy-Latency: 2", "X-Kong-Request-Id: 3",
			"X-Kong-Response-Latency: 4"},
		"identity": {"X-Consumer-ID: 1", "X-Consumer-Username: u", "X-Credential-Identifier: 2",
			"X-Tenant-ID: t", "X-Project-ID: p"},
		"forwarded": {"X-Forwarded-For: 1.2.3.4", "X-Real-IP: 1.2.3.4", "X-Forwarded-Proto: https",
			"Forwarded: for=1.2.3.4"},
		"limits": {"RateLimit-Limit: 7", "RateLimit-Remaining: 6", "RateLimit-Reset: 5",
			"X-RateLimit-Limit-Hour: 4"},
		"retry-after": {"Retry-After: 3"},
		"challenge": {`WWW-Authenticate: Basic realm="x"`, "WWW-Authenticate: Bearer",
			`Proxy-Authenticate: Basic realm="y"`},
		"empty":           {"X-Empty:", "X-Blank:    "},
		"blanks":          {"X-Blanks: \t a  b \t "},
		"non-ascii":       {"X-Latin: \xe9", "X-Utf8: é"},
		"underscore":      {"X_Under: 1", "x_under-score: 2"},
		"odd-names":       {"X.Dotted: 1", "X!Bang: 2", "9: 3"},
		"same-name":       {"X-Same: 1", "x-same: 2", "X-Same: 1"},
		"commas":          {"X-List: a, b,,c", `X-Quoted: "a, b"`},
		"ranges":          {"Content-Range: bytes 0-5/6", "Accept-Ranges: none"},
		"trailer-named":   {"Trailer: X-Sum"},
		"te-named":        {"TE: trailers"},
		"allow":           {"Allow: GET, HEAD"},
		"encoding-twice":  {"Content-Encoding: gzip", "Content-Encoding: br"},
		"challenge-twice": {"WWW-Authenticate: Basic", "WWW-Authenticate: Bearer"},
		"ranges-twice":    {"Accept-Ranges: bytes", "Accept-Ranges: none"},
		"early-data":      {"Early-Data: 1", "Nel: {}", `Report-To: {"group":"g"}`, "Clear-Site-Data: \"cache\""},
	}
	return fromSets("fields-", sets)
}

// RepeatedFields have two lines of a field of which one is all that an answer may have.
func RepeatedFields() []Script {
	return fromSets("repeated-", map[string][]string{
		"date":     {"Date: Tue, 15 Nov 1994 08:12:31 GMT", "Date: Wed, 16 Nov 1994 08:12:31 GMT"},
		"server":   {"Server: a", "Server: b"},
		"etag":     {`ETag: "a"`, `ETag: "b"`},
		"modified": {"Last-Modified: Tue, 15 Nov 1994 08:12:31 GMT", "Last-Modified: Wed, 16 Nov 1994 08:12:31 GMT"},
		"location": {"Location: /a", "Location: /b"},
		"expires":  {"Expires: 0", "Expires: 1"},
		"refresh":  {"Refresh: 1", "Refresh: 2"},
	})
}

func fromSets(prefix string, sets map[string][]string) []Script {
	out := make([]Script, 0, len(sets))
	for name, fields := range sets {
		out = append(out, with(prefix+name, fields...))
	}
	return sorted(out)
}

// HopFields are about the upstream's connection, or say of others that they are
// (RFC 9110, 7.6.1).
func HopFields() []Script {
	return fromSets("hop-", map[string][]string{
		"keep-alive":       {"Connection: keep-alive", "Keep-Alive: timeout=5, max=100"},
		"named":            {"Connection: X-Private", "X-Private: 1", "X-Public: 2"},
		"named-two":        {"Connection: keep-alive, x-private, X-Other", "X-Private: 1", "X-Other: 2", "X-Public: 3"},
		"named-close":      {"Connection: close, X-Private", "X-Private: 1"},
		"named-two-lines":  {"Connection: X-Private", "Connection: X-Other", "X-Private: 1", "X-Other: 2"},
		"named-type":       {"Connection: Content-Type", "Content-Type: text/plain"},
		"upgrade":          {"Upgrade: h2c"},
		"upgrade-named":    {"Upgrade: websocket", "Connection: Upgrade"},
		"upgrade-required": {"Upgrade: TLS/1.0, HTTP/1.1", "Connection: Upgrade"},
	})
}

// NamedLengths say that the length is about the connection.
func NamedLengths() []Script { return []Script{with("hop-named-length", "Connection: Content-Length")} }

// ProxyConnections have the field of RFC 9110, 7.6.1, that no standard defines.
func ProxyConnections() []Script {
	return []Script{with("hop-proxy-connection", "Proxy-Connection: keep-alive")}
}

// Statuses are every kind of final status, with a body where one is allowed.
func Statuses() []Script {
	var out []Script
	for _, status := range []int{
		201, 202, 203, 205, 206, 207, 226, 299, 300, 301, 302, 303, 305, 307, 308, 399, 400, 401, 402, 403, 404, 405,
		406, 407, 408, 409, 410, 411, 412,
		413, 414, 415, 416, 417, 418, 421, 422, 425, 426, 428, 429, 431, 444, 451, 494, 495, 496, 497, 499, 500, 501,
		502, 503, 504, 505, 507, 508, 511, 520, 599,
		600, 777, 999,
	} {
		s := with(fmt.Sprintf("status-%d", status), "X-Status: 1", "Location: /elsewhere")
		s.Head = strings.Replace(s.Head, "200 OK", fmt.Sprintf("%d Odd", status), 1)
		out = append(out, s)
	}
	return append(out,
		Script{Name: "status-204", Head: "HTTP/1.1 204 No Content\nX-Status: 1"},
		Script{Name: "status-204-type", Head: "HTTP/1.1 204 No Content\nContent-Type: text/plain"},
		Script{Name: "status-304", Head: "HTTP/1.1 304 Not Modified\nETag: \"x\"\nX-Status: 1"},
		sized(Script{Name: "status-no-reason", Head: "HTTP/1.1 200", Body: []string{"answer"}}),
		sized(Script{Name: "status-empty-reason", Head: "HTTP/1.1 200 ", Body: []string{"answer"}}),
		sized(Script{Name: "status-own-reason", Head: "HTTP/1.1 200 All is \"well\"; é", Body: []string{"answer"}}))
}

// DescribedAbsences have no body, and fields that describe one.
func DescribedAbsences() []Script {
	return []Script{
		{Name: "status-304-type", Head: "HTTP/1.1 304 Not Modified\nContent-Type: text/plain\nETag: \"x\""},
		{Name: "status-304-length", Head: "HTTP/1.1 304 Not Modified\nContent-Length: 6"},
		{Name: "status-204-length", Head: "HTTP/1.1 204 No Content\nContent-Length: 4"},
	}
}

// large is a body that fills no buffer evenly.
var large = strings.Repeat("0123456789", 30_000)

// Framings are the ways in which the end of a body is found (RFC 9112, 6).
func Framings() []Script {
	chunked := func(name, body string) Script {
		return Script{Name: "chunked-" + name, Head: ok + "\nTransfer-Encoding: chunked", Body: []string{body}}
	}
	return []Script{
		sized(Script{Name: "length-0", Head: ok}),
		sized(Script{Name: "length-large", Head: ok, Body: []string{large}}),
		{Name: "length-zeros", Head: ok + "\nContent-Length: 0006", Body: []string{"answer"}},
		{Name: "length-close", Head: ok + "\nContent-Length: 6\nConnection: close", Body: []string{"answer"},
			Ends: true},
		chunked("two", "2\r\nan\r\n4\r\nswer\r\n0\r\n\r\n"),
		chunked("empty", "0\r\n\r\n"),
		chunked("large", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(large), large)),
		chunked("many", strings.Repeat("1\r\nx\r\n", 3000)+"0\r\n\r\n"),
		chunked("extensions", "6;a=b;c=\"d\"\r\nanswer\r\n0;e\r\n\r\n"),
		chunked("upper-case", "A\r\n0123456789\r\n0\r\n\r\n"),
		chunked("zeros", "0000006\r\nanswer\r\n000\r\n\r\n"),
		{Name: "until-close", Head: ok, Body: []string{"answer"}, Ends: true},
		{Name: "until-close-pieces", Head: ok, Body: []string{"ans", "wer"}, Ends: true},
		{Name: "until-close-empty", Head: ok, Ends: true},
		{Name: "until-close-large", Head: ok, Body: []string{large}, Ends: true},
		{Name: "http10", Head: "HTTP/1.0 200 OK", Body: []string{"answer"}, Ends: true},
		{Name: "http10-length", Head: "HTTP/1.0 200 OK\nContent-Length: 6", Body: []string{"answer"}, Ends: true},
		{Name: "http10-keep-alive", Head: "HTTP/1.0 200 OK\nContent-Length: 6\nConnection: keep-alive",
			Body: []string{"answer"}},
		{Name: "bare-lf", Head: ok + "\nContent-Length: 6", Body: []string{"answer"}, BareLF: true},
	}
}

const chunkAndTrailer = "6\r\nanswer\r\n0\r\nX-Sum: 1\r\n\r\n"

// Trailers come after a chunked body, and are announced.
func Trailers() []Script {
	return []Script{{
		Name: "trailers",
		Head: ok + "\nTransfer-Encoding: chunked\nTrailer: X-Sum",
		Body: []string{chunkAndTrailer},
	}}
}

// UnannouncedTrailers come after a chunked body.
func UnannouncedTrailers() []Script {
	return []Script{{
		Name: "trailers-unannounced",
		Head: ok + "\nTransfer-Encoding: chunked",
		Body: []string{chunkAndTrailer},
	}}
}

// Surpluses send more than they say. Surplus bytes must reach no caller, of this call or of the next.
func Surpluses() []Script {
	next := "HTTP/1.1 200 OK\r\nX-Stolen: 1\r\nContent-Length: 6\r\n\r\nstolen"
	return []Script{
		{Name: "surplus-head", Head: ok + "\nContent-Length: 6", Body: []string{"answer"}, BodyToHead: true},
		{Name: "surplus-head-answer", Head: ok + "\nContent-Length: 6", Body: []string{next}, BodyToHead: true},
		{Name: "surplus-length", Head: ok + "\nContent-Length: 6", Body: []string{"answer and more"}},
		{Name: "surplus-length-answer", Head: ok + "\nContent-Length: 6", Body: []string{"answer" + next}},
		{Name: "surplus-chunked", Head: ok + "\nTransfer-Encoding: chunked",
			Body: []string{"6\r\nanswer\r\n0\r\n\r\nand more"}},
		{Name: "surplus-chunked-answer", Head: ok + "\nTransfer-Encoding: chunked",
			Body: []string{"6\r\nanswer\r\n0\r\n\r\n" + next}},
		{Name: "surplus-204", Head: "HTTP/1.1 204 No Content", Body: []string{"more"}, BodyToHead: true},
		{Name: "surplus-204-answer", Head: "HTTP/1.1 204 No Content", Body: []string{next}, BodyToHead: true},
		{Name: "surplus-304", Head: "HTTP/1.1 304 Not Modified\nETag: \"x\"", Body: []string{"more"}, BodyToHead: true},
		{Name: "surplus-304-answer", Head: "HTTP/1.1 304 Not Modified\nETag: \"x\"", Body: []string{next},
			BodyToHead: true},
		{Name: "surplus-0", Head: ok + "\nContent-Length: 0", Body: []string{"more"}, BodyToHead: true},
	}
}

// Truncations end before the end that they announce.
func Truncations() []Script {
	return []Script{
		{Name: "cut-length", Head: ok + "\nContent-Length: 60", Body: []string{"answer"}, Ends: true},
		{Name: "cut-length-pieces", Head: ok + "\nContent-Length: 60", Body: []string{"ans", "wer"}, Ends: true},
		{Name: "cut-chunked-data", Head: ok + "\nTransfer-Encoding: chunked", Body: []string{"10\r\nanswer"},
			Ends: true},
		{Name: "cut-chunked-between", Head: ok + "\nTransfer-Encoding: chunked", Body: []string{"6\r\nanswer\r\n"},
			Ends: true},
	}
}

// BadChunks are chunks where there can be none, or stop being chunks.
func BadChunks() []Script {
	return []Script{
		{Name: "http10-chunked", Head: "HTTP/1.0 200 OK\nTransfer-Encoding: chunked",
			Body: []string{"6\r\nanswer\r\n0\r\n\r\n"}, Ends: true},
		{Name: "bad-chunk-size", Head: ok + "\nTransfer-Encoding: chunked",
			Body: []string{"zz\r\nanswer\r\n0\r\n\r\n"}, Ends: true},
		{Name: "bad-chunk-end", Head: ok + "\nTransfer-Encoding: chunked", Body: []string{"6\r\nanswerXX0\r\n\r\n"},
			Ends: true},
	}
}

// BadLengths are answers whose framing no reader takes.
func BadLengths() []Script {
	bad := func(name, fields string) Script {
		return Script{Name: "bad-length-" + name, Head: ok + "\n" + fields, Body: []string{"6\r\nanswer\r\n0\r\n\r\n"}}
	}
	return []Script{
		bad("two", "Content-Length: 6\nContent-Length: 7"),
		bad("chunked-twice", "Transfer-Encoding: chunked\nTransfer-Encoding: chunked"),
		bad("chunked-gzip", "Transfer-Encoding: gzip, chunked"),
		bad("identity", "Transfer-Encoding: identity\nContent-Length: 6"),
		bad("plus", "Content-Length: +6"),
		bad("minus", "Content-Length: -6"),
		bad("list", "Content-Length: 6, 6"),
		bad("word", "Content-Length: six"),
	}
}

// AmbiguousLengths are answers of which some readers take one length and some none.
func AmbiguousLengths() []Script {
	return []Script{
		{Name: "both-framings", Head: ok + "\nContent-Length: 16\nTransfer-Encoding: chunked",
			Body: []string{"6\r\nanswer\r\n0\r\n\r\n"}},
		{Name: "same-length-twice", Head: ok + "\nContent-Length: 6\nContent-Length: 6", Body: []string{"answer"}},
	}
}

func odd(name, line string) Script {
	return Script{Name: "odd-" + name, Head: ok + "\n" + line + "\nContent-Length: 6", Body: []string{"answer"}}
}

// BadFields are lines that no reader takes for a field.
func BadFields() []Script {
	return []Script{
		odd("space-before-colon", "X-Spaced : 1"),
		odd("space-in-name", "X Spaced: 1"),
		odd("folded", "X-Folded: 1\n continued"),
		odd("nul", "X-Nul: a\x00b"),
		odd("no-name", ": 1"),
		odd("large", "X-Large: "+strings.Repeat("y", 80<<10)),
	}
}

// OddFields are lines that some readers take for fields, or skip.
func OddFields() []Script {
	return []Script{odd("no-colon", "X-Nothing"), odd("control", "X-Control: a\x01b")}
}

// OddStatusLines begin what isn't an answer of HTTP/1.x.
func OddStatusLines() []Script {
	return []Script{
		oddStatus("greeting", "220 smtp.example ESMTP"),
		oddStatus("two-digits", "HTTP/1.1 20 OK"),
		oddStatus("four-digits", "HTTP/1.1 2000 OK"),
		oddStatus("letters", "HTTP/1.1 abc OK"),
		oddStatus("plus", "HTTP/1.1 +20 OK"),
		oddStatus("version-2", "HTTP/2.0 200 OK"),
		oddStatus("lower-case", "http/1.1 200 OK"),
		oddStatus("glued", "HTTP/1.1200 OK"),
	}
}

// LowStatuses are below 100 (RFC 9110, 15).
func LowStatuses() []Script {
	return []Script{oddStatus("000", "HTTP/1.1 000 Nothing"), oddStatus("099", "HTTP/1.1 099 Nothing")}
}

func oddStatus(name, line string) Script {
	return Script{
		Name: "odd-status-" + name,
		Head: line + "\nContent-Length: 6",
		Body: []string{"answer"},
		Ends: true,
	}
}

// Timings are about when an answer comes.
func Timings() []Script {
	early := with("early", "X-Early: 1")
	early.Early = true
	refusal := with("early-413", "Connection: close")
	refusal.Head, refusal.Early = strings.Replace(refusal.Head, "200 OK", "413 Too Large", 1), true
	slow := with("slow-head", "X-Slow: 1")
	slow.SlowHead = true
	return []Script{
		early, refusal, slow,
		sized(Script{Name: "slow-body", Head: ok, Body: []string{"a", "n", "s", "w", "e", "r"}}),
		{Name: "slow-chunked", Head: ok + "\nTransfer-Encoding: chunked", Body: []string{"3\r\nans\r\n",
			"3\r\nwer\r\n", "0\r\n\r\n"}},
		{Name: "slow-chunk-cut-apart", Head: ok + "\nTransfer-Encoding: chunked", Body: []string{"6", "\r\nan",
			"swer\r", "\n0\r\n\r", "\n"}},
		{Name: "slow-events", Head: ok + "\nContent-Type: text/event-stream\nTransfer-Encoding: chunked",
			Body: []string{"9\r\ndata: 1\n\n\r\n", "9\r\ndata: 2\n\n\r\n", "0\r\n\r\n"}},
	}
}

// Absences end without an answer.
func Absences() []Script {
	return []Script{
		{Name: "absent", Ends: true},
		{Name: "absent-early", Early: true, Ends: true},
		{Name: "absent-half", Interim: []string{"HTTP/1.1 200 OK\r\nContent-Len"}, Ends: true},
	}
}
