package gateway

import (
	"context"
	"fmt"
	"io"
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
func (d *description) operations(to []validate.Match, method, path string) []validate.Match {
	if d == nil || d.requests == nil {
		return to
	}
	requests := d.requests.get()
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
	return to
}

func (c *call) operations(to []validate.Match) []validate.Match {
	return c.route.version.description.operations(to, c.method, c.route.rest)
}

// refusesHead reports whether a call is refused by its path, query and header, and keeps the problems.
// length is that of the body, -1 for one that is not known yet.
func (c *call) refusesHead(length int64, header func(string) []string) bool {
	if c.route.version.description == nil {
		return false
	}
	var scratch [4]validate.Match
	work := validate.NewWork(context.Background()) // a head is small
	for _, m := range c.operations(scratch[:0]) {
		if c.refuses(m, m.Head(work, c.target.query, length, header)) {
			return true
		}
	}
	return false
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
	defer func() { // not only at a return: failed may panic
		if !admitted {
			body.stop(c.aborted)
			c.bytesIn += body.read.Load()
		}
	}()
	var scratch [4]validate.Match
	work := validate.NewWork(c.r.Context())
	for _, m := range c.operations(scratch[:0]) {
		problems, err := c.problemsOf(m, work, body)
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

// problemsOf returns what is wrong with a request by an operation. Its error is that of reading the body, or of a
// caller who has left.
func (c *httpCall) problemsOf(
	m validate.Match, work *validate.Work, body *requestBody,
) ([]validate.Problem, error) {
	problems := m.Head(work, c.target.query, c.r.ContentLength, c.r.Header.Values)
	media := first(c.r.Header["Content-Type"])
	if len(problems) > 0 || c.r.ContentLength == 0 || !m.ReadsBody(media) {
		return problems, nil
	}
	if body.early == nil { // another reading of the path may have read it
		if err := body.readEarly(validate.MaxBody + 1); err != nil {
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
	found := d.operations(nil, method, at.rest)
	if len(found) == 0 {
		out.Skip(policy.ExplainValidate,
			"The OpenAPI document does not describe this route: requests are not validated.")
		return
	}
	m, work := found[0], validate.NewWork(context.Background())
	if wrong := slices.IndexFunc(found, func(m validate.Match) bool { return len(m.Path(work)) > 0 }); wrong >= 0 {
		m = found[wrong]
	}
	problems := m.Path(work)
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
