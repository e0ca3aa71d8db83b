package web

import (
	"encoding/json"
	"errors"

	"github.com/gin-gonic/gin"

	"postern/platform/fault"
)

type oauthProblem struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// RefuseOAuth answers in the form of RFC 6749 (5.2).
func (s *Site) RefuseOAuth(c *gin.Context, err error) {
	s.LogCause(c.Request.Context(), err)
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		known = fault.New(fault.Internal, "server_error", "Something went wrong here. Try again later.")
	}
	code := known.Code
	if known.Kind == fault.Unavailable {
		code = "temporarily_unavailable" // RFC 6749, 4.1.2.1
	}
	c.Header("Content-Type", "application/json")
	SetRetryAfter(c.Writer.Header(), err)
	c.Status(StatusOf(known.Kind))
	_ = json.NewEncoder(c.Writer).Encode(oauthProblem{
		Error:       code,
		Description: known.Public,
	}) // the caller is gone when this fails
}
