package gateway

import (
	"bytes"
	"errors"
	"net/http"

	"postern/core/policy"
)

// changesBodies reports whether bodies of the call may be changed. net/http serves such calls alone: the
// engine leaves them to it.
func (r *route) changesBodies() bool { return r.version.bodies != nil || r.version.answerBodies != nil }

// bodyRefusedError is an error of changeBody. The call is answered with its denial.
type bodyRefusedError struct{ policy.Denial }

func (e bodyRefusedError) Error() string { return e.Message }

// changeBody applies the transforms to the body of the upstream's request. It reads the whole body before the
// upstream is connected to.
func (c *httpCall) changeBody(out *http.Request, body *requestBody) error {
	changes, contentType := c.route.version.bodies, first(c.r.Header["Content-Type"])
	if changes == nil || wantsWebSocket(c.r) || bodyTypeOf(contentType) == unchangedBody {
		return nil
	}
	if c.r.ContentLength > policy.MaxChangedBody {
		return bodyRefusedError{policy.BodyTooLarge}
	}
	var text []byte
	hold := c.newHold()
	if c.r.ContentLength != 0 { // net/http itself reads from a connection whose request has no body
		var err error
		text, err = body.readWhole(policy.MaxChangedBody+1, hold)
		if errors.Is(err, errNoMemory) {
			return bodyRefusedError{c.noMemory(policy.BodyTooLarge)}
		}
		if err != nil {
			return err
		}
	}
	if len(text) > policy.MaxChangedBody {
		return bodyRefusedError{policy.BodyTooLarge}
	}
	if !hold.take(memoryOfChanges(text)) {
		return bodyRefusedError{c.noMemory(policy.BodyTooLarge)}
	}
	text, denial, ok := changes.apply(contentType, text)
	if !ok {
		return bodyRefusedError{denial}
	}
	out.Body, out.ContentLength, out.TransferEncoding = http.NoBody, int64(len(text)), nil
	if len(text) > 0 {
		out.Body = &heldBody{Reader: bytes.NewReader(text), hold: hold}
	}
	if out.Trailer = body.trailer; len(out.Trailer) > 0 {
		out.ContentLength = -1 // trailers follow chunks
	}
	return nil
}

// changeAnswerBody applies the transforms to the body of an upstream's response, of which it reads at most limit bytes;
// 0: no limit of the caller's. It returns the limit on the body that is left to read. It answers the call and returns
// false if the body is too large to be changed, or broke off. A changed body has no Content-Length, as on Kong.
func (c *httpCall) changeAnswerBody(from *http.Response, limit int64) (left int64, ok bool) {
	changes := c.route.version.answerBodies
	if changes == nil || !isJSONAnswer(first(from.Header["Content-Type"])) {
		return limit, true
	}
	delete(from.Header, "Content-Length")
	from.ContentLength = -1
	if from.Body == http.NoBody {
		return limit, true
	}
	hold := c.newHold()
	text, err := readWhole(atMost(from.Body, limit), policy.MaxChangedBody+1, hold)
	switch {
	case errors.Is(err, errNoMemory) || err == nil && !hold.take(memoryOfChanges(text)):
		c.refuse(c.noMemory(policy.ResponseTooLarge))
	case errors.Is(err, errResponseTooLarge):
		c.refuse(c.responseTooLarge())
	case err != nil:
		c.refuse(c.noResponse(err))
	case len(text) > policy.MaxChangedBody:
		c.warn("the upstream's response is too large to be changed", nil)
		c.refuse(policy.ResponseTooLarge)
	default:
		from.Body = &heldBody{Reader: bytes.NewReader(changes.changed(text)), hold: hold}
		return 0, true
	}
	return 0, false
}

// ownBody returns the body of a denial with the transforms of responses, and whether there are any.
func (c *httpCall) ownBody(d policy.Denial) (body []byte, changed bool) {
	if c.route.version == nil || c.route.version.answerBodies == nil || c.capped() {
		return c.bodyOf(d), false
	}
	return c.route.version.answerBodies.changed(c.bodyOf(d)), true
}
