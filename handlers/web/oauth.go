package web

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"postern/platform/fault"
)

// OAuthParams are the parameters of a request to an OAuth endpoint.
type OAuthParams struct {
	values   url.Values
	Repeated bool // a parameter was sent more than once, which RFC 6749 (3.1) forbids
}

// ParseOAuthParams returns the parameters in a query or form.
func ParseOAuthParams(values url.Values) *OAuthParams {
	p := &OAuthParams{values: values}
	for name, list := range values {
		p.Repeated = p.Repeated || len(list) > 1 && name != resourceParam
	}
	return p
}

// Get returns a parameter's value, or "" if it was not sent.
func (p *OAuthParams) Get(name string) string { return p.values.Get(name) }

// resourceParam may be sent several times (RFC 8707, 2).
const resourceParam = "resource"

// Resources returns the audiences of a request: resource (RFC 8707), or the one in audience, as some libraries call it.
func (p *OAuthParams) Resources() []string {
	var out []string
	for _, one := range append(slices.Clone(p.values[resourceParam]), p.Get("audience")) {
		if one != "" && !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

type oauthProblem struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// RefuseOAuth ends a request with an error of RFC 6749 (5.2).
func (s *Site) RefuseOAuth(c *gin.Context, err error) {
	s.LogCause(c.Request.Context(), err)
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		known = fault.New(fault.Internal, "server_error", "Something went wrong. Try again later.")
	}
	code := known.Code
	if known.Kind == fault.Unavailable {
		code = "temporarily_unavailable" // RFC 6749, 4.1.2.1
	}
	c.Header("Content-Type", "application/json")
	SetRetryAfter(c.Writer.Header(), err)
	c.Status(StatusOf(known.Kind))
	// An error means that the caller is gone.
	_ = json.NewEncoder(c.Writer).Encode(oauthProblem{Error: code, Description: known.Public})
}
