package policy

import (
	"errors"
	"strings"
)

// Errors of NormalizePath: the path is malformed, or a dot segment leads above its root.
var (
	ErrPath      = errors.New("the path is not valid")
	ErrAboveRoot = errors.New("the path leads above its root")
)

// NormalizePath turns the path of a request, as it came and without the query,
// into the one form that is matched, authorized and forwarded: escapes of
// unreserved characters decoded, other escapes kept with upper-case digits, dot
// segments resolved, repeated slashes merged, everything that may not stand in
// a path escaped. It is idempotent, but for a path that HidesDotSegment, which may be
// refused with ErrAboveRoot the second time: an escaped slash counts as two segments on
// the way up, as in nginx, and ".." takes both away as one, as in Kong.
//
// That is RFC 3986 section 6.2.2 as Kong 3.9 does it: normalize(uri, true) for
// matching, then escape for forwarding (kong/tools/uri.lua). Before Kong sees a
// path nginx has parsed it (ngx_http_parse_complex_uri), and refuses with 400 what
// an error is returned for: a broken escape, a NUL or control character (ErrPath), and
// dot segments that climb above the root when every escape is decoded, %2F included
// (ErrAboveRoot). A fragment is ErrPath too: RFC 9112 section 3.2 has none in a
// request target.
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

// NextSegment cuts the first segment from a normalized path:
// "/1.0.0/prod" is "1.0.0" and "/prod", "/prod" is "prod" and "",
// "/prod/" is "prod" and "/". It fails on "" and on an empty segment.
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

// JoinTarget is the path that goes to the upstream: the path of the target
// (escaped, with one trailing slash at most dropped) and the rest of the
// caller's, as Kong joins them (kong/router/utils.lua, get_upstream_uri_v0).
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

// inspect lets the common path through without an allocation.
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

// decodeUnreserved decodes every escape but those of reserved characters, whose
// digits it turns upper-case. Bytes that are neither reserved nor unreserved
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

// climbsAboveRoot walks the segments with an escaped slash taken for a slash.
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

// removeDotSegments resolves . and .. (RFC 3986 section 5.2.4) and merges
// slashes. A path that ends in a dot segment ends in a slash. It works in place.
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

// reserved characters keep their escapes: decoding one changes what the path
// means. plain ones stand unescaped, the percent sign of an escape included.
// (RFC 3986 sections 2.2 and 2.3; Kong counts % as reserved.)
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

// HidesDotSegment reports whether a normalized path has a segment "." or ".." for
// an upstream that reads it less strictly: one that takes an encoded slash or a
// backslash for a slash, that cuts parameters off at a semicolon (RFC 3986 section
// 3.3), or that decodes more than once. Such an upstream would resolve the segment
// and leave the base path of the environment that the call was authorized for.
func HidesDotSegment(path string) bool {
	if strings.IndexByte(path, '%') < 0 && strings.IndexByte(path, ';') < 0 {
		return false // a normalized path has no plain dot segment and no plain backslash
	}
	return hasDotSegment(path)
}

// hasDotSegment is HidesDotSegment for every path. Once a segment is there, further
// decoding cannot remove it, so that the path is looked at when nothing is left to decode.
func hasDotSegment(path string) bool {
	var room [512]byte
	dots, other := 0, false // of the segment so far: how many dots, and whether anything else
	for _, c := range decodeWholly(room[:0], path) {
		switch c {
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

func isDotSegment(dots int, other bool) bool { return !other && (dots == 1 || dots == 2) }

// decodeWholly appends path, decoded until no escape is left. The digits of an escape
// may be encoded themselves (%25%32%65), which is why a byte that was decoded can be
// the last one of another escape.
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
