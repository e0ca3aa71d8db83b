package client

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"

	"postern/platform/fault"
)

// problem is what is read of an error's body (RFC 9457).
type problem struct {
	Detail string `json:"detail"`
	Code   string `json:"code"`
	Errors []struct {
		Pointer string `json:"pointer"`
		Detail  string `json:"detail"`
		Code    string `json:"code"`
	} `json:"errors"`
}

// refusal translates an answer that is not 2xx.
func (c *Client) refusal(answer *http.Response) error {
	if answer.StatusCode/100 == 3 {
		return c.redirected(answer)
	}
	out := fault.New(kindOf(answer.StatusCode), "unexpected_answer",
		"%s answered %d, and not as Postern does. Is this its address?", c.base, answer.StatusCode)
	media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	var p problem
	if media != "application/problem+json" ||
		json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&p) != nil ||
		p.Code == "" {
		return out
	}
	out.Code, out.Public = p.Code, p.Detail
	for _, f := range p.Errors {
		out.Fields = append(out.Fields, fault.Field{Pointer: f.Pointer, Detail: f.Detail, Code: f.Code})
	}
	return out
}

// redirected names the host alone: the rest of the address is not ours to show.
func (c *Client) redirected(answer *http.Response) error {
	where := "elsewhere"
	if to, err := url.Parse(answer.Header.Get("Location")); err == nil && to.Host != "" {
		where = "to " + to.Scheme + "://" + to.Host
	}
	return fault.New(fault.Internal, "redirected", "%s redirects %s, where the credential is not sent. If that is "+
		"right, name it with --server or POSTERN_SERVER.", c.base, where)
}

// kindOf is the reverse of how the server chooses its status codes.
func kindOf(status int) fault.Kind {
	switch status {
	case http.StatusBadRequest:
		return fault.Malformed
	case http.StatusUnauthorized:
		return fault.Unauthenticated
	case http.StatusForbidden:
		return fault.Forbidden
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusConflict:
		return fault.Conflict
	case http.StatusGone:
		return fault.Gone
	case http.StatusPreconditionFailed:
		return fault.Stale
	case http.StatusRequestEntityTooLarge:
		return fault.TooLarge
	case http.StatusUnsupportedMediaType:
		return fault.Unsupported
	case http.StatusUnprocessableEntity:
		return fault.Invalid
	case http.StatusTooManyRequests:
		return fault.TooMany
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fault.Unavailable
	}
	return fault.Internal
}
