package gateway

import (
	"errors"
	"net"
	"strings"

	"postern/core/policy"
	"postern/gateway/engine"
)

// fastCall is a call that the engine carries. There is one for each connection,
// used for its calls one after the other.
type fastCall struct {
	call
	x       *engine.Exchange
	info    connInfo
	own     space
	perConn struct { // nil where the gateway has none
		observer CallObserver
		limiter  policy.Limiter
	}
	limits   []limitLine // by their places among the headers; nil before there were any
	stripKey bool
	ended    policy.Denial // why the engine was told to end the call; the zero value for others
}

// newSession begins a connection of the engine.
func (g *Gateway) newSession(c net.Conn) engine.Session {
	f := &fastCall{info: g.connInfoFor(c)}
	if g.observer != nil {
		f.perConn.observer = g.observer.ForConnection()
	}
	if g.limiter != nil {
		f.perConn.limiter = g.limiter.ForConnection()
	}
	f.gateway, f.carrier, f.space = g, f, &f.own
	f.observer, f.limiter = f.perConn.observer, f.perConn.limiter
	g.running.Add(1)
	return f
}

// End implements engine.Session.
func (c *fastCall) End() {
	c.own.share.release()
	c.gateway.running.Done()
}

// Serve takes one request through the same steps as ServeHTTP. A target that is
// not valid is left to net/http, which may have its own words for it.
func (c *fastCall) Serve(x *engine.Exchange) bool {
	target, err := readTarget(x.Request.Target)
	if err != nil {
		return false
	}
	c.x = x
	conn := &c.info
	host, route, ok := c.gateway.find(x.Request.Host, target, conn)
	if !ok && c.gateway.probed(x.Request.Method, target) {
		return false
	}
	if !ok {
		c.deny(policy.NoRoute)
		return true
	}
	if conn.trusted {
		conn = c.gateway.onBehalf(conn, c.lines)
	}
	c.conn, c.host, c.method, c.target, c.route, c.start = conn, host, x.Request.Method, target, route, x.Began
	if c.gateway.clock != nil {
		c.start = c.gateway.clock()
	}
	defer c.end()
	c.serve()
	return true
}

// Stands implements engine.Session.
func (c *fastCall) Stands() bool {
	denial, refused := c.standing()
	if refused {
		c.ended = denial
	}
	return !refused
}

// end reports the call and forgets it: the connection may be idle for long.
func (c *fastCall) end() {
	c.observe()
	if c.own.token.Subject != "" {
		c.own.token = policy.Token{}
	}
	c.x = nil
	gateway := c.gateway
	c.call = call{} // in place: one with these fields would be made first and then moved
	c.carrier, c.gateway, c.space = c, gateway, &c.own
	c.observer, c.limiter = c.perConn.observer, c.perConn.limiter
}

func (c *fastCall) keyLines() (n int, value string) {
	for i := range c.x.Request.Fields {
		if f := &c.x.Request.Fields[i]; len(f.Name) == len(policy.KeyHeader) &&
			strings.EqualFold(f.Name, policy.KeyHeader) {
			if n++; n == 1 {
				value = f.Value
			}
		}
	}
	return n, value
}

func (c *fastCall) authorization() (n int, value string) {
	for i := range c.x.Request.Fields {
		if f := &c.x.Request.Fields[i]; len(f.Name) == len(authorizationHeader) &&
			strings.EqualFold(f.Name, authorizationHeader) {
			if n++; n == 1 {
				value = f.Value
			}
		}
	}
	return n, value
}

// lines are the values of one header.
func (c *fastCall) lines(name string) []string {
	var out []string
	for i := range c.x.Request.Fields {
		if f := &c.x.Request.Fields[i]; len(f.Name) == len(name) && strings.EqualFold(f.Name, name) {
			out = append(out, f.Value)
		}
	}
	return out
}

func (c *fastCall) field(name string) string {
	for i := range c.x.Request.Fields {
		if f := &c.x.Request.Fields[i]; len(f.Name) == len(name) && strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

func (c *fastCall) hops() int {
	n := 0
	for i := range c.x.Request.Fields {
		if f := &c.x.Request.Fields[i]; len(f.Name) == len("Via") && strings.EqualFold(f.Name, "Via") {
			n += hops(f.Value)
		}
	}
	return n
}

func (c *fastCall) length() int64 { return c.x.Request.Length }

var (
	jsonField          = []engine.Field{{Name: "Content-Type", Value: "application/json"}}
	unauthorizedFields = byDenial(func(d policy.Denial) []engine.Field {
		return append(jsonField[:1:1], engine.Field{Name: "Www-Authenticate", Value: d.Challenge()})
	})
)

func (c *fastCall) deny(d policy.Denial) int64 {
	header := jsonField
	if d.Status == 401 {
		header = unauthorizedFields[d]
	}
	return c.x.Answer(d.Status, c.withLimitLines(header), bodies[d])
}

func (c *fastCall) forward(stripKey bool) {
	c.stripKey, c.x.MaxAnswer = stripKey, c.answerLimit()
	status, err := c.x.Forward(c.route.environment.upstream, c)
	c.status, c.bytesIn, c.bytesOut = status, c.x.BytesIn, c.x.BytesOut
	switch {
	case err == nil:
	case errors.Is(err, engine.ErrBrokenOff):
		c.warn("the upstream broke off its answer", err)
	case errors.Is(err, engine.ErrCaller):
		if status == 0 {
			c.status = statusGone
		}
		c.code = c.ended.Code
	case errors.Is(err, engine.ErrAnswerTooLarge):
		c.refuse(c.answerTooLarge())
	case errors.Is(err, engine.ErrBody) && isTimeout(err):
		c.refuse(policy.RequestTimeout)
	case errors.Is(err, engine.ErrBody):
		c.refuse(policy.BadRequest)
	default:
		c.unanswered(err)
	}
}

// RequestHead writes what rewriteRequest makes of the caller's header.
func (c *fastCall) RequestHead(dst []byte) []byte {
	r, env := &c.x.Request, c.route.environment
	dst = append(dst, r.Method...)
	dst = append(dst, ' ')
	dst = append(dst, policy.JoinTarget(env.path, c.route.rest)...)
	dst = append(dst, c.target.query...)
	dst = append(dst, " HTTP/1.1\r\nHost: "...)
	dst = append(dst, env.host...)
	dst = append(dst, "\r\nConnection: keep-alive\r\n"...)
	var forwardedFor, via string
	for i := range r.Fields {
		f := &r.Fields[i]
		switch {
		case len(f.Name) == len("Cookie") && strings.EqualFold(f.Name, "Cookie"):
			if own := policy.WithoutControlCookies(f.Value); own != "" || f.Value == "" {
				dst = engine.AppendField(dst, f.Name, own)
			}
		case c.upstream.replaces(f.Name):
		case !keepsOut(f.Name, c.stripKey):
			dst = engine.AppendField(dst, f.Name, f.Value)
		case forwardedFor == "" && strings.EqualFold(f.Name, "X-Forwarded-For"):
			forwardedFor = f.Value + ", "
		case via == "" && strings.EqualFold(f.Name, "Via"):
			via = f.Value + ", "
		}
	}
	set := func(name, value string) { dst = engine.AppendField(dst, name, value) }
	c.forwarded(forwardedFor, via, viaEntry(1, 1), set)
	c.identityLines(set)
	return dst
}

// AnswerHead writes what rewriteResponse makes of the upstream's header.
func (c *fastCall) AnswerHead(dst []byte, r *engine.Response) []byte {
	interim := r.Status < 200
	var named []string
	if !interim {
		named = namedInConnection(r.Fields)
	}
	via, typed, edits := "", r.Status == 304, c.edits()
	for i := range r.Fields {
		switch f := &r.Fields[i]; {
		case isHopByHop(f.Name) || steersProxy(f.Name) || refusesCookie(f.Name, f.Value):
		case named != nil && isNamed(named, f.Name):
		case edits && c.withheld(f.Name):
		case !interim && len(f.Name) == len("Via") && strings.EqualFold(f.Name, "Via"):
			via += f.Value + ", "
		case !interim && len(f.Name) == len("Content-Type") && strings.EqualFold(f.Name, "Content-Type"):
			// Of a 304 it would describe a body that is not there, and net/http leaves it
			// out too; of two, two readers could take either.
			if !typed && f.Value != "" {
				dst = engine.AppendField(dst, f.Name, f.Value)
			}
			typed = true
		default:
			dst = engine.AppendField(dst, f.Name, f.Value)
		}
	}
	if interim {
		return dst
	}
	if edits {
		dst = c.appendOwnLines(dst, r.Status)
	}
	dst = append(dst, "Via: "...)
	dst = append(dst, via...)
	return append(dst, "1.1 "+pseudonym+"\r\n"...)
}

// MayTrail tells the trailers of an answer that are passed on.
func (c *fastCall) MayTrail(name string) bool {
	return mayTrail(name)
}

// namedInConnection lists the fields that Connection makes hop-by-hop, nil in
// the common case of none.
func namedInConnection(fields []engine.Field) []string {
	var out []string
	for i := range fields {
		f := &fields[i]
		if len(f.Name) != len("Connection") || !strings.EqualFold(f.Name, "Connection") ||
			strings.EqualFold(f.Value, "keep-alive") || strings.EqualFold(f.Value, "close") {
			continue
		}
		for name := range strings.SplitSeq(f.Value, ",") {
			out = append(out, strings.TrimSpace(name))
		}
	}
	return out
}

func isNamed(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}
