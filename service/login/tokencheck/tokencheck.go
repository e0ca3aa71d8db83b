// Package tokencheck asks the issuer of a token about it, once for each call that
// presents the token.
//
// It owns request and answer on the wire: bounds, redirects that are not followed, which answers count as none, and
// token introspection (RFC 7662). It leaves to its callers the choice of a token's issuer, and to login/providers the
// requests of single kinds of provider. Tokens are not kept, and errors quote neither tokens, addresses nor answers.
package tokencheck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"postern/platform/exactjson"
)

// The reasons why a token isn't accepted. Each error wraps one of them.
var (
	ErrRefused      = errors.New("the token isn't valid here")
	ErrUnavailable  = errors.New("the issuer is unavailable")
	ErrBadAnswer    = errors.New("the issuer's response is unusable")
	ErrUnverifiable = errors.New("the app that the token was issued to is unknown")
)

// ErrUnreachable is an ErrUnavailable: the request failed before there was a response. Errors of it wrap the cause.
var ErrUnreachable = fmt.Errorf("%w: it can't be reached", ErrUnavailable)

// ErrCredentials is in the chain of an ErrBadAnswer too where the issuer refuses the app's own credentials.
var ErrCredentials = errors.New("the issuer refuses the credentials of the app")

// Reason returns the text of an error of this package without those of the errors above that it wraps.
func Reason(err error) string {
	text := err.Error()
	for _, kind := range []error{ErrRefused, ErrUnavailable, ErrBadAnswer, ErrUnverifiable, ErrCredentials} {
		text = strings.TrimSuffix(text, ": "+kind.Error())
	}
	return text
}

// maxAnswer is the most that is read of a response, in bytes.
const maxAnswer = 64 << 10

// Answer is an issuer's response with any status that Send lets through.
type Answer struct {
	Status int
	body   []byte
}

// Send sends a request with a client that follows no redirect (egress.Guard's).
// ErrUnreachable reports a request without a response, ErrUnavailable also a server that fails
// or limits the rate, ErrBadAnswer a redirect and a response that is too large.
func Send(client *http.Client, request *http.Request) (Answer, error) {
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "postern") // which GitHub's API demands
	got, err := client.Do(request)              //nolint:gosec // the client is the egress guard's
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrUnreachable, withoutURL(err))
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer+1))
	switch status := got.StatusCode; {
	case status >= http.StatusInternalServerError,
		status == http.StatusTooManyRequests,
		status == http.StatusRequestTimeout:
		return Answer{}, fmt.Errorf("it returned %d: %w", status, ErrUnavailable)
	case err != nil:
		return Answer{}, fmt.Errorf("the response was cut off: %w", ErrUnavailable)
	case len(body) > maxAnswer:
		return Answer{}, fmt.Errorf("its response has more than %d bytes: %w", maxAnswer, ErrBadAnswer)
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return Answer{}, fmt.Errorf("it returned %d: %w", status, ErrBadAnswer)
	}
	return Answer{got.StatusCode, body}, nil
}

// withoutURL drops the URL that an error of http.Client begins with: some servers want
// tokens in it, and errors end in logs.
func withoutURL(err error) error {
	if sent, ok := errors.AsType[*url.Error](err); ok {
		return sent.Err
	}
	return err
}

// Read decodes a response with status 200.
func (a Answer) Read(into any) error {
	if a.Status != http.StatusOK {
		return a.Unexpected()
	}
	return a.ReadAny(into)
}

// ReadAny decodes a response with any status; see package exactjson.
func (a Answer) ReadAny(into any) error {
	if exactjson.Unmarshal(a.body, into) != nil {
		// The decoder's error may quote the response.
		return fmt.Errorf("its response with status %d can't be read: %w", a.Status, ErrBadAnswer)
	}
	return nil
}

// Unexpected returns the error for a status that does not concern the token, most often
// because the app's own credentials are wrong.
func (a Answer) Unexpected() error {
	if a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden {
		return fmt.Errorf("it returned %d: %w: %w", a.Status, ErrCredentials, ErrBadAnswer)
	}
	return fmt.Errorf("it returned %d: %w", a.Status, ErrBadAnswer)
}

func encoded(body any) (kind string, text []byte, err error) {
	if form, ok := body.(url.Values); ok {
		return "application/x-www-form-urlencoded", []byte(form.Encode()), nil
	}
	text, err = json.Marshal(body)
	return "application/json", text, err
}

// Post returns a POST request with a form (url.Values), or with any other body as JSON.
func Post(ctx context.Context, address string, body any) (*http.Request, error) {
	kind, text, err := encoded(body)
	if err != nil {
		return nil, fmt.Errorf("create a request: %w", ErrBadAnswer)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("create a request: %w", ErrBadAnswer)
	}
	request.Header.Set("Content-Type", kind)
	return request, nil
}

// Get returns a GET request with the token in Authorization (RFC 6750, 2.1).
func Get(ctx context.Context, address, token string) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("create a request: %w", ErrBadAnswer)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return request, nil
}

// Plain reports whether the token can be sent in a header as it is (RFC 6750, 2.1, widened
// to all printable ASCII, because Facebook's app tokens contain a bar).
func Plain(token string) bool {
	return token != "" && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}
