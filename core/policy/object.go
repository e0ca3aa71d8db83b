package policy

import (
	"errors"
	"slices"
	"strings"
	"unsafe"
)

// Bounds on objects of relations.
const (
	MaxObject         = 512 // bytes of an object's canonical form
	maxObjectTemplate = 512
	maxAnswerDepth    = 16 // names in the path to a value of an answer
)

// answerPrefix begins the names of placeholders for values of an answer.
const answerPrefix = "response."

// object is a pattern such as order:{id}, compiled: its parts in their order. nil: no object.
type object []objectPart

// objectPart is one of the three kinds of parts that its fields are for.
type objectPart struct {
	text   string
	answer []string // names on the way to a value of the answer
	path   parameter
}

// parameter is a named part of a path.
type parameter struct {
	segment        int // which one, from 0
	prefix, suffix int // bytes of decoded text around it in the segment
}

// Errors of CheckObject. Each continues a sentence that begins with the object.
var (
	ErrObjectType = errors.New("doesn't start with a type (lowercase letters, digits, hyphens and underscores) and " +
		"a colon")
	ErrObjectLength    = errors.New("is longer than 512 bytes, or has no ID after its type")
	ErrObjectCharacter = errors.New("contains characters other than letters, digits and -._~/:@ outside braces")
	ErrObjectBraces    = errors.New("contains a brace that isn't closed, or braces without a name")
	ErrObjectParameter = errors.New("contains a name in braces that isn't a parameter of the path. {path...} can't " +
		"be used")
	ErrObjectAnswer = errors.New("has no member names or list positions after \"response.\", or they aren't " +
		"separated by dots")
	ErrObjectEmpty = errors.New("contains an empty part before, between or after slashes")
	ErrObjectSlash = errors.New("contains two names in braces without a slash between them, so two objects could " +
		"look the same")
)

// CheckObject returns an error unless the text can be the object of a rule with that path, which must be valid. If
// answer is set, placeholders may name values of an answer, such as {response.id}.
func CheckObject(text, path string, answer bool) error {
	_, err := compileObject(text, path, answer)
	return err
}

// compileObject compiles a pattern; "" is nil.
func compileObject(text, path string, answer bool) (object, error) {
	if text == "" {
		return nil, nil
	}
	kind, rest, found := strings.Cut(text, ":")
	switch {
	case !found || !isObjectType(kind):
		return nil, ErrObjectType
	case rest == "" || len(text) > maxObjectTemplate:
		return nil, ErrObjectLength
	case rest[0] == '/' || strings.HasSuffix(rest, "/") || strings.Contains(rest, "//"):
		return nil, ErrObjectEmpty
	}
	out := object{}
	literal, separated := kind+":", true
	for rest != "" {
		name, after, braced := cutPlaceholder(rest)
		if !braced {
			if name == "" {
				return nil, ErrObjectBraces
			}
			if strings.IndexFunc(name, func(r rune) bool { return !isObjectLiteral(r) }) >= 0 {
				return nil, ErrObjectCharacter
			}
			literal, separated = literal+name, separated || strings.Contains(name, "/")
			rest = after
			continue
		}
		if !separated {
			return nil, ErrObjectSlash
		}
		part, err := placeholder(name, path, answer)
		if err != nil {
			return nil, err
		}
		if literal != "" {
			out = append(out, objectPart{text: literal})
		}
		out = append(out, part)
		literal, separated, rest = "", false, after
	}
	if literal != "" {
		out = append(out, objectPart{text: literal})
	}
	return out, nil
}

// cutPlaceholder returns the literal or the name in braces that text begins with. A broken brace is an
// empty literal.
func cutPlaceholder(text string) (name, rest string, braced bool) {
	if text[0] != '{' {
		end := strings.IndexAny(text, "{}")
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:], false
	}
	name, rest, closed := strings.Cut(text[1:], "}")
	if !closed || name == "" || strings.Contains(name, "{") {
		return "", "", false
	}
	return name, rest, true
}

func placeholder(name, path string, answer bool) (objectPart, error) {
	if names, of := strings.CutPrefix(name, answerPrefix); of && answer {
		way := strings.Split(names, ".")
		if len(way) > maxAnswerDepth || slices.ContainsFunc(way, func(one string) bool { return !isAnswerName(one) }) {
			return objectPart{}, ErrObjectAnswer
		}
		return objectPart{answer: way}, nil
	}
	at := 0
	for segment := range pathSegments(path) {
		if text, names := splitSegment(segment); slices.Contains(names, name) {
			return objectPart{path: parameter{at, len(text[0]), len(text[1])}}, nil
		}
		at++
	}
	return objectPart{}, ErrObjectParameter
}

func isObjectType(kind string) bool {
	if kind == "" || len(kind) > 32 || kind[0] < 'a' || kind[0] > 'z' {
		return false
	}
	return strings.IndexFunc(kind, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) < 0
}

func isObjectLiteral(r rune) bool {
	return r < 0x80 && (isUnreserved(byte(r)) || strings.ContainsRune("/:@", r))
}

// isUnreserved reports whether c is an unreserved character (RFC 3986, 2.3).
func isUnreserved(c byte) bool {
	return isDigit(c) || (c|0x20 >= 'a' && c|0x20 <= 'z') || strings.IndexByte("-._~", c) >= 0
}

func isAnswerName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r >= 0x80 || (!isUnreserved(byte(r)) && r != '$' && r != '@')
	}) < 0
}

// fromPath appends the object of a call to dst. With escaped the segments of the path are decoded
// once. It returns false if the path has no such object.
func (o object) fromPath(dst []byte, path string, escaped bool) ([]byte, bool) {
	for i := range o {
		part := &o[i]
		if part.text != "" {
			dst = append(dst, part.text...)
			continue
		}
		before := len(dst)
		if dst = part.path.appendValue(dst, path, escaped); len(dst) == before || len(dst) > MaxObject {
			return dst, false
		}
	}
	return dst, true
}

// appendValue appends the parameter's value in its canonical form: nothing if the path lacks one. With
// escaped the segments of the path are decoded once.
func (p parameter) appendValue(dst []byte, path string, escaped bool) []byte {
	value := segmentOf(path, p.segment)
	if p.prefix+p.suffix == 0 {
		return appendValue(dst, value, escaped)
	}
	var scratch [256]byte
	decoded := append(scratch[:0], value...)
	if escaped {
		decoded = appendDecoded(scratch[:0], value)
	}
	if len(decoded) <= p.prefix+p.suffix {
		return dst
	}
	decoded = decoded[p.prefix : len(decoded)-p.suffix]
	return appendValue(dst, unsafe.String(unsafe.SliceData(decoded), len(decoded)), false) //nolint:gosec // only read
}

// segmentOf returns a segment of a path, from 0; "" if there is none.
func segmentOf(path string, n int) string {
	for len(path) > 0 {
		path = path[1:]
		end := strings.IndexByte(path, '/')
		if end < 0 {
			end = len(path)
		}
		if n == 0 {
			return path[:end]
		}
		path = path[end:]
		n--
	}
	return ""
}

// appendValue appends a value of an object in its canonical form: decoded once if it is escaped, then
// with every byte escaped that is not allowed in a segment (RFC 3986, 3.3), and semicolons, in upper
// case. So each value has one form, which contains no slash.
func appendValue(dst []byte, value string, escaped bool) []byte {
	for i := 0; i < len(value); i++ {
		c := value[i]
		if escaped && c == '%' && i+2 < len(value) {
			high, okHigh := unhex(value[i+1])
			low, okLow := unhex(value[i+2])
			if okHigh && okLow {
				c, i = high<<4|low, i+2
			}
		}
		if isUnreserved(c) || strings.IndexByte("!$&'()*+,=:@", c) >= 0 {
			dst = append(dst, c)
			continue
		}
		const digits = "0123456789ABCDEF"
		dst = append(dst, '%', digits[c>>4], digits[c&15])
	}
	return dst
}

// Errors of CanonicalObject.
var (
	ErrObjectText = errors.New("it isn't a type, a colon and an ID, as in order:42")
	ErrObjectLong = errors.New("it is longer than 512 bytes")
)

// CanonicalObject returns the canonical form of an object, in which objects are compared: order:a%2fb becomes
// order:a%2Fb, and order:%41 becomes order:A.
func CanonicalObject(text string) (string, error) {
	kind, id, found := strings.Cut(text, ":")
	switch {
	case !found || !isObjectType(kind) || id == "":
		return "", ErrObjectText
	case len(text) > 3*MaxObject: // its shortest form too
		return "", ErrObjectLong
	}
	out := append(make([]byte, 0, len(text)), kind...)
	out = append(out, ':')
	for n, value := range strings.Split(id, "/") {
		if n > 0 {
			out = append(out, '/')
		}
		if value == "" {
			return "", ErrObjectText
		}
		out = appendValue(out, value, true)
	}
	if len(out) > MaxObject {
		return "", ErrObjectLong
	}
	return string(out), nil
}
