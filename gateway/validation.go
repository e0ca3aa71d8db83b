package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"postern/core/openapi/validate"
	"postern/core/policy"
)

// reported is a request that does not match the OpenAPI document and is forwarded: refusals are not
// enforced.
type reported struct{ operation, problem string }

// operations appends the operations of the OpenAPI document that a call is for: by its path, and by the other
// ways in which an upstream may read that. None is appended if requests are not validated, or if the document
// does not describe the route: which routes there are, rules decide.
//
// The document is compiled if it is not yet: an error is that of validator.get.
func (d *description) operations(
	ctx context.Context, to []validate.Match, method, path string,
) ([]validate.Match, error) {
	if d == nil || d.requests == nil {
		return to, nil
	}
	requests, err := d.requests.get(ctx)
	if err != nil {
		return to, err
	}
	if m, described := requests.Find(method, path); described {
		to = append(to, m)
	}
	for read := range policy.Readings(path) {
		m, described := requests.Find(method, read)
		same := func(have validate.Match) bool { return have.Operation == m.Operation }
		if described && !slices.ContainsFunc(to, same) {
			to = append(to, m)
		}
	}
	return to, nil
}

func (c *call) operations(ctx context.Context, to []validate.Match) ([]validate.Match, error) {
	return c.route.version.description.operations(ctx, to, c.method, c.route.rest)
}

// refusesHead returns the denial of a call that is refused by its path, query and header, and keeps the problems.
// length is the length of the body, -1 if it isn't known yet.
func (c *call) refusesHead(length int64, header func(string) []string) (d policy.Denial, refused bool) {
	if c.route.version.description == nil {
		return policy.Denial{}, false
	}
	ctx := c.gateway.closing // the engine has no context of the caller
	var scratch [4]validate.Match
	found, err := c.operations(ctx, scratch[:0])
	if err != nil {
		return c.uncompiled(err)
	}
	work := validate.NewWork(ctx) // a head is small
	for _, m := range found {
		if c.refuses(m, m.Head(work, c.target.query, length, header)) {
			return policy.InvalidRequest, true
		}
	}
	return policy.Denial{}, false
}

// uncompiled returns the denial of a call whose document could not be compiled in time. If refusals are only reported,
// the call continues.
func (c *call) uncompiled(err error) (policy.Denial, bool) {
	c.warn("could not validate a request: the OpenAPI document isn't compiled yet", err)
	if !c.route.version.description.enforce {
		return policy.Denial{}, false
	}
	c.step, c.retryAfter = StepValidate, 1
	return policy.Compiling, true
}

// refuses reports whether a call with these problems is refused. If they are only reported, it keeps the
// first.
func (c *call) refuses(m validate.Match, problems []validate.Problem) bool {
	if len(problems) == 0 {
		return false
	}
	if !c.route.version.description.enforce {
		if c.reported == (reported{}) {
			c.reported = reported{m.Name, problems[0].String()}
		}
		return false
	}
	c.problems, c.step = problems, StepValidate
	return true
}

// bodyOf returns the body of a denial, with the mistakes in the request, or the scope that its caller lacks.
func (c *call) bodyOf(d policy.Denial) []byte {
	switch d {
	case policy.InvalidRequest:
		return validate.Answer(d.Message, d.Code, c.problems)
	case policy.InsufficientScope, policy.TokenScope:
		return d.NameScope(c.scope).Body()
	}
	if body := bodies[d]; body != nil {
		return body
	}
	return d.Body() // with the place of the version's keys
}

// admitsRequest reports whether a request matches the OpenAPI document, or need not. If it does not, it is
// answered. It reads the body if that is validated, so that body returns it again.
func (c *httpCall) admitsRequest(body *requestBody) (admitted bool) {
	if c.route.version.description == nil {
		return true
	}
	defer func() { // not only at a return: failed may panic
		if !admitted {
			body.stop(c.aborted)
			c.bytesIn += body.read.Load()
		}
	}()
	var scratch [4]validate.Match
	memory := c.newHold()
	defer memory.release()
	work := validate.NewWork(c.r.Context()).Within(memory.take)
	found, err := c.operations(c.r.Context(), scratch[:0])
	if err != nil {
		denial, refused := c.uncompiled(err)
		if refused {
			c.refuse(denial)
		}
		return !refused
	}
	for _, m := range found {
		problems, err := c.problemsOf(m, work, body)
		if work.Starved() || errors.Is(err, errNoMemory) {
			if c.route.version.description.enforce {
				c.step = StepValidate
				c.refuse(c.noMemory(policy.BodyTooLarge))
				return false
			}
			c.warn("could not validate a request: there is no memory for its body", nil)
			return true
		}
		if err != nil {
			c.failed(err, body)
			return false
		}
		if c.refuses(m, problems) {
			c.refuse(policy.InvalidRequest)
			return false
		}
	}
	return true
}

// problemsOf returns the mistakes in a request according to an operation. Its error is that of reading the body, or of
// a caller who has left.
func (c *httpCall) problemsOf(
	m validate.Match, work *validate.Work, body *requestBody,
) ([]validate.Problem, error) {
	problems := m.Head(work, c.target.query, c.r.ContentLength, c.r.Header.Values)
	media := first(c.r.Header["Content-Type"])
	if len(problems) > 0 || c.r.ContentLength == 0 || !m.ReadsBody(media) {
		return problems, nil
	}
	if body.early == nil { // another reading of the path may have read it
		if err := body.readEarly(validate.MaxBody+1, c.newHold()); err != nil {
			return nil, fmt.Errorf("read the body to validate it: %w", err)
		}
	}
	if len(body.early) > validate.MaxBody {
		return []validate.Problem{validate.TooLarge()}, nil
	}
	problems = m.Body(work, media, strings.Join(c.r.Header["Content-Encoding"], ","), body.early)
	return problems, c.r.Context().Err()
}

// readEarly reads at most limit bytes before the body is forwarded.
func (b *requestBody) readEarly(limit int64, hold *bodyHold) (err error) {
	b.early, err = b.readWhole(limit, hold)
	b.earlyHold = hold
	return err
}

// explainValidation adds the step that compares a call with the OpenAPI document. Only the path of a question can be
// compared.
func explainValidation(out *policy.Explanation, at route, method string) {
	d := at.version.description
	if d == nil || d.requests == nil {
		return
	}
	found, err := d.operations(context.Background(), nil, method, at.rest)
	if err != nil {
		out.Skip(policy.ExplainValidate, "The OpenAPI document isn't compiled yet, because many others are waiting. "+
			"Try again.")
		return
	}
	if len(found) == 0 {
		out.Skip(policy.ExplainValidate,
			"The OpenAPI document doesn't describe this route, so requests aren't validated.")
		return
	}
	m, work := found[0], validate.NewWork(context.Background())
	if wrong := slices.IndexFunc(found, func(m validate.Match) bool { return len(m.Path(work)) > 0 }); wrong >= 0 {
		m = found[wrong]
	}
	problems := m.Path(work)
	if len(problems) == 0 {
		out.Skip(policy.ExplainValidate, "The path matches "+m.Name+" of the OpenAPI document. Query, headers "+
			"and body aren't validated here.")
		return
	}
	if !d.enforce {
		out.Report(policy.ExplainValidate, "According to "+m.Name+" of the OpenAPI document, "+
			problems[0].String()+". This is only reported.")
		return
	}
	exported := out.Exported // the exported gateway does not validate
	out.Deny(policy.ExplainValidate, policy.InvalidRequest, policy.ExplainValidate)
	out.Exported = exported
}
