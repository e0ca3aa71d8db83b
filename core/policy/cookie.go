package policy

import "strings"

// ControlCookie is what the dashboard calls its cookies, alone or followed by a
// hyphen and more, and with __Host- before it over https. Cookies know hosts but
// no ports (RFC 6265, 8.5): where dashboard and gateway share a host name, a
// browser sends the session to the gateway, and would take one from there.
const ControlCookie = "postern"

// IsControlCookie tells the dashboard's cookies by their names.
func IsControlCookie(name string) bool {
	name = strings.TrimPrefix(strings.TrimSpace(name), "__Host-")
	rest, ours := strings.CutPrefix(name, ControlCookie)
	return ours && (rest == "" || rest[0] == '-')
}

// WithoutControlCookies is a Cookie line without them, "" when nothing is left.
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

// SetsControlCookie tells a Set-Cookie line that would plant one. A cookie without
// a name is sent back as its value alone (RFC 6265bis, 5.8.3), so that
// "=postern=x" comes back as a cookie named postern.
func SetsControlCookie(line string) bool {
	pair, _, _ := strings.Cut(line, ";")
	name, value, _ := strings.Cut(pair, "=") // browsers read a line without = as a name or a value
	if strings.TrimSpace(name) == "" {
		name, _, _ = strings.Cut(value, "=")
	}
	return IsControlCookie(name)
}
