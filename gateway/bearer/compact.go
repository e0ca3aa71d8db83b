package bearer

import (
	"encoding/base64"
	"strings"
	"sync"

	"github.com/go-jose/go-jose/v4/json"

	"postern/platform/exactjson"
)

// maxToken bounds a token's length in bytes.
const maxToken = 16 << 10

// header has the members of a token's header that Verify reads (RFC 7515, 4.1). Keys
// in the header or at its URLs (jwk, jku, x5c, x5u) are ignored: a forger would name
// the key that verifies the forgery (RFC 8725, 3.10).
type header struct {
	algorithm string // alg
	keyID     string // kid
	typ       string // media type in lower case, without application/; "" for none
}

// compact is a parsed token in the compact form (RFC 7515, 7.1). Its slices share
// buffer.
type compact struct {
	headerText string // encoded
	token      []byte // as it was sent
	signed     []byte // header and payload, encoded: the input of the signature
	payload    []byte
	signature  []byte
	buffer     []byte
}

var compacts = sync.Pool{New: func() any { return new(compact) }}

// release erases the token and returns c to the pool.
func (c *compact) release() {
	clear(c.buffer[:cap(c.buffer)])
	*c = compact{buffer: c.buffer[:0]}
	compacts.Put(c)
}

// encoding is the one of a token's parts (RFC 7515, 2). It is strict, so that a token
// has only one spelling.
var encoding = base64.RawURLEncoding.Strict()

// parse splits a token and decodes its payload and signature. It reports whether the
// token is well-formed; it does not look into the header.
func (c *compact) parse(token string) bool {
	if len(token) > maxToken {
		return false
	}
	head, rest, ok := strings.Cut(token, ".")
	payload, signature, more := strings.Cut(rest, ".")
	if !ok || !more || head == "" || payload == "" || signature == "" || strings.ContainsAny(token, "\r\n") ||
		strings.Contains(signature, ".") {
		return false // encoding/base64 would skip line breaks
	}
	c.headerText = head
	c.buffer = append(c.buffer[:0], token...)
	tokenEnd := len(c.buffer)
	var err error
	if c.buffer, err = encoding.AppendDecode(c.buffer, []byte(payload)); err != nil {
		return false
	}
	payloadEnd := len(c.buffer)
	if c.buffer, err = encoding.AppendDecode(c.buffer, []byte(signature)); err != nil {
		return false
	}
	c.token = c.buffer[:tokenEnd]
	c.signed = c.token[:len(head)+1+len(payload)]
	c.payload = c.buffer[tokenEnd:payloadEnd]
	c.signature = c.buffer[payloadEnd:]
	return true
}

// readHeader decodes a header. It returns false if the header is malformed or requires
// an extension, of which none is implemented (RFC 7515, 4.1.11; RFC 7797).
func readHeader(text string) (header, bool) {
	var doc struct {
		Algorithm string          `json:"alg"`
		KeyID     string          `json:"kid"`
		Type      json.RawMessage `json:"typ"`
		Critical  json.RawMessage `json:"crit"`
		Encoded   json.RawMessage `json:"b64"`
	}
	decoded, err := encoding.DecodeString(text)
	if err != nil || exactjson.Unmarshal(decoded, &doc) != nil || doc.Critical != nil || doc.Encoded != nil {
		return header{}, false
	}
	out := header{algorithm: doc.Algorithm, keyID: doc.KeyID}
	if doc.Type == nil {
		return out, true
	}
	err = json.Unmarshal(doc.Type, &out.typ)
	out.typ = strings.TrimPrefix(strings.ToLower(out.typ), "application/")
	return out, err == nil && out.typ != ""
}

// headerCache caches decoded headers of valid tokens by their encoded form. All tokens
// that a key signs have the same header, which says nothing about the user.
type headerCache struct {
	mu     sync.RWMutex
	byText map[string]header
}

const maxHeaders = 1000

// read returns the header that text encodes, whether it was cached, and whether it is
// well-formed.
func (h *headerCache) read(text string) (out header, cached, ok bool) {
	h.mu.RLock()
	out, cached = h.byText[text]
	h.mu.RUnlock()
	if cached {
		return out, true, true
	}
	out, ok = readHeader(text)
	return out, false, ok
}

// add caches a header. Its token must be verified: otherwise callers could fill the
// cache with invented headers.
func (h *headerCache) add(text string, one header) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byText == nil || len(h.byText) >= maxHeaders {
		h.byText = map[string]header{}
	}
	h.byText[strings.Clone(text)] = one
}
