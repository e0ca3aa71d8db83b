package engine

import (
	"errors"
	"net/http"
	"strings"
)

// ErrAnswer says that an upstream's answer is not HTTP, or that two readers
// could find its end in different places.
var ErrAnswer = errors.New("the upstream's answer is malformed")

// Response is the head of an upstream's answer. Its strings and its fields are valid
// during the call that it is handed to.
type Response struct {
	Status int
	Fields []Field // in order, without Content-Length and Transfer-Encoding

	framing  framing
	length   int64 // of the body; for lengthKnown
	declared bool  // Content-Length was sent, whatever it means for this answer
	closes   bool  // the connection is not to be used again
	trailers bool  // some are announced
}

// framing is how the end of an answer's body is found.
type framing int

const (
	noBody framing = iota
	lengthKnown
	chunked
	untilClose
)

// parse reads a whole head; method is the request's. Lines may end in a bare
// LF, which RFC 9112 section 2.2 allows a recipient to take: the head is written
// anew, so that nobody after us can read it differently.
func (r *Response) parse(s, method string) error {
	*r = Response{Fields: r.Fields[:0], length: -1}
	line, rest := cutAnswerLine(s)
	http10, ok := r.statusLine(line)
	if !ok {
		return ErrAnswer
	}
	encodings := 0
	for {
		if line, rest = cutAnswerLine(rest); line == "" {
			return r.frame(method, http10, encodings)
		}
		f, ok := cutField(line)
		if !ok {
			return ErrAnswer
		}
		switch {
		case len(f.Name) == len("content-length") && strings.EqualFold(f.Name, "content-length"):
			n, ok := digits(f.Value)
			if !ok || r.declared && n != r.length {
				return ErrAnswer
			}
			r.length, r.declared = n, true
			continue
		case len(f.Name) == len("transfer-encoding") && strings.EqualFold(f.Name, "transfer-encoding"):
			if encodings++; encodings > 1 || !http10 && !strings.EqualFold(f.Value, "chunked") {
				return ErrAnswer
			}
			continue
		case len(f.Name) == len("connection") && strings.EqualFold(f.Name, "connection"):
			r.closes = r.closes || HasToken(f.Value, "close")
		case len(f.Name) == len("trailer") && strings.EqualFold(f.Name, "trailer"):
			r.trailers = true
		}
		r.Fields = append(r.Fields, f)
	}
}

// cutAnswerLine cuts the next line; s ends in an empty one.
func cutAnswerLine(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// statusLine takes "HTTP/1.1 200" with or without a reason, which nobody reads.
func (r *Response) statusLine(line string) (http10, ok bool) {
	if len(line) < len("HTTP/1.1 200") || line[:7] != "HTTP/1." || line[8] != ' ' ||
		len(line) > len("HTTP/1.1 200") && line[12] != ' ' {
		return false, false
	}
	n, ok := digits(line[9:12])
	r.Status = int(n)
	return line[7] == '0', ok && n >= 100 && (line[7] == '0' || line[7] == '1')
}

// frame applies RFC 9112 section 6.3. An answer with both a length and an
// encoding is read by its encoding and ends its connection, as the section asks.
func (r *Response) frame(method string, http10 bool, encodings int) error {
	if http10 || encodings > 0 && r.declared {
		r.closes = true
	}
	// Only a chunked body has trailers; the answer to HEAD says what it would have.
	r.trailers = r.trailers && encodings > 0 && !http10 && r.Status >= 200 && r.Status != http.StatusNoContent &&
		r.Status != http.StatusNotModified
	switch {
	case r.Status < 200 || r.Status == http.StatusNoContent || r.Status == http.StatusNotModified || method == http.MethodHead:
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

// HasToken tells whether a comma-separated value names the token, whatever
// parameters follow it.
func HasToken(value, token string) bool {
	for entry := range strings.SplitSeq(value, ",") {
		entry, _, _ = strings.Cut(entry, ";")
		if strings.EqualFold(trimBlanks(entry), token) {
			return true
		}
	}
	return false
}
