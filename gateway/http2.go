package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"postern/gateway/engine"
	"postern/gateway/h2"
)

// HTTP2 says how the gateway serves HTTP/2 over TLS.
type HTTP2 int

// The values of HTTP2.
const (
	HTTP2Own     HTTP2 = iota // with package h2
	HTTP2NetHTTP              // with the standard library, for comparison
	HTTP2Off                  // not at all: only HTTP/1.1 is offered
)

// protocols returns the protocols that a listener offers (ALPN).
func (h HTTP2) protocols() []string {
	if h == HTTP2Off {
		return []string{engine.HTTP1}
	}
	return []string{engine.HTTP2, engine.HTTP1}
}

// maxStreams is how many simultaneous calls an HTTP/2 connection may have: nginx's number. Calls that the caller has
// reset count until they are over (CVE-2023-44487).
const maxStreams = 128

// http2 returns the limits on a connection of HTTP/2. Calls have the same limits as on HTTP/1.1.
func (l Limits) http2() h2.Limits {
	return h2.Limits{
		Streams:     maxStreams,
		HeaderBytes: l.HeaderBytes,
		Header:      l.ClientHeader,
		Idle:        l.ClientIdle,
		Write:       l.Idle,
	}
}

// isStrictHTTP2 reports whether a request of HTTP/2 can be written as HTTP/1.1 and means the
// same there. HTTP/2 allows more in pseudo-headers, and the upstream must read what was
// decided about here (RFC 9113 sections 8.2.1, 8.3.1 and 10.3).
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

// isLength reports whether digits are the number length.
func isLength(digits string, length int64) bool {
	n, err := strconv.ParseUint(digits, 10, 63) // no sign
	return err == nil && int64(n) == length
}

// isVisible reports whether a request line can have a target.
func isVisible(target string) bool {
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c == 0x7f || c == '#' {
			return false
		}
	}
	return target != ""
}
