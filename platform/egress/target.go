package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"postern/platform/fault"
)

// The codes of CheckTarget's errors.
const (
	CodeInvalidURL   = "invalid_url"         // not a URL that can be a target
	CodeForbidden    = "target_forbidden"    // a target that may not be reached
	CodePort         = "port_forbidden"      // a port of a protocol other than HTTP
	CodeUnresolvable = "target_unresolvable" // the host name has no address now
)

// CheckTarget checks the URL of a customer's target: it calls ParseTarget, resolves the name and checks every address.
// It returns the URL in canonical form: lowercase scheme and host, no default port.
//
// The error is a *fault.Error of kind Invalid with one of the codes above and a
// public text that says how to fix it; the caller adds the pointer to the field.
// The addresses of a name may change later: DialContext checks again on every
// connect.
func (g *Guard) CheckTarget(ctx context.Context, raw string) (*url.URL, error) {
	u, err := ParseTarget(raw)
	if err != nil {
		return nil, err
	}
	host := u.Hostname()
	if g.own.isName(host) {
		return nil, ownTarget(g.own.dashboard.names[host] && !g.own.isDomain(host))
	}
	port, _ := strconv.ParseUint(portOf(u), 10, 16) // ParseTarget has checked it
	addrs, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		err := g.judge(netip.AddrPortFrom(addr, uint16(port)))
		if errors.Is(err, errPort) {
			return nil, fault.New(fault.Invalid, CodePort, "Port %d belongs to a protocol other than HTTP. Use "+
				"another port, or ask the operator to allow the address with POSTERN_EGRESS_ALLOW.", port).Because(err)
		}
		if errors.Is(err, errOwn) && g.isKnownOwn(ctx, addr) {
			dest := netip.AddrPortFrom(addr.Unmap(), uint16(port))
			return nil, ownTarget(anyListens(g.own.dashboard.listeners, dest)).Because(err)
		}
		if err != nil {
			// The public text does not have the address: a caller who guesses names
			// could map a private network.
			return nil, fault.New(fault.Invalid, CodeForbidden,
				"This isn't a public address. The operator can allow it with POSTERN_EGRESS_ALLOW.").Because(err)
		}
	}
	return u, nil
}

func ownTarget(isDashboard bool) *fault.Error {
	if isDashboard {
		return fault.New(fault.Invalid, CodeForbidden, "This is the URL of this dashboard. Use the URL of your API.")
	}
	return fault.New(fault.Invalid, CodeForbidden, "This is the gateway's own URL. Use the URL of the API behind it.")
}

// isKnownOwn reports whether anyone can know that a listener of ours is at the address: every machine has loopback, and
// our names resolve for everyone. Any other address stays secret, even in a range that the operator allows, because a
// caller who guesses addresses could find the gateway in a private network or behind a CDN.
func (g *Guard) isKnownOwn(ctx context.Context, addr netip.Addr) bool {
	addr = addr.Unmap()
	if addr.IsLoopback() {
		return true
	}
	if g.ranges.SafeAddr(addr) != nil { // callers may see another address of the name than we do
		return false
	}
	for name := range g.own.names {
		addrs, err := g.resolve(ctx, name)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(addrs, func(one netip.Addr) bool { return one.Unmap() == addr }) {
			return true
		}
	}
	return false
}

func (g *Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.dialer.Timeout)
	defer cancel()
	addrs, err := g.resolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(addrs) == 0 {
		err = errors.New("no address")
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, CodeUnresolvable,
			"The host name %s doesn't resolve to an IP address. Check its spelling and DNS records.", host).Because(err)
	}
	return addrs, nil
}

// ParseTarget performs the checks of CheckTarget that need no network: the syntax of the URL, and that it has no parts
// that a target may not have. It returns the URL in canonical form. Errors are those of CheckTarget.
func ParseTarget(raw string) (*url.URL, error) {
	for i := range len(raw) {
		switch c := raw[i]; {
		case c <= 0x20 || c == 0x7f:
			return nil, invalidURL("It contains a space or control character.")
		case c >= 0x80:
			return nil, invalidURL("Use the ASCII form of host names (xn--…), and percent-encode the path.")
		case c == '\\':
			return nil, invalidURL("It contains a backslash. Separate path segments with slashes.")
		}
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, invalidURL("Use a URL such as https://api.example.com/base.").Because(err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, invalidURL("It must start with http:// or https://.")
	case u.Opaque != "" || u.Host == "":
		return nil, invalidURL("It has no host. Use a URL such as https://api.example.com/base.")
	case u.User != nil || strings.Contains(u.Host, "@"):
		return nil, invalidURL("Leave out the user name and password. Set credentials for the upstream separately.")
	case strings.Contains(raw, "#"):
		return nil, invalidURL("Leave out the fragment (#…). Fragments aren't sent to servers.")
	case strings.Contains(raw, "?"):
		return nil, invalidURL("Leave out the query (?…). Each call has its own query.")
	}
	host, err := canonicalHost(u)
	if err != nil {
		return nil, err
	}
	if err := checkPath(u.EscapedPath()); err != nil {
		return nil, err
	}
	u.Host = host
	return u, nil
}

func invalidURL(how string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, CodeInvalidURL, "This URL can't be used. "+how, args...)
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return defaultPort(u.Scheme)
}

// IsWebPort reports whether the port of a target is 80 or 443.
func IsWebPort(u *url.URL) bool {
	p := portOf(u)
	return p == "80" || p == "443"
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// canonicalHost checks host and port and returns them in canonical form: lowercase,
// addresses in the spelling of their RFC, no default port.
func canonicalHost(u *url.URL) (string, error) {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.HasSuffix(u.Host, ":") {
		return "", invalidURL("A colon after the host must be followed by a port.")
	}
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0 || port[0] == '0') {
		return "", invalidURL("The port must be a number from 1 to 65535.")
	}
	if port == defaultPort(u.Scheme) {
		port = ""
	}
	if strings.HasPrefix(u.Host, "[") {
		addr, err := netip.ParseAddr(host)
		if err != nil || !addr.Is6() || addr.Zone() != "" || addr.Is4In6() {
			return "", invalidURL("Use brackets only for an IPv6 address without a zone.")
		}
		host = addr.String()
	} else if err := checkHostName(host); err != nil {
		return "", err
	}
	if port != "" {
		return net.JoinHostPort(host, port), nil
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]", nil
	}
	return host, nil
}

// checkHostName accepts a DNS name or a dotted-quad address. It refuses all other
// spellings that the C library's resolver reads as an address (0x7f.1, 2130706433,
// 0177.0.0.1), by the rule "ends in a number" of the WHATWG URL standard.
func checkHostName(host string) error {
	if strings.HasSuffix(host, ".") {
		return invalidURL("Leave out the dot at the end of the host name.")
	}
	if len(host) > 253 {
		return invalidURL("The host name is longer than 253 characters.")
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if len(label) == 0 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return invalidURL("The host is neither a DNS name nor an IP address.")
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		if addr, err := netip.ParseAddr(host); err != nil || !addr.Is4() {
			return invalidURL("Use four decimal numbers for an IPv4 address, such as 192.0.2.1.")
		}
	}
	return nil
}

// checkPath refuses paths that a gateway would not send unchanged: Kong accepts only
// RFC 3986 characters and no empty segments in the path of a service, and servers
// differ in how they resolve dot segments.
func checkPath(path string) error {
	for i := range len(path) {
		if path[i] == '[' || path[i] == ']' { // net/url escapes the other characters
			return invalidURL("Percent-encode %q in the path.", path[i])
		}
	}
	if strings.Contains(path, "//") {
		return invalidURL("The path has an empty segment (//).")
	}
	decoded, err := url.PathUnescape(path)
	if err != nil || strings.ContainsRune(decoded, 0) {
		return invalidURL("The path has an invalid percent-escape.")
	}
	for segment := range strings.SplitSeq(decoded, "/") {
		if segment == "." || segment == ".." {
			return invalidURL("The path has a dot segment (. or ..). Use the resolved path.")
		}
	}
	return nil
}
