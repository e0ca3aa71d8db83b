package gateway

import (
	"fmt"
	"io"
	"strings"

	"postern/core/openapi/validate"
	"postern/core/policy"
)

// reported is a request that does not match the OpenAPI document and is forwarded: refusals are not
// enforced.
type reported struct{ operation, problem string }

// match returns the operation of the OpenAPI document that a call is for. ok is false if requests are not
// validated, or if the document does not describe the route: which routes there are, rules decide.
func (c *call) match() (m validate.Match, ok bool) {
	d := c.route.version.description
	if d == nil || d.requests == nil {
		return m, false
	}
	return d.requests.Find(c.method, c.route.rest)
}

// refusesHead reports whether a call is refused by its path, query and header, and keeps the problems.
// length is that of the body, -1 for one that is not known yet.
func (c *call) refusesHead(length int64, header func(string) []string) bool {
	if c.route.version.description == nil {
		return false
	}
	m, described := c.match()
	return described && c.refuses(m, m.Head(c.target.query, length, header))
}

// refuses reports whether a call with these problems is refused. If they are only reported, it keeps the
// first.
func (c *call) refuses(m validate.Match, problems []validate.Problem) bool {
	if len(problems) == 0 {
		return false
	}
	if !c.route.version.description.enforce {
		c.reported = reported{m.Name, problems[0].String()}
		return false
	}
	c.problems, c.step = problems, StepValidate
	return true
}

// bodyOf returns the body of a denial, with what is wrong with the request.
func (c *call) bodyOf(d policy.Denial) []byte {
	if d == policy.InvalidRequest {
		return validate.Answer(d.Message, d.Code, c.problems)
	}
	return bodies[d]
}

// admitsRequest reports whether a request matches the OpenAPI document, or need not. If it does not, it is
// answered. It reads the body if that is validated, so that body returns it again.
func (c *httpCall) admitsRequest(body *requestBody) (admitted bool) {
	if c.route.version.description == nil {
		return true
	}
	m, described := c.match()
	if !described {
		return true
	}
	defer func() { // not only at a return: failed may panic
		if !admitted {
			body.stop(c.aborted)
			c.bytesIn += body.read.Load()
		}
	}()
	problems := m.Head(c.target.query, c.r.ContentLength, c.r.Header.Values)
	media := first(c.r.Header["Content-Type"])
	if len(problems) == 0 && c.r.ContentLength != 0 && m.ReadsBody(media) {
		if err := body.readEarly(validate.MaxBody + 1); err != nil {
			c.failed(fmt.Errorf("read the body to validate it: %w", err), body)
			return false
		}
		if len(body.early) > validate.MaxBody {
			problems = []validate.Problem{validate.TooLarge()}
		} else {
			problems = m.Body(media, strings.Join(c.r.Header["Content-Encoding"], ","), body.early)
		}
	}
	if c.refuses(m, problems) {
		c.refuse(policy.InvalidRequest)
		return false
	}
	return true
}

// readEarly reads at most limit bytes before the body is forwarded.
func (b *requestBody) readEarly(limit int64) error {
	early, err := io.ReadAll(io.LimitReader(b, limit))
	b.early = early
	return err
}

// explainValidation adds the step that compares a call with the OpenAPI document. Of a question only the
// path can be compared.
func explainValidation(out *policy.Explanation, at route, method string) {
	d := at.version.description
	if d == nil || d.requests == nil {
		return
	}
	m, described := d.requests.Find(method, at.rest)
	if !described {
		out.Skip(policy.ExplainValidate,
			"The OpenAPI document does not describe this route: requests are not validated.")
		return
	}
	problems := m.Path()
	if len(problems) == 0 {
		out.Skip(policy.ExplainValidate, "The path matches "+m.Name+" of the OpenAPI document. A question has no "+
			"query, headers and body to validate.")
		return
	}
	if !d.enforce {
		out.Report(policy.ExplainValidate, "By "+m.Name+" of the OpenAPI document, "+problems[0].String()+
			"; that is only reported.")
		return
	}
	exported := out.Exported // the exported gateway does not validate
	out.Deny(policy.ExplainValidate, policy.InvalidRequest, policy.ExplainValidate)
	out.Exported = exported
}
