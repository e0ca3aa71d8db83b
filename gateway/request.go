package gateway

import (
	"net/http"
	"strings"

	"postern/core/policy"
	"postern/gateway/engine"
)

// request has the fields of a caller's header that decide reads. It holds the caller's
// credentials and is dropped after decide.
type request struct {
	keys          lines // X-API-Key
	authorization lines

	fields []engine.Field // of the engine; nil for net/http
	header http.Header    // of net/http

	hops   int   // how often the call has passed through this gateway, by Via
	length int64 // of the body; -1: not known

	upgrade, fetchDest, accept lines // read only if the caps apply

	// Read only if the project states which origins may call it.
	origin, requestMethod, requestHeaders lines
}

// lines is a field of a header: how many lines it has, and the first one.
type lines struct {
	n     int
	first string
}

func (l *lines) add(value string) {
	if l.n++; l.n == 1 {
		l.first = value
	}
}

func linesOf(values []string) lines { return lines{len(values), first(values)} }

// requestOfEngine reads the engine's request in one pass over its fields.
func requestOfEngine(from *engine.Request) request {
	r := request{length: from.Length, fields: from.Fields}
	for i := range from.Fields {
		f := &from.Fields[i]
		switch len(f.Name) {
		case len("Via"):
			if strings.EqualFold(f.Name, "Via") {
				r.hops += hops(f.Value)
			}
		case len("Accept"):
			if strings.EqualFold(f.Name, "Accept") {
				r.accept.add(f.Value)
			} else if strings.EqualFold(f.Name, "Origin") { // as long
				r.origin.add(f.Value)
			}
		case len("Upgrade"):
			if strings.EqualFold(f.Name, "Upgrade") {
				r.upgrade.add(f.Value)
			}
		case len(policy.KeyHeader):
			if strings.EqualFold(f.Name, policy.KeyHeader) {
				r.keys.add(f.Value)
			}
		case len(authorizationHeader):
			if strings.EqualFold(f.Name, authorizationHeader) {
				r.authorization.add(f.Value)
			}
		case len("Sec-Fetch-Dest"):
			if strings.EqualFold(f.Name, "Sec-Fetch-Dest") {
				r.fetchDest.add(f.Value)
			}
		case len(requestMethodHeader):
			if strings.EqualFold(f.Name, requestMethodHeader) {
				r.requestMethod.add(f.Value)
			}
		case len(requestHeadersHeader):
			if strings.EqualFold(f.Name, requestHeadersHeader) {
				r.requestHeaders.add(f.Value)
			}
		}
	}
	return r
}

// requestOfHTTP reads net/http's request.
func requestOfHTTP(from *http.Request) request {
	r := request{
		keys:           linesOf(from.Header[policy.KeyHeader]),
		authorization:  linesOf(from.Header[authorizationHeader]),
		header:         from.Header,
		length:         from.ContentLength,
		upgrade:        linesOf(from.Header["Upgrade"]),
		fetchDest:      linesOf(from.Header["Sec-Fetch-Dest"]),
		accept:         linesOf(from.Header["Accept"]),
		origin:         linesOf(from.Header["Origin"]),
		requestMethod:  linesOf(from.Header[requestMethodHeader]),
		requestHeaders: linesOf(from.Header[requestHeadersHeader]),
	}
	for _, line := range from.Header["Via"] {
		r.hops += hops(line)
	}
	return r
}
