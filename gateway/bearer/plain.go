package bearer

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// plainClaims is a fast parser for the payload of nearly every token: one flat object whose strings are ASCII without
// escapes and whose times are whole numbers. It returns false for every other payload, which the full JSON parser then
// parses, at several times the cost. If it returns true, the two agree; see FuzzPlainClaims.
func plainClaims(payload []byte, mayBeOurs bool) (claims, bool) {
	var out claims
	if mayBeOurs {
		out.own = &ownClaims{}
	}
	s := scanner{text: payload}
	var array [maxPlain][]byte
	names := array[:0]
	for more := s.accept('{'); more; more = s.accept(',') {
		name, ok := s.str()
		if !ok || !s.accept(':') || len(names) == maxPlain || isAmong(names, name) || !s.member(name, &out) {
			return claims{}, false
		}
		names = append(names, name)
	}
	return out, s.accept('}') && s.atEnd() && len(names) > 0
}

func isAmong(names [][]byte, one []byte) bool {
	return slices.ContainsFunc(names, func(name []byte) bool { return bytes.Equal(name, one) })
}

// maxPlain bounds the members of a plain payload.
const maxPlain = 32

// member parses the value of a member of out, and skips that of any other.
func (s *scanner) member(name []byte, out *claims) bool {
	switch string(name) {
	case "iss":
		return s.stringInto(&out.Issuer)
	case "sub":
		return s.stringInto(&out.Subject)
	case "aud":
		return s.stringsInto((*[]string)(&out.Audience))
	case "scope":
		return s.stringsInto((*[]string)(&out.Scope))
	case "scp":
		return s.stringsInto((*[]string)(&out.Scopes))
	case "exp":
		return s.numberInto(&out.Expires)
	case "nbf":
		return s.numberInto(&out.NotBefore)
	case "iat":
		return s.numberInto(&out.IssuedAt)
	}
	if out.own != nil {
		if known, ok := s.ownMember(name, out.own); known {
			return ok
		}
	}
	return s.skip()
}

func (s *scanner) ownMember(name []byte, own *ownClaims) (known, ok bool) {
	switch string(name) {
	case "jti":
		return true, s.stringInto(&own.ID)
	case "client_id":
		return true, s.stringInto(&own.Client)
	case "sid":
		return true, s.stringInto(&own.Session)
	case "tenant":
		return true, s.stringInto(&own.Tenant)
	case "groups":
		return true, s.listInto(&own.Groups)
	case "admin_of":
		return true, s.listInto(&own.AdminOf)
	case "groups_truncated":
		return true, s.boolInto(&own.Truncated)
	case "groups_at":
		return true, s.numberInto(&own.GroupsAt)
	case "provider":
		return true, s.stringInto(&own.Provider)
	case "upstream":
		return true, s.stringInto((*string)(&own.Carries))
	case "upstream_token":
		return true, s.stringInto(&own.Sealed)
	}
	return false, false
}

// scanner parses text from at on.
type scanner struct {
	text []byte
	at   int
}

// accept skips white space (RFC 8259, 2), and the next character if it is one.
func (s *scanner) accept(one byte) bool {
	s.blanks()
	if s.at == len(s.text) || s.text[s.at] != one {
		return false
	}
	s.at++
	return true
}

func (s *scanner) blanks() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

func (s *scanner) atEnd() bool {
	s.blanks()
	return s.at == len(s.text)
}

// str parses a string of printable ASCII without escapes.
func (s *scanner) str() ([]byte, bool) {
	if !s.accept('"') {
		return nil, false
	}
	for begin := s.at; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return s.text[begin : s.at-1], true
		case c < 0x20 || c > 0x7e || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

// stringInto copies the string, so that a claim that is kept does not keep the whole
// token in memory.
func (s *scanner) stringInto(into *string) bool {
	one, ok := s.str()
	*into = string(one)
	return ok
}

// stringsInto parses one string or a list of them.
func (s *scanner) stringsInto(into *[]string) bool {
	s.blanks()
	if s.at < len(s.text) && s.text[s.at] == '[' {
		return s.listInto(into)
	}
	one, ok := s.str()
	*into = []string{string(one)}
	return ok
}

func (s *scanner) listInto(into *[]string) bool {
	list := []string{}
	if !s.accept('[') {
		return false
	}
	if s.accept(']') {
		*into = list
		return true
	}
	for {
		one, ok := s.str()
		if !ok {
			return false
		}
		list = append(list, string(one))
		if s.accept(']') {
			*into = list
			return true
		}
		if !s.accept(',') {
			return false
		}
	}
}

// maxDigits bounds a whole number, so that a float64 holds it exactly.
const maxDigits = 15

func (s *scanner) numberInto(into **float64) bool {
	s.blanks()
	begin := s.at
	for s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9' {
		s.at++
	}
	text := string(s.text[begin:s.at])
	if len(text) > maxDigits || len(text) > 1 && text[0] == '0' {
		return false
	}
	number, err := strconv.ParseInt(text, 10, 64)
	value := float64(number)
	*into = &value
	return err == nil
}

func (s *scanner) boolInto(into *bool) bool {
	*into = s.literal("true")
	return *into || s.literal("false")
}

// literal skips a literal name of JSON.
func (s *scanner) literal(name string) bool {
	s.blanks()
	if !bytes.HasPrefix(s.text[s.at:], []byte(name)) {
		return false
	}
	s.at += len(name)
	return true
}

// skip skips a string, a list of strings, a whole number or a literal.
func (s *scanner) skip() bool {
	s.blanks()
	if s.at == len(s.text) {
		return false
	}
	switch c := s.text[s.at]; {
	case c == '"':
		_, ok := s.str()
		return ok
	case c == '[':
		var list []string
		return s.listInto(&list)
	case '0' <= c && c <= '9':
		var number *float64
		return s.numberInto(&number)
	}
	return s.literal("true") || s.literal("false") || s.literal("null")
}
