package appclients

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"postern/platform/fault"
)

// privateScheme is a private-use scheme of a native app (RFC 8252, 7.1): a domain name in
// reverse order. Without a dot it could be another app's, or the browser's own.
var privateScheme = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$`)

// checkURIs returns the redirect URIs that are invalid, without a fragment (RFC 6749,
// 3.1.2). They are https, or of a native app (RFC 8252, 7): http on loopback, or a
// private-use scheme.
func checkURIs(pointer string, uris []string) []fault.Field {
	if len(uris) > maxURIs {
		return []fault.Field{{
			Pointer: pointer,
			Code:    "too_many",
			Detail:  fmt.Sprintf("Use at most %d redirect URIs.", maxURIs),
		}}
	}
	var wrong []fault.Field
	for i, raw := range uris {
		if detail := checkURI(raw); detail != "" {
			wrong = append(wrong, fault.Field{
				Pointer: fmt.Sprintf("%s/%d", pointer, i),
				Code:    "invalid_redirect_uri",
				Detail:  detail,
			})
		}
	}
	return wrong
}

// checkURI returns the mistake in a redirect URI, "" for none.
func checkURI(raw string) string {
	u, err := url.Parse(raw)
	scheme, rest, _ := strings.Cut(raw, ":")
	switch {
	case err != nil, len(raw) > maxURI, u.User != nil, strings.ContainsFunc(raw, unsafeInURL):
	case strings.Contains(raw, "#"):
		return "Leave out the fragment (#…). Browsers don't send it."
	case privateScheme.MatchString(scheme):
		if !strings.HasPrefix(rest, "/") {
			return "Use one slash after a private-use scheme, as in com.example.app:/callback, or start with https://."
		}
		return ""
	case u.Scheme != "" && u.Scheme != "https" && u.Scheme != "http":
		return "Use https, or a private-use scheme with a dot, as in com.example.app:/callback."
	case u.Host == "", !isHost(u), !isPort(u.Port()):
	case u.Scheme == "https", isLoopback(u.Hostname()):
		return ""
	default:
		return "Use https. http is allowed only for 127.0.0.1, [::1] and localhost."
	}
	return "Use a complete, percent-encoded URL such as https://app.example.com/callback, without a user name or " +
		"password."
}

// isPort reports whether a port can be connected to; "" is the scheme's.
func isPort(port string) bool {
	number, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && number > 0
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && addr.IsLoopback())
}

// IsRegistered reports whether a redirect URI is one of the registered ones. They are
// compared byte by byte, except that the port of a loopback address is any: a native app
// listens on the one that the system gives it (RFC 8252, 7.3). localhost is compared with
// its port, because it is a name that the device may resolve to another address (8.3).
func IsRegistered(registered []string, uri string) bool {
	if slices.Contains(registered, uri) {
		return true
	}
	asked, ok := withoutLoopbackPort(uri)
	return ok && slices.ContainsFunc(registered, func(one string) bool {
		known, ok := withoutLoopbackPort(one)
		return ok && known == asked
	})
}

// loopbackAuthority matches scheme, address and port of a loopback redirect URI, which
// path, query or nothing follows.
var loopbackAuthority = regexp.MustCompile(`^(http://(?:127\.0\.0\.1|\[::1\]))(?::([0-9]{1,5}))?([/?].*)?$`)

// withoutLoopbackPort returns an http URI on 127.0.0.1 or [::1] without its port, and
// false for any other.
func withoutLoopbackPort(uri string) (string, bool) {
	parts := loopbackAuthority.FindStringSubmatch(uri)
	if parts == nil || strings.Contains(uri, "#") {
		return "", false
	}
	if parts[2] != "" {
		if port, err := strconv.ParseUint(parts[2], 10, 16); err != nil || port == 0 {
			return "", false
		}
	}
	return parts[1] + parts[3], true
}

// OriginOf returns scheme, host and port of an address that was checked. For a
// private-use scheme it is the scheme with its colon, as a Content-Security-Policy names
// it (CSP Level 3, 2.3.1).
func OriginOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	if privateScheme.MatchString(u.Scheme) {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

// HostOf returns host and port of an address that was checked, the scheme of a
// private-use one, "" for none.
func HostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	if privateScheme.MatchString(u.Scheme) {
		return u.Scheme
	}
	return u.Host
}
