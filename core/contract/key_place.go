package contract

import (
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// APIKeyAuth says how callers send their API keys, and what the upstream gets of them. Requests, rows, snapshots and
// exports all use this type.
type APIKeyAuth struct {
	In []KeyPlace `json:"in,omitzero" flag:"key-in" doc:"Where callers send their keys: header=NAME, header=NAME prefix=Bearer, query=NAME, cookie=NAME or websocket_protocol. Replaces the existing list. Defaults to header=X-API-Key"`

	SendMetadata *bool `json:"send_metadata,omitempty" flag:"send-key-metadata" doc:"Send the key's metadata to the upstream as X-Consumer-Metadata. Defaults to false"`
}

// KeyPlace is a place where callers can send their keys: a header, a query parameter, a cookie, or a subprotocol of
// WebSockets. Exactly one of its members is set.
type KeyPlace struct {
	Header         string `json:"header,omitempty" doc:"Name of a header" example:"Authorization"`
	Prefix         string `json:"prefix,omitempty" doc:"Text before the key in the header, such as Bearer. Case-insensitive. Requires header" example:"Bearer"`
	PrefixOptional bool   `json:"prefix_optional,omitempty" doc:"Also accept the key without the prefix. Requires prefix"`

	Query  string `json:"query,omitempty" doc:"Name of a query parameter. URLs, including the keys in them, end up in logs and browser histories"`
	Cookie string `json:"cookie,omitempty" doc:"Name of a cookie"`

	WebSocketProtocol bool `json:"websocket_protocol,omitempty" doc:"Browsers send the key in Sec-WebSocket-Protocol as postern.key.KEY, where KEY is the key in base64url without padding. They must also offer the protocol postern"`
}

// MostKeyPlaces is how many places a version can have.
const MostKeyPlaces = 8

// DefaultKeyHeader is the header for keys if a version doesn't name any places.
const DefaultKeyHeader = "X-API-Key"

// The protocols of WebSockets that are the gateway's. Browsers can't set headers, but protocols, and they end a
// connection for which the server selects none of those that they offered (WHATWG WebSockets, "establish a WebSocket
// connection").
const (
	WebSocketProtocolHeader = "Sec-WebSocket-Protocol"
	GatewayProtocol         = "postern"
	KeyProtocol             = "postern.key." // followed by the key in base64url, unpadded
)

// Places returns where callers send their keys. The list must not be changed.
func (a APIKeyAuth) Places() []KeyPlace {
	if a.In == nil {
		return defaultKeyPlaces
	}
	return a.In
}

var defaultKeyPlaces = []KeyPlace{{Header: DefaultKeyHeader}}

// IsDefault reports whether keys travel in DefaultKeyHeader alone.
func (a APIKeyAuth) IsDefault() bool {
	return a.In == nil || len(a.In) == 1 && strings.EqualFold(a.In[0].Header, DefaultKeyHeader) && a.In[0].Prefix == ""
}

// over returns what the change makes of a value.
func (a APIKeyAuth) over(was APIKeyAuth) APIKeyAuth {
	if a.In != nil {
		was.In = a.In
	}
	if a.SendMetadata != nil {
		was.SendMetadata = a.SendMetadata
	}
	return was
}

// The kinds of places, as texts and forms name them.
const (
	PlaceHeader    = "header"
	PlaceQuery     = "query"
	PlaceCookie    = "cookie"
	PlaceWebSocket = "websocket_protocol"
)

// Kind returns the kind of place, or "" unless exactly one member is set.
func (p KeyPlace) Kind() string {
	kind, members := "", 0
	for _, one := range []struct {
		kind string
		set  bool
	}{
		{PlaceHeader, p.Header != ""},
		{PlaceQuery, p.Query != ""},
		{PlaceCookie, p.Cookie != ""},
		{PlaceWebSocket, p.WebSocketProtocol},
	} {
		if one.set {
			kind = one.kind
			members++
		}
	}
	if members != 1 {
		return ""
	}
	return kind
}

// Name returns the name of the header, the query parameter or the cookie.
func (p KeyPlace) Name() string { return p.Header + p.Query + p.Cookie }

// String returns the form that flags and lines of forms use, such as "header=Authorization prefix=Bearer". No part may
// contain a blank.
func (p KeyPlace) String() string {
	kind := p.Kind()
	if kind == PlaceWebSocket {
		return kind
	}
	line := kind + "=" + p.Name()
	if p.Prefix != "" {
		line += " prefix=" + p.Prefix
	}
	if p.PrefixOptional {
		line += " prefix_optional"
	}
	return line
}

// SetText parses the form that String returns.
func (p *KeyPlace) SetText(text string) error {
	wrong := errors.New("header=NAME, header=NAME prefix=PREFIX, query=NAME, cookie=NAME or websocket_protocol")
	*p = KeyPlace{}
	for part := range strings.FieldsSeq(text) {
		name, value, valued := strings.Cut(part, "=")
		switch {
		case name == PlaceHeader && valued:
			p.Header = value
		case name == PlaceQuery && valued:
			p.Query = value
		case name == PlaceCookie && valued:
			p.Cookie = value
		case name == "prefix" && valued:
			p.Prefix = value
		case part == "prefix_optional":
			p.PrefixOptional = true
		case part == PlaceWebSocket:
			p.WebSocketProtocol = true
		default:
			return wrong
		}
	}
	if p.Kind() == "" || p.Header == "" && (p.Prefix != "" || p.PrefixOptional) {
		return wrong
	}
	return nil
}

// KeySample is how a call carries a key: in a header, or in the query.
type KeySample struct {
	Header string // with its value, such as "X-API-Key: pst_…"; "" for none
	Query  string // such as "api_key=pst_…"; "" for none
}

// Sample returns how a call carries a key, in the first place that suits every call. A key that begins with $ is a
// variable of a shell.
func (a APIKeyAuth) Sample(key string) KeySample {
	places := a.Places()
	at := slices.IndexFunc(places, func(p KeyPlace) bool { return !p.WebSocketProtocol })
	return places[max(at, 0)].Sample(key)
}

// Sample returns how a call carries a key in this place. A key that begins with $ is a variable of a shell.
func (p KeyPlace) Sample(key string) KeySample {
	isVariable := strings.HasPrefix(key, "$")
	switch {
	case p.Query != "" && isVariable:
		return KeySample{Query: p.Query + "=" + key}
	case p.Query != "":
		return KeySample{Query: p.Query + "=" + url.QueryEscape(key)}
	case p.Cookie != "":
		return KeySample{Header: "Cookie: " + p.Cookie + "=" + key}
	case p.WebSocketProtocol && isVariable:
		key = `$(printf %s "` + key + `" | base64 -w0 | tr +/ -_ | tr -d =)`
	case p.WebSocketProtocol:
		key = base64.RawURLEncoding.EncodeToString([]byte(key))
	case p.Prefix != "":
		return KeySample{Header: p.Header + ": " + p.WithPrefix(key)}
	default:
		return KeySample{Header: p.Header + ": " + key}
	}
	return KeySample{Header: WebSocketProtocolHeader + ": " + GatewayProtocol + ", " + KeyProtocol + key}
}

// WithPrefix returns a key after the prefix.
func (p KeyPlace) WithPrefix(key string) string {
	if p.IsScheme() {
		return p.Prefix + " " + key
	}
	return p.Prefix + key
}

// IsScheme reports whether the prefix is a word, such as an authentication scheme (RFC 9110, 11.1), which blanks
// separate from the key. Others, such as "key=", can touch it.
func (p KeyPlace) IsScheme() bool {
	if p.Prefix == "" {
		return false
	}
	last := p.Prefix[len(p.Prefix)-1]
	return last|0x20 >= 'a' && last|0x20 <= 'z' || last >= '0' && last <= '9'
}

// URL returns an address with the query of a sample.
func (s KeySample) URL(address string) string {
	switch {
	case s.Query == "":
		return address
	case strings.Contains(address, "?"):
		return address + "&" + s.Query
	}
	return address + "?" + s.Query
}
