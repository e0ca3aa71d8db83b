package web

import (
	"sync"
	"time"

	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/accounts"
)

// Limits of one client address at the OAuth endpoints within oauthWindow, for one app client and for all of them. If a
// code or secret could be guessed, only refused requests count: a backend exchanges the codes of a whole company from
// one address. Logins count when they begin, because each writes a row. The limits leave room for an office behind one
// address whose refresh tokens all expired overnight; the protection against guessing is that codes and secrets have
// 256 bits.
const (
	oauthWindow        = 15 * time.Minute
	guessesAtClient    = 300
	guessesOfSource    = 600
	loginsAtClient     = 600
	loginsOfSource     = 1200
	maxThrottledClient = 64 // bytes of a client id that count; callers choose it
)

// OAuthThrottle counts requests to the OAuth endpoints in this process. Its zero value
// is ready.
type OAuthThrottle struct {
	once            sync.Once
	guesses, logins accounts.Attempts
}

func (t *OAuthThrottle) ready() *OAuthThrottle {
	t.once.Do(func() { t.guesses.Window, t.logins.Window = oauthWindow, oauthWindow })
	return t
}

// throttleKeys returns the keys of an address at one client and at all of them.
func throttleKeys(client, remoteAddr string) (atClient, ofSource string) {
	ofSource = policy.SourceName(remoteAddr)
	return client[:min(len(client), maxThrottledClient)] + "\x00" + ofSource, ofSource
}

var errTooManyAttempts = fault.New(fault.TooMany, "too_many_attempts", "Too many attempts from this IP address. Wait "+
	"15 minutes and try again.").After(oauthWindow)

// AdmitLogin counts a login that an address begins. It returns too_many_attempts if the
// address may not begin another one.
func (t *OAuthThrottle) AdmitLogin(client, remoteAddr string) error {
	atClient, ofSource := throttleKeys(client, remoteAddr)
	if !t.ready().logins.Take(models.Now(),
		accounts.Bound{Key: atClient, Max: loginsAtClient},
		accounts.Bound{Key: ofSource, Max: loginsOfSource},
	) {
		return errTooManyAttempts
	}
	return nil
}

// Attempt runs check, which verifies a secret that could be guessed, and returns its
// error, or too_many_attempts without running it. The attempt is counted before check
// runs, so that concurrent guesses count too, and uncounted unless check fails with
// invalid_client or invalid_grant.
func (t *OAuthThrottle) Attempt(client, remoteAddr string, check func() error) error {
	atClient, ofSource := throttleKeys(client, remoteAddr)
	if !t.ready().guesses.Take(models.Now(),
		accounts.Bound{Key: atClient, Max: guessesAtClient},
		accounts.Bound{Key: ofSource, Max: guessesOfSource},
	) {
		return errTooManyAttempts
	}
	err := check()
	if code := fault.CodeOf(err); code != "invalid_client" && code != "invalid_grant" {
		t.guesses.Forget(atClient, ofSource)
	}
	return err
}
