package client

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"

	"postern/platform/fault"
)

// problem has the members of an error's body that are read (RFC 9457, section 3.1).
type problem struct {
	Detail string `json:"detail"`
	Code   string `json:"code"`
	Errors []struct {
		Pointer string `json:"pointer"`
		Detail  string `json:"detail"`
		Code    string `json:"code"`
	} `json:"errors"`
}

// refusal translates a response that is not 2xx.
func (c *Client) refusal(response *http.Response) error {
	if response.StatusCode/100 == 3 {
		return c.redirected(response)
	}
	out := fault.New(kindOf(response.StatusCode), "unexpected_answer",
		"%s returned %d, but the response doesn't look like it came from a Postern server. Check the URL.",
		c.base, response.StatusCode)
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var p problem
	if media != "application/problem+json" ||
		json.NewDecoder(io.LimitReader(response.Body, maxResponse)).Decode(&p) != nil ||
		p.Code == "" {
		return out
	}
	out.Code, out.Public = p.Code, p.Detail
	for _, f := range p.Errors {
		out.Fields = append(out.Fields, fault.Field{Pointer: f.Pointer, Detail: f.Detail, Code: f.Code})
	}
	return out
}

// redirected returns an error that names only the host, since the rest of the URL may hold
// secrets.
func (c *Client) redirected(response *http.Response) error {
	where := "to another URL"
	if to, err := url.Parse(response.Header.Get("Location")); err == nil && to.Host != "" {
		where = "to " + to.Scheme + "://" + to.Host
	}
	return fault.New(fault.Internal, "redirected", "%s redirects %s, but your credential wasn't sent there. If that "+
		"URL is correct, use it with --server or POSTERN_SERVER.", c.base, where)
}

// kindOf returns the kind that the server maps to the status code.
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
