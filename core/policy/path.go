package policy

import (
	"errors"
	"strings"
)

// Errors of NormalizePath: the path is malformed, or a dot segment leads above its root.
var (
	ErrPath      = errors.New("the path isn't valid")
	ErrAboveRoot = errors.New("the path points above its root")
)

// NormalizePath returns the normal form of a request's path, which is given as received and without the query. The
// gateway matches, authorizes and forwards the normal form: escapes of unreserved characters are decoded, other escapes
// kept with uppercase digits, dot segments resolved, repeated slashes merged, and characters that a path may not
// contain escaped. NormalizePath is idempotent, except for a path that HidesDotSegment, which a second call may refuse
// with ErrAboveRoot: an escaped slash counts as two segments on the way up, as in nginx, and ".." removes both as one,
// as in Kong.
//
// This is RFC 3986 section 6.2.2 as Kong 3.9 does it: normalize(uri, true) for matching, then escape for forwarding
// (kong/tools/uri.lua). Before Kong, nginx parses the path (ngx_http_parse_complex_uri) and answers 400 where this
// returns an error: a broken escape, a NUL or control character (ErrPath), and dot segments that climb above the root
// once every escape is decoded, %2F included (ErrAboveRoot). A fragment is ErrPath too: a request target can't have one
// (RFC 9112 section 3.2).
func NormalizePath(raw string) (string, error) {
	if raw == "" || raw[0] != '/' {
		return "", ErrPath
	}
	switch inspect(raw) {
	case clean:
		return raw, nil
	case broken:
		return "", ErrPath
	}
	decoded, err := decodeUnreserved(raw)
	if err != nil {
		return "", err
	}
	if climbsAboveRoot(decoded) {
		return "", ErrAboveRoot
	}
	return escapePath(removeDotSegments(decoded)), nil
}

// NextSegment cuts the first segment from a normalized path: "/1.0.0/prod" becomes
// "1.0.0" and "/prod", "/prod" becomes "prod" and "", "/prod/" becomes "prod" and "/".
// It returns false for "" and for an empty segment.
func NextSegment(path string) (segment, rest string, ok bool) {
	if len(path) < 2 || path[0] != '/' {
		return "", "", false
	}
	end := strings.IndexByte(path[1:], '/')
	if end < 0 {
		return path[1:], "", true
	}
	return path[1 : end+1], path[end+1:], end > 0
}

// SplitPath cuts <version>/<env> from a normalized path, on whole segments. The
// rest is "" for "/1.0.0/prod" and "/" for "/1.0.0/prod/".
func SplitPath(path string) (version, env, rest string, ok bool) {
	if version, rest, ok = NextSegment(path); !ok {
		return "", "", "", false
	}
	if env, rest, ok = NextSegment(rest); !ok {
		return "", "", "", false
	}
	return version, env, rest, true
}

// JoinTarget returns the path for the upstream: the target's escaped path, without one
// trailing slash, and the rest of the caller's path, joined as by Kong
// (kong/router/utils.lua, get_upstream_uri_v0).
func JoinTarget(targetPath, rest string) string {
	base := strings.TrimSuffix(targetPath, "/")
	if base == "" && rest == "" {
		return "/"
	}
	return base + rest
}

type verdict int

const (
	clean  verdict = iota // already normalized
	broken                // refused
	dirty                 // needs work
)

// inspect classifies a path without allocating, so that the common path, which is
// normalized already, costs nothing more.
func inspect(raw string) verdict {
	out := clean
	for i := range len(raw) {
		switch c := raw[i]; {
		case c < 0x20 || c == 0x7f || c == '#':
			return broken
		case !plain[c]:
			out = dirty
		case c == '%', c == '/' && i+1 < len(raw) && (raw[i+1] == '/' || raw[i+1] == '.'):
			out = dirty
		}
	}
	return out
}

// decodeUnreserved decodes every escape except those of reserved characters, whose
// digits it converts to uppercase. Bytes that are neither reserved nor unreserved
// are decoded too; escapePath escapes them again, in one spelling.
func decodeUnreserved(raw string) ([]byte, error) {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '%' {
			out = append(out, raw[i])
			continue
		}
		if i+2 >= len(raw) {
			return nil, ErrPath
		}
		high, okHigh := unhex(raw[i+1])
		low, okLow := unhex(raw[i+2])
		c := high<<4 | low
		if !okHigh || !okLow || c == 0 {
			return nil, ErrPath
		}
		if reserved[c] {
			out = append(out, '%', upperHex[high], upperHex[low])
		} else {
			out = append(out, c)
		}
		i += 2
	}
	return out, nil
}

// climbsAboveRoot reports whether dot segments lead above the root if an escaped slash
// counts as a slash.
func climbsAboveRoot(path []byte) bool {
	depth, s := 0, strings.ReplaceAll(string(path), "%2F", "/")
	for segment := range strings.SplitSeq(s, "/") {
		switch segment {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// removeDotSegments resolves . and .. (RFC 3986 section 5.2.4) and merges slashes, in
// place. A path that ends in a dot segment ends in a slash afterward.
func removeDotSegments(path []byte) []byte {
	out := path[:0]
	for i := 0; i < len(path); {
		end := i + 1 // path[i] is a slash
		for end < len(path) && path[end] != '/' {
			end++
		}
		last := end == len(path)
		switch segment := string(path[i+1 : end]); segment {
		case "..":
			for len(out) > 0 {
				c := out[len(out)-1]
				out = out[:len(out)-1]
				if c == '/' {
					break
				}
			}
			if last {
				out = append(out, '/')
			}
		case ".", "":
			if last {
				out = append(out, '/')
			}
		default:
			out = append(out, path[i:end]...)
		}
		i = end
	}
	return out
}

func escapePath(path []byte) string {
	var b strings.Builder
	b.Grow(len(path))
	for _, c := range path {
		if plain[c] {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(upperHex[c>>4])
		b.WriteByte(upperHex[c&15])
	}
	return b.String()
}

const upperHex = "0123456789ABCDEF"

// Reserved characters keep their escapes, since decoding one changes what the path
// means. Plain characters are never escaped; they include the percent sign of an
// escape (RFC 3986 sections 2.2 and 2.3; Kong counts % as reserved).
var (
	reserved = charset("!*'();:@&=+$,/?%#[]")
	plain    = charset("!*'();:@&=+$,/?%#[]-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
)

func charset(s string) (set [256]bool) {
	for i := range len(s) {
		set[s[i]] = true
	}
	return set
}

func unhex(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// HidesDotSegment reports whether a less strict upstream would find a segment "." or ".." in a normalized path: one
// that reads an encoded slash or a backslash as a slash, that cuts parameters off at a semicolon (RFC 3986 section
// 3.3), or that decodes more than once. Such an upstream would resolve the segment and leave the base path of the
// environment that the call is authorized for. HidesDotSegment also finds ASCII characters in an overlong form (RFC
// 3629, section 3), which some upstreams decode: no path needs them.
func HidesDotSegment(path string) bool {
	if strings.IndexByte(path, '%') < 0 && strings.IndexByte(path, ';') < 0 {
		return false // a normalized path has no plain dot segment and no plain backslash
	}
	return hasDotSegment(path)
}

// hasDotSegment is HidesDotSegment without its shortcut. It decodes the path until no
// escape is left and then looks: further decoding never removes a dot segment.
func hasDotSegment(path string) bool {
	var scratch [512]byte
	dots, other := 0, false // of the segment so far: how many dots, and whether anything else
	decoded := decodeWholly(scratch[:0], path)
	for i, c := range decoded {
		switch c {
		case 0xc0, 0xc1, 0xe0, 0xf0:
			if isOverlong(decoded[i:]) {
				return true
			}
			other = true
		case '/', '\\', ';':
			if isDotSegment(dots, other) {
				return true
			}
			dots, other = 0, false
		case '.':
			dots++
		default:
			other = true
		}
	}
	return isDotSegment(dots, other)
}

// isOverlong reports whether text begins with a character in more bytes than UTF-8 has for it.
func isOverlong(text []byte) bool {
	if len(text) < 2 || text[1] < 0x80 {
		return false
	}
	switch text[0] {
	case 0xe0:
		return text[1] < 0xa0
	case 0xf0:
		return text[1] < 0x90
	}
	return text[1] < 0xc0
}

func isDotSegment(dots int, other bool) bool { return !other && (dots == 1 || dots == 2) }

// decodeWholly appends path, decoded until no escape is left. The digits of an escape
// may be escaped themselves (%25%32%65), so a decoded byte can complete another
// escape.
func decodeWholly(dst []byte, path string) []byte {
	for i := range len(path) {
		dst = append(dst, path[i])
		for n := len(dst) - 3; n >= 0 && dst[n] == '%'; n = len(dst) - 3 {
			high, okHigh := unhex(dst[n+1])
			low, okLow := unhex(dst[n+2])
			if !okHigh || !okLow {
				break
			}
			dst = append(dst[:n], high<<4|low)
		}
	}
	return dst
}
