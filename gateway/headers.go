package gateway

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"postern/core/policy"
)

// MaxHops is how often a call may pass through this gateway, counted by our
// pseudonym in Via. Ten leaves room for upstreams that are proxied themselves;
// a loop gets there in a moment.
const MaxHops = 10

// pseudonym stands for us in Via (RFC 9110 section 7.6.3).
const pseudonym = "postern"

// Values that are the same for every call; the transport reads them only.
var (
	keepAlive        = []string{"keep-alive"}
	keepAliveUpgrade = []string{"keep-alive, Upgrade"}
	websocket        = []string{"websocket"}
	teTrailers       = []string{"trailers"}
	upgradeOnly      = []string{"Upgrade"}
)

// rewriteRequest turns the caller's header into the one the upstream gets, in
// place. The order matters: first everything that is not the caller's to say is
// removed, then ours is set, so that no Connection line can remove it again.
func (c *httpCall) rewriteRequest(upgrade bool) {
	h := c.r.Header
	forwardedFor, via := listBegun(h["X-Forwarded-For"]), listBegun(h["Via"])
	trailersWanted := hasToken(h["Te"], "trailers")
	removeNamed(h)
	for name := range h {
		if keepsOut(name, c.upstream.withoutKey) || c.upstream.removes(name) {
			delete(h, name)
		}
	}
	keepOwnCookies(h)
	if _, sent := h["User-Agent"]; !sent {
		h["User-Agent"] = nil // or net/http would add its own
	}
	h["Connection"] = keepAlive
	if upgrade {
		h["Connection"], h["Upgrade"] = keepAliveUpgrade, websocket
	}
	if trailersWanted {
		h["Te"] = teTrailers
	}
	c.setForwarded(h, forwardedFor, via)
	c.setIdentity(h)
}

func (c *httpCall) setForwarded(h http.Header, forwardedFor, via string) {
	i, lines := 0, make([]string, forwardedHeaders)
	c.forwarded(forwardedFor, via, viaEntry(c.r.ProtoMajor, c.r.ProtoMinor), func(name, value string) {
		lines[i] = value
		h[name] = lines[i : i+1 : i+1]
		i++
	})
}

func (c *httpCall) setIdentity(h http.Header) {
	lines := make([]string, 0, identityHeaders)
	c.identityLines(func(name, value string) {
		lines = append(lines, value)
		h[name] = lines[len(lines)-1 : len(lines) : len(lines)]
	})
}

// How many headers of ours a request can get.
const forwardedHeaders, identityHeaders = 8, 9

// listBegun returns the first line with the comma that another entry is appended
// after, "" without any line. An empty line is one: Kong appends to it as well.
func listBegun(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0] + ", "
}

// forwarded sets what Kong sets (kong/runloop/handler.lua, access.before): of the
// caller's own headers only the first line of X-Forwarded-For and of Via counts,
// and is appended to: both are given with the comma behind them. What a trusted
// proxy says of its caller's way is passed on.
func (c *call) forwarded(forwardedFor, via, entry string, set func(name, value string)) {
	set("X-Forwarded-For", forwardedFor+c.conn.hop)
	set("X-Forwarded-Proto", c.said("X-Forwarded-Proto", c.conn.scheme))
	set("X-Forwarded-Host", c.said("X-Forwarded-Host", c.host))
	set("X-Forwarded-Port", c.said("X-Forwarded-Port", c.conn.port))
	set("X-Forwarded-Path", c.said("X-Forwarded-Path", c.target.raw))
	set("X-Forwarded-Prefix", c.said("X-Forwarded-Prefix", c.route.prefix))
	set("X-Real-Ip", c.conn.peer)
	set("Via", via+entry)
}

// identityLines sets whom the call is made for, and the credential that the upstream
// gets in place of the caller's.
func (c *call) identityLines(set func(name, value string)) {
	id := &c.identity
	if id.Owner != "" {
		set(policy.ConsumerIDHeader, id.ConsumerID)
		set(policy.UsernameHeader, id.Owner)
		set(policy.CustomIDHeader, id.Owner)
	}
	if id.CredentialID != "" {
		set(policy.CredentialHeader, id.CredentialID)
	}
	if id.User != "" {
		set(policy.UserHeader, id.User)
	}
	if len(id.Groups) > 0 { // separated as Kong does (kong/plugins/acl/handler.lua)
		set(policy.GroupsHeader, strings.Join(id.Groups, ", "))
	}
	if len(id.Scopes) > 0 {
		set(policy.ScopeHeader, strings.Join(id.Scopes, " "))
	}
	if id.TenantID != "" {
		set(policy.TenantHeader, id.TenantID)
	}
	if c.upstream.authorization != "" {
		set(authorizationHeader, c.upstream.authorization)
	}
}

// viaEntry names the protocol a request was received in, as Kong writes it.
func viaEntry(major, minor int) string {
	switch {
	case major == 2:
		return "2 " + pseudonym
	case minor == 0:
		return "1.0 " + pseudonym
	}
	return "1.1 " + pseudonym
}

// hops counts our pseudonym in one line of Via.
func hops(via string) int {
	n := 0
	for entry := range strings.SplitSeq(via, ",") {
		if _, by, ok := strings.Cut(strings.TrimSpace(entry), " "); ok && firstWord(by) == pseudonym {
			n++
		}
	}
	return n
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	return word
}

func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}

// removeNamed removes the fields that Connection names (RFC 9110 section 7.6.1).
func removeNamed(h http.Header) {
	for _, line := range h["Connection"] {
		if strings.EqualFold(line, "keep-alive") || strings.EqualFold(line, "close") {
			continue
		}
		for name := range strings.SplitSeq(line, ",") {
			// The length frames the message, whatever the sender says that it is about.
			if name = textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name)); name != "Content-Length" {
				delete(h, name)
			}
		}
	}
}

// isHopByHop tells the fields that are about one connection only, in any case.
func isHopByHop(name string) bool {
	switch len(name) {
	case len("Upgrade"):
		return strings.EqualFold(name, "Upgrade") || strings.EqualFold(name, "Trailer")
	case len("Connection"):
		return strings.EqualFold(name, "Connection") || strings.EqualFold(name, "Keep-Alive")
	case len("Proxy-Connection"):
		return strings.EqualFold(name, "Proxy-Connection")
	case len("Transfer-Encoding"):
		return strings.EqualFold(name, "Transfer-Encoding")
	}
	return false
}

// steersProxy reports whether a field of an answer is an instruction to an nginx in
// front of the upstream. nginx never passes these on (ngx_http_proxy_hide_headers):
// another nginx in front of us would obey them, and X-Accel-Redirect opens its
// internal locations.
func steersProxy(name string) bool {
	switch len(name) {
	case len("X-Pad"):
		return strings.EqualFold(name, "X-Pad")
	case len("X-Accel-Expires"):
		return strings.EqualFold(name, "X-Accel-Expires") || strings.EqualFold(name, "X-Accel-Charset")
	case len("X-Accel-Redirect"):
		return strings.EqualFold(name, "X-Accel-Redirect")
	case len("X-Accel-Buffering"):
		return strings.EqualFold(name, "X-Accel-Buffering")
	case len("X-Accel-Limit-Rate"):
		return strings.EqualFold(name, "X-Accel-Limit-Rate")
	}
	return false
}

// dropFromRequest adds to those what nginx's proxy module never forwards
// (ngx_http_proxy_headers: Expect, which is answered here, and TE, which is set
// anew) and Proxy, which CGI would take for HTTP_PROXY (Kong clears it too).
func dropFromRequest(name string) bool {
	switch len(name) {
	case len("Te"):
		return strings.EqualFold(name, "Te")
	case len("Proxy"):
		return strings.EqualFold(name, "Proxy")
	case len("Expect"):
		return strings.EqualFold(name, "Expect")
	case len("Http2-Settings"):
		return strings.EqualFold(name, "Http2-Settings")
	}
	return isHopByHop(name)
}

// keepsOut tells the caller's fields that never reach an upstream: those of his
// hop, and those that only we may set.
func keepsOut(name string, stripKey bool) bool {
	return dropFromRequest(name) || policy.IsIdentityHeader(name) || policy.IsForwardedHeader(name) ||
		policy.IsFramingHeader(name) || (stripKey && policy.IsKeyHeader(name)) || !isPlainName(name)
}

// isPlainName tells names of letters, digits, hyphens and underscores. nginx
// drops all others (ignore_invalid_headers), and upstreams that turn every other
// character into an underscore would read X.Consumer.ID as an identity header.
func isPlainName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// keepOwnCookies takes the dashboard's cookies out of what the upstream gets.
func keepOwnCookies(h http.Header) {
	lines := h["Cookie"]
	kept := lines[:0]
	for _, line := range lines {
		if own := policy.WithoutControlCookies(line); own != "" || line == "" {
			kept = append(kept, own)
		}
	}
	if len(lines) > 0 {
		h["Cookie"] = kept
	}
}

// refusesCookie tells a line of an answer that would plant one of them.
func refusesCookie(name, value string) bool {
	return len(name) == len("Set-Cookie") && strings.EqualFold(name, "Set-Cookie") && policy.SetsControlCookie(value)
}

// withoutPlanted is the lines of one field of an answer that may be passed on.
func withoutPlanted(name string, lines []string) []string {
	if name != "Set-Cookie" {
		return lines
	}
	return slices.DeleteFunc(lines, policy.SetsControlCookie)
}

// hasToken tells whether a comma-separated field names the token, whatever
// parameters follow it.
func hasToken(lines []string, token string) bool {
	for _, line := range lines {
		for entry := range strings.SplitSeq(line, ",") {
			entry, _, _ = strings.Cut(entry, ";")
			if strings.EqualFold(textproto.TrimString(entry), token) {
				return true
			}
		}
	}
	return false
}

// wantsWebSocket reports whether a request asks for a WebSocket. It is the one
// upgrade that is carried: h2c would hide requests from us. As on Kong the Upgrade
// field alone decides (kong/runloop/handler.lua, access.before). What else RFC 6455
// section 4.2.1 asks of a handshake, the method and Connection, the upstream checks;
// nothing of another caller's is on the connection when it answers 101.
func wantsWebSocket(r *http.Request) bool {
	return r.ProtoMajor == 1 && strings.EqualFold(first(r.Header["Upgrade"]), "websocket")
}

// rewriteResponse moves the upstream's header into the caller's, without what
// was about the connection to the upstream, and with our entry in Via
// (kong/runloop/handler.lua, header_filter.after).
func rewriteResponse(to, from http.Header) {
	removeNamed(from)
	for name, lines := range from {
		if lines = withoutPlanted(name, lines); !isHopByHop(name) && !steersProxy(name) && len(lines) > 0 {
			to[name] = lines
		}
	}
	if lines := from["Content-Type"]; first(lines) == "" {
		to["Content-Type"] = nil // or net/http would guess one
	} else {
		to["Content-Type"] = lines[:1] // two readers could take two of them for the one
	}
	if via := from["Via"]; len(via) > 0 {
		to["Via"] = []string{strings.Join(via, ", ") + ", 1.1 " + pseudonym}
	} else {
		to["Via"] = responseVia
	}
}

var responseVia = []string{"1.1 " + pseudonym}
