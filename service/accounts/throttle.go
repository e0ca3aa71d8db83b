package accounts

import (
	"sync"
	"time"

	"postern/core/policy"
	"postern/platform/fault"
)

// A window of attempts: maxPerSubject for one address or account from one
// source, so that a caller who guesses locks out callers of that source alone, and for
// one account from a device that has signed in to it, which counts for itself;
// maxPerSource for one source, so that many cannot be tried from one; and maxInAll for
// one address or account from everywhere, so that it cannot be guessed from many.
const (
	throttleWindow = 15 * time.Minute
	maxPerSubject  = 10
	maxPerSource   = 30
	maxInAll       = 100
)

// attempt is something that is worth repeating for whoever guesses: to sign in,
// to sign up, to change a password.
type attempt struct {
	kind    string
	subject string // e-mail address or account
	from    From
}

func (a attempt) keys() (here, everywhere, source string) {
	source = "\x00" + policy.SourceName(a.from.RemoteAddr)
	everywhere = a.kind + "\x00" + a.subject
	return everywhere + source, everywhere, source
}

// throttle counts attempts in this process. Its zero value is ready.
type throttle struct {
	once     sync.Once
	attempts Attempts
}

func (t *throttle) counts() *Attempts {
	t.once.Do(func() { t.attempts.Window = throttleWindow })
	return &t.attempts
}

func (t *throttle) allow(a attempt, now time.Time) bool {
	here, everywhere, source := a.keys()
	return t.counts().Take(now, Bound{here, maxPerSubject}, Bound{everywhere, maxInAll}, Bound{source, maxPerSource})
}

// allowDevice is allow for a known device. One that has used up its own attempts is
// treated like any other browser.
func (t *throttle) allowDevice(device string, now time.Time) bool {
	return device != "" && t.counts().Take(now, Bound{deviceKey(device), maxPerSubject})
}

func (t *throttle) forgetDevice(device string) { t.counts().Clear(deviceKey(device)) }

func deviceKey(device string) string { return kindDevice + "\x00" + device }

// forget takes a success back out. Of what others count for too only this one: who
// clears the count by signing in to an account of their own could go on guessing.
func (t *throttle) forget(a attempt) {
	here, everywhere, source := a.keys()
	t.counts().Clear(here)
	t.counts().Forget(everywhere, source)
}

func tooMany(what string) error {
	return fault.New(fault.TooMany, "too_many_attempts", "Too many attempts to %s. Wait a quarter of an hour and "+
		"try again.", what).After(throttleWindow)
}
