package introspection

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/diagnosis"
	"postern/platform/egress"
	"postern/service/login/tokencheck"
)

// The steps of Inspect, in their order.
const (
	stepEndpoint    = "endpoint" // it responds as RFC 7662 says
	stepCredentials = "credentials"
	stepToken       = "token"
)

// Inspect asks an introspection endpoint about a token, or without one about a token that was never issued, and reports
// its response. row has the iss and aud that responses must have. The token is kept nowhere.
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
		report.Fail(stepToken, "This isn't a valid token. Tokens have at most %s printable ASCII characters without "+
			"spaces.", humanize.Comma(maxToken))
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
		report.Fail(stepToken, "The endpoint reports that a token that was never issued is active. Every call would "+
			"be accepted.")
		return report
	case invented:
		report.Pass(stepToken, "The endpoint correctly reports that a token that was never issued is inactive. "+
			"Test it with a real token as well.")
		return report
	}
	if err == nil {
		_, err = accepted(got, at.URL, row)
	}
	if err != nil {
		report.Fail(stepToken, "The gateway would return 401 invalid_token: %s.", tokencheck.Reason(err))
		return report
	}
	ends := ". The response has no expiration time"
	if !got.Expires.IsZero() {
		ends = " until " + got.Expires.Format(time.RFC3339)
	}
	report.Pass(stepToken, "The gateway accepts the token of the user %s%s.", diagnosis.Quote(got.Subject), ends)
	return report
}

// answers reports whether the endpoint gave a response about the token, and adds why not.
func answers(report *diagnosis.Report, err error) bool {
	switch {
	case errors.Is(err, tokencheck.ErrCredentials):
		report.Pass(stepEndpoint, "The endpoint can be reached.")
		report.Fail(stepCredentials, "The endpoint refuses the credentials: %s. Check the client ID, secret and "+
			"method.",
			tokencheck.Reason(err))
		return false
	case errors.Is(err, tokencheck.ErrUnreachable):
		report.Fail(stepEndpoint, "%s", egress.Reason(err))
		return false
	case errors.Is(err, tokencheck.ErrUnavailable), errors.Is(err, tokencheck.ErrBadAnswer):
		report.Fail(stepEndpoint, "This isn't an introspection response (RFC 7662): %s.", tokencheck.Reason(err))
		return false
	}
	report.Pass(stepEndpoint, "The endpoint's response conforms to RFC 7662.")
	return true
}
