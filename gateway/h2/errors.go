package h2

import (
	"errors"
	"fmt"

	"golang.org/x/net/http2"
)

// connError ends the connection with GOAWAY (RFC 9113 section 5.4.1).
type connError struct {
	code   http2.ErrCode
	reason string
}

func (e connError) Error() string { return fmt.Sprintf("%s: %s", e.code, e.reason) }

var (
	errGone     = errors.New("the caller's connection has ended")
	errReset    = errors.New("the caller's stream was reset")
	errOver     = errors.New("the call is over")
	errTooLong  = errors.New("the response is longer than its Content-Length")
	errMismatch = errors.New("the body is shorter than its Content-Length")

	// errEnded ends the reading of a connection whose caller was told not to send more.
	errEnded = errors.New("the last call before the end of the connection is over")
)
