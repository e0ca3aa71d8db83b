package scripted

import (
	"fmt"
	"slices"
	"strings"
)

// Script is one answer. Its body comes in pieces; the first leaves together with
// the head, as most servers send them.
type Script struct {
	Name       string
	Interim    []string // whole 1xx answers before the final one
	Head       string   // status line and fields; lines end in LF here and in CRLF on the wire
	Body       []string
	BareLF     bool // LF on the wire too
	SlowHead   bool // the head comes in two pieces
	BodyToHead bool // HEAD is answered with the body as well
	Early      bool // answered before the body of the request is read
	Ends       bool // the connection ends with the answer
}

// sized adds the length of the body.
func sized(s Script) Script {
	n := 0
	for _, piece := range s.Body {
		n += len(piece)
	}
	s.Head += fmt.Sprintf("\nContent-Length: %d", n)
	return s
}

const (
	ok   = "HTTP/1.1 200 OK"
	goOn = "HTTP/1.1 100 Continue\r\n\r\n"
)

// with is a 200 with these fields and a short body.
func with(name string, fields ...string) Script {
	return sized(Script{Name: name, Head: strings.Join(append([]string{ok}, fields...), "\n"),
		Body: []string{"answer"}})
}

// Scripts returns every script. The groups next to it return a part.
func Scripts() []Script {
	var out []Script
	for _, group := range []func() []Script{
		Interims, InterimEnds, UnaskedSwitches, LargeHeads, Accelerations, ContentTypes, Cookies, ControlCookies,
		Fields, HopFields, Statuses, RepeatedFields, standard, CrossOrigins, Transformed,
		JSONAnswers,
		LongNumbers, Identifiers, JSONScalars,
		NamedLengths, ProxyConnections, DescribedAbsences,
		Framings, Trailers, UnannouncedTrailers, Surpluses, Truncations, BadChunks, BadLengths,
		AmbiguousLengths, BadFields, OddFields, OddStatusLines, LowStatuses, Timings, Absences,
	} {
		out = append(out, group()...)
	}
	return out
}

// Interims are answers with 1xx answers before them (RFC 9110, 15.2).
func Interims() []Script {
	const (
		processing = "HTTP/1.1 102 Processing\r\n\r\n"
		hints      = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
		unknown    = "HTTP/1.1 199 Unknown\r\nX-Interim: 1\r\n\r\n"
	)
	interim := func(name string, answers ...string) Script {
		s := with("interim-"+name, "X-Final: 1")
		s.Interim = answers
		return s
	}
	return []Script{
		interim("100", goOn),
		interim("102", processing),
		interim("103", hints),
		interim("199", unknown),
		interim("100-103", goOn, hints),
		interim("103-103", hints, hints),
		interim("102-103-199", processing, hints, unknown),
		interim("103-at-once", hints+hints),
	}
}

// InterimEnds have an interim answer and no other.
func InterimEnds() []Script {
	return []Script{{Name: "interim-100-end", Interim: []string{goOn}, Ends: true}}
}

// UnaskedSwitches are 101 answers to requests that may not have asked for any.
func UnaskedSwitches() []Script {
	return []Script{
		{Name: "switch-h2c", Head: "HTTP/1.1 101 Switching Protocols\nConnection: Upgrade\nUpgrade: h2c", Ends: true},
		{Name: "switch-websocket", Head: "HTTP/1.1 101 Switching Protocols\nConnection: Upgrade\nUpgrade: websocket",
			Ends: true},
		{Name: "switch-bare", Head: "HTTP/1.1 101 Switching Protocols", Ends: true},
	}
}

// LargeHeads have 5 to 60 KB, in one line or in many.
func LargeHeads() []Script {
	var out []Script
	for _, kilobytes := range []int{3, 5, 8, 12, 16, 24, 32, 48, 60} {
		size := kilobytes << 10
		lines := make([]string, size/128)
		for i := range lines {
			lines[i] = fmt.Sprintf("X-Line-%03d: %s", i, strings.Repeat("x", 110))
		}
		out = append(out,
			with(fmt.Sprintf("head-%dk", kilobytes), "X-Large: "+strings.Repeat("y", size)),
			with(fmt.Sprintf("head-%dk-lines", kilobytes), lines...))
	}
	return append(out,
		with("head-same-name", strings.Split(strings.TrimSuffix(strings.Repeat("X-Same: z\n", 200), "\n"), "\n")...),
		with("head-7k-five", strings.Split(strings.TrimSuffix(strings.Repeat("X-Seven: "+strings.Repeat("7",
			7<<10)+"\n", 5), "\n"), "\n")...))
}

// Accelerations are fields by which an upstream steers nginx.
func Accelerations() []Script {
	return []Script{
		with("accel-redirect", "X-Accel-Redirect: /1.0.0/prod/elsewhere"),
		with("accel-redirect-absolute", "X-Accel-Redirect: http://127.0.0.1:1/"),
		with("accel-redirect-named", "X-Accel-Redirect: @kong_upstream"),
		with("accel-buffering-no", "X-Accel-Buffering: no"),
		with("accel-buffering-yes", "X-Accel-Buffering: yes"),
		with("accel-expires", "X-Accel-Expires: 10"),
		with("accel-limit-rate", "X-Accel-Limit-Rate: 1"),
		with("accel-charset", "X-Accel-Charset: latin1", "Content-Type: text/plain"),
		with("accel-lower-case", "x-accel-redirect: /x", "x-accel-buffering: no"),
		with("accel-unknown", "X-Accel-Other: 1"),
		with("accel-sendfile", "X-Sendfile: /etc/passwd"),
		with("accel-pad", "X-Pad: avoid browser bug"),
	}
}

// ContentTypes are usual, odd and missing ones.
func ContentTypes() []Script {
	values := []string{
		"text/plain", "text/html", "text/css", "text/xml", "application/json", "application/javascript", "TEXT/PLAIN",
		"text/plain;",
		"text/plain; charset=utf-8", "text/plain; charset=iso-8859-1", `text/html; charset="UTF-8"`,
		"text/plain;charset=", "weird",
		"application/vnd.example+json; version=2", "multipart/mixed; boundary=x", "a/b/c", "image/svg+xml",
		"text/event-stream", "text/plain, text/html",
	}
	out := []Script{with("type-none"), with("type-empty", "Content-Type:"), with("type-twice",
		"Content-Type: text/plain", "Content-Type: text/html")}
	for i, value := range values {
		out = append(out, with(fmt.Sprintf("type-%02d", i), "Content-Type: "+value))
	}
	return out
}

// Cookies are set by the upstream for itself.
func Cookies() []Script {
	return []Script{
		with("cookie", "Set-Cookie: a=1; Path=/; HttpOnly"),
		with("cookie-many", "Set-Cookie: a=1", "Set-Cookie: b=2; Expires=Wed, 21 Oct 2037 07:28:00 GMT",
			"Set-Cookie: c=3, d=4", "set-cookie: a=5"),
		with("cookie-long", "Set-Cookie: a="+strings.Repeat("c", 4000)),
		with("cookie-odd", "Set-Cookie: =nameless", "Set-Cookie:", "Set-Cookie: \"quoted\"=x; SameSite=None; Secure"),
		with("cookie-near-ours", "Set-Cookie: posterns=1", "Set-Cookie: my-postern=1", "Set-Cookie: Postern=1"),
	}
}

// CrossOrigins have the header that lets pages of other origins read them.
func CrossOrigins() []Script {
	return []Script{
		with("cors", "Access-Control-Allow-Origin: https://upstream.example", "Access-Control-Allow-Credentials: true",
			"Access-Control-Expose-Headers: X-Upstream", "Vary: Accept-Encoding"),
		with("cors-twice", "Access-Control-Allow-Origin: *", "access-control-allow-origin: https://other.example",
			"Vary: Origin", "Vary: Accept"),
		with("cors-preflight", "Access-Control-Allow-Methods: PURGE", "Access-Control-Allow-Headers: x-upstream",
			"Access-Control-Max-Age: 5"),
	}
}

// Transformed have headers that transforms change.
func Transformed() []Script {
	return []Script{
		with("transformed", "X-Known: 1", "X-Twice: a", "x-twice: b", "X-Other: before", "ETag: \"a\"",
			"Cache-Control: max-age=60", "X-Powered-By: upstream"),
		with("transformed-spelled", "x-known: 1", "X-TWICE: a, b"),
		with("transformed-empty", "X-Known:", "X-Twice:", "X-Twice: b"),
		with("transformed-underscore", "X_Known: 1"),
		sized(Script{Name: "transformed-404", Head: "HTTP/1.1 404 Not Found\nX-Known: 1\nX-Twice: a",
			Body: []string{"no"}}),
		{Name: "transformed-204", Head: "HTTP/1.1 204 No Content\nX-Known: 1\nX-Twice: a"},
		{Name: "transformed-304", Head: "HTTP/1.1 304 Not Modified\nX-Known: 1\nETag: \"a\""},
		sized(Script{Name: "transformed-302", Head: "HTTP/1.1 302 Found\nLocation: /x\nX-Known: 1",
			Body: []string{"to"}}),
	}
}

// JSONAnswers have bodies that transforms change, or leave alone.
func JSONAnswers() []Script {
	answer := func(name, status string, fields []string, body ...string) Script {
		head := append([]string{"HTTP/1.1 " + status}, fields...)
		return Script{Name: "json-" + name, Head: strings.Join(head, "\n"), Body: body}
	}
	typed := func(more ...string) []string { return append([]string{"Content-Type: application/json"}, more...) }
	out := []Script{
		{Name: "json-204", Head: "HTTP/1.1 204 No Content\nX-Known: 1"},
		{Name: "json-chunked", Head: ok + "\nContent-Type: application/json\nTransfer-Encoding: chunked",
			Body: []string{"8\r\n{\"gone\":\r\n", "8\r\n1,\"a\":2}\r\n0\r\n\r\n"}},
		{
			Name: "json-until-close", Head: ok + "\nContent-Type: application/json",
			Body: []string{`{"gone":1}`}, Ends: true,
		},
	}
	for _, s := range []Script{
		answer("object", "200 OK", typed(),
			`{"gone":1,"old":{"deep":[1,"x",null]},"known":"1","text":"a/b","list":[1],`+
				`"object":{"a":1},"number":2,"zero":0,"no":false,"null":null}`),
		answer("spaced", "200 OK", typed(),
			" { \"gone\" : 1 ,\n\t\"known\" : [ ] , \"object\" : { } , \"list\": [ ]\r\n} "),
		answer("escaped", "200 OK", typed(),
			`{"g\u006fne":1,"old":"\u00e4\ud83d\ude00\"\\\/","known":"ä","text":"\n"}`),
		answer("repeated", "200 OK", typed(), `{"gone":1,"known":1,"gone":2,"known":2,"a":1,"a":2}`),
		answer("numbers", "200 OK", typed(), `{"a":1.50,"b":-0.25,"c":1e3,"d":12345678901234,"e":1e-7,"known":0}`),
		answer("empty-object", "200 OK", typed(), `{}`),
		answer("array", "200 OK", typed(), `[{"gone":1},2]`),
		answer("empty-array", "200 OK", typed(), `[]`),
		answer("empty", "200 OK", typed(), ""),
		answer("invalid", "200 OK", typed(), `{"gone":1`),
		answer("two", "200 OK", typed(), `{"gone":1}{"gone":1}`),
		answer("surrogate", "200 OK", typed(), `{"gone":"\ud800"}`),
		answer("404", "404 Not Found", typed(), `{"gone":1,"code":"x"}`),
		answer("500", "500 Internal Server Error", typed(), `{"gone":1}`),
		answer("etag", "200 OK", typed(`ETag: "a"`, "Content-Digest: sha-256=:x:", "Content-MD5: x"), `{"gone":1}`),
		answer("part", "206 Partial Content", typed("Content-Range: bytes 0-8/100"), `{"gone":1`),
		answer("coded", "200 OK", typed("Content-Encoding: gzip"), "\x1f\x8b\x08\x00"),
		answer("charset", "200 OK", []string{"Content-Type: Application/JSON; Charset=utf-8"}, `{"gone":1}`),
		answer("problem", "400 Bad Request", []string{"Content-Type: application/problem+json"}, `{"gone":1}`),
		answer("vendor", "200 OK", []string{"Content-Type: application/vnd.example.v1+json; v=1"}, `{"gone":1}`),
		answer("several-types", "200 OK", []string{"Content-Type: text/plain, application/json"}, `{"gone":1}`),
		answer("odd-type", "200 OK", []string{"Content-Type: application/json; charset"}, `{"gone":1}`),
		answer("semicolon", "200 OK", []string{"Content-Type: application/json;"}, `{"gone":1}`),
		answer("jsonl", "200 OK", []string{"Content-Type: application/jsonl"}, `{"gone":1}`),
		answer("text-json", "200 OK", []string{"Content-Type: text/json"}, `{"gone":1}`),
		answer("text", "200 OK", []string{"Content-Type: text/plain"}, `{"gone":1}`),
		answer("none", "200 OK", nil, `{"gone":1}`),
		answer("events", "200 OK", []string{"Content-Type: text/event-stream"}, "data: {\"gone\":1}\n\n"),
		answer("pieces", "200 OK", typed(), `{"go`, `ne":1,"kn`, `own":2}`),
		answer("large", "200 OK", typed(), `{"gone":1,"a":"`+strings.Repeat("x", 200<<10)+`"}`),
	} {
		out = append(out, sized(s))
	}
	return out
}

// LongNumbers have more digits than Kong writes.
func LongNumbers() []Script {
	return []Script{sized(Script{Name: "json-long-number", Head: ok + "\nContent-Type: application/json",
		Body: []string{`{"gone":1,"id":1234567890123456789}`}})}
}

// Identifiers are answers that name an object by a number: only a whole one without an exponent is an identifier.
func Identifiers() []Script {
	var out []Script
	for name, number := range map[string]string{
		"exponent": "1e3", "fraction": "1001.0", "twenty-digits": "12345678901234567890", "digits": "1002",
	} {
		out = append(out, sized(Script{Name: "id-" + name, Head: ok + "\nContent-Type: application/json",
			Body: []string{`{"answer":` + number + `}`}}))
	}
	return sorted(out)
}

// JSONScalars are neither objects nor arrays.
func JSONScalars() []Script {
	var out []Script
	for name, body := range map[string]string{"string": `"a"`, "number": "1", "true": "true", "null": "null"} {
		out = append(out, sized(Script{Name: "json-scalar-" + name, Head: ok + "\nContent-Type: application/json",
			Body: []string{body}}))
	}
	slices.SortFunc(out, func(a, b Script) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// ControlCookies are the dashboard's, which no upstream may set.
func ControlCookies() []Script {
	return []Script{
		with("control-cookie", "Set-Cookie: postern=1; Path=/"),
		with("control-cookie-among", "Set-Cookie: a=1", "Set-Cookie: __Host-postern-x=1; Secure; Path=/",
			"Set-Cookie: b=2"),
		with("control-cookie-nameless", "Set-Cookie: =postern=1"),
	}
}

func sorted(scripts []Script) []Script {
	slices.SortFunc(scripts, func(a, b Script) int { return strings.Compare(a.Name, b.Name) })
	return scripts
}
