package gateway

import (
	"net/http"
	"slices"
	"strings"

	"postern/core/policy"
	"postern/gateway/engine"
)

// keySource is a call as policy.KeyPlaces searches it. It copies what request points to: request itself must stay on
// the stack of calls that send their key in X-API-Key.
type keySource struct {
	fields []engine.Field // of the engine's request, nil for one of net/http
	header http.Header
	query  string
}

// First implements policy.KeySource.
func (s *keySource) First(name string) (value string, lines int) {
	if s.header != nil {
		found := s.header[http.CanonicalHeaderKey(name)]
		return first(found), len(found)
	}
	for i := range s.fields {
		if f := &s.fields[i]; len(f.Name) == len(name) && strings.EqualFold(f.Name, name) {
			if lines++; lines == 1 {
				value = f.Value
			}
		}
	}
	return value, lines
}

// All implements policy.KeySource.
func (s *keySource) All(name string) (found []string) {
	if s.header != nil {
		return s.header[http.CanonicalHeaderKey(name)]
	}
	for i := range s.fields {
		if f := &s.fields[i]; len(f.Name) == len(name) && strings.EqualFold(f.Name, name) {
			found = append(found, f.Value)
		}
	}
	return found
}

// keyHeaderHas reports whether X-API-Key, in any spelling that an upstream may read as that, has the key.
func (s *keySource) keyHeaderHas(key string) bool {
	for name, found := range s.header {
		has := func(line string) bool { return policy.HasKey(line, key) }
		if policy.IsKeyHeader(name) && slices.ContainsFunc(found, has) {
			return true
		}
	}
	return slices.ContainsFunc(s.fields, func(f engine.Field) bool {
		return policy.IsKeyHeader(f.Name) && policy.HasKey(f.Value, key)
	})
}

// Query implements policy.KeySource.
func (s *keySource) Query() string { return s.query }

func (c *call) keySource(r *request) *keySource {
	return &keySource{r.fields, r.header, c.target.query}
}

// findKey finds the key of a call to a version that takes keys, and returns its text; "" for none or several.
func (c *call) findKey(r *request, in *policy.Call) (text string) {
	if c.route.version.places == nil {
		in.KeyLines = r.keys.n
		if r.keys.n == 1 {
			in.Key, in.OldSecret = c.lookUpKey(r.keys.first)
		}
		return r.keys.first
	}
	in.Places = c.route.version.places
	from := c.keySource(r)
	found := in.Places.Read(from, in.Access.TakesTokens())
	c.ownProtocol = in.Places.OffersOwnProtocol(from)
	in.KeyLines, text = found.Count, found.Text
	if found.Sure || found.Maybe {
		key, old := c.lookUpKey(found.Authorization)
		if key != nil || found.Sure && found.Count == 0 || c.isGone(found.Authorization) {
			in.KeyLines++
			in.Key, in.OldSecret, text = key, old, found.Authorization
			c.keyInAuthorization = true
			return text
		}
	}
	if found.Count == 1 {
		in.Key, in.OldSecret = c.lookUpKey(text)
	}
	return text
}

// repeatsKey reports whether Authorization has the key that the call also has elsewhere: the upstream would get it. A
// version that accepts tokens refuses such an Authorization; others forward one that isn't the key.
func (c *call) repeatsKey(r *request, key string) bool {
	if r.authorization.n == 1 {
		return policy.HasKey(r.authorization.first, key)
	}
	for _, line := range c.keySource(r).All(authorizationHeader) {
		if policy.HasKey(line, key) {
			return true
		}
	}
	return false
}

// places returns where keys of the call's version travel; nil for X-API-Key, and without a version.
func (c *call) places() *policy.KeyPlaces {
	if c.route.version == nil {
		return nil
	}
	return c.route.version.places
}

// withoutKey removes the key from a caller's fields, in place, and from the query.
func (c *call) withoutKey(fields []engine.Field) []engine.Field {
	p := c.upstream.places
	if p == nil {
		return fields
	}
	c.target.query = p.StripQuery(c.target.query)
	kept := fields[:0]
	for _, f := range fields {
		if !p.Strips(f.Name) {
			kept = append(kept, f)
		} else if rest, ok := p.Strip(f.Name, f.Value); ok {
			f.Value = rest
			kept = append(kept, f)
		}
	}
	return kept
}

// removeKey removes the key from a caller's header, in place, and from the query.
func (c *call) removeKey(h http.Header) {
	p := c.upstream.places
	if p == nil {
		return
	}
	c.target.query = p.StripQuery(c.target.query)
	for name, lines := range h {
		if !p.Strips(name) {
			continue
		}
		kept := lines[:0:0]
		for _, line := range lines {
			if rest, ok := p.Strip(name, line); ok {
				kept = append(kept, rest)
			}
		}
		if len(kept) > 0 {
			h[name] = kept
		} else {
			delete(h, name)
		}
	}
}

const protocolHeader = "Sec-Websocket-Protocol" // in net/http's canonical form

// selectOwnProtocol answers the handshake of a WebSocket with the gateway's protocol, if the caller offers it and the
// upstream has selected none: a browser would end the connection.
func (c *call) selectOwnProtocol(h http.Header) {
	if c.ownProtocol && first(h[protocolHeader]) == "" {
		h[protocolHeader] = []string{policy.OwnProtocol}
	}
}
