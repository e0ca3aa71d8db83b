package web

import (
	"sync"
	"time"

	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/service/accounts"
)

// What one address may do at the OAuth endpoints within a window, at one client and
// at all of them. Where something could be guessed, refusals are counted and nothing
// else: a backend that exchanges the codes of a whole company comes from one address,
// too. Beginning a login is counted as such, since each is written down. The bounds
// leave room for an office behind one address whose refresh tokens all ended over
// night; against guessing, the 256 bits of a code or secret are what protects.
const (
	oauthWindow        = 15 * time.Minute
	guessesAtClient    = 300
	guessesOfSource    = 600
	loginsAtClient     = 600
	loginsOfSource     = 1200
	maxThrottledClient = 64 // bytes of a client's name, which anybody makes up
)

// OAuthThrottle counts in this process. Its zero value is ready.
type OAuthThrottle struct {
	once            sync.Once
	guesses, logins accounts.Attempts
}

func (t *OAuthThrottle) ready() *OAuthThrottle {
	t.once.Do(func() { t.guesses.Window, t.logins.Window = oauthWindow, oauthWindow })
	return t
}

func throttleKeys(client, remoteAddr string) (here, source string) {
	source = policy.SourceName(remoteAddr)
	return client[:min(len(client), maxThrottledClient)] + "\x00" + source, source
}

var errTooManyAttempts = fault.New(fault.TooMany, "too_many_attempts", "Too many attempts from this address. Wait a "+
	"quarter of an hour and try again.").After(oauthWindow)

// AdmitLogin tells whether an address may begin one more login.
func (t *OAuthThrottle) AdmitLogin(client, remoteAddr string) error {
	here, source := throttleKeys(client, remoteAddr)
	if !t.ready().logins.Take(models.Now(), accounts.Bound{
		Key: here,
		Max: loginsAtClient,
	}, accounts.Bound{Key: source, Max: loginsOfSource}) {
		return errTooManyAttempts
	}
	return nil
}

// Attempt asks for something that could be guessed. It is counted before it is asked, so
// that many at once are no way around, and taken back unless it was wrong.
func (t *OAuthThrottle) Attempt(client, remoteAddr string, ask func() error) error {
	here, source := throttleKeys(client, remoteAddr)
	if !t.ready().guesses.Take(models.Now(), accounts.Bound{
		Key: here,
		Max: guessesAtClient,
	}, accounts.Bound{Key: source, Max: guessesOfSource}) {
		return errTooManyAttempts
	}
	err := ask()
	if code := fault.CodeOf(err); code != "invalid_client" && code != "invalid_grant" {
		t.guesses.Forget(here, source)
	}
	return err
}
