package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"postern/core/policy"
	"postern/gateway/engine"
)

// statusGone is the recorded status of a call whose caller left before the response. It is
// nginx's number, and never sent.
const statusGone = 499

// ServeHTTP serves HTTP/2 requests from package h2, and requests from net/http: those that the engine leaves to it, or
// all requests if the gateway is used as a handler without Server.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.running.Add(1)
	defer g.running.Done()
	if r.Method == http.MethodConnect || r.Method == http.MethodTrace {
		// TRACE would show the caller the identity headers. nginx refuses both methods
		// (ngx_http_process_request_header).
		refuse(w, r, policy.MethodNotAllowed)
		return
	}
	target, err := readTarget(r.RequestURI)
	switch {
	case errors.Is(err, policy.ErrAboveRoot):
		refuse(w, r, policy.BadPath)
		return
	case err != nil, !engine.IsMethod(r.Method), r.ProtoMajor == 2 && !isStrictHTTP2(r):
		refuse(w, r, policy.BadRequest)
		return
	}
	conn := g.connInfoOf(r)
	host, route, ok := g.find(r.Host, r.Method, target, conn)
	if !ok && g.probed(r.Method, target) {
		g.probes.ServeHTTP(w, r)
		return
	}
	if !ok && g.isDirectory(route, r.Method, target) {
		g.serveDirectory(w, route.project)
		return
	}
	if !ok {
		refuse(w, r, g.unrouted(route))
		return
	}
	peer := conn.addr
	if conn.trusted {
		conn = g.onBehalf(conn, func(name string) []string { return r.Header[name] })
	}
	c := &httpCall{w: w, r: r, grpc: isGRPC(r), writing: writing{w: w, idle: g.limits.Idle}}
	if r.ProtoMajor < 2 {
		c.writing.pace = &c.pace
	}
	c.call = call{
		gateway: g,
		cache:   g.takeCache(),
		conn:    conn,
		host:    host,
		method:  r.Method,
		target:  target,
		route:   route,
		start:   g.now(),
	}
	if g.tracer != nil {
		c.startTrace(peer, func(name string) []string { return r.Header[name] })
	}
	defer c.end()
	if c.grpc {
		if denial, ok := route.servesGRPC(); !ok {
			c.refuse(denial)
			return
		}
	}
	in := requestOfHTTP(r)
	switch v := c.decide(&in); {
	case v.document:
		c.serveDocument()
	case v.admitted:
		c.forward(v.upstream) //nolint:contextcheck // a call carries its request, and the context with it
	case v.preflight:
		c.answerPreflight(&in)
	default:
		c.refuse(v.denial)
	}
}

// httpCall is a call that net/http carries.
type httpCall struct {
	call
	w http.ResponseWriter
	r *http.Request

	grpc bool
	out  *http.Request // of the upstream
	body *keptBody     // of out; nil: it isn't kept

	writing writing
	pace    engine.Pace
	aborted bool
}

func (c *httpCall) end() {
	c.finish()
	c.gateway.giveCache(c.cache)
}

// takeCache returns a cache for one call of net/http, mostly that of a call which ended on this core.
func (g *Gateway) takeCache() *connCache {
	if cache, ok := g.caches.Get().(*connCache); ok {
		return cache
	}
	cache := &connCache{}
	if g.observer != nil {
		cache.observer = g.observer.ForConnection()
	}
	if g.limiter != nil {
		cache.limiter = g.limiter.ForConnection()
	}
	return cache
}

// giveCache keeps the cache of a call that has ended, without what would outlive the call: its
// token, and a share that the pool would not release when it drops the cache.
func (g *Gateway) giveCache(cache *connCache) {
	cache.share.release()
	cache.share, cache.token = nil, policy.Token{}
	g.caches.Put(cache)
}

// refuse answers a call whose project was found with a denial.
func (c *httpCall) refuse(d policy.Denial) {
	c.status, c.code = d.Status, d.Code
	h := c.w.Header()
	c.corsLines(func(name, value string) { h[name] = []string{value} })
	c.limitLines(func(name, value string) { h[name] = []string{value} })
	c.changesOwnAnswers().responseHeader(h)
	body, changed := c.ownBody(d)
	challenge := challenges[d]
	if p := c.places(); p != nil && d.Status == http.StatusUnauthorized {
		challenge = []string{p.Challenge(d)}
	}
	c.bytesOut += refuseWith(c.w, c.r, d, challenge, body, changed)
}

// forward sends the call to its upstream and the response to the caller.
func (c *httpCall) forward(upstream upstreamCredentials) {
	if denial, ok := c.chooseTarget(c.r.Header.Get); !ok {
		c.refuse(denial)
		return
	}
	c.upstream = upstream
	body := newRequestBody(c.w, c.r, c.bodyLimits(), c.bodyLimit(), c.route.environment.proof)
	if !c.admitsRequest(body) {
		return
	}
	c.removeKey(c.r.Header)
	c.target.query = c.route.version.query.apply(c.target.query)
	upgrade := wantsWebSocket(c.r) && c.route.environment.upgrades()
	c.traceUpstream()
	c.rewriteRequest(upgrade)
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	c.writing.leaveToWatch()
	watched := c.watchOver(func() { c.cutOff(cancel) })
	defer func() {
		if code := watched.stop(); code != "" {
			c.code = code
		}
	}()
	defer func() {
		c.body.stop()
		body.stop(c.aborted)
		c.bytesIn += body.read.Load()
	}()

	c.out = c.outgoing(ctx, body)
	var response *http.Response
	err := c.changeBody(c.out, body)
	if err == nil {
		c.forwarded = true
		c.keepBody()
		response, err = engine.RoundTrip(c, c, &c.gateway.engineLimits)
	}
	if err != nil && watched.hasEnded() {
		c.status = statusGone
		c.abort()
	}
	if err != nil {
		c.failed(err, body)
		return
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusSwitchingProtocols {
		c.tunnel(response, upgrade, watched)
		return
	}
	c.answer(ctx, response)
}

// outgoing returns the upstream's request. It shares the caller's header, which rewriteRequest
// has changed and nothing reads after this.
func (c *httpCall) outgoing(ctx context.Context, body *requestBody) *http.Request {
	env, host := c.route.environment, c.endpoint().host
	out := c.r.WithContext(ctx)
	out.URL = &url.URL{
		Scheme: env.scheme,
		Host:   host,
		// Opaque is sent unchanged. Path would be escaped again, and the query must be forwarded byte for byte, an
		// empty one with its question mark.
		Opaque: policy.JoinTarget(env.path, c.route.rest) + c.target.query,
	}
	out.Host = c.upstreamHost()
	out.RequestURI = ""
	out.Close = false // "Connection: close" is about the caller's connection
	out.Body, out.Trailer = http.NoBody, nil
	if c.r.ContentLength != 0 {
		out.Body, out.Trailer = body, body.trailer
	}
	return out
}

// answer sends the upstream's response to the caller.
func (c *httpCall) answer(ctx context.Context, from *http.Response) {
	limit := c.responseLimit()
	if limit > 0 && from.ContentLength > limit && c.method != http.MethodHead {
		c.refuse(c.responseTooLarge())
		return
	}
	c.firstByte = c.gateway.since(c.start)
	c.trackAnswer(from)
	limit, ok := c.changeAnswerBody(from, limit)
	if !ok {
		return
	}
	c.status = from.StatusCode
	to := c.w.Header()
	c.withhold(from.Header)
	rewriteResponse(to, from)
	c.changeAnswer(to)
	c.setOwnLines(to, from.StatusCode)
	announced := announceTrailers(to, from.Trailer)
	// A stream is flushed after each read. A response of known length is not: buffering
	// saves packets, and its end is known to come.
	live := from.ContentLength < 0 || isEventStream(from.Header)
	c.writing.begin(0)
	c.w.WriteHeader(from.StatusCode)
	if live || len(announced) > 0 {
		flush(c.w)
	}
	sent, err := copyBody(&c.writing, atMost(from.Body, limit), live)
	c.bytesOut += sent
	if err != nil {
		if !errors.Is(err, errCaller) && ctx.Err() == nil {
			c.warn("the upstream interrupted its response", err)
		}
		// Close the connection instead of ending the message, so that the caller sees that the body is incomplete. The
		// received bytes are sent first, as by the engine.
		flush(c.w)
		c.abort()
	}
	sendTrailers(to, from.Trailer, announced)
}

// trackAnswer shows the answer to the tracker, if it has one and the status is 2xx.
func (c *httpCall) trackAnswer(from *http.Response) {
	h := from.Header
	if c.tracker == nil ||
		!c.tracker.answered(from.StatusCode, h.Get("Content-Type"), strings.Join(h["Content-Encoding"], ", ")) {
		return
	}
	if c.method == http.MethodHead || from.ContentLength == 0 || from.Body == http.NoBody {
		c.tracker.End()
		return
	}
	from.Body = &trackedBody{from: from.Body, track: c.tracker, left: from.ContentLength}
}

// failed answers a call whose upstream did not respond.
func (c *httpCall) failed(err error, body *requestBody) {
	if refused, ok := errors.AsType[bodyRefusedError](err); ok {
		c.refuse(refused.Denial)
		return
	}
	left := c.r.Context().Err() != nil
	switch bodyErr := body.failure(left); {
	case errors.Is(bodyErr, errBodyTooLarge):
		c.refuse(policy.BodyTooLarge)
	case errors.Is(bodyErr, errBodyTooSlow): // net/http cancels the context as if the caller had left
		c.refuseAndClose(policy.RequestTimeout)
	case errors.Is(bodyErr, errFraming): // the same
		c.refuseAndClose(policy.BadRequest)
	case left:
		c.status = statusGone
		c.abort()
	case bodyErr != nil:
		c.refuse(policy.BadRequest)
	case c.grpc && errors.Is(err, engine.ErrHTTP1):
		c.refuse(policy.GRPCNeedsHTTP2)
	default:
		c.refuse(c.noResponse(err))
	}
}

// refuseAndClose refuses a call and closes its connection, which is in an unknown state.
func (c *httpCall) refuseAndClose(d policy.Denial) {
	if c.r.ProtoMajor == 1 { // in HTTP/2 only the stream is affected
		c.w.Header()["Connection"] = closing
	}
	c.refuse(d)
}

var closing = []string{"close"}

// abort closes the connection in the middle of the call, by a panic that net/http recovers.
func (c *httpCall) abort() {
	c.aborted = true
	panic(http.ErrAbortHandler)
}

// Interim implements engine.Requester. It forwards a 1xx answer such as 103 Early Hints (RFC 9110 section 15.2).
func (c *httpCall) Interim(from *engine.Response) error {
	if !c.r.ProtoAtLeast(1, 1) {
		return nil
	}
	to := c.w.Header()
	for _, f := range from.Fields {
		if !isNeverForwarded(f.Name, f.Value) && (!c.edits() || !c.withheld(f.Name)) {
			to.Add(f.Name, f.Value)
		}
	}
	c.writing.begin(0)
	c.w.WriteHeader(from.Status)
	clear(to) // for the final response
	return nil
}
