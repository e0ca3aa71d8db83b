package bearer

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"slices"
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
	typ       string // media type in lowercase, without application/; "" for none
}

// compact is a token in the compact form (RFC 7515, 7.1). Its slices share buffer.
type compact struct {
	token []byte            // as it was sent
	sum   [sha256.Size]byte // of token
	known *verdict          // on it, nil if there is none

	// The fields that parse sets.
	headerText []byte // encoded
	signed     []byte // header and payload, encoded: the input of the signature
	payload    []byte
	signature  []byte
	buffer     []byte
}

var compacts = sync.Pool{New: func() any { return new(compact) }}

// release erases the token and returns c to the pool.
func (c *compact) release() {
	clear(c.buffer[:min(cap(c.buffer), 2*len(c.token))])
	*c = compact{buffer: c.buffer[:0]}
	compacts.Put(c)
}

// encoding is the one of a token's parts (RFC 7515, 2). It is strict, so that a token
// has only one spelling.
var encoding = base64.RawURLEncoding.Strict()

// take sets c to a token. It reports whether its length is one that tokens have.
func (c *compact) take(token string) bool {
	if len(token) > maxToken {
		return false
	}
	// With room for what parse adds, so that the token is in no other buffer than the one that is erased.
	c.buffer = append(slices.Grow(c.buffer, 2*len(token)), token...)
	c.token = c.buffer
	c.sum = sha256.Sum256(c.token)
	return true
}

// parse splits the token and decodes its payload and signature, once. It reports whether the token is well-formed; it
// does not look into the header.
func (c *compact) parse() bool {
	if c.signature != nil {
		return true
	}
	head, rest, ok := bytes.Cut(c.token, []byte("."))
	payload, signature, more := bytes.Cut(rest, []byte("."))
	if !ok || !more || len(head) == 0 || len(payload) == 0 || len(signature) == 0 ||
		bytes.ContainsAny(c.token, "\r\n") || bytes.Contains(signature, []byte(".")) {
		return false // encoding/base64 would skip line breaks
	}
	begin := len(c.buffer)
	var err error
	if c.buffer, err = encoding.AppendDecode(c.buffer, payload); err != nil {
		return false
	}
	end := len(c.buffer)
	if c.buffer, err = encoding.AppendDecode(c.buffer, signature); err != nil {
		return false
	}
	c.headerText = head
	c.signed = c.token[:len(head)+1+len(payload)]
	c.payload, c.signature = c.buffer[begin:end], c.buffer[end:]
	return true
}

// readHeader decodes a header. It returns false if the header is malformed or requires
// an extension, of which none is implemented (RFC 7515, 4.1.11; RFC 7797).
func readHeader(text []byte) (header, bool) {
	var doc struct {
		Algorithm string          `json:"alg"`
		KeyID     string          `json:"kid"`
		Type      json.RawMessage `json:"typ"`
		Critical  json.RawMessage `json:"crit"`
		Encoded   json.RawMessage `json:"b64"`
	}
	decoded, err := encoding.AppendDecode(nil, text)
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

// read returns the header that text encodes, and whether it is well-formed.
func (h *headerCache) read(text []byte) (header, bool) {
	h.mu.RLock()
	out, cached := h.byText[string(text)]
	h.mu.RUnlock()
	if cached {
		return out, true
	}
	return readHeader(text)
}

// add caches a header. Its token must be verified: otherwise callers could fill the
// cache with invented headers.
func (h *headerCache) add(text []byte, one header) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byText == nil || len(h.byText) >= maxHeaders {
		h.byText = map[string]header{}
	}
	h.byText[string(text)] = one
}
