package providers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"golang.org/x/oauth2"

	"postern/platform/fault"
)

// maxAnswer is the most that is read of a provider's answer, in bytes.
const maxAnswer = 1 << 20

// client is the guarded one, which never follows a redirect, reading no more than
// an answer can sensibly hold: neither library has a bound of its own.
func (s *Set) client() *http.Client {
	bounded := *s.HTTP
	next := s.HTTP.Transport
	bounded.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
		return answer, nil
	})
	return &bounded
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// errRefused is in the chain when a provider said no to a request of ours.
var errRefused = errors.New("the provider refuses")

// getJSON asks with the token in the Authorization header (RFC 6750, 2.1), "" for
// none.
func (s *Set) getJSON(ctx context.Context, address, token string, into any) error {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("make a request: %w", withoutURL(err))
	}
	if token != "" {
		ask.Header.Set("Authorization", "Bearer "+token)
	}
	ask.Header.Set("Accept", "application/json")
	ask.Header.Set("User-Agent", "postern") // which GitHub's API demands
	answer, err := s.client().Do(ask)
	if err != nil {
		return withoutURL(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s answers %d", errRefused, ask.URL.Path, answer.StatusCode)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", ask.URL.Path, err)
	}
	return nil
}

// withoutURL takes away the address that an error of http.Client begins with: some
// providers want tokens in it, and errors end in logs.
func withoutURL(err error) error {
	if sent, ok := errors.AsType[*url.Error](err); ok {
		return sent.Err
	}
	return err
}

// knownErrors are those of RFC 6749, 5.2, and GitHub's own
// (docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors).
var knownErrors = []string{
	"invalid_request",
	"invalid_client",
	"invalid_grant",
	"unauthorized_client",
	"unsupported_grant_type",
	"invalid_scope",
	"incorrect_client_credentials",
	"redirect_uri_mismatch",
	"bad_verification_code",
	"unverified_user_email",
}

// exchangeFault says why a code could not be exchanged, without the answer's body,
// which may hold tokens.
func exchangeFault(c Config, err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		if _, sent := errors.AsType[*url.Error](err); sent {
			return unreachable(c, withoutURL(err))
		}
		return wrongAnswer(c, "its token endpoint gave no token")
	}
	status := 0
	if refused.Response != nil {
		status = refused.Response.StatusCode
	}
	code := refused.ErrorCode
	if !slices.Contains(knownErrors, code) { // a text of the provider's, which could be a token
		code = "another error"
	}
	cause := fmt.Errorf("%s: the token endpoint answers %d %q", c.Type, status, code)
	switch {
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		return unreachable(c, cause)
	case code == "invalid_client",
		code == "unauthorized_client",
		code == "incorrect_client_credentials",
		code == "redirect_uri_mismatch":
		return fault.New(fault.Forbidden, "provider_misconfigured", "Signing in with %s is not set up correctly. "+
			"Tell whoever runs this application.", LabelOf(c.Type)).Because(cause)
	}
	return fault.New(fault.Forbidden, "provider_answer_refused", "%s did not confirm this sign-in. Go back to the "+
		"application and try again.", LabelOf(c.Type)).Because(cause)
}

// askFault is for questions that follow the exchange.
func askFault(c Config, err error) error {
	if errors.Is(err, errRefused) {
		return wrongAnswer(c, err.Error())
	}
	return unreachable(c, err)
}
