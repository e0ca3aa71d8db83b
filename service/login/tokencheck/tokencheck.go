// Package tokencheck asks whoever issued a token what it is worth, once for each call
// that presents it.
//
// It owns the question and the answer on the wire: bounds, redirects that are not
// followed, what counts as no answer, and token introspection (RFC 7662). It does not
// own whom to ask about which token, nor what is asked of the kinds of provider that
// have ways of their own (login/providers). Nothing of a token is kept here, and
// errors hold none: neither addresses nor answers are quoted.
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
)

// Why a token gets nobody in. One of them is in the chain of each error.
var (
	ErrRefused      = errors.New("the token is not good here")
	ErrUnavailable  = errors.New("it cannot be asked now")
	ErrBadAnswer    = errors.New("its answer is of no use")
	ErrUnverifiable = errors.New("it does not tell for whom the token was issued")
)

// maxAnswer is the most that is read of an answer, in bytes.
const maxAnswer = 64 << 10

// Answer is a verdict with whatever status.
type Answer struct {
	Status int
	body   []byte
}

// Ask sends the question with a client that follows no redirect (egress.Guard's).
// What is no verdict comes back as ErrUnavailable or ErrBadAnswer: a server that fails or has
// no time, one that sends us on with the token, or one that talks without end.
func Ask(client *http.Client, question *http.Request) (Answer, error) {
	question.Header.Set("Accept", "application/json")
	question.Header.Set("User-Agent", "postern") // which GitHub's API demands
	got, err := client.Do(question)              //nolint:gosec // the client is the egress guard's
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrUnavailable, withoutURL(err))
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer+1))
	switch status := got.StatusCode; {
	case status >= http.StatusInternalServerError,
		status == http.StatusTooManyRequests,
		status == http.StatusRequestTimeout:
		return Answer{}, fmt.Errorf("it answers %d: %w", status, ErrUnavailable)
	case err != nil:
		return Answer{}, fmt.Errorf("it breaks off: %w", ErrUnavailable)
	case len(body) > maxAnswer:
		return Answer{}, fmt.Errorf("it answers more than %d bytes: %w", maxAnswer, ErrBadAnswer)
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return Answer{}, fmt.Errorf("it answers %d: %w", status, ErrBadAnswer)
	}
	return Answer{got.StatusCode, body}, nil
}

// withoutURL takes away the address that an error of http.Client begins with: some
// want tokens in it, and errors end in logs.
func withoutURL(err error) error {
	if sent, ok := errors.AsType[*url.Error](err); ok {
		return sent.Err
	}
	return err
}

// Read takes a good answer apart.
func (a Answer) Read(into any) error {
	if a.Status != http.StatusOK {
		return a.Unexpected()
	}
	return a.ReadAny(into)
}

// ReadAny takes an answer apart whatever its status.
func (a Answer) ReadAny(into any) error {
	if json.Unmarshal(a.body, into) != nil {
		return fmt.Errorf("its answer of status %d cannot be read: %w", a.Status, ErrBadAnswer) // the cause may quote it
	}
	return nil
}

// Unexpected is for a status that says nothing of the token: mostly that our own
// credentials are not good.
func (a Answer) Unexpected() error { return fmt.Errorf("it answers %d: %w", a.Status, ErrBadAnswer) }

func encoded(body any) (kind string, text []byte, err error) {
	if form, ok := body.(url.Values); ok {
		return "application/x-www-form-urlencoded", []byte(form.Encode()), nil
	}
	text, err = json.Marshal(body)
	return "application/json", text, err
}

// Post makes a question with a form, or with anything else as JSON.
func Post(ctx context.Context, address string, body any) (*http.Request, error) {
	kind, text, err := encoded(body)
	if err != nil {
		return nil, fmt.Errorf("make a question: %w", ErrBadAnswer)
	}
	question, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("make a question: %w", ErrBadAnswer)
	}
	question.Header.Set("Content-Type", kind)
	return question, nil
}

// Get makes a question that shows the token where RFC 6750, 2.1 has it.
func Get(ctx context.Context, address, token string) (*http.Request, error) {
	question, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("make a question: %w", ErrBadAnswer)
	}
	question.Header.Set("Authorization", "Bearer "+token)
	return question, nil
}

// Plain tells a token that can stand in a header as it is (RFC 6750, 2.1, widened to
// what is printable: Facebook's app tokens have a bar).
func Plain(token string) bool {
	return token != "" && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}
