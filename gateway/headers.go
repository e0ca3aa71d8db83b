package gateway

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"postern/core/policy"
)

// MaxHops is how often a call may pass through this gateway, counted by its pseudonym in Via. Upstreams may be projects
// themselves, so one pass isn't enough. A loop reaches ten immediately.
const MaxHops = 10

// pseudonym is the gateway's name in Via (RFC 9110 section 7.6.3).
const pseudonym = "postern"

// Header values that all calls share: the transport only reads them.
var (
	keepAlive        = []string{"keep-alive"}
	keepAliveUpgrade = []string{"keep-alive, Upgrade"}
	websocket        = []string{"websocket"}
	teTrailers       = []string{"trailers"}
	upgradeOnly      = []string{"Upgrade"}
)

// rewriteRequest turns the caller's header into the upstream's, in place. It first removes
// everything that callers must not set, then sets the gateway's own fields, so that no
// Connection line can remove those.
func (c *httpCall) rewriteRequest(upgrade bool) {
	h := c.r.Header
	forwardedFor, via := listBegun(h["X-Forwarded-For"]), listBegun(h["Via"])
	trailersWanted := hasToken(h["Te"], "trailers")
	removeNamed(h)
	for name := range h {
		if c.withholds(name) {
			delete(h, name)
		}
	}
	removeControlCookies(h)
	c.route.environment.changes.requestHeader(h)
	if _, sent := h["User-Agent"]; !sent {
		h["User-Agent"] = nil // so that net/http does not add its own
	}
	h["Connection"] = keepAlive
	if upgrade {
		h["Connection"], h["Upgrade"] = keepAliveUpgrade, websocket
	}
	if trailersWanted {
		h["Te"] = teTrailers
	}
	if c.trace.parent != "" {
		delete(h, tracestateHeader) // which a transform may have added
	}
	lines := make([]string, 0, usualLines)
	c.ownRequestLines(forwardedFor, via, viaEntry(c.r.ProtoMajor, c.r.ProtoMinor), func(name, value string) {
		lines = append(lines, value)
		h[name] = lines[len(lines)-1 : len(lines) : len(lines)]
	})
}

// usualLines are the most lines that forwarded and identityLines set.
const usualLines = 20

// withholds reports whether a field of the caller never reaches the upstream.
func (c *call) withholds(name string) bool {
	return keepsOut(name, c.upstream.withoutKey) || c.upstream.removes(name) ||
		c.route.environment.proof.replaces(name) || c.trace.replaces(name)
}

// ownRequestLines sets the gateway's own fields of a request.
func (c *call) ownRequestLines(forwardedFor, via, entry string, set func(name, value string)) {
	c.setForwarded(forwardedFor, via, entry, set)
	c.trace.lines(set)
	c.identityLines(set)
	c.route.environment.proof.lines(set)
	c.signatureLines(set)
}

// listBegun returns the first line with a comma for another entry, "" without any line. An
// empty line counts: Kong appends to it too.
func listBegun(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0] + ", "
}

// setForwarded sets the headers that Kong sets (kong/runloop/handler.lua, access.before). It
// appends to the caller's first line of X-Forwarded-For and of Via, which are given with
// their comma; the other headers are a trusted proxy's or the gateway's own.
func (c *call) setForwarded(forwardedFor, via, entry string, set func(name, value string)) {
	set("X-Forwarded-For", forwardedFor+c.conn.hop)
	set("X-Forwarded-Proto", c.forwardedOr("X-Forwarded-Proto", c.conn.scheme))
	set("X-Forwarded-Host", c.forwardedOr("X-Forwarded-Host", c.host))
	set("X-Forwarded-Port", c.forwardedOr("X-Forwarded-Port", c.conn.port))
	set("X-Forwarded-Path", c.forwardedOr("X-Forwarded-Path", c.target.raw))
	if prefix := c.forwardedOr("X-Forwarded-Prefix", c.route.prefix); prefix != "" {
		set("X-Forwarded-Prefix", prefix)
	}
	set("X-Real-Ip", c.conn.peer)
	set("Via", via+entry)
}

// identityLines sets the identity headers, which begin with the project's, and the
// Authorization that replaces the caller's.
func (c *call) identityLines(set func(name, value string)) {
	set(policy.ProjectHeader, c.route.project.id)
	id := &c.identity
	of := id.Headers()
	if id.Owner != "" {
		set(policy.ConsumerIDHeader, of.ConsumerID)
		set(policy.UsernameHeader, of.Username)
		if of.CustomID != "" {
			set(policy.CustomIDHeader, of.CustomID)
		}
	}
	if of.CredentialID != "" {
		set(policy.CredentialHeader, of.CredentialID)
	}
	if id.Metadata != "" {
		set(policy.MetadataHeader, id.Metadata)
	}
	if id.User != "" {
		set(policy.UserHeader, id.User)
	}
	if len(id.Groups) > 0 {
		set(policy.GroupsHeader, policy.JoinGroups(id.Groups))
	}
	if id.Truncated {
		set(policy.TruncatedHeader, policy.TruncatedValue)
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

// viaEntry is the entry of Via for a request received in that version of HTTP, as Kong
// writes it.
func viaEntry(major, minor int) string {
	switch {
	case major == 2:
		return "2 " + pseudonym
	case minor == 0:
		return "1.0 " + pseudonym
	}
	return "1.1 " + pseudonym
}

// hops counts the gateway's pseudonym in one line of Via.
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
			// Content-Length frames the message, even if Connection names it.
			if name = textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name)); name != "Content-Length" {
				delete(h, name)
			}
		}
	}
}

// isHopByHop reports whether a field is about one connection only. It ignores case.
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

// steersProxy reports whether a field of a response is an instruction to an nginx in front of
// the upstream. nginx never passes these on (ngx_http_proxy_hide_headers): another nginx in
// front of the gateway would obey them, and X-Accel-Redirect opens its internal locations.
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

// dropFromRequest reports whether a field is hop-by-hop, or one that nginx's proxy module
// never forwards (ngx_http_proxy_headers: Expect, which is answered here, and TE, which
// rewriteRequest sets again), or Proxy, which CGI would read as HTTP_PROXY (Kong clears it
// too).
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

// keepsOut reports whether a field of the caller never reaches the upstream: it is about the
// caller's connection, or only the gateway may set it.
func keepsOut(name string, stripKey bool) bool {
	return dropFromRequest(name) || policy.IsIdentityHeader(name) || policy.IsForwardedHeader(name) ||
		policy.IsFramingHeader(name) || (stripKey && policy.IsKeyHeader(name)) || !isPlainName(name)
}

// isPlainName reports whether a name has only letters, digits, hyphens and underscores.
// nginx drops all others (ignore_invalid_headers), and an upstream that turns every other
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

// removeControlCookies removes the dashboard's cookies.
func removeControlCookies(h http.Header) {
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

// isNeverForwarded reports whether a field of an answer never reaches callers: it is about the upstream's connection,
// steers an nginx, or would set one of the dashboard's cookies.
func isNeverForwarded(name, value string) bool {
	return isHopByHop(name) || steersProxy(name) ||
		len(name) == len("Set-Cookie") && strings.EqualFold(name, "Set-Cookie") && policy.SetsControlCookie(value)
}

// withoutControlCookies returns the lines of a field of a response that may be passed on.
func withoutControlCookies(name string, lines []string) []string {
	if name != "Set-Cookie" {
		return lines
	}
	return slices.DeleteFunc(lines, policy.SetsControlCookie)
}

// hasToken reports whether a comma-separated field has the token, with or without
// parameters.
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

// wantsWebSocket reports whether a request is for a WebSocket. No other upgrade is forwarded: h2c would hide requests
// from the gateway. As on Kong, the Upgrade field alone decides (kong/runloop/handler.lua, access.before). The upstream
// checks what else RFC 6455 section 4.2.1 requires of a handshake, the method and Connection; when it answers 101, no
// other caller's bytes are on the connection.
func wantsWebSocket(r *http.Request) bool {
	return r.ProtoMajor == 1 && strings.EqualFold(first(r.Header["Upgrade"]), "websocket")
}

// rewriteResponse moves the upstream's header into the caller's, without the fields about
// the connection to the upstream, and adds the gateway's entry to Via
// (kong/runloop/handler.lua, header_filter.after).
func rewriteResponse(to http.Header, response *http.Response) {
	from := response.Header
	removeNamed(from)
	for name, lines := range from {
		if lines = withoutControlCookies(name, lines); !isHopByHop(name) && !steersProxy(name) && len(lines) > 0 {
			to[name] = lines
		}
	}
	if lines := from["Content-Type"]; first(lines) == "" {
		to["Content-Type"] = nil // so that net/http does not guess one
	} else {
		to["Content-Type"] = lines[:1] // of two, two readers could each take another
	}
	own := responseVia
	if response.ProtoMajor == 2 {
		own = responseVia2
	}
	if via := from["Via"]; len(via) > 0 {
		own = []string{strings.Join(via, ", ") + ", " + own[0]}
	}
	to["Via"] = own
}

var responseVia, responseVia2 = []string{viaEntry(1, 1)}, []string{viaEntry(2, 0)}
