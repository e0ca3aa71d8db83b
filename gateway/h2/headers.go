package h2

import (
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// blockKind is the kind of a header block.
type blockKind int

const (
	requestBlock blockKind = iota
	trailerBlock           // of an open stream
	ignoredBlock           // of a stream that is over: it is decoded, since it changes the table of compression
)

// maxFragments is how many frames a header block may have. One within the limit on headers needs three.
const maxFragments = 32

// headerBlock is the header block that is being received: HEADERS and CONTINUATION (RFC 9113 section 4.3).
type headerBlock struct {
	open      bool // its end has not arrived
	kind      blockKind
	stream    uint32
	ends      bool          // END_STREAM
	code      http2.ErrCode // the stream is reset with, when the block is complete; http2.ErrCodeNo: it is not
	fragments int
	bytes     int // as they were received

	size    int  // of the fields that were decoded, as in RFC 9113 section 10.5.1
	tooLong bool // size is over the limit: the fields are not complete
	regular bool // a field that isn't a pseudo-header was decoded

	method, scheme, authority, path string
	pseudo                          int // bits of the pseudo-headers that were decoded
	fields                          []hpack.HeaderField
}

func (c *conn) handleHeaders(f frame, payload []byte) error {
	if f.stream == 0 || f.stream%2 == 0 {
		return connError{http2.ErrCodeProtocol, "HEADERS of a stream that callers do not open"}
	}
	payload, ok := withoutPadding(f, payload)
	if !ok {
		return connError{http2.ErrCodeProtocol, "HEADERS of padding alone"}
	}
	b := &c.block
	*b = headerBlock{
		open:   true,
		stream: f.stream,
		ends:   f.flags.Has(http2.FlagHeadersEndStream),
		fields: b.fields[:0],
	}
	if f.flags.Has(http2.FlagHeadersPriority) {
		if len(payload) < 5 {
			return connError{http2.ErrCodeFrameSize, "HEADERS"}
		}
		if dependsOn(payload) == f.stream {
			b.code = http2.ErrCodeProtocol
		}
		payload = payload[5:]
	}
	if err := c.classify(b); err != nil {
		return err
	}
	c.decoder.SetEmitEnabled(true)
	return c.addFragment(payload, f.flags.Has(http2.FlagHeadersEndHeaders))
}

// withoutPadding returns the payload without its padding (RFC 9113 section 6.1).
func withoutPadding(f frame, payload []byte) ([]byte, bool) {
	if !f.flags.Has(http2.FlagHeadersPadded) {
		return payload, true
	}
	if len(payload) == 0 || int(payload[0]) >= len(payload) {
		return nil, false
	}
	return payload[1 : len(payload)-int(payload[0])], true
}

// classify determines the kind of a header block from the state of its stream (RFC 9113 section 5.1).
func (c *conn) classify(b *headerBlock) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.streams[b.stream]
	switch {
	case b.stream > c.lastID && c.leaving:
		b.kind = ignoredBlock
		return c.wasted(1)
	case b.stream > c.lastID:
		c.lastID = b.stream
		c.opened++
	case st != nil && !st.received:
		b.kind = trailerBlock
	case st != nil:
		b.kind, b.code = ignoredBlock, http2.ErrCodeStreamClosed
	case c.wasReset(b.stream):
		b.kind = ignoredBlock
		return c.wasted(1)
	case c.opened == (c.lastID+1)/2: // none was left out, so this one was opened
		return connError{http2.ErrCodeStreamClosed, "HEADERS of a closed stream"}
	default:
		return connError{http2.ErrCodeProtocol, "HEADERS of an earlier stream"}
	}
	return nil
}

func (c *conn) handleContinuation(f frame, payload []byte) error {
	if !c.block.open {
		return connError{http2.ErrCodeProtocol, "CONTINUATION without HEADERS"}
	}
	return c.addFragment(payload, f.flags.Has(http2.FlagContinuationEndHeaders))
}

// addFragment decodes a part of the header block. Fields over the limit are decoded too, but not for long.
func (c *conn) addFragment(p []byte, last bool) error {
	b := &c.block
	b.fragments++
	if b.bytes += len(p); b.fragments > maxFragments || b.bytes > 2*c.server.Limits.HeaderBytes {
		return connError{http2.ErrCodeEnhanceYourCalm, "a header is too large"}
	}
	if _, err := c.decoder.Write(p); err != nil {
		return connError{http2.ErrCodeCompression, "a header cannot be decoded"}
	}
	if !last {
		return nil
	}
	if err := c.decoder.Close(); err != nil {
		return connError{http2.ErrCodeCompression, "a header is cut off"}
	}
	b.open = false
	switch b.kind {
	case requestBlock:
		return c.begin(b)
	case trailerBlock:
		return c.endByTrailers(b)
	}
	if b.code != http2.ErrCodeNo {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.resetStream(b.stream, b.code)
	}
	return nil
}

// field takes a field that was decoded.
func (c *conn) field(f hpack.HeaderField) {
	b := &c.block
	if b.size += len(f.Name) + len(f.Value) + 32; b.size > c.server.Limits.HeaderBytes {
		b.tooLong = true
		c.decoder.SetEmitEnabled(false)
		return
	}
	switch {
	case b.kind == ignoredBlock:
	case !httpguts.ValidHeaderFieldValue(f.Value):
		b.code = http2.ErrCodeProtocol
	case len(f.Name) > 0 && f.Name[0] == ':':
		if b.regular || b.kind != requestBlock || !b.setPseudo(f) {
			b.code = http2.ErrCodeProtocol
		}
	case !isFieldName(f.Name) || isConnectionSpecific(f.Name, f.Value):
		b.code = http2.ErrCodeProtocol
	default:
		b.regular = true
		b.fields = append(b.fields, f)
	}
}

// Bits of headerBlock.pseudo.
const (
	hasMethod = 1 << iota
	hasScheme
	hasAuthority
	hasPath
)

// setPseudo takes a pseudo-header (RFC 9113 section 8.3.1). It returns false for unknown and for repeated ones.
func (b *headerBlock) setPseudo(f hpack.HeaderField) bool {
	var bit int
	switch f.Name {
	case ":method":
		bit, b.method = hasMethod, f.Value
	case ":scheme":
		bit, b.scheme = hasScheme, f.Value
	case ":authority":
		bit, b.authority = hasAuthority, f.Value
	case ":path":
		bit, b.path = hasPath, f.Value
	default:
		return false
	}
	repeated := b.pseudo&bit != 0
	b.pseudo |= bit
	return !repeated
}

// isFieldName reports whether a name is a token in lowercase (RFC 9113 section 8.2.1).
func isFieldName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' || !httpguts.IsTokenRune(rune(c)) {
			return false
		}
	}
	return name != ""
}

// isConnectionSpecific reports whether a field has no place in HTTP/2 (RFC 9113 section 8.2.2).
func isConnectionSpecific(name, value string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		return true
	case "te":
		return !strings.EqualFold(value, "trailers")
	}
	return false
}
