package providers

import (
	"errors"
	"fmt"
	"net/http"

	"postern/platform/fault"
	"postern/platform/federation"
)

// refusedAnswer is for answers that no honest provider gives that is configured correctly.
func refusedAnswer(c Config, why string) error {
	return fault.New(
		fault.Forbidden, "provider_answer_refused",
		"The response from %s couldn't be accepted. Try again. If that fails, contact the application's support team.",
		c.Name(),
	).Worded("provider_answer_invalid", "provider", c.Name()).Because(fmt.Errorf("%s: %s", c.Type, why))
}

func unreachable(c Config, cause error) error {
	return fault.New(
		fault.Unavailable, "provider_unreachable",
		"%s isn't responding right now. Try again in a moment, or sign in another way.", c.Name(),
	).Worded("provider_unreachable", "provider", c.Name()).Because(fmt.Errorf("%s: %w", c.Type, cause))
}

// faultOf turns an error of package federation into the fault that the user sees.
func faultOf(c Config, err error) error {
	if refused, ok := errors.AsType[federation.AnswerError](err); ok {
		return refusedAnswer(c, refused.Error())
	}
	if errors.Is(err, federation.ErrUnreadable) {
		return refusedAnswer(c, "its response can't be read")
	}
	return unreachable(c, err)
}

// exchangeFault is faultOf for Exchange.
func exchangeFault(c Config, err error) error {
	refused, ok := errors.AsType[*federation.ExchangeError](err)
	if !ok {
		return faultOf(c, err)
	}
	cause := fmt.Errorf("%s: %w", c.Type, refused)
	if refused.Status >= http.StatusInternalServerError || refused.Status == http.StatusTooManyRequests {
		return unreachable(c, cause)
	}
	switch refused.Code {
	case "invalid_client", "unauthorized_client", "incorrect_client_credentials", "redirect_uri_mismatch":
		return fault.New(
			fault.Forbidden, "provider_misconfigured",
			"Sign-in with %s isn't set up correctly. Contact the application's support team.", c.Name(),
		).Worded("provider_misconfigured", "provider", c.Name()).Because(cause)
	}
	return fault.New(
		fault.Forbidden, "provider_answer_refused",
		"%s didn't confirm this sign-in. Go back to the application and try again.", c.Name(),
	).Worded("provider_not_confirmed", "provider", c.Name()).Because(cause)
}
