package bearer

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// plainClaims reads the payload of nearly every token: one flat object whose texts are
// ASCII without escapes and whose times are whole numbers. It knows nothing else; for
// all other payloads it says false, and the whole of JSON is read, at several times
// the price. What it takes it reads as the other reader does, whose rules hold: see
// FuzzPlainClaims.
func plainClaims(payload []byte, mayBeOurs bool) (claims, bool) {
	var out claims
	if mayBeOurs {
		out.own = &ownClaims{}
	}
	s := scanner{text: payload}
	var space [maxPlain][]byte
	names := space[:0]
	for more := s.takes('{'); more; more = s.takes(',') {
		name, ok := s.word()
		if !ok || !s.takes(':') || len(names) == maxPlain || isAmong(names, name) || !s.member(name, &out) {
			return claims{}, false
		}
		names = append(names, name)
	}
	return out, s.takes('}') && s.ends() && len(names) > 0
}

func isAmong(names [][]byte, one []byte) bool {
	return slices.ContainsFunc(names, func(name []byte) bool { return bytes.Equal(name, one) })
}

// maxPlain bounds the members of a plain payload.
const maxPlain = 32

// member reads the value of a member into where it belongs, if it counts.
func (s *scanner) member(name []byte, out *claims) bool {
	switch string(name) {
	case "iss":
		return s.wordInto(&out.Issuer)
	case "sub":
		return s.wordInto(&out.Subject)
	case "aud":
		return s.wordsInto((*[]string)(&out.Audience))
	case "scope":
		return s.wordsInto((*[]string)(&out.Scope))
	case "scp":
		return s.wordsInto((*[]string)(&out.Scopes))
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
		return true, s.wordInto(&own.ID)
	case "client_id":
		return true, s.wordInto(&own.Client)
	case "tenant":
		return true, s.wordInto(&own.Tenant)
	case "groups":
		return true, s.listInto(&own.Groups)
	case "provider":
		return true, s.wordInto(&own.Provider)
	case "upstream":
		return true, s.wordInto((*string)(&own.Carries))
	case "upstream_token":
		return true, s.wordInto(&own.Sealed)
	}
	return false, false
}

// scanner reads a text from the left.
type scanner struct {
	text []byte
	at   int
}

// takes reads one character, and blanks before it (RFC 8259, 2).
func (s *scanner) takes(one byte) bool {
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

func (s *scanner) ends() bool {
	s.blanks()
	return s.at == len(s.text)
}

// word reads a text without anything that would have to be decoded.
func (s *scanner) word() ([]byte, bool) {
	if !s.takes('"') {
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

// wordInto copies: what is kept of a token must not keep the rest of it.
func (s *scanner) wordInto(into *string) bool {
	one, ok := s.word()
	*into = string(one)
	return ok
}

// wordsInto reads one text or a list of them.
func (s *scanner) wordsInto(into *[]string) bool {
	s.blanks()
	if s.at < len(s.text) && s.text[s.at] == '[' {
		return s.listInto(into)
	}
	one, ok := s.word()
	*into = []string{string(one)}
	return ok
}

func (s *scanner) listInto(into *[]string) bool {
	list := []string{}
	if !s.takes('[') {
		return false
	}
	if s.takes(']') {
		*into = list
		return true
	}
	for {
		one, ok := s.word()
		if !ok {
			return false
		}
		list = append(list, string(one))
		if s.takes(']') {
			*into = list
			return true
		}
		if !s.takes(',') {
			return false
		}
	}
}

// digits is how many a whole number may have so that it is exact.
const digits = 15

func (s *scanner) numberInto(into **float64) bool {
	s.blanks()
	begin := s.at
	for s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9' {
		s.at++
	}
	text := string(s.text[begin:s.at])
	if len(text) > digits || len(text) > 1 && text[0] == '0' {
		return false
	}
	number, err := strconv.ParseInt(text, 10, 64)
	value := float64(number)
	*into = &value
	return err == nil
}

// skip reads a value that does not count: a text, a list of them, a whole number, or a
// literal.
func (s *scanner) skip() bool {
	s.blanks()
	if s.at == len(s.text) {
		return false
	}
	switch c := s.text[s.at]; {
	case c == '"':
		_, ok := s.word()
		return ok
	case c == '[':
		var list []string
		return s.listInto(&list)
	case '0' <= c && c <= '9':
		var number *float64
		return s.numberInto(&number)
	}
	for _, literal := range []string{"true", "false", "null"} {
		if strings.HasPrefix(string(s.text[s.at:min(len(s.text), s.at+len(literal))]), literal) {
			s.at += len(literal)
			return true
		}
	}
	return false
}
