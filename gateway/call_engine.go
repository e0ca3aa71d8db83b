package gateway

import (
	"errors"
	"net"
	"net/http"
	"strings"

	"postern/core/policy"
	"postern/gateway/engine"
)

// engineCall is a call that the engine carries. A connection has one, which serves its
// calls one after the other.
type engineCall struct {
	call
	exchange *engine.Exchange
	info     connInfo
	ownCache connCache
	limits   []limitLine   // by their index among the limit headers; nil before the first
	cutOffBy policy.Denial // why MayContinue cut the call off; the zero value if it did not
}

// newSession returns the session of a connection that the engine has accepted.
func (g *Gateway) newSession(c net.Conn) engine.Session {
	f := &engineCall{info: g.connInfoFor(c)}
	if g.observer != nil {
		f.ownCache.observer = g.observer.ForConnection()
	}
	if g.limiter != nil {
		f.ownCache.limiter = g.limiter.ForConnection()
	}
	f.gateway, f.cache = g, &f.ownCache
	g.running.Add(1)
	return f
}

// End implements engine.Session.
func (c *engineCall) End() {
	c.ownCache.share.release()
	c.gateway.running.Done()
}

// Serve implements engine.Session. It leaves these requests to net/http: those with an invalid target, probes, requests
// for public keys and OpenAPI documents, requests whose body is validated or may be changed, and requests to upstreams
// that are called with HTTP/2.
func (c *engineCall) Serve(x *engine.Exchange) bool {
	target, err := readTarget(x.Request.Target)
	if err != nil {
		return false
	}
	c.exchange = x
	conn := &c.info
	host, route, ok := c.gateway.find(x.Request.Host, x.Request.Method, target, conn)
	if !ok && (c.gateway.probed(x.Request.Method, target) || c.gateway.isDirectory(route, x.Request.Method, target)) {
		return false
	}
	if !ok {
		c.answer(c.gateway.unrouted(route))
		return true
	}
	if route.environment.usesHTTP2() || route.needsHTTP(x.Request.Method, x.Request.Length) ||
		route.changesBodies() {
		return false
	}
	if conn.trusted {
		conn = c.gateway.onBehalf(conn, c.values)
	}
	c.conn, c.host, c.method, c.target, c.route, c.start = conn, host, x.Request.Method, target, route, x.Began
	if c.gateway.clock != nil {
		c.start = c.gateway.clock()
	}
	if c.gateway.tracer != nil {
		c.startTrace(c.info.addr, c.values)
	}
	defer c.end()
	r := requestOfEngine(&x.Request)
	switch v := c.decide(&r); {
	case v.admitted:
		denial, refused := c.refusesHead(r.length, c.values)
		if !refused {
			c.forward(v.upstream)
			break
		}
		c.refuse(denial)
	case v.preflight:
		c.answerPreflight(&r)
	default:
		c.refuse(v.denial)
	}
	return true
}

// MayContinue implements engine.Session.
func (c *engineCall) MayContinue() bool {
	denial, refused := c.recheck()
	if refused {
		c.cutOffBy = denial
	}
	return !refused
}

// end finishes the call and clears it, because the connection may be idle for long.
func (c *engineCall) end() {
	c.finish()
	if c.ownCache.token.Subject != "" {
		c.ownCache.token = policy.Token{}
	}
	c.exchange = nil
	gateway := c.gateway
	c.call = call{} // in place: a literal with these two fields would be built first and then copied
	c.gateway, c.cache = gateway, &c.ownCache
}

// values returns the values of one field.
func (c *engineCall) values(name string) []string {
	var out []string
	for i := range c.exchange.Request.Fields {
		if f := &c.exchange.Request.Fields[i]; len(f.Name) == len(name) && strings.EqualFold(f.Name, name) {
			out = append(out, f.Value)
		}
	}
	return out
}

var (
	jsonField    = []engine.Field{{Name: "Content-Type", Value: "application/json"}}
	denialFields = byDenial(func(d policy.Denial) []engine.Field {
		if d.Challenge() == "" {
			return jsonField
		}
		return append(jsonField[:1:1], engine.Field{Name: "Www-Authenticate", Value: d.Challenge()})
	})
)

func (c *engineCall) denialFields(d policy.Denial) []engine.Field {
	if p := c.places(); p != nil && d.Status == http.StatusUnauthorized {
		return append(jsonField[:1:1], engine.Field{Name: "Www-Authenticate", Value: p.Challenge(d)})
	}
	return denialFields[d]
}

// refuse answers a call whose project was found with a denial.
func (c *engineCall) refuse(d policy.Denial) {
	c.status, c.code = d.Status, d.Code
	c.bytesOut += c.answer(d)
}

// answer answers with a denial, and returns how many bytes of its body were sent.
func (c *engineCall) answer(d policy.Denial) int64 {
	fields := c.changesOwnAnswers().response(c.withOwnLines(c.denialFields(d)))
	return c.exchange.Answer(d.Status, fields, c.bodyOf(d))
}

// forward sends the call to its upstream and the response to the caller.
func (c *engineCall) forward(upstream upstreamCredentials) {
	if denial, ok := c.chooseTarget(func(name string) string { return first(c.values(name)) }); !ok {
		c.refuse(denial)
		return
	}
	x := c.exchange
	c.upstream, x.MaxResponse = upstream, c.responseLimit()
	x.Request.Fields = c.withoutKey(x.Request.Fields)
	c.target.query = c.route.version.query.apply(c.target.query)
	c.traceUpstream()
	c.forwarded = true
	status, err := x.Forward(c, c)
	c.status, c.bytesIn, c.bytesOut, c.firstByte = status, x.BytesIn, x.BytesOut, x.FirstByte
	switch {
	case err == nil:
	case errors.Is(err, engine.ErrBrokenOff):
		c.warn("the upstream interrupted its response", err)
	case errors.Is(err, engine.ErrCaller):
		if status == 0 {
			c.status = statusGone
		}
		c.code = c.cutOffBy.Code
	case errors.Is(err, engine.ErrResponseTooLarge):
		c.refuse(c.responseTooLarge())
	case errors.Is(err, engine.ErrBody) && isTimeout(err):
		c.refuse(policy.RequestTimeout)
	case errors.Is(err, engine.ErrBody):
		c.refuse(policy.BadRequest)
	default:
		c.refuse(c.noResponse(err))
	}
}

// RequestHead implements engine.Rewriter. It writes the same headers as rewriteRequest.
func (c *engineCall) RequestHead(dst []byte) []byte {
	r, env := &c.exchange.Request, c.route.environment
	dst = append(dst, r.Method...)
	dst = append(dst, ' ')
	dst = append(dst, policy.JoinTarget(env.path, c.route.rest)...)
	dst = append(dst, c.target.query...)
	dst = append(dst, " HTTP/1.1\r\nHost: "...)
	dst = append(dst, c.upstreamHost()...)
	dst = append(dst, "\r\nConnection: keep-alive\r\n"...)
	var forwardedFor, via string
	fields := env.changes.request(r.Fields)
	for i := range fields {
		f := &fields[i]
		switch {
		case len(f.Name) == len("Cookie") && strings.EqualFold(f.Name, "Cookie"):
			if own := policy.WithoutControlCookies(f.Value); own != "" || f.Value == "" {
				dst = engine.AppendField(dst, f.Name, own)
			}
		case !c.withholds(f.Name):
			dst = engine.AppendField(dst, f.Name, f.Value)
		case forwardedFor == "" && strings.EqualFold(f.Name, "X-Forwarded-For"):
			forwardedFor = f.Value + ", "
		case via == "" && strings.EqualFold(f.Name, "Via"):
			via = f.Value + ", "
		}
	}
	c.ownRequestLines(forwardedFor, via, viaEntry(1, 1), func(name, value string) {
		dst = engine.AppendField(dst, name, value)
	})
	return dst
}

// ResponseHead implements engine.Rewriter. It writes the same headers as rewriteResponse.
func (c *engineCall) ResponseHead(dst []byte, r *engine.Response) []byte {
	interim, fields := r.Status < 200, r.Fields
	var named []string
	if !interim {
		named = namedInConnection(fields)
		fields = c.changesAnswers().response(fields)
	}
	via, typed, edits := "", r.Status == 304, c.edits()
	for i := range fields {
		switch f := &fields[i]; {
		case isNeverForwarded(f.Name, f.Value):
		case named != nil && isNamed(named, f.Name):
		case edits && c.withheld(f.Name):
		case !interim && len(f.Name) == len("Via") && strings.EqualFold(f.Name, "Via"):
			via += f.Value + ", "
		case !interim && len(f.Name) == len("Content-Type") && strings.EqualFold(f.Name, "Content-Type"):
			// A 304 has no body to describe, and net/http drops the field too; of two
			// lines, two readers could each take another.
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
	c.tapAnswer(r)
	if edits {
		dst = c.appendOwnLines(dst, r.Status)
	}
	dst = append(dst, "Via: "...)
	dst = append(dst, via...)
	return append(dst, "1.1 "+pseudonym+"\r\n"...)
}

// tapAnswer shows the final answer to the tracker, if it has one and the status is 2xx.
func (c *engineCall) tapAnswer(r *engine.Response) {
	if c.tracker == nil {
		return
	}
	var kind, encoding string
	for i := range r.Fields {
		switch f := &r.Fields[i]; {
		case kind == "" && strings.EqualFold(f.Name, "Content-Type"):
			kind = f.Value
		case strings.EqualFold(f.Name, "Content-Encoding"):
			encoding = joinLines(encoding, f.Value)
		}
	}
	if c.tracker.answered(r.Status, kind, encoding) {
		c.exchange.Tap = c.tracker
	}
}

// MayTrail implements engine.Rewriter.
func (c *engineCall) MayTrail(name string) bool {
	return mayTrail(name)
}

// namedInConnection returns the names of the fields that Connection makes hop-by-hop. In the
// common case it is nil.
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
