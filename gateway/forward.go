package gateway

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"sync"

	"postern/egress"
	"postern/policy"
)

// statusGone is what the observer sees of a call whose caller left before the
// answer; nobody is sent it. The number is nginx's.
const statusGone = 499

// forward carries the call to its upstream and the answer back.
func (c *call) forward(stripKey bool) {
	up := c.route.environment.upstream
	if up.underWay.Add(1) > c.gateway.limits.UnderWay {
		up.underWay.Add(-1)
		c.refuse(policy.UpstreamUnreachable)
		c.warn("too many calls under way to one upstream", nil)
		return
	}
	defer up.underWay.Add(-1)

	upgrade := wantsWebSocket(c.r)
	c.rewriteRequest(stripKey, upgrade)
	body := newRequestBody(c.w, c.r, c.gateway.limits)
	c.body = body
	defer body.stop()

	early := &earlyAnswers{w: c.w}
	answer, err := c.gateway.transport.RoundTrip(c.outgoing(body, early))
	early.stop()
	if err != nil {
		c.failed(err, body)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode == http.StatusSwitchingProtocols {
		c.tunnel(answer, upgrade)
		return
	}
	c.answer(answer)
}

// outgoing makes the upstream's request of the caller's. The header is shared,
// not copied: the caller's is ours to change, and is read by nobody after this.
func (c *call) outgoing(body *requestBody, early *earlyAnswers) *http.Request {
	env := c.route.environment
	ctx := httptrace.WithClientTrace(c.r.Context(), &httptrace.ClientTrace{Got1xxResponse: early.forward})
	out := c.r.WithContext(ctx)
	out.URL = &url.URL{
		Scheme: env.scheme,
		Host:   env.host,
		// Opaque is sent as it stands: Path would be escaped anew, and the query
		// must go through byte for byte, an empty one with its question mark.
		Opaque: policy.JoinTarget(env.path, c.route.rest) + c.target.query,
	}
	out.Host = env.host
	out.RequestURI = ""
	out.Close = false // what the caller wants done with his connection is not the upstream's business
	out.Body, out.Trailer = http.NoBody, nil
	if c.r.ContentLength != 0 {
		out.Body, out.Trailer = body, body.trailer
	}
	return out
}

// answer sends the upstream's answer to the caller.
func (c *call) answer(from *http.Response) {
	c.status = from.StatusCode
	to := c.w.Header()
	rewriteResponse(to, from.Header)
	announced := announceTrailers(to, from.Trailer)
	// What comes piece by piece is passed on piece by piece. An answer of known
	// length is not: its end will come, and buffering saves a packet each time.
	live := from.ContentLength < 0 || isEventStream(from.Header)
	setWriteDeadline(c.w, c.gateway.limits.Idle)
	c.w.WriteHeader(from.StatusCode)
	if live || len(announced) > 0 {
		flush(c.w)
	}
	sent, err := copyBody(c.w, from.Body, live, c.gateway.limits.Idle)
	c.bytesOut += sent
	if err != nil {
		if !errors.Is(err, errCaller) {
			c.warn("the upstream broke off its answer", err)
		}
		// The caller must not take a part for the whole: end the connection
		// instead of ending the message.
		panic(http.ErrAbortHandler)
	}
	sendTrailers(to, from.Trailer, announced)
}

// failed answers for an upstream that did not.
func (c *call) failed(err error, body *requestBody) {
	switch bodyErr := body.failure(); {
	case c.r.Context().Err() != nil:
		c.status = statusGone
		panic(http.ErrAbortHandler)
	case errors.Is(bodyErr, errBodyTooLarge):
		c.refuse(policy.BodyTooLarge)
	case bodyErr != nil:
		c.refuse(policy.BadRequest)
	case isTimeout(err):
		c.refuse(policy.UpstreamTimeout)
		c.warn("the upstream did not answer in time", err)
	case errors.Is(err, egress.ErrForbidden):
		c.refuse(policy.UpstreamUnreachable)
		c.warn("the upstream's address may not be reached", err)
	default:
		c.refuse(policy.UpstreamUnreachable)
		c.warn("the upstream could not be reached", err)
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return (ok && timeout.Timeout()) || errors.Is(err, context.DeadlineExceeded)
}

// warn logs what an operator may want to look into. Neither path, query nor
// header goes to the log: any of them can hold a secret.
func (c *call) warn(what string, err error) {
	log := c.gateway.log.With("project", c.route.project.name, "version", c.route.version.name, "environment", c.route.environment.name)
	if err != nil {
		log = log.With("error", err.Error())
	}
	log.Warn(what)
}

// earlyAnswers passes 1xx answers on (RFC 9110 section 15.2), such as 103 Early
// Hints. The transport may still report one while RoundTrip returns: then it is
// dropped, because the final header is being written.
type earlyAnswers struct {
	mu   sync.Mutex
	w    http.ResponseWriter
	over bool
}

func (e *earlyAnswers) forward(code int, header textproto.MIMEHeader) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over || code == http.StatusContinue || code == http.StatusSwitchingProtocols {
		return nil // net/http itself tells the caller to continue when his body is read
	}
	h := e.w.Header()
	for name, lines := range header {
		if !isHopByHop(name) {
			h[name] = lines
		}
	}
	e.w.WriteHeader(code)
	clear(h) // they belong to this answer, not to the final one
	return nil
}

func (e *earlyAnswers) stop() {
	e.mu.Lock()
	e.over = true
	e.mu.Unlock()
}
