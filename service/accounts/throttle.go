package accounts

import (
	"sync"
	"time"

	"postern/core/policy"
	"postern/platform/fault"
	"postern/service/access"
)

// Bounds on attempts within a window. maxPerSubject is for one address or account from one
// source, so that guessing locks out that source only, and for one account from a known
// device or session. maxPerSource is for all accounts from one source, maxInAll for one
// account from all sources or sessions.
const (
	throttleWindow = 15 * time.Minute
	maxPerSubject  = 10
	maxPerSource   = 30
	maxInAll       = 100
)

// attempt is an action that an attacker without an account could repeat to guess a secret: to sign in, to sign up.
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

// The kinds of attempts by someone who is signed in: to enter the account's password, and to link a sign-in.
const (
	attemptPassword = "password"
	attemptLink     = "link"
)

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

// allowSignedIn counts an attempt by someone who is already signed in. It shares no bound with others at the same
// source, so that strangers there can't lock the account out. A stolen session or token can't guess without end:
// each session has a bound, all access tokens of the account have one together, because a session can create any
// number of them, and the account has one.
func (t *throttle) allowSignedIn(kind string, p access.Principal, now time.Time) bool {
	credential, account := signedInKeys(kind, p)
	return t.counts().Take(now, Bound{credential, maxPerSubject}, Bound{account, maxInAll})
}

// forgetSignedIn subtracts a successful attempt. It clears no count, because the owner of the account and a thief can
// use the same token.
func (t *throttle) forgetSignedIn(kind string, p access.Principal) {
	t.counts().Forget(signedInKeys(kind, p))
}

func signedInKeys(kind string, p access.Principal) (credential, account string) {
	account = kind + "\x00" + p.Account
	if p.Scoped {
		return account + "\x00tokens", account
	}
	return account + "\x00" + p.Token, account
}

func tooMany(what string) error {
	return fault.New(fault.TooMany, "too_many_attempts", "Too many attempts to %s. Wait 15 minutes and try again.",
		what).After(throttleWindow)
}
