package engine

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// ErrResponse is the error for an upstream's response that isn't HTTP, or whose end is ambiguous to parsers.
var ErrResponse = errors.New("the upstream's response is malformed")

// Response is the head of an upstream's response. Its strings and fields are valid until the function that receives it
// returns.
type Response struct {
	Status int
	Fields []Field // in order, without Content-Length and Transfer-Encoding

	framing  framing
	length   int64 // of the body; for lengthKnown
	declared bool  // Content-Length was sent, even if the response has no body
	closes   bool  // the connection must not be used again
	trailers bool  // trailers are announced
	streams  bool  // it is an event stream

	keepAlive time.Duration // for which the upstream keeps the connection while it is idle; 0: it doesn't say
}

// framing is how the end of a response's body is found.
type framing int

const (
	noBody framing = iota
	lengthKnown
	chunked
	untilClose
)

// parse parses a complete head; method is the request's. Lines may end in a bare LF, which RFC
// 9112 section 2.2 allows recipients to accept: the head is written again for the caller, with
// CRLF.
func (r *Response) parse(s, method string) error {
	*r = Response{Fields: r.Fields[:0], length: -1}
	line, rest := cutResponseLine(s)
	http10, ok := r.statusLine(line)
	if !ok {
		return ErrResponse
	}
	encodings := 0
	for {
		if line, rest = cutResponseLine(rest); line == "" {
			return r.frame(method, http10, encodings)
		}
		f, ok := cutField(line)
		if !ok {
			return ErrResponse
		}
		switch {
		case len(f.Name) == len("content-length") && strings.EqualFold(f.Name, "content-length"):
			n, ok := digits(f.Value)
			if !ok || r.declared && n != r.length {
				return ErrResponse
			}
			r.length, r.declared = n, true
			continue
		case len(f.Name) == len("transfer-encoding") && strings.EqualFold(f.Name, "transfer-encoding"):
			if encodings++; encodings > 1 || !http10 && !strings.EqualFold(f.Value, "chunked") {
				return ErrResponse
			}
			continue
		case len(f.Name) == len("connection") && strings.EqualFold(f.Name, "connection"):
			r.closes = r.closes || HasToken(f.Value, "close")
		case len(f.Name) == len("keep-alive") && strings.EqualFold(f.Name, "keep-alive"):
			r.keepAlive = keptFor(f.Value)
		case len(f.Name) == len("content-type") && strings.EqualFold(f.Name, "content-type"):
			r.streams = IsEventStream(f.Value)
		case len(f.Name) == len("trailer") && strings.EqualFold(f.Name, "trailer"):
			r.trailers = true
		}
		r.Fields = append(r.Fields, f)
	}
}

// cutResponseLine cuts the next line. s ends in an empty line.
func cutResponseLine(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// statusLine parses "HTTP/1.1 200", with or without a reason, which is dropped.
func (r *Response) statusLine(line string) (http10, ok bool) {
	if len(line) < len("HTTP/1.1 200") || line[:7] != "HTTP/1." || line[8] != ' ' ||
		len(line) > len("HTTP/1.1 200") && line[12] != ' ' {
		return false, false
	}
	n, ok := digits(line[9:12])
	r.Status = int(n)
	return line[7] == '0', ok && n >= 100 && (line[7] == '0' || line[7] == '1')
}

// frame applies RFC 9112 section 6.3. A response with both Content-Length and
// Transfer-Encoding is read as chunked and ends its connection, as the section requires.
func (r *Response) frame(method string, http10 bool, encodings int) error {
	if http10 || encodings > 0 && r.declared {
		r.closes = true
	}
	bodiless := r.Status < 200 || r.Status == http.StatusNoContent || r.Status == http.StatusNotModified
	// Only a chunked body has trailers. The response to HEAD announces those of GET.
	r.trailers = r.trailers && encodings > 0 && !http10 && !bodiless
	switch {
	case bodiless || method == http.MethodHead:
		r.framing = noBody
	case encodings > 0 && !http10:
		r.framing = chunked
	case r.declared:
		r.framing = lengthKnown
	default:
		r.framing, r.closes = untilClose, true
	}
	return nil
}

// silence returns the time allowed between two reads of a response's body.
func (t *Timeouts) silence(r *Response) time.Duration {
	if r.streams {
		return t.StreamIdle
	}
	return t.Idle
}

// IsEventStream reports whether a Content-Type means server-sent events (WHATWG HTML, 9.2).
func IsEventStream(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(trimBlanks(media), "text/event-stream")
}

// mostKept bounds the values of Keep-Alive. Connections aren't kept for so long.
const mostKept = 1 << 20

// keptFor returns the timeout in a Keep-Alive header, such as "timeout=5, max=100", at least closingMargin; 0 if there
// is none.
func keptFor(value string) time.Duration {
	for entry := range strings.SplitSeq(value, ",") {
		name, seconds, _ := strings.Cut(entry, "=")
		if !strings.EqualFold(trimBlanks(name), "timeout") {
			continue
		}
		if n, ok := digits(trimBlanks(seconds)); ok {
			return max(time.Duration(min(n, mostKept))*time.Second, closingMargin)
		}
	}
	return 0
}

// HasToken reports whether a comma-separated value has the token, with or without
// parameters.
func HasToken(value, token string) bool {
	for entry := range strings.SplitSeq(value, ",") {
		entry, _, _ = strings.Cut(entry, ";")
		if strings.EqualFold(trimBlanks(entry), token) {
			return true
		}
	}
	return false
}
