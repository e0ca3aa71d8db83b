package accounts

import (
	"sync"
	"time"

	"postern/core/policy"
	"postern/platform/fault"
)

// Bounds on attempts within a window. maxPerSubject is for one address or account from one
// source, so that guessing locks out that source only, and for one account from a known
// device. maxPerSource is for all accounts from one source, maxInAll for one account from
// all sources.
const (
	throttleWindow = 15 * time.Minute
	maxPerSubject  = 10
	maxPerSource   = 30
	maxInAll       = 100
)

// attempt is an action that an attacker could repeat to guess a secret: to sign in, to sign
// up, to change a password.
type attempt struct {
	kind    string
	subject string // email address or account
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

// allowDevice is allow for a known device. If it returns false, the caller falls back to
// allow.
func (t *throttle) allowDevice(device string, now time.Time) bool {
	return device != "" && t.counts().Take(now, Bound{deviceKey(device), maxPerSubject})
}

func (t *throttle) forgetDevice(device string) { t.counts().Clear(deviceKey(device)) }

func deviceKey(device string) string { return kindDevice + "\x00" + device }

// forget subtracts a successful attempt. It clears the count of subject and source, but of the two shared counts it
// subtracts this attempt only: otherwise an attacker could reset them by signing in to their own account.
func (t *throttle) forget(a attempt) {
	here, everywhere, source := a.keys()
	t.counts().Clear(here)
	t.counts().Forget(everywhere, source)
}

func tooMany(what string) error {
	return fault.New(fault.TooMany, "too_many_attempts", "Too many attempts to %s. Wait 15 minutes and try again.",
		what).After(throttleWindow)
}
