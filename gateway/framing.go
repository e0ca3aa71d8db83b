package gateway

import (
	"bytes"
	"errors"
	"net"
	"strings"

	"postern/gateway/engine"
)

// errFraming makes net/http answer 400 and close the connection.
var errFraming = errors.New("malformed request framing")

// strictListener refuses requests that two parsers could read differently, before net/http
// sees the end of their header. net/http is more lenient than a gateway may be: it accepts a
// bare LF as the end of a line, joins folded lines, lets Transfer-Encoding win over
// Content-Length, and ignores the Host line next to an absolute-form target (RFC 9112 sections
// 2.2, 3.2.2, 5.2, 6.1 and 6.3).
type strictListener struct{ net.Listener }

func (l strictListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &strictConn{Conn: conn}, nil
}

// strictConn follows the framing of the data that is read through it: request line and header, then the body by its
// length or its chunks, then the next request.
type strictConn struct {
	net.Conn
	framing framing
	failed  bool
	poison  int  // zero bytes that refuse has still to return
	loose   bool // hijacked for a tunnel: the bytes are no longer HTTP
}

// NetConn returns the underlying connection.
func (c *strictConn) NetConn() net.Conn { return c.Conn }

// release ends the checks on a connection that was hijacked.
func release(c net.Conn) {
	if s, ok := c.(*strictConn); ok {
		s.loose = true
	}
}

func (c *strictConn) Read(p []byte) (int, error) {
	if c.failed {
		return c.refuse(p)
	}
	untouched := c.framing.betweenRequests()
	n, err := c.Conn.Read(p)
	if c.loose || n == 0 {
		return n, err
	}
	good, ok := c.framing.follow(p[:n])
	if ok {
		return n, err
	}
	// Requests before the bad one are complete and are served. net/http never gets the end of the bad one's header.
	c.failed = true
	if untouched || good > 0 {
		c.poison = 4
	}
	if good == 0 {
		return c.refuse(p)
	}
	return good, nil
}

// refuse ends the stream of requests with errFraming. While net/http serves a call it reads
// one byte ahead to see whether the caller is still there, and an error would cancel that
// call. So if nothing of the bad request has been read yet, refuse first returns zero bytes,
// which begin no request. It returns four, because for an error within the first four bytes
// net/http assumes that the caller has left, and closes without a response.
func (c *strictConn) refuse(p []byte) (int, error) {
	if c.poison == 0 {
		return 0, errFraming
	}
	n := min(c.poison, len(p))
	clear(p[:n])
	c.poison -= n
	return n, nil
}

// CloseWrite lets net/http close in two steps after its 400: closing with unread bytes would
// reset the connection and discard the response.
func (c *strictConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type state int

const (
	inRequestLine state = iota
	inHeader
	inBody      // left counts the bytes
	inChunkSize // a line
	inChunk     // left counts the bytes, with the CRLF that follows
	inTrailer   // lines until an empty one
)

// framing is the position in a stream of requests.
type framing struct {
	state state
	line  []byte // a line whose end has not been read
	left  int64  // bytes; see state
	head
}

// head is the framing information in the header of one request.
type head struct {
	authority  string // of an absolute-form target, lowercase; "" for others
	host       string // of the Host line, lowercase
	http10     bool
	hasLength  bool
	length     int64
	isChunked  bool
	connectsTo bool // CONNECT: the target is an authority
}

// maxLine bounds an unfinished line. net/http's limit on all headers together is lower; for
// chunk extensions this is the only one.
const maxLine = 64 << 10

// betweenRequests reports whether nothing of the next request has been read.
func (f *framing) betweenRequests() bool { return f.state == inRequestLine && len(f.line) == 0 }

// follow advances over p. On a violation ok is false, and good is the number of bytes that
// belong to requests before the bad one.
func (f *framing) follow(p []byte) (good int, ok bool) {
	for i := 0; i < len(p); {
		if f.state == inBody || f.state == inChunk {
			skip := min(f.left, int64(len(p)-i))
			if f.state == inChunk && !f.endsChunk(p[i:i+int(skip)]) {
				return good, false
			}
			f.left -= skip
			i += int(skip)
			if f.left == 0 {
				good = f.finishPart(good, i)
			}
			continue
		}
		end := bytes.IndexByte(p[i:], '\n')
		if end < 0 {
			if len(f.line)+len(p)-i > maxLine {
				return good, false
			}
			f.line = append(f.line, p[i:]...)
			return good, true
		}
		line := p[i : i+end+1]
		if len(f.line) > 0 {
			f.line = append(f.line, line...)
			line = f.line
		}
		i += end + 1
		before := f.state
		if !f.takeLine(line) {
			return good, false
		}
		f.line = f.line[:0]
		if f.state == inRequestLine && before != inRequestLine {
			good = i
		}
	}
	return good, true
}

// endsChunk reports whether piece, the next part of a chunk's data and CRLF of which f.left
// bytes are left, has the CRLF where it belongs.
func (f *framing) endsChunk(piece []byte) bool {
	for k := max(0, f.left-2); k < int64(len(piece)); k++ {
		if want := "\r\n"[2-(f.left-k)]; piece[k] != want {
			return false
		}
	}
	return true
}

func (f *framing) finishPart(good, i int) int {
	if f.state == inChunk {
		f.state = inChunkSize
		return good
	}
	f.state = inRequestLine
	return i
}

// takeLine parses one line with its line end, and reports whether it is valid.
func (f *framing) takeLine(line []byte) bool {
	if len(line) < 2 || line[len(line)-2] != '\r' {
		return false
	}
	line = line[:len(line)-2]
	if bytes.IndexByte(line, '\r') >= 0 || bytes.IndexByte(line, 0) >= 0 {
		return false
	}
	switch f.state {
	case inRequestLine:
		f.state = inHeader
		return f.requestLine(line)
	case inHeader:
		if len(line) == 0 {
			return f.endHeader()
		}
		return f.headerLine(line)
	case inChunkSize:
		return f.chunkSize(line)
	default: // inTrailer
		if len(line) == 0 {
			f.state = inRequestLine
			return true
		}
		return line[0] != ' ' && line[0] != '\t'
	}
}

// requestLine parses what net/http does not keep: the authority of the target and the
// version. It leaves everything else to net/http.
func (f *framing) requestLine(line []byte) bool {
	f.head = head{}
	method, rest, ok := bytes.Cut(line, []byte(" "))
	target, version, ok2 := bytes.Cut(rest, []byte(" "))
	if !ok || !ok2 || len(method) == 0 || len(target) == 0 {
		return false
	}
	f.http10 = string(version) == "HTTP/1.0"
	if target[0] == '/' {
		return true
	}
	f.connectsTo = string(method) == "CONNECT"
	if afterScheme, ok := cutScheme(string(target)); ok {
		if end := strings.IndexAny(afterScheme, "/?#"); end >= 0 {
			afterScheme = afterScheme[:end]
		}
		f.authority = strings.ToLower(afterScheme)
		return f.authority != ""
	}
	return true
}

func (f *framing) headerLine(line []byte) bool {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 || name[0] == ' ' || name[0] == '\t' || name[len(name)-1] == ' ' ||
		name[len(name)-1] == '\t' {
		return false
	}
	switch len(name) {
	case len("host"):
		if bytes.EqualFold(name, []byte("host")) {
			f.host = strings.ToLower(string(bytes.TrimSpace(value)))
			return engine.IsHost(f.host)
		}
	case len("content-length"):
		if bytes.EqualFold(name, []byte("content-length")) {
			return f.contentLength(bytes.Trim(value, " \t"))
		}
	case len("transfer-encoding"):
		if bytes.EqualFold(name, []byte("transfer-encoding")) {
			repeated := f.isChunked
			f.isChunked = true
			return !repeated && bytes.EqualFold(bytes.Trim(value, " \t"), []byte("chunked"))
		}
	}
	return true
}

// contentLength accepts digits only, and one line: a second one, even with the same number,
// is an attempt at request smuggling.
func (f *framing) contentLength(digits []byte) bool {
	if f.hasLength || len(digits) == 0 || len(digits) > 18 {
		return false
	}
	f.hasLength = true
	for _, d := range digits {
		if d < '0' || d > '9' {
			return false
		}
		f.length = f.length*10 + int64(d-'0')
	}
	return true
}

func (f *framing) endHeader() bool {
	switch {
	case f.isChunked && (f.hasLength || f.http10):
		return false
	case f.authority != "" && f.authority != f.host && !f.connectsTo:
		return false
	case f.isChunked:
		f.state = inChunkSize
	case f.length > 0:
		f.state, f.left = inBody, f.length
	default:
		f.state = inRequestLine
	}
	return true
}

// chunkSize parses the first line of a chunk (RFC 9112 section 7.1).
func (f *framing) chunkSize(line []byte) bool {
	size, _, _ := bytes.Cut(line, []byte(";"))
	if size = bytes.TrimRight(size, " \t"); len(size) == 0 || len(size) > 15 {
		return false
	}
	var n int64
	for _, c := range size {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | int64(c|0x20-'a'+10)
		default:
			return false
		}
	}
	if n == 0 {
		f.state = inTrailer
		return true
	}
	f.state, f.left = inChunk, n+2
	return true
}
