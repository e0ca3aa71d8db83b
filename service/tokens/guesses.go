package tokens

import (
	"sync"
	"time"

	"postern/core/policy"
	"postern/service/access"
	"postern/service/accounts"
)

// How many wrong user codes an account, or a network, may try within a window. For a network the number is higher: one
// account must not close the page for everyone who shares it.
const (
	guessWindow       = 15 * time.Minute
	guessesPerAccount = 10
	guessesPerSource  = 50
)

// guesses counts wrong codes in this process. Its zero value is ready.
type guesses struct {
	once  sync.Once
	wrong accounts.Attempts
}

func (g *guesses) bounds(p access.Principal) []accounts.Bound {
	g.once.Do(func() { g.wrong.Window = guessWindow })
	return []accounts.Bound{
		{Key: "account " + p.Account, Max: guessesPerAccount},
		{Key: "source " + policy.SourceName(p.RemoteAddr), Max: guessesPerSource},
	}
}

func (g *guesses) allowed(p access.Principal, now time.Time) bool {
	bounds := g.bounds(p)
	return g.wrong.Allow(now, bounds...)
}

func (g *guesses) count(p access.Principal, now time.Time) {
	bounds := g.bounds(p)
	g.wrong.Take(now, bounds...)
}
