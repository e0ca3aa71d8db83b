package bearer

import (
	"encoding/base64"
	"strings"
	"sync"

	"github.com/go-jose/go-jose/v4/json"
)

// maxToken bounds a token's length in bytes.
const maxToken = 16 << 10

// header is what counts of a token's header (RFC 7515, 4.1). Keys that it brings or
// points at (jwk, jku, x5c, x5u) are never looked at: whoever signed would choose
// what verifies (RFC 8725, 3.10).
type header struct {
	algorithm string // alg
	keyID     string // kid
	typ       string // media type that the token says it is, in lower case; "" for none
}

// compact is a token in the compact form (RFC 7515, 7.1), taken apart. Its slices
// lie in space.
type compact struct {
	headerText string // as it came
	text       []byte // what is signed
	payload    []byte
	signature  []byte
	space      []byte
}

var spaces = sync.Pool{New: func() any { return new(compact) }}

// forget leaves nothing of the token in the memory that the next one gets.
func (c *compact) forget() {
	clear(c.space[:cap(c.space)])
	*c = compact{space: c.space[:0]}
	spaces.Put(c)
}

// encoding is that of a token's parts (RFC 7515, 2). In the strict one a text has
// one spelling: what is not seen as the same token must not pass for another.
var encoding = base64.RawURLEncoding.Strict()

// takeApart decodes a token's parts but for its header; false when it is none.
func (c *compact) takeApart(token string) bool {
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
	c.space = append(c.space[:0], token[:len(head)+1+len(payload)]...)
	signed := len(c.space)
	var err error
	if c.space, err = encoding.AppendDecode(c.space, []byte(payload)); err != nil {
		return false
	}
	said := len(c.space)
	if c.space, err = encoding.AppendDecode(c.space, []byte(signature)); err != nil {
		return false
	}
	c.text, c.payload, c.signature = c.space[:signed], c.space[signed:said], c.space[said:]
	return true
}

// readHeader decodes a header; false when it asks for something that we do not do
// (RFC 7515, 4.1.11; RFC 7797).
func readHeader(text string) (header, bool) {
	var said struct {
		Algorithm string          `json:"alg"`
		KeyID     string          `json:"kid"`
		Type      json.RawMessage `json:"typ"`
		Critical  json.RawMessage `json:"crit"`
		Encoded   json.RawMessage `json:"b64"`
	}
	decoded, err := encoding.DecodeString(text)
	if err != nil || json.Unmarshal(decoded, &said) != nil || said.Critical != nil || said.Encoded != nil {
		return header{}, false
	}
	out := header{algorithm: said.Algorithm, keyID: said.KeyID}
	if said.Type == nil {
		return out, true
	}
	err = json.Unmarshal(said.Type, &out.typ)
	out.typ = strings.TrimPrefix(strings.ToLower(out.typ), "application/")
	return out, err == nil && out.typ != ""
}

// headers keeps those of tokens that were good, by their text. They say the same for
// every token that a key signs, and nothing of whom it is for.
type headers struct {
	mu    sync.RWMutex
	known map[string]header
}

const maxHeaders = 1000

func (h *headers) read(text string) (out header, known, ok bool) {
	h.mu.RLock()
	out, known = h.known[text]
	h.mu.RUnlock()
	if known {
		return out, true, true
	}
	out, ok = readHeader(text)
	return out, false, ok
}

// keep is for headers of tokens that a key has verified: others are anybody's text.
func (h *headers) keep(text string, one header) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil || len(h.known) >= maxHeaders {
		h.known = map[string]header{}
	}
	h.known[strings.Clone(text)] = one
}
