package tokens

import (
	"sync"
	"time"
)

// How many wrong user codes an account, or an address, may try within a window.
const (
	guessWindow = 15 * time.Minute
	maxGuesses  = 10
	maxTracked  = 100_000
)

// guesses counts wrong codes in this process. Its zero value is ready.
type guesses struct {
	mu    sync.Mutex
	began time.Time
	count map[string]int
}

func (g *guesses) allowed(account, host string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.count == nil || now.Sub(g.began) >= guessWindow || len(g.count) > maxTracked {
		g.count, g.began = map[string]int{}, now
	}
	return g.count["a:"+account] < maxGuesses && g.count["h:"+host] < maxGuesses
}

func (g *guesses) wrong(account, host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count["a:"+account]++
	g.count["h:"+host]++
}
