package h2

import (
	"context"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// begin opens the stream of a request and lets a worker call the handler.
func (c *conn) begin(b *headerBlock) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case b.code != http2.ErrCodeNo:
		return c.resetStream(b.stream, b.code)
	case c.running >= c.server.Limits.Streams:
		// Nothing was done for it, and the caller may send it again (RFC 9113 section 8.7).
		return c.resetStream(b.stream, http2.ErrCodeRefusedStream)
	}
	st := &stream{conn: c, id: b.stream, received: b.ends, left: -1}
	if !b.tooLong && !st.setRequest(b) {
		return c.resetStream(b.stream, http2.ErrCodeProtocol)
	}
	clear(b.fields) // they would keep the caller's credentials
	st.open()
	c.streams[st.id] = st
	c.running++
	c.waste.earn(usefulFrame)
	c.server.workers.do(st)
	return nil
}

// setRequest fills in the request. It returns false for one that is malformed (RFC 9113 section 8.1.1).
func (st *stream) setRequest(b *headerBlock) bool {
	isConnect := b.method == http.MethodConnect
	switch {
	case isConnect && (b.pseudo != hasMethod|hasAuthority || b.authority == ""):
		return false
	case !isConnect && (b.method == "" || b.path == "" || b.scheme != "https" && b.scheme != "http"):
		return false
	case !isConnect && b.path[0] != '/' && b.path != "*":
		return false
	}
	header := st.conn.headerOf(b.fields)
	host := b.authority
	if lines := header["Host"]; len(lines) == 1 && (host == "" || strings.EqualFold(lines[0], host)) {
		host = lines[0]
		delete(header, "Host") // others are left, for the handler to see
	}
	length, ok := bodyLength(header["Content-Length"], b.ends)
	if !ok || strings.Contains(host, "@") || host != "" && !httpguts.ValidHostHeader(host) {
		return false
	}
	at, uri := &url.URL{Host: host}, host
	if !isConnect {
		var err error
		if at, err = url.ParseRequestURI(b.path); err != nil {
			return false
		}
		uri = b.path
	}
	st.left = length
	ctx, cancel := context.WithCancel(st.conn.ctx)
	st.cancel = cancel
	st.request = (&http.Request{
		Method:        b.method,
		URL:           at,
		Header:        header,
		Host:          host,
		RequestURI:    uri,
		Proto:         "HTTP/2.0",
		ProtoMajor:    2,
		RemoteAddr:    st.conn.remote,
		TLS:           st.conn.tls,
		ContentLength: length,
		Body:          http.NoBody,
		Trailer:       takeTrailers(header),
	}).WithContext(ctx)
	if !b.ends {
		st.request.Body = &st.body
	}
	if lines := header["Expect"]; httpguts.HeaderValuesContainsToken(lines, "100-continue") {
		st.body.continues = true
		delete(header, "Expect")
	}
	return true
}

// bodyLength returns the length that a request states for its body; -1: none. It returns false if the length cannot be
// read, or there is no body.
func bodyLength(lines []string, ends bool) (length int64, ok bool) {
	if len(lines) == 0 {
		if ends {
			return 0, true
		}
		return -1, true
	}
	n, err := strconv.ParseUint(lines[0], 10, 63) // takes no sign
	if len(lines) > 1 || err != nil || ends && n != 0 {
		return 0, false
	}
	return int64(n), true
}

// takeTrailers returns the names of the trailers that a header announces, and removes their announcement.
func takeTrailers(header http.Header) http.Header {
	var out http.Header
	for _, line := range header["Trailer"] {
		for name := range strings.SplitSeq(line, ",") {
			name = textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name))
			if !httpguts.ValidTrailerHeader(name) {
				continue
			}
			if out == nil {
				out = http.Header{}
			}
			out[name] = nil
		}
	}
	delete(header, "Trailer")
	return out
}

// moreFields is room for fields that the handler adds before it forwards a request.
const moreFields = 16

// headerOf returns the fields as net/http has them, with the lines of Cookie joined (RFC 9113 section 8.2.3).
func (c *conn) headerOf(fields []hpack.HeaderField) http.Header {
	header := make(http.Header, len(fields)+moreFields)
	lines := make([]string, 0, len(fields))
	for i := range fields {
		name := c.canonical(fields[i].Name)
		if before := header[name]; before != nil {
			header[name] = append(before, fields[i].Value)
			continue
		}
		lines = append(lines, fields[i].Value)
		header[name] = lines[len(lines)-1 : len(lines) : len(lines)]
	}
	if cookies := header["Cookie"]; len(cookies) > 1 {
		header["Cookie"] = []string{strings.Join(cookies, "; ")}
	}
	return header
}

// maxNames is how many names a connection remembers the canonical form of.
const maxNames = 64

// canonical returns the canonical form of the name of a field.
func (c *conn) canonical(name string) string {
	if known := c.names[name]; known != "" {
		return known
	}
	form := http.CanonicalHeaderKey(name)
	if len(c.names) < maxNames && len(name) <= 64 {
		if c.names == nil {
			c.names = map[string]string{}
		}
		c.names[name] = form
	}
	return form
}

// endByTrailers ends the body of a request.
func (c *conn) endByTrailers(b *headerBlock) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.streams[b.stream]
	if st == nil {
		return nil // it has ended in the meantime
	}
	if b.code == http2.ErrCodeNo && (!b.ends || b.tooLong || st.left > 0) {
		b.code = http2.ErrCodeProtocol
	}
	if b.code != http2.ErrCodeNo {
		return c.resetStream(b.stream, b.code)
	}
	for i := range b.fields {
		name := c.canonical(b.fields[i].Name)
		if _, announced := st.request.Trailer[name]; !announced {
			continue
		}
		if st.body.trailer == nil {
			st.body.trailer = http.Header{}
		}
		st.body.trailer[name] = append(st.body.trailer[name], b.fields[i].Value)
	}
	c.receivedAll(st)
	return nil
}

// open prepares a stream that is served.
func (st *stream) open() {
	st.window, st.receive = st.conn.initial, receiveWindow
	st.writable.L, st.body.readable.L, st.body.stream = &st.conn.mu, &st.conn.mu, st
	st.response.stream, st.response.declared = st, -1
}
