package engine

import "strings"

// Field is a header line. Its value doesn't begin or end with blanks.
type Field struct{ Name, Value string }

// Request is the head of a plain request. Its strings are valid until the call is over. Code that retains one for
// longer has to clone it.
type Request struct {
	Method string
	Target string  // origin form, printable ASCII, no fragment
	Host   string  // as sent
	Fields []Field // in order, without Host, Content-Length and Connection
	Length int64   // of the body
	Close  bool    // the caller asks to close the connection after the response

	hosts, lengths int // number of lines
}

// MaxPlainBody is the longest body of a plain request, in bytes. It fits the socket buffers of an upstream that answers
// without reading, so writing it and then reading the response can't deadlock. For longer bodies, both have to happen
// concurrently.
const MaxPlainBody = 64 << 10

// maxFields bounds the lines of a plain head; as many as callers send.
const maxFields = 100

type verdict int

const (
	plain   verdict = iota // complete and unambiguous
	partial                // plain so far
	unusual                // everything else, malformed requests included
)

// parse parses the head at the beginning of s. It alone decides which requests the engine
// serves: what RFC 9112 leaves open, what needs more than one message each way, and what is
// malformed is unusual, and left to the fallback.
func (r *Request) parse(s string) verdict {
	*r = Request{Fields: r.Fields[:0]}
	line, rest, v := cutLine(s)
	if v != plain {
		return v
	}
	if !r.requestLine(line) {
		return unusual
	}
	for {
		if line, rest, v = cutLine(rest); v != plain {
			return v
		}
		if line == "" {
			return r.whole()
		}
		if !r.line(line) {
			return unusual
		}
	}
}

// cutLine cuts a line that ends in CRLF. Parsers disagree on whether a bare LF ends a line.
func cutLine(s string) (line, rest string, v verdict) {
	end := strings.IndexByte(s, '\n')
	switch {
	case end < 0:
		return "", "", partial
	case end == 0 || s[end-1] != '\r':
		return "", "", unusual
	}
	return s[:end-1], s[end+1:], plain
}

func (r *Request) requestLine(line string) bool {
	method, rest, ok := strings.Cut(line, " ")
	target, ok2 := strings.CutSuffix(rest, " HTTP/1.1")
	if !ok || !ok2 || !IsMethod(method) || len(target) == 0 || target[0] != '/' || !all(target, targetBytes) {
		return false
	}
	r.Method, r.Target = method, target
	return method != "CONNECT" && method != "TRACE"
}

func (r *Request) line(line string) bool {
	f, ok := cutField(line)
	if !ok {
		return false
	}
	switch len(f.Name) {
	case len("te"):
		if strings.EqualFold(f.Name, "te") {
			return false
		}
	case len("host"):
		if strings.EqualFold(f.Name, "host") {
			r.Host = f.Value
			r.hosts++
			return f.Value != "" && IsHost(f.Value) && all(f.Value, hostBytes)
		}
	case len("expect"):
		// net/http adds Cache-Control to a request with Pragma only. The upstream must get
		// the same on both paths.
		if strings.EqualFold(f.Name, "expect") || strings.EqualFold(f.Name, "pragma") {
			return false
		}
	case len("upgrade"):
		if strings.EqualFold(f.Name, "upgrade") || strings.EqualFold(f.Name, "trailer") {
			return false
		}
	case len("connection"):
		if strings.EqualFold(f.Name, "connection") {
			closes := strings.EqualFold(f.Value, "close")
			r.Close = r.Close || closes
			return closes || strings.EqualFold(f.Value, "keep-alive")
		}
	case len("content-length"):
		if strings.EqualFold(f.Name, "content-length") {
			var ok bool
			r.Length, ok = digits(f.Value)
			r.lengths++
			return ok && r.Length <= MaxPlainBody
		}
	case len("transfer-encoding"):
		if strings.EqualFold(f.Name, "transfer-encoding") {
			return false
		}
	}
	r.Fields = append(r.Fields, f)
	return len(r.Fields) <= maxFields
}

func (r *Request) whole() verdict {
	if r.hosts != 1 || r.lengths > 1 {
		return unusual
	}
	return plain
}

// cutField parses a line: a token, a colon without a blank before it, and a value without
// control characters.
func cutField(line string) (Field, bool) {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) {
		return Field{}, false
	}
	value = trimBlanks(value)
	return Field{name, value}, all(value, valueBytes)
}

func trimBlanks(s string) string {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// digits parses a length: decimal digits only, and at most 18, which cannot overflow.
func digits(s string) (int64, bool) {
	if s == "" || len(s) > 18 {
		return 0, false
	}
	n := int64(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

func isToken(s string) bool { return s != "" && all(s, tokenBytes) }

// IsMethod reports whether nginx accepts a method: capital letters, - and _
// (ngx_http_parse_request_line), as in every method in use. The exported gateway answers 400
// to the other tokens of RFC 9110 section 9.1.
func IsMethod(s string) bool { return s != "" && all(s, methodBytes) }

// IsHost reports whether a Host line has a host before its port, or is empty, as RFC 9112
// section 3.2 allows for a target without authority. nginx too answers 400 to lines such as
// :80 and ::1 (ngx_http_validate_host).
func IsHost(line string) bool {
	name := strings.TrimPrefix(line, ".") // the root alone isn't a host
	return line == "" || name != "" && name[0] != ':'
}

func all(s string, set *[256]bool) bool {
	for i := range len(s) {
		if !set[s[i]] {
			return false
		}
	}
	return true
}

// The character sets of RFC 9110 sections 5.5 and 5.6.2, RFC 9112 section 3.2.1 and RFC 3986 section 3.2.2. Those of
// targets and hosts are narrower than in the RFCs.
var (
	letters     = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	tokenBytes  = byteSet(isOneOf(letters + "!#$%&'*+-.^_`|~"))
	methodBytes = byteSet(func(c int) bool { return c >= 'A' && c <= 'Z' || c == '-' || c == '_' })
	valueBytes  = byteSet(func(c int) bool { return c == '\t' || c >= 0x20 && c != 0x7f })
	targetBytes = byteSet(func(c int) bool { return c > 0x20 && c < 0x7f && c != '#' })
	hostBytes   = byteSet(isOneOf(letters + "-._:[]"))
)

func isOneOf(ascii string) func(int) bool {
	return func(c int) bool { return c < 0x80 && strings.IndexByte(ascii, byte(c)) >= 0 }
}

func byteSet(has func(int) bool) *[256]bool {
	var set [256]bool
	for c := range set {
		set[c] = has(c)
	}
	return &set
}
