package introspection

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"postern/core/contract"
	"postern/core/diagnosis"
	"postern/platform/egress"
	"postern/service/login/tokencheck"
)

// The steps of Inspect, in their order.
const (
	stepEndpoint    = "endpoint" // it answers as RFC 7662 says
	stepCredentials = "credentials"
	stepToken       = "token"
)

// Inspect asks an introspection endpoint about a token, or without one about a token that was never issued, and reports
// what it answers. row has the iss and aud that answers must have. The token is kept nowhere.
func Inspect(
	ctx context.Context, client *http.Client, at tokencheck.Endpoint, row contract.Introspection, token string,
	now time.Time,
) diagnosis.Report {
	var report diagnosis.Report
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	invented := token == ""
	if invented {
		token = rand.Text()
	} else if len(token) > maxToken || !tokencheck.Plain(token) {
		report.Fail(stepToken, "This is not a valid token. Callers send at most %d printable ASCII characters "+
			"without blanks.", maxToken)
		return report
	}
	got, err := tokencheck.Introspect(ctx, client, at, token, now)
	if !answers(&report, err) {
		return report
	}
	if at.ClientID == "" {
		report.Skip(stepCredentials, "Not checked: no client ID is set.")
	} else {
		report.Pass(stepCredentials, "The endpoint accepts the client %s.", diagnosis.Quote(at.ClientID))
	}
	switch {
	case invented && err == nil:
		report.Fail(stepToken, "The endpoint says that a token which was never issued is active: every call would be "+
			"admitted.")
		return report
	case invented:
		report.Pass(stepToken, "The endpoint says of a token that was never issued that it is not active. Test it "+
			"with a token of yours too.")
		return report
	}
	if err == nil {
		_, err = accepted(got, at.URL, row)
	}
	if err != nil {
		report.Fail(stepToken, "The gateway answers 401 invalid_token: %s.", tokencheck.Reason(err))
		return report
	}
	ends := "it does not say until when"
	if !got.Expires.IsZero() {
		ends = "until " + got.Expires.Format(time.RFC3339)
	}
	report.Pass(stepToken, "The gateway accepts the token, of the user %s, %s.", diagnosis.Quote(got.Subject), ends)
	return report
}

// answers reports whether the endpoint gave an answer about the token, and adds why not.
func answers(report *diagnosis.Report, err error) bool {
	switch {
	case errors.Is(err, tokencheck.ErrCredentials):
		report.Pass(stepEndpoint, "The endpoint is reached.")
		report.Fail(stepCredentials, "The endpoint refuses the credentials: %s. Check client ID, secret and method.",
			tokencheck.Reason(err))
		return false
	case errors.Is(err, tokencheck.ErrUnreachable):
		report.Fail(stepEndpoint, "%s", egress.Reason(err))
		return false
	case errors.Is(err, tokencheck.ErrUnavailable), errors.Is(err, tokencheck.ErrBadAnswer):
		report.Fail(stepEndpoint, "This is no answer about a token (RFC 7662): %s.", tokencheck.Reason(err))
		return false
	}
	report.Pass(stepEndpoint, "The endpoint answers as RFC 7662 says.")
	return true
}
