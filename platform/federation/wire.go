package federation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"postern/platform/exactjson"
	"postern/platform/traces"
)

// maxResponse is the most that is read of a provider's response, in bytes.
const maxResponse = 1 << 20

// Bounded returns a copy of client that reads at most 1 MiB of a response: neither go-oidc nor oauth2 has its own
// limit.
func Bounded(client *http.Client) *http.Client {
	bounded := *client
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	bounded.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, maxResponse), response.Body}
		return response, nil
	})
	return &bounded
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// GetJSON reads the JSON at an address into out, with the token in the Authorization
// header (RFC 6750, 2.1). An AnswerError reports a status other than 200, ErrUnreadable
// a response that is not such JSON, and any other error that there was no response.
func GetJSON(ctx context.Context, client *http.Client, address, token string, out any) error {
	ask, err := newRequest(ctx, address, token)
	if err != nil {
		return err
	}
	body, _, err := do(client, ask)
	if err != nil {
		return err
	}
	return decode(ask.URL.Path, body, out)
}

func newRequest(ctx context.Context, address, token string) (*http.Request, error) {
	if token == "" {
		return nil, AnswerError("it sent an ID token without an access token, which its API requires")
	}
	ask, err := http.NewRequestWithContext(traces.For(ctx, "userinfo"), http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("create a request: %w", withoutURL(err))
	}
	ask.Header.Set("Authorization", "Bearer "+token)
	ask.Header.Set("Accept", "application/json")
	ask.Header.Set("User-Agent", "postern") // which GitHub's API demands
	return ask, nil
}

func do(client *http.Client, ask *http.Request) (body []byte, contentType string, err error) {
	response, err := client.Do(ask) // customers' addresses go through a client of the egress guard
	if err != nil {
		return nil, "", withoutURL(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		refusal := fmt.Sprintf("the provider refused the request: %s returned %d", ask.URL.Path, response.StatusCode)
		return nil, "", AnswerError(refusal)
	}
	body, err = io.ReadAll(response.Body)
	return body, response.Header.Get("Content-Type"), err
}

func decode(path string, body []byte, out any) error {
	if exactjson.Unmarshal(body, out) != nil { // whose error may quote the response
		return fmt.Errorf("read the response of %s: %w", path, ErrUnreadable)
	}
	return nil
}

// shortError cuts the text of an error that can hold a whole document, and keeps its chain.
type shortError struct{ error }

func (e shortError) Error() string { return fmt.Sprintf("%.200s", e.error.Error()) }

// Unwrap returns the error itself.
func (e shortError) Unwrap() error { return e.error }

// withoutURL drops the URL that an error of http.Client begins with: some providers
// want tokens in it, and errors end in logs.
func withoutURL(err error) error {
	if sent, ok := errors.AsType[*url.Error](err); ok {
		return sent.Err
	}
	return err
}
