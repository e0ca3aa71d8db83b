package policy

import "strings"

// Limits on the headers that an environment sets for its upstream.
const (
	MaxUpstreamHeaders     = 10
	MaxUpstreamHeaderName  = 64   // bytes
	MaxUpstreamHeaderValue = 4096 // bytes
)

// SigningDirectory is the path, below a project's address, of the public keys that its calls
// are signed with (draft-meunier-webbotauth-httpsig-directory-00).
const SigningDirectory = "/.well-known/http-message-signatures-directory"

// reservedForUpstream are names, in lowercase, of headers that an environment cannot set:
// they are about the connection, frame or describe the message, are written by the gateway
// itself, or belong to the caller.
var reservedForUpstream = map[string]bool{
	"host": true, "connection": true, "keep-alive": true, "proxy-connection": true, "proxy": true,
	"proxy-authenticate": true, "proxy-authorization": true, "upgrade": true, "te": true, "trailer": true,
	"expect": true, "http2-settings": true, "cookie": true, "set-cookie": true,
	"signature": true, "signature-input": true, "signature-agent": true, "range": true,
}

// CanSetForUpstream reports whether an environment may set a header of that name for its upstream. The name has only
// letters, digits and hyphens, and the header isn't hop-by-hop, doesn't describe the body, and isn't one of the
// gateway's own.
func CanSetForUpstream(name string) bool {
	lower := strings.ToLower(name)
	switch {
	case name == "" || len(name) > MaxUpstreamHeaderName || reservedForUpstream[lower]:
		return false
	case strings.HasPrefix(lower, "content-") || strings.HasPrefix(lower, "sec-") || strings.HasPrefix(lower, "if-"):
		return false
	case IsIdentityHeader(name) || IsForwardedHeader(name) || IsFramingHeader(name):
		return false
	}
	for i := range len(lower) {
		if c := lower[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || i == 0) {
			return false
		}
	}
	return true
}

// IsUpstreamHeaderValue reports whether a text can be the value of such a header: visible ASCII, with blanks only
// between other characters (RFC 9110, section 5.5).
func IsUpstreamHeaderValue(value string) bool {
	if value == "" || len(value) > MaxUpstreamHeaderValue || value[0] == ' ' || value[len(value)-1] == ' ' {
		return false
	}
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			return false
		}
	}
	return true
}

// SameHeader reports whether an upstream could take one header name for the other. It ignores case and treats _ as -.
func SameHeader(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if headerByte(a[i]) != headerByte(b[i]) {
			return false
		}
	}
	return true
}

func headerByte(c byte) byte {
	switch {
	case isUpper(c):
		return c | 0x20
	case c == '_':
		return '-'
	}
	return c
}
