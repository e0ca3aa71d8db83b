package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"postern/gateway/engine"
)

// maxStreams is how many calls one connection of HTTP/2 may have under way. It is
// nginx's number, and the bound on what a caller who resets his calls at once can
// make us do (CVE-2023-44487): net/http hangs up on one who is far beyond it.
const maxStreams = 128

// http2 bounds a connection of HTTP/2. What one call may take is bounded as on
// every path; net/http bounds headers, and the frames that carry none of a call.
func (l Limits) http2() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams: maxStreams,
		WriteByteTimeout:     l.Idle, // a caller who takes nothing, whatever he opens
	}
}

// isStrictHTTP2 refuses what a request of HTTP/2 can hold and one of HTTP/1.1
// cannot: net/http takes pseudo-headers as they come, and what we write to the
// upstream must be read there as it was decided here (RFC 9113 sections 8.2.1,
// 8.3.1 and 10.3).
func isStrictHTTP2(r *http.Request) bool {
	if !httpguts.ValidHeaderFieldName(r.Method) || !isVisible(r.RequestURI) || r.RequestURI[0] != '/' ||
		!engine.IsHost(r.Host) {
		return false
	}
	if lines := r.Header["Host"]; len(lines) > 1 || len(lines) == 1 && !strings.EqualFold(lines[0], r.Host) {
		return false
	}
	lengths := r.Header["Content-Length"]
	return len(lengths) == 0 || len(lengths) == 1 && isLength(lengths[0], r.ContentLength)
}

// isLength tells whether the digits are that number: net/http takes what it cannot
// read, and the length of a body that does not come, for 0.
func isLength(digits string, length int64) bool {
	n, err := strconv.ParseUint(digits, 10, 63) // no sign
	return err == nil && int64(n) == length
}

// isVisible tells a target that is one word of a request line.
func isVisible(target string) bool {
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c == 0x7f || c == '#' {
			return false
		}
	}
	return target != ""
}
