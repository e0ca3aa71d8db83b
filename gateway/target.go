package gateway

import (
	"strings"

	"postern/core/policy"
)

// target holds the parts of a request target.
type target struct {
	raw   string // path as the caller sent it
	path  string // the same, normalized
	query string // as sent, with its question mark; "" when there is none
}

// readTarget parses origin-form and absolute-form (RFC 9112 sections 3.2.1 and 3.2.2).
// net/http's parsed URL cannot be used: it does not keep how the caller wrote the path.
// framing.go has checked that the authority of an absolute-form is the Host line. The errors
// are those of policy.NormalizePath.
func readTarget(uri string) (target, error) {
	if !strings.HasPrefix(uri, "/") {
		rest, ok := cutScheme(uri)
		if !ok {
			return target{}, policy.ErrPath
		}
		slash := strings.IndexAny(rest, "/?")
		switch {
		case slash < 0:
			uri = "/"
		case rest[slash] == '?':
			uri = "/" + rest[slash:]
		default:
			uri = rest[slash:]
		}
	}
	t := target{raw: uri}
	if q := strings.IndexByte(uri, '?'); q >= 0 {
		t.raw, t.query = uri[:q], uri[q:]
	}
	var err error
	t.path, err = policy.NormalizePath(t.raw)
	return t, err
}

// cutScheme cuts http:// or https:// off an absolute-form.
func cutScheme(uri string) (rest string, ok bool) {
	scheme, rest, ok := strings.Cut(uri, "://")
	return rest, ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}
