package policy

import "strings"

// ControlCookie is the name of the dashboard's session cookie, and followed by a hyphen the prefix of its other
// cookies. Over https __Host- precedes them. Cookies are not isolated by port (RFC 6265, 8.5): if dashboard and gateway
// share a host name, a browser sends the session to the gateway too, and accepts one that an upstream sets.
const ControlCookie = "postern"

// IsControlCookie reports whether a cookie of that name is one of the dashboard's.
func IsControlCookie(name string) bool {
	name = strings.TrimPrefix(strings.TrimSpace(name), "__Host-")
	rest, ours := strings.CutPrefix(name, ControlCookie)
	return ours && (rest == "" || rest[0] == '-')
}

// WithoutControlCookies returns a Cookie line without the dashboard's cookies, "" if
// no other is left.
func WithoutControlCookies(line string) string {
	if !strings.Contains(line, ControlCookie) {
		return line
	}
	var kept []string
	for pair := range strings.SplitSeq(line, ";") {
		if name, _, _ := strings.Cut(pair, "="); !IsControlCookie(name) {
			kept = append(kept, strings.TrimSpace(pair))
		}
	}
	return strings.Join(kept, "; ")
}

// SetsControlCookie reports whether a Set-Cookie line would set one of the
// dashboard's cookies. A browser sends a cookie without a name back as its value
// alone (RFC 6265bis, 5.8.3), so "=postern=x" comes back as a cookie named postern.
func SetsControlCookie(line string) bool {
	pair, _, _ := strings.Cut(line, ";")
	name, value, _ := strings.Cut(pair, "=") // some browsers read a pair without = as a name, some as a value
	if strings.TrimSpace(name) == "" {
		name, _, _ = strings.Cut(value, "=")
	}
	return IsControlCookie(name)
}
