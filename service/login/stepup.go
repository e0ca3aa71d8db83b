package login

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/models"
	"postern/platform/federation"
	"postern/service/login/providers"
)

// authLeeway is how far the clock of a provider may be off where its auth_time is compared.
const authLeeway = 30 * time.Second

// errorUnmet is the error code of OpenID Connect Core Error Code
// unmet_authentication_requirements 1.0, which RFC 9470, 5 uses for max_age.
const errorUnmet = "unmet_authentication_requirements"

// demand has the requirements of an authorization request for the user's authentication (OpenID Connect Core 1.0,
// 3.1.2.1). It is stored with the attempt: the request that goes to the provider passes through the browser, which can
// remove parameters, so the provider's signed answer is compared with it. acr_values demands nothing: it is a voluntary
// claim.
type demand struct {
	fresh  bool           // prompt=login or max_age=0: no authentication before the request
	since  time.Time      // of the request
	maxAge *time.Duration // authenticated at most so long ago, nil for any
}

func demandOf(attempt models.LoginAttempt) demand {
	out := demand{fresh: granted(attempt.Prompt, "login"), since: attempt.CreatedAt}
	if attempt.MaxAge != nil {
		age := time.Duration(*attempt.MaxAge) * time.Second
		out.maxAge = &age
	}
	return out
}

// canBeMetBy reports whether a kind of provider can meet the demand. Any kind can be sent prompt=login, or the
// strongest prompt that it has.
func (d demand) canBeMetBy(kind string) bool {
	traits, ok := providers.TraitsOf(kind)
	return ok && (traits.TellsAuthTime || d.maxAge == nil)
}

// among returns the providers that can meet the demand.
func (d demand) among(options []ProviderOption) []ProviderOption {
	return slices.DeleteFunc(slices.Clone(options), func(o ProviderOption) bool { return !d.canBeMetBy(o.Type) })
}

// unmet returns the reason why an authentication doesn't meet the demand, "" if it does. A provider that does not state
// when it authenticated the user meets prompt=login, and the tokens have no auth_time. The text is for the
// application's developers (RFC 6749, 4.1.2.1: ASCII without quotes).
func (d demand) unmet(auth federation.Authentication, now time.Time) string {
	switch {
	case d.maxAge != nil && auth.At.IsZero():
		return "max_age can't be checked: the provider doesn't report when the user authenticated (auth_time)"
	case d.fresh && !auth.At.IsZero() && auth.At.Before(d.since.Add(-authLeeway)):
		return "the provider didn't authenticate the user again, which prompt=login or max_age=0 requires"
	case d.maxAge != nil && now.Sub(auth.At) > *d.maxAge+authLeeway:
		return "the user authenticated with the provider longer ago than max_age allows"
	}
	return ""
}

// cannotBeMet describes a demand that no provider of an app client can prove.
const cannotBeMet = "max_age can't be checked: none of the application's providers report when the user " +
	"authenticated (auth_time)"

// plausible returns what is stated without a time to come.
func plausible(auth federation.Authentication, now time.Time) federation.Authentication {
	if auth.At.After(now.Add(authLeeway)) {
		auth.At = time.Time{}
	}
	return auth
}

// refuseUnmet finishes an attempt whose demand the provider's answer does not meet, and
// returns the redirect to the client. Before a redirect to an unclaimed client comes a
// page, as in sentBack.
func (s *Service) refuseUnmet(ctx context.Context, attempt models.LoginAttempt, why string) (Outcome, error) {
	client, err := s.client(ctx, attempt.ClientID)
	if err != nil {
		return Outcome{}, err
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error {
		_, err := tx.FinishLoginAttempt(attempt.ID, models.Now())
		return err
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("login: end the attempt %s: %w", attempt.ID, err)
	}
	var out Outcome
	if out.Client, err = s.lookOf(s.DB.Read(ctx), client, attempt.RedirectURI); err != nil {
		return Outcome{}, err
	}
	out.Back = s.backTo(attempt, url.Values{
		"error":             {errorUnmet},
		"error_description": {why},
	})
	if out.Client.Unclaimed {
		out.Refused = fmt.Sprintf("The application's sign-in requirements weren't met: %s.", why)
	}
	return out, nil
}

// maxAge returns the request's max_age in seconds, nil for none. check has checked it.
func (in AuthorizationRequest) maxAge() *int64 {
	seconds, err := strconv.ParseInt(in.MaxAge, 10, 64)
	if err != nil {
		return nil
	}
	return &seconds
}

// checkHints checks the parameters that go to the provider unchanged.
func (in AuthorizationRequest) checkHints() (code, text string) {
	for name, value := range map[string]string{
		"acr_values": in.ACRValues, "login_hint": in.LoginHint, "ui_locales": in.UILocales,
	} {
		if len(value) > maxHint || strings.ContainsFunc(value, providers.Unprintable) {
			return "invalid_request", name + " is too long or has control characters"
		}
	}
	return "", ""
}

// statedIn returns the provider's statements at the sign-in of a session.
func statedIn(session models.LoginSession) federation.Authentication {
	out := federation.Authentication{Context: session.ACR, Methods: session.AMR}
	if session.AuthTime != nil {
		out.At = *session.AuthTime
	}
	return out
}

// recorded writes the provider's statements into a session.
func recorded(auth federation.Authentication, session *models.LoginSession) {
	session.ACR, session.AMR = auth.Context, auth.Methods
	if !auth.At.IsZero() {
		at := auth.At
		session.AuthTime = &at
	}
}
